import { isLocalMailHostname } from '../../core/domains/mail-hostname.ts';
import { type Config, ConfigError, isLoopback, readConfig } from '../config.ts';
import type { Environment } from '../environment.ts';
import { listOpenSettings } from '../runner/open-settings.ts';
import { VERSION } from '../runner/version.ts';
import { type Finding, toFindings } from './finding.ts';

const { ok, warn, fail } = toFindings('configuration');

/** Reads the environment. Returns a null config if it is invalid. */
export function checkConfiguration(environment: Environment): { config: Config | null; findings: Finding[] } {
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = error.message.split('; ').map((reason) => {
      const [variable = ''] = reason.split(' ', 1);
      return fail(
        variable,
        reason.slice(variable.length + 1),
        `Correct ${variable}. docs/settings.md lists the allowed values`,
      );
    });
    return { config: null, findings };
  }
  return { config, findings: [ok('Postroom', VERSION), ...judge(config)] };
}

/** Whether only this machine should reach the service, as in a trial. */
export function isTrial(config: Config): boolean {
  return isLocalMailHostname(config.mailHostname);
}

function judge(config: Config): Finding[] {
  const mode = config.databaseUrl === null ? `one machine, data in ${config.dataDirectory}` : 'DATABASE_URL';
  const findings = [ok('environment', mode), ok('access', readAccess(config))];
  for (const { variable, risk, remedy } of listOpenSettings(config)) findings.push(warn(variable, risk, remedy));
  if (isTrial(config)) return findings;
  const url = new URL(config.publicUrl);
  if (isLoopback(url.hostname))
    findings.push(
      warn(
        'PUBLIC_URL',
        `${config.publicUrl} is reachable only from this machine, so links in mail and webhooks do not work elsewhere`,
        'Set PUBLIC_URL to the public address of the gateway, such as https://mail.example.com',
      ),
    );
  else if (url.protocol === 'http:')
    findings.push(
      warn(
        'PUBLIC_URL',
        `${config.publicUrl} is not encrypted, so API keys and sessions can be intercepted`,
        'Put a proxy with a certificate in front of the gateway and set PUBLIC_URL to its https address',
      ),
    );
  if (isLoopback(config.host) && config.databaseUrl === null)
    findings.push(
      warn(
        'HOST',
        `${config.host}: other machines cannot reach SMTP or HTTP, unless a proxy on this machine forwards to them`,
        'Set HOST=0.0.0.0. If a proxy on this machine forwards to both, keep HOST and add the proxy to TRUSTED_PROXIES and SMTP_PROXIES',
      ),
    );
  return findings;
}

/** Reports who can reach the service according to the configuration, and what that opens or closes by default. */
function readAccess({ isLocalOnly }: Config): string {
  return isLocalOnly
    ? 'this machine only, so sign-up, webhooks to loopback addresses and inbox.test are open unless set otherwise; behind a reverse proxy, set PUBLIC_URL and TRUSTED_PROXIES'
    : 'other machines too, so sign-up, private networks and trusted domains are closed unless set otherwise';
}
