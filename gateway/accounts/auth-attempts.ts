import ipaddr from 'ipaddr.js';
import { deriveTriesSecret, triesKey } from '../../core/accounts/auth-secret.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Database } from '../../db/connection/database.ts';
import { forgiveAuthTries, takeAuthTry } from '../../db/queries/accounts/sign-in-link.ts';

/** Kinds of attempts, which are counted separately. */
export type AttemptKind =
  | 'sign-in'
  | 'sign-up'
  | 'sign-in-link'
  | 'passkey'
  | 'passkey-options'
  | 'reset-request'
  | 'reset'
  | 'password'
  | 'invitation'
  | 'provider'
  | 'second-factor'
  | 'submission'
  | 'oauth-client'
  | 'device'
  | 'device-code'
  | 'agent-sign-up';

/** An attempt of a client at an account. */
export interface AuthAttempt {
  kind: AttemptKind;
  /** IP address of the client, IPv4 or IPv6 */
  address: string;
  /** email address in lower case, or ID; null if the attempt names no account */
  account: string | null;
}

/** Limits attempts, over all gateways of the database and across restarts. */
export interface AuthAttempts {
  /** Counts an attempt before it is checked, so that concurrent attempts cannot exceed the limit. Throws rate_limited. */
  take(attempt: AuthAttempt): Promise<void>;
  /** Resets the attempts at the account after a success, and does not count this one against the client. */
  succeeded(attempt: AuthAttempt): Promise<void>;
}

/** Limit for each account, and for each client over all accounts. @limit */
export const ATTEMPT_LIMIT = { most: 10, windowSeconds: 900 };
/**
 * Limit for challenges and single sign-on, which every sign-in page requests and which are stored for a while, for invitations, which cannot be
 * guessed, and for clients and devices of OAuth, which are stored.
 */
const OPTIONS_LIMIT = { most: 100, windowSeconds: 900 };
const WIDE: ReadonlySet<AttemptKind> = new Set<AttemptKind>([
  'passkey-options',
  'invitation',
  'provider',
  'oauth-client',
  'device',
]);
/** Kinds that one client can use up for itself only: wrong passwords of a stranger must not lock a person out. */
const BY_CLIENT: ReadonlySet<AttemptKind> = new Set<AttemptKind>(['sign-in', 'password']);
/** Prefix length of the IPv6 network that counts as one client; bits. */
const IPV6_NETWORK_BITS = 64;

export function createAuthAttempts(database: Database, secretKey: Uint8Array): AuthAttempts {
  const secret = deriveTriesSecret(secretKey);
  const clientKey = ({ kind, address }: AuthAttempt) => triesKey(secret, `${kind} of a client`, findNetwork(address));
  const accountKeys = ({ kind, account, address }: AuthAttempt) =>
    account === null
      ? []
      : [
          triesKey(
            secret,
            `${kind} at an account`,
            BY_CLIENT.has(kind) ? `${account}\0${findNetwork(address)}` : account,
          ),
        ];
  return {
    async take(attempt) {
      const limit = WIDE.has(attempt.kind) ? OPTIONS_LIMIT : ATTEMPT_LIMIT;
      const wait = await takeAuthTry(database, [clientKey(attempt), ...accountKeys(attempt)], limit);
      if (wait === 0) return;
      const minutes = Math.ceil(wait / 60);
      throw new UserError(
        'rate_limited',
        `Too many attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`,
        {
          reason: 'TOO_MANY_TRIES',
          retryAfterSeconds: wait,
        },
      );
    },
    succeeded: (attempt) => forgiveAuthTries(database, accountKeys(attempt), [clientKey(attempt)]),
  };
}

function findNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return Buffer.from(parsed.toByteArray().slice(0, IPV6_NETWORK_BITS / 8)).toString('hex');
}
