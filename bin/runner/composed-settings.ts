import type { GroupRole } from '../../core/accounts/sign-in.ts';
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
  OIDC_WORKSPACE?: string | undefined;
  OIDC_GROUP_ROLES?: GroupRole[] | undefined;
}

const PROVIDER_SETTINGS = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_DOMAINS'] as const;

/** Returns what is wrong with the settings of the single sign-on together; null: nothing. */
export function findProviderFault(values: ProviderSettings): string | null {
  const missing = PROVIDER_SETTINGS.filter((name) => values[name] === undefined);
  if (missing.length > 0 && missing.length < PROVIDER_SETTINGS.length)
    return `${PROVIDER_SETTINGS.join(', ')} must be set together; ${missing.join(', ')} is missing`;
  if ((values.OIDC_WORKSPACE === undefined) !== (values.OIDC_GROUP_ROLES === undefined))
    return 'OIDC_WORKSPACE and OIDC_GROUP_ROLES must be set together';
  const dependent = values.OIDC_REQUIRED === 'on' ? 'OIDC_REQUIRED' : 'OIDC_GROUP_ROLES';
  if (missing.length > 0 && (values.OIDC_REQUIRED === 'on' || values.OIDC_GROUP_ROLES !== undefined))
    return `${dependent} needs OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and OIDC_DOMAINS`;
  return null;
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
    joins:
      values.OIDC_WORKSPACE === undefined || values.OIDC_GROUP_ROLES === undefined
        ? null
        : { ownerEmail: values.OIDC_WORKSPACE, groupRoles: values.OIDC_GROUP_ROLES },
  };
}
