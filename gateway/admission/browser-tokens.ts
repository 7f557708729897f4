import { type BrowserTokenClaims, isBrowserToken, openBrowserTokens } from '../../core/accounts/browser-token.ts';
import type { KeyRights } from '../../core/accounts/key-rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import { createCountedCache } from '../../core/shared/sized-cache.ts';
import type { Database } from '../../db/connection/database.ts';
import { findTokenParent, type TokenParent } from '../../db/queries/accounts/browser-token.ts';
import { CREDENTIAL_AGE_MS, type Credentials } from './credentials.ts';

/** What a browser token allows now. */
interface TokenEntry {
  /** the workspace */
  workspaceId: string;
  rights: KeyRights;
  isAllowed: () => Promise<boolean>;
}

export interface TokenAdmission {
  /**
   * Returns what a credential allows as a browser token; null when it is none, or not valid any more. Throws forbidden for a page of an
   * origin that the token does not name, and for a suspended workspace.
   */
  find(credential: string, origin: string | undefined): Promise<TokenEntry | null>;
}

interface TokenAdmissionOptions {
  database: Database;
  credentials: Pick<Credentials, 'countDrops'>;
  secretKey: Uint8Array;
  publicUrl: string;
  now: () => Date;
}

/** Tokens whose parents are kept. */
const MAX_PARENTS = 10_000;

/** Checks browser tokens: the signature in memory, and their key in PostgreSQL, every few seconds. */
export function openTokenAdmission(options: TokenAdmissionOptions): TokenAdmission {
  const { database, credentials, secretKey, publicUrl, now } = options;
  const tokens = openBrowserTokens(secretKey, publicUrl);
  const parents = createCountedCache<{ parent: TokenParent; readAt: number; drops: number }>(MAX_PARENTS);

  async function readParent(token: string, claims: BrowserTokenClaims): Promise<TokenParent | null> {
    const known = parents.get(token);
    const drops = credentials.countDrops();
    const isFresh = known?.drops === drops && performance.now() - known.readAt < CREDENTIAL_AGE_MS;
    if (isFresh) return known.parent;
    parents.delete(token);
    const parent = await findTokenParent(database, {
      keyId: claims.key,
      parentId: claims.parent,
      workspaceId: claims.sub,
      addresses: claims.addresses ?? [],
    });
    if (parent === null) return null;
    parents.set(token, { parent, readAt: performance.now(), drops });
    return parent;
  }

  return {
    async find(token, origin) {
      const claims = isBrowserToken(token) ? tokens.read(token, now()) : null;
      if (claims === null) return null;
      if (origin === undefined || !claims.origins.includes(origin)) throw originNotAllowed(origin);
      const parent = await readParent(token, claims);
      if (parent === null) return null;
      if (parent.isSuspended) throw workspaceSuspended();
      const rights = findRights(claims, parent);
      if (rights === null) return null;
      return { workspaceId: claims.sub, rights, isAllowed: () => isStillAllowed(token, claims, rights) };
    },
  };

  /** Whether the token of an open stream is valid, and allows what it allowed at its beginning. */
  async function isStillAllowed(token: string, claims: BrowserTokenClaims, before: KeyRights): Promise<boolean> {
    if (tokens.read(token, now()) === null) return false;
    const parent = await readParent(token, claims);
    if (parent === null || parent.isSuspended) return false;
    const rights = findRights(claims, parent);
    return JSON.stringify(rights) === JSON.stringify(before);
  }
}

/** Returns the rights of the token that its key still has; null when none is left. */
function findRights(
  { key, rights, addresses: given }: BrowserTokenClaims,
  { scopes, addresses, mayHaveQuotas }: TokenParent,
): KeyRights | null {
  const left = rights.filter((right) => scopes === null || scopes.includes(right));
  if (left.length === 0 || (given !== null && addresses.length === 0)) return null;
  const reach = given === null ? null : { domains: [], addresses: given.filter((each) => addresses.includes(each)) };
  return {
    keyId: key,
    personId: null,
    role: null,
    isApprover: false,
    scopes: left,
    reach,
    mayHaveQuotas,
    isOfPage: true,
  };
}

function originNotAllowed(origin: string | undefined): UserError {
  const from = origin === undefined ? 'This request has no Origin header' : `This request comes from ${origin}`;
  return new UserError('forbidden', `${from}, and the browser token is for pages of the origins that it names.`, {
    title: 'Forbidden',
    reason: 'origin_not_allowed',
  });
}

/** Returns the error of a request with a credential of a suspended workspace. */
export function workspaceSuspended(): UserError {
  return new UserError('forbidden', 'This workspace is suspended. Ask its operator to resume it.', {
    title: 'Forbidden',
    reason: 'workspace_suspended',
  });
}
