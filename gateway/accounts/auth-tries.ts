import ipaddr from 'ipaddr.js';
import { deriveTriesSecret, triesKey } from '../../core/accounts/auth-secret.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Database } from '../../db/connection/database.ts';
import { forgiveAuthTries, takeAuthTry } from '../../db/queries/accounts/auth-tries.ts';

/** What is tried; each kind is counted by itself. */
export type TryKind =
  | 'sign-in'
  | 'sign-up'
  | 'sign-in-link'
  | 'passkey'
  | 'passkey-options'
  | 'reset-request'
  | 'reset'
  | 'password';

/** Who tries, and at whose account. */
export interface Try {
  kind: TryKind;
  /** of the client, IPv4 or IPv6 */
  address: string;
  /** an email address in lower case or an id; null: the try names none */
  account: string | null;
}

/** Counts tries, over all gateways of the database and over restarts. */
export interface AuthTries {
  /** Counts one before it is looked at, so that of many at once none slips through. Throws rate_limited. */
  take(attempt: Try): Promise<void>;
  /** The try was right: those at the account are forgotten, and this one does not count against the client. */
  succeeded(attempt: Try): Promise<void>;
}

/** Tries at one account, and tries of one client, whoever's the account. */
const LIMIT = { most: 10, windowSeconds: 900 };
/** Challenges are asked for by every page to sign in; each is kept for a while. */
const OPTIONS_LIMIT = { most: 100, windowSeconds: 900 };
/** What one client holds of IPv6; bits. */
const IPV6_NETWORK_BITS = 64;

export function createAuthTries(database: Database, secretKey: Uint8Array): AuthTries {
  const secret = deriveTriesSecret(secretKey);
  const clientKey = ({ kind, address }: Try) => triesKey(secret, `${kind} of a client`, networkOf(address));
  const accountKeys = ({ kind, account }: Try) =>
    account === null ? [] : [triesKey(secret, `${kind} at an account`, account)];
  return {
    async take(attempt) {
      const limit = attempt.kind === 'passkey-options' ? OPTIONS_LIMIT : LIMIT;
      const wait = await takeAuthTry(database, [clientKey(attempt), ...accountKeys(attempt)], limit);
      if (wait === 0) return;
      const minutes = Math.ceil(wait / 60);
      throw new UserError(
        'rate_limited',
        `Too many tries. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
        {
          reason: 'TOO_MANY_TRIES',
          retryAfterSeconds: wait,
        },
      );
    },
    succeeded: (attempt) => forgiveAuthTries(database, accountKeys(attempt), [clientKey(attempt)]),
  };
}

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return Buffer.from(parsed.toByteArray().slice(0, IPV6_NETWORK_BITS / 8)).toString('hex');
}
