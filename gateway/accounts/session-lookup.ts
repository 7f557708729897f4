import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyRights } from '../../core/accounts/key-rights.ts';
import { createCountedCache } from '../../core/shared/sized-cache.ts';
import { type Database } from '../../db/connection/database.ts';
import { findSession, type SessionRow } from '../../db/queries/accounts/session.ts';
import { type Bus } from '../../schema/messages.ts';

/** The session of a request, its person and its active workspace. */
export interface SessionCredential {
  sessionId: string;
  personId: string;
  /** the active workspace */
  workspaceId: string;
  /** what the person may do in it */
  rights: KeyRights;
  /** when its user signed in */
  createdAt: Date;
  expiresAt: Date;
  /** when its user last signed in, or confirmed to be there */
  confirmedAt: Date;
  /** the workspace whose single sign-on started it; null: it was started otherwise */
  providerId: string | null;
  /** whether its user has not shown the second factor yet */
  isPending: boolean;
  /** whether the workspace requires a second factor that the session has not shown */
  lacksSecondFactor: boolean;
}

/** Looks up sessions by their cookies. A lookup does not extend a session; only `/api/auth/get-session` does. */
export interface SessionLookup {
  /** Returns the raw session cookie in a Cookie header; null if there is none. */
  cookieOf(field: string | undefined): string | null;
  /** Finds the session of a cookie; null if it is invalid, or pending. Throws when PostgreSQL is unreachable. */
  find(cookie: string): Promise<SessionCredential | null>;
  /** Like find, also for a session that waits for the second factor, which opens nothing else. */
  findPending(cookie: string): Promise<SessionCredential | null>;
  /** Drops the cached sessions of a workspace, or of a person. */
  forget(id: string): void;
  close(): Promise<void>;
}

export interface SessionsOptions {
  /** role postroom_auth */
  database: Database;
  bus: Bus;
  now: () => Date;
  publicUrl: string;
  /** signs the cookies */
  secret: string;
}

/** Time after which a session that was ended is rejected even if the broadcast is lost. Milliseconds. */
const CACHE_AGE_MS = 3_000;
const MAX_CACHED = 10_000;

export function openSessionLookup({ database, bus, now, publicUrl, secret }: SessionsOptions): SessionLookup {
  const name = sessionCookieName(publicUrl);
  const cached = createCountedCache<SessionCredential>(MAX_CACHED, { ttl: CACHE_AGE_MS });
  // Counts the drops, so that a lookup that started before a session was ended is not cached.
  let drops = 0;

  function forget(id: string): void {
    drops++;
    const all = [...cached.entries()];
    for (const [token, session] of all) if (session.workspaceId === id || session.personId === id) cached.delete(token);
  }
  const subscription = bus.subscribe('credential.changed', ({ ownerId }) => forget(ownerId));

  async function read(token: string): Promise<SessionCredential | null> {
    const dropsBefore = drops;
    const row = await findSession(database, token, now());
    if (row === null) return null;
    const session = toCredential(row);
    if (drops !== dropsBefore) return session;
    cached.set(token, session);
    return session;
  }

  async function findPending(cookie: string): Promise<SessionCredential | null> {
    const token = readSessionToken(cookie, secret);
    if (token === null) return null;
    const session = cached.get(token) ?? (await read(token));
    return session === null || session.expiresAt <= now() ? null : session;
  }

  return {
    cookieOf: (field) => findCookie(field, name),

    async find(cookie) {
      const session = await findPending(cookie);
      return session === null || session.isPending ? null : session;
    },

    findPending,

    forget,

    close: () => subscription.stop(),
  };
}

function toCredential({ workspaceId, role, isApprover, reach, ...session }: SessionRow): SessionCredential {
  const rights = {
    keyId: null,
    personId: session.personId,
    role,
    isApprover,
    scopes: null,
    reach,
    mayHaveQuotas: true,
  };
  return { ...session, workspaceId, rights };
}

/** Our cookies are shorter; longer ones are ignored. Characters. */
const MAX_COOKIE_LENGTH = 512;

/** Returns the name of the session cookie. Over TLS its prefix makes browsers require Secure, Path=/ and no Domain (RFC 6265bis §4.1.3.2). */
export function sessionCookieName(publicUrl: string): string {
  return `${publicUrl.startsWith('https:') ? '__Host-' : ''}postroom.session_token`;
}

/** Returns the raw value of a cookie in a Cookie header (RFC 6265 §4.2); null if there is none. */
export function findCookie(field: string | undefined, name: string): string | null {
  for (const pair of field?.split(';') ?? []) {
    const mark = pair.indexOf('=');
    if (mark !== -1 && pair.slice(0, mark).trim() === name) return pair.slice(mark + 1).trim();
  }
  return null;
}

/** A cookie that browsers send to one path only. */
interface PathCookie {
  name: string;
  value: string;
  path: string;
  /** until it expires; 0 removes it */
  seconds: number;
}

/** Returns the name of such a cookie. Over TLS its prefix makes browsers require Secure (RFC 6265bis §4.1.3.1). */
export function pathCookieName(name: string, publicUrl: string): string {
  return publicUrl.startsWith('https:') ? `__Secure-${name}` : name;
}

/** Returns a Set-Cookie header field. SameSite=Lax, because pages of providers lead back here. */
export function writePathCookie({ name, value, path, seconds }: PathCookie, publicUrl: string): string {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : '';
  return `${pathCookieName(name, publicUrl)}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

/**
 * Returns a Cookie header that better-auth reads as findCookie reads the given one: with the first cookie of each name, and none in quotes,
 * which better-auth would take off. Otherwise it could act for another session than the one that was checked. It has no cookie of `hidden`.
 */
export function plainCookies(field: string, hidden: readonly string[]): string {
  const plain = new Map<string, string>();
  for (const pair of field.split(';')) {
    const mark = pair.indexOf('=');
    const [name, value] = [pair.slice(0, mark).trim(), pair.slice(mark + 1).trim()];
    if (mark !== -1 && !plain.has(name)) plain.set(name, value);
  }
  return [...plain]
    .filter(([name, value]) => !value.startsWith('"') && !hidden.includes(name))
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
}

/** Returns the token of a cookie signed by better-auth: `token.signature`, percent-encoded. Null if the signature is not ours. */
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
