import type { Logger } from 'pino';
import type { Config } from '../config.ts';

/** A setting that is harmless while only this machine reaches the service, but is open although others reach it. */
export interface OpenSetting {
  variable: 'SIGN_UP' | 'ALLOWED_PRIVATE_NETWORKS' | 'TRUSTED_DOMAINS';
  /** what strangers or users can do */
  risk: string;
  remedy: string;
}

/** Returns the permissive settings of a service that other machines reach; none while `isLocalOnly`. */
export function listOpenSettings(config: Config): OpenSetting[] {
  if (config.isLocalOnly) return [];
  const { isSignUpOpen, allowedPrivateNetworks, trustedDomains, publicUrl } = config;
  const exposures: OpenSetting[] = [];
  if (isSignUpOpen)
    exposures.push({
      variable: 'SIGN_UP',
      risk: `everyone who reaches ${publicUrl} can create an account`,
      remedy: 'Remove SIGN_UP, and create accounts with npx node bin/account.ts create EMAIL',
    });
  if (allowedPrivateNetworks.length > 0)
    exposures.push({
      variable: 'ALLOWED_PRIVATE_NETWORKS',
      risk: `every user can send requests to ${allowedPrivateNetworks.join(', ')} through webhooks and read the responses`,
      remedy: 'Remove ALLOWED_PRIVATE_NETWORKS, or list only the addresses of the receivers that you run',
    });
  if (trustedDomains.length > 0)
    exposures.push({
      variable: 'TRUSTED_DOMAINS',
      risk: `every user can take ${trustedDomains.join(', ')} without proof of ownership`,
      remedy: 'Remove TRUSTED_DOMAINS, and verify domains by DNS',
    });
  return exposures;
}

/** Writes one warning for each exposure. */
export function warnOfOpenSettings(config: Config, log: Logger): void {
  for (const { variable, risk, remedy } of listOpenSettings(config))
    log.warn(
      { event: 'start.exposed', variable },
      `${variable} is open and other machines reach this service: ${risk}. ${remedy}.`,
    );
}
