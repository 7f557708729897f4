import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database } from '../../db/connection/database.ts';
import { type CredentialRow, findCredentialOwner, noteKeyUses } from '../../db/queries/accounts/credential.ts';
import type { Bus } from '../../schema/messages.ts';

/** Whose key a request bears, and what it is good for. */
type Credential = CredentialRow;

export interface Credentials {
  /** The credential of a key as the client sent it; null when it opens nothing. Throws when PostgreSQL is away. */
  find(key: string): Promise<Credential | null>;
  /** Has the keys of a user looked up anew. */
  forget(userId: string): void;
  /** Ends the timer and writes what is left. */
  close(): Promise<void>;
}

export interface CredentialsOptions {
  database: Database;
  bus: Bus;
  log: Logger;
  now: () => Date;
}

/**
 * A revoked key opens nothing after this long even when the broadcast is lost. Streams that it opened are looked at every LOOK_MS of
 * operations/events/event-hub.ts, so that they end within 5 s, too. Milliseconds.
 */
export const CREDENTIAL_AGE_MS = 3_000;
const MAX_CACHED = 10_000;
/** How often uses of keys are written. Milliseconds. */
const FLUSH_INTERVAL_MS = 10_000;
/** Keys of ours have 43 characters; a longer text is no key and is not hashed. */
const MAX_KEY_LENGTH = 512;

/** Looks keys up by their SHA-256, so that neither the table nor the time that a look-up takes tells anything of them. */
export function openCredentials(options: CredentialsOptions): Credentials {
  const { database, bus, log, now } = options;
  const cached = new Map<string, { credential: Credential; readAt: number }>();
  const uses = new Map<string, Date>();
  // Counts the drops, so that a look-up that was under way while a key was revoked is not kept.
  let drops = 0;

  function forget(userId: string): void {
    drops++;
    for (const [digest, entry] of cached) if (entry.credential.userId === userId) cached.delete(digest);
  }
  const subscription = bus.subscribe('credential.changed', ({ userId }) => forget(userId));

  async function flush(): Promise<void> {
    if (uses.size === 0) return;
    const batch = [...uses].map(([id, at]) => ({ id, at }));
    uses.clear();
    await noteKeyUses(database, batch);
  }
  const timer = setInterval(() => {
    // The next use of the key writes a later instant anyway.
    flush().catch((error: unknown) => log.warn({ err: error }, 'uses of keys were not written'));
  }, FLUSH_INTERVAL_MS).unref();

  async function read(digest: Buffer, hex: string): Promise<Credential | null> {
    const dropsBefore = drops;
    const credential = await findCredentialOwner(database, digest);
    if (credential === null || drops !== dropsBefore) return credential;
    const oldest = cached.keys().next();
    if (cached.size >= MAX_CACHED && oldest.done === false) cached.delete(oldest.value);
    cached.set(hex, { credential, readAt: performance.now() });
    return credential;
  }

  return {
    async find(key) {
      if (key.length > MAX_KEY_LENGTH) return null;
      const digest = hash('sha256', key, 'buffer');
      const hex = digest.toString('hex');
      const entry = cached.get(hex);
      const isFresh = entry !== undefined && performance.now() - entry.readAt < CREDENTIAL_AGE_MS;
      if (!isFresh) cached.delete(hex);
      const credential = isFresh ? entry.credential : await read(digest, hex);
      if (credential === null || (credential.expiresAt !== null && credential.expiresAt <= now())) return null;
      uses.set(credential.keyId, now());
      return credential;
    },

    forget,

    async close() {
      clearInterval(timer);
      await subscription.stop();
      await flush().catch(() => undefined);
    },
  };
}
