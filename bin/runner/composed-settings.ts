import type { ScannerOptions } from '../../core/screening/scanner-options.ts';
import type { ServiceProvider } from '../../gateway/gateway-config.ts';

/* What several settings say together. */

/** The settings of the scanners, as they are checked. */
interface ScannerSettings {
  RSPAMD_URL?: string | undefined;
  RSPAMD_CONTROLLER_URL?: string | undefined;
  RSPAMD_CONTROLLER_KEY?: string | undefined;
  SPAM_REJECT_SCORE?: number | undefined;
  SPAM_WHEN_AWAY: NonNullable<ScannerOptions['spam']>['whenAway'];
  CLAMD_ADDRESS?: NonNullable<ScannerOptions['virus']>['address'] | undefined;
  CLAMD_WHEN_AWAY: NonNullable<ScannerOptions['virus']>['whenAway'];
  VIRUS_ACTION: NonNullable<ScannerOptions['virus']>['action'];
  SCAN_TIMEOUT_SECONDS: number;
}

/** Returns which scanners are asked, and how. */
export function scannerOptions(values: ScannerSettings): ScannerOptions {
  const { RSPAMD_URL: url, CLAMD_ADDRESS: address } = values;
  const limitMs = values.SCAN_TIMEOUT_SECONDS * 1_000;
  return {
    spam:
      url === undefined
        ? null
        : {
            url,
            controllerUrl: values.RSPAMD_CONTROLLER_URL ?? url.replace(/:11333$/, ':11334'),
            password: values.RSPAMD_CONTROLLER_KEY ?? null,
            limitMs,
            whenAway: values.SPAM_WHEN_AWAY,
            rejectScore: values.SPAM_REJECT_SCORE ?? null,
          },
    virus:
      address === undefined
        ? null
        : { address, limitMs, whenAway: values.CLAMD_WHEN_AWAY, action: values.VIRUS_ACTION },
  };
}

/** The settings of the single sign-on of the service, as they are checked. */
interface ProviderSettings {
  OIDC_ISSUER?: string | undefined;
  OIDC_CLIENT_ID?: string | undefined;
  OIDC_CLIENT_SECRET?: string | undefined;
  OIDC_DOMAINS?: ServiceProvider['domains'] | undefined;
  OIDC_TRUST_ADDRESSES: 'on' | 'off';
  OIDC_REQUIRED: 'on' | 'off';
}

/** Returns the provider of the single sign-on; null: there is none. */
export function readServiceProvider(values: ProviderSettings): ServiceProvider | null {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_DOMAINS: domains,
  } = values;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined || domains === undefined)
    return null;
  return {
    issuer,
    clientId,
    clientSecret,
    domains,
    trustsAddresses: values.OIDC_TRUST_ADDRESSES === 'on',
    isRequired: values.OIDC_REQUIRED === 'on',
  };
}
