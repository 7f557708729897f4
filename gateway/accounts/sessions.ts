import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Database } from '../../db/connection/database.ts';
import { findSession } from '../../db/queries/accounts/session.ts';
import { type Bus } from '../../schema/messages.ts';

/** Whose session a request bears. */
export interface SessionCredential {
  sessionId: string;
  userId: string;
  expiresAt: Date;
}

/** The sessions that cookies open. Looking one up does not count as a use: only `/api/auth/get-session` moves its end. */
export interface Sessions {
  /** The cookie of a session in the Cookie field of a request, as it came; null when there is none. */
  cookieOf(field: string | undefined): string | null;
  /** The session of a cookie; null when it opens nothing. Throws when PostgreSQL is away. */
  find(cookie: string): Promise<SessionCredential | null>;
  /** Has the sessions of a user looked up anew. */
  forget(userId: string): void;
  close(): Promise<void>;
}

export interface SessionsOptions {
  /** role postroom_auth */
  database: Database;
  bus: Bus;
  now: () => Date;
  publicUrl: string;
  /** with which cookies are signed */
  secret: string;
}

/** A session that was ended opens nothing after this long even when the broadcast is lost. Milliseconds. */
const CACHE_AGE_MS = 3_000;
const MAX_CACHED = 10_000;

export function openSessions({ database, bus, now, publicUrl, secret }: SessionsOptions): Sessions {
  const name = sessionCookieName(publicUrl);
  const cached = new Map<string, { session: SessionCredential; readAt: number }>();
  // Counts the drops, so that a look-up that was under way while a session was ended is not kept.
  let drops = 0;

  function forget(userId: string): void {
    drops++;
    for (const [token, entry] of cached) if (entry.session.userId === userId) cached.delete(token);
  }
  const subscription = bus.subscribe('credential.changed', ({ userId }) => forget(userId));

  async function read(token: string): Promise<SessionCredential | null> {
    const dropsBefore = drops;
    const session = await findSession(database, token, now());
    if (session === null || drops !== dropsBefore) return session;
    const oldest = cached.keys().next();
    if (cached.size >= MAX_CACHED && oldest.done === false) cached.delete(oldest.value);
    cached.set(token, { session, readAt: performance.now() });
    return session;
  }

  return {
    cookieOf: (field) => findCookie(field, name),

    async find(cookie) {
      const token = readSessionToken(cookie, secret);
      if (token === null) return null;
      const entry = cached.get(token);
      const isFresh = entry !== undefined && performance.now() - entry.readAt < CACHE_AGE_MS;
      if (!isFresh) cached.delete(token);
      const session = isFresh ? entry.session : await read(token);
      return session === null || session.expiresAt <= now() ? null : session;
    },

    forget,

    close: () => subscription.stop(),
  };
}

/** Cookies of ours are shorter; a longer one is none and is not looked at. Characters. */
const MAX_COOKIE_LENGTH = 512;

/** The name of the session's cookie. Over TLS browsers hold it to Secure, Path=/ and no Domain (RFC 6265bis §4.1.3.2). */
function sessionCookieName(publicUrl: string): string {
  return `${publicUrl.startsWith('https:') ? '__Host-' : ''}postroom.session_token`;
}

/** The value of a cookie in a Cookie field (RFC 6265 §4.2), as it stands there; null when there is none. */
function findCookie(field: string | undefined, name: string): string | null {
  for (const pair of field?.split(';') ?? []) {
    const mark = pair.indexOf('=');
    if (mark !== -1 && pair.slice(0, mark).trim() === name) return pair.slice(mark + 1).trim();
  }
  return null;
}

/** The token of a cookie as better-auth signs it: `token.signature`, percent-encoded. Null when it is none of ours. */
function readSessionToken(value: string, secret: string): string | null {
  if (value.length > MAX_COOKIE_LENGTH) return null;
  const [, token, signature] = /^([A-Za-z0-9]+)\.([A-Za-z0-9+/]{43}=)$/.exec(decoded(value)) ?? [];
  if (token === undefined || signature === undefined) return null;
  const expected = createHmac('sha256', secret).update(token).digest();
  return timingSafeEqual(Buffer.from(signature, 'base64'), expected) ? token : null;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}
