import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { isOauthSecret } from '../../core/accounts/oauth-client.ts';
import { createSizedCache } from '../../core/shared/sized-cache.ts';
import type { Database } from '../../db/connection/database.ts';
import { chargeResults } from '../../db/connection/result-charge.ts';
import {
  type CredentialRow,
  findCredentialOwner,
  type KeyUse,
  noteKeyUses,
} from '../../db/queries/accounts/credential.ts';
import { findTokenCredential } from '../../db/queries/accounts/oauth.ts';
import type { Bus } from '../../schema/messages.ts';

/** The API key of a request, or the grant of an access token: its user and its access. */
export type Credential = CredentialRow;

export interface Credentials {
  /**
   * Finds the credential of a key or an access token as the client sent it; null if it is invalid. `from` is the address of the client, which is stored with the
   * last use of the key. Throws when PostgreSQL is unreachable.
   */
  find(key: string, from?: string): Promise<Credential | null>;
  /** Returns whether a key is refused only because its workspace is suspended. */
  isSuspended(key: string): Promise<boolean>;
  /** Like find, by the SHA-256 of a key. */
  findByHash(keySha256: Buffer, from?: string): Promise<Credential | null>;
  /** Drops the cached keys of a user. */
  forget(workspaceId: string): void;
  /** Returns how often keys were dropped: what was read of a key before is outdated when it grows. */
  countDrops(): number;
  /** Stops the timer and writes pending uses of keys. */
  close(): Promise<void>;
}

export interface CredentialsOptions {
  database: Database;
  bus: Bus;
  log: Logger;
  now: () => Date;
}

/**
 * Time after which a revoked key is rejected even if the broadcast is lost. Its open streams are checked at the interval LOOK_MS of
 * operations/events/event-hub.ts, so that they also end within 5 s. Milliseconds.
 */
export const CREDENTIAL_AGE_MS = 3_000;
/** Size of all cached keys: a send policy has up to 160 KB. Bytes, about. @limit */
export const MAX_CREDENTIALS = 20_000_000;
/** Interval for writing uses of keys. Milliseconds. */
const FLUSH_INTERVAL_MS = 10_000;
/** Our keys have 43 characters; longer texts are not hashed. */
const MAX_KEY_LENGTH = 512;

/** Looks up keys by their SHA-256, so that neither the table nor the duration of a lookup reveals anything about them. */
export function openCredentials(options: CredentialsOptions): Credentials {
  const { database, bus, log, now } = options;
  const cached = createSizedCache<{ credential: Credential; readAt: number }>({
    maxSize: MAX_CREDENTIALS,
    size: ({ credential }) => JSON.stringify(credential).length,
  });
  const uses = new Map<string, KeyUse>();
  // Counts the drops, so that a lookup that started before a key was revoked is not cached.
  let drops = 0;

  function forget(workspaceId: string): void {
    drops++;
    for (const [digest, entry] of cached) if (entry.credential.workspaceId === workspaceId) cached.delete(digest);
  }
  const subscription = bus.subscribe('credential.changed', ({ ownerId }) => forget(ownerId));

  async function flush(): Promise<void> {
    if (uses.size === 0) return;
    const batch = [...uses].map(([id, use]) => ({ id, ...use }));
    uses.clear();
    await noteKeyUses(database, batch);
  }
  const timer = setInterval(() => {
    // The next use of the key writes a later time anyway.
    flush().catch((error: unknown) => log.warn({ err: error }, 'failed to store uses of keys'));
  }, FLUSH_INTERVAL_MS).unref();

  async function read(digest: Buffer, hex: string, find: FindRow): Promise<Credential | null> {
    const dropsBefore = drops;
    // The account is still unknown; requests with one key take turns with those with another.
    const credential = await chargeResults(null, () => find(database, digest), hex);
    if (credential === null || drops !== dropsBefore) return credential;
    cached.set(hex, { credential, readAt: performance.now() });
    return credential;
  }

  async function findByHash(
    digest: Buffer,
    from?: string,
    find: FindRow = findCredentialOwner,
  ): Promise<Credential | null> {
    const credential = await findKnown(digest, find);
    if (credential === null || credential.isSuspended) return null;
    // A check without a client, such as that of an open stream, keeps the address.
    uses.set(credential.keyId, { at: now(), from: from ?? uses.get(credential.keyId)?.from ?? null });
    return credential;
  }

  async function findKnown(digest: Buffer, find: FindRow): Promise<Credential | null> {
    const hex = digest.toString('hex');
    const entry = cached.get(hex);
    const isFresh = entry !== undefined && performance.now() - entry.readAt < CREDENTIAL_AGE_MS;
    if (!isFresh) cached.delete(hex);
    const credential = isFresh ? entry.credential : await read(digest, hex, find);
    return credential?.expiresAt != null && credential.expiresAt <= now() ? null : credential;
  }

  return {
    find: async (key, from) =>
      key.length > MAX_KEY_LENGTH ? null : findByHash(hash('sha256', key, 'buffer'), from, makeFinder(key)),

    findByHash: (digest, from) => findByHash(digest, from),

    async isSuspended(key) {
      if (key.length > MAX_KEY_LENGTH) return false;
      return (await findKnown(hash('sha256', key, 'buffer'), makeFinder(key)))?.isSuspended === true;
    },

    forget,

    countDrops: () => drops,

    async close() {
      clearInterval(timer);
      await subscription.stop();
      await flush().catch(() => undefined);
    },
  };
}

type FindRow = (database: Database, digest: Buffer) => Promise<Credential | null>;

const makeFinder = (key: string): FindRow => (isOauthSecret('access', key) ? findTokenCredential : findCredentialOwner);
