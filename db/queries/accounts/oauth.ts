import { sql, type Transaction } from 'kysely';
import type { Reach } from '../../../core/accounts/key-rights.ts';
import type { CodeTerms, GrantLevel } from '../../../core/accounts/oauth-grant.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';
import { type CredentialColumns, type CredentialRow, readCredential } from './credential.ts';

/* Clients, codes and tokens of OAuth. Role postroom_auth, where nothing else is said. */

/** A client that registered itself. */
export interface RegisteredClient {
  id: string;
  name: string;
  redirectUris: readonly string[];
}

/** Stores a client; false when there are `most` already, and none can be removed to make room. */
export async function registerClient(
  database: Database,
  { id, name, redirectUris }: RegisteredClient,
  { most, keepSeconds }: { most: number; keepSeconds: number },
): Promise<boolean> {
  const { rows } = await database.pool.query<{ made: boolean }>({
    name: 'register-oauth-client',
    text: 'select register_oauth_client($1, $2, $3, $4, make_interval(secs => $5)) as made',
    values: [id, name, redirectUris, most, keepSeconds],
  });
  return rows[0]?.made === true;
}

export async function findRegisteredClient(database: Database, id: string): Promise<RegisteredClient | null> {
  const { rows } = await database.pool.query<{ name: string; redirect_uris: string[] }>({
    name: 'oauth-client-of',
    text: 'select name, redirect_uris from oauth_client_of($1)',
    values: [id],
  });
  const [row] = rows;
  return row === undefined ? null : { id, name: row.name, redirectUris: row.redirect_uris };
}

/** A code to store, as columns. */
export interface NewCode {
  secretSha256: Buffer;
  expiresAt: Date;
  columns: {
    client_id: string;
    client_name: string;
    client_host: string;
    resource: string;
    scope: string | null;
  } & (
    | {
        redirect_uri: string;
        challenge: string;
        terms: CodeTerms;
        workspace_id: string;
        person_id: string;
        session_id: string;
      }
    | { user_code: string }
  );
}

/** Stores a code; false when its user code is taken. */
export async function createCode(database: Database, { secretSha256, columns, expiresAt }: NewCode): Promise<boolean> {
  const { rows } = await database.pool.query<{ made: boolean }>({
    name: 'create-oauth-code',
    text: 'select create_oauth_code($1, $2, $3) as made',
    values: [secretSha256, JSON.stringify(columns), expiresAt],
  });
  return rows[0]?.made === true;
}

/** A device that waits for a person. */
export interface WaitingDevice {
  clientId: string;
  clientName: string;
  clientHost: string;
  resource: string;
  scope: string | null;
}

export async function findWaitingDevice(
  database: Database,
  userCode: string,
  now: Date,
): Promise<WaitingDevice | null> {
  const { rows } = await database.pool.query<WaitingDevice>({
    name: 'oauth-device-of',
    text: `select client_id as "clientId", client_name as "clientName", client_host as "clientHost", resource, scope
           from oauth_device_of($1, $2)`,
    values: [userCode, now],
  });
  return rows[0] ?? null;
}

/** Decides about the code of a device; `terms` null denies it. False when it was decided before, or has expired. */
export async function decideDevice(
  database: Database,
  decision: {
    userCode: string;
    personId: string;
    sessionId: string;
    workspaceId: string;
    terms: CodeTerms | null;
    now: Date;
  },
): Promise<boolean> {
  const { userCode, personId, sessionId, workspaceId, terms, now } = decision;
  const { rows } = await database.pool.query<{ done: boolean }>({
    name: 'decide-oauth-device',
    text: 'select decide_oauth_device($1, $2, $3, $4, $5, $6) as done',
    values: [userCode, personId, sessionId, workspaceId, terms === null ? null : JSON.stringify(terms), now],
  });
  return rows[0]?.done === true;
}

/** Tokens to store, by their SHA-256. */
export interface NewTokens {
  access: { sha256: Buffer; expiresAt: Date };
  refresh: { sha256: Buffer; expiresAt: Date };
}

/** See exchange_oauth_code and rotate_oauth_token. */
export type TokenOutcome = 'made' | 'invalid' | 'used' | 'pending' | 'denied' | 'slow_down' | 'expired' | 'too_many';

export interface TokenResult {
  outcome: TokenOutcome;
  workspaceId: string | null;
  grantId: string | null;
  level: GrantLevel | null;
}

const RESULT = `outcome, workspace_id as "workspaceId", grant_id as "grantId", level`;
const NO_RESULT: TokenResult = { outcome: 'invalid', workspaceId: null, grantId: null, level: null };

/** What a client presents with a code. */
export interface PresentedCode {
  secretSha256: Buffer;
  clientId: string;
  /** null: the code of a device */
  redirect: { uri: string; challenge: string } | null;
  /** null: the client did not name one */
  resource: string | null;
}

interface Exchange {
  presented: PresentedCode;
  /** the API key that the grant is; nothing has the secret of this hash */
  key: { id: string; sha256: Buffer };
  tokens: NewTokens;
  now: Date;
  /** keys of the workspace */
  mostKeys: number;
  /** between two requests of a device */
  intervalSeconds: number;
  /** where the request comes from, for the audit log */
  origin: { address: string; agent: string | null; request: string };
}

/** Takes a code and stores its grant and tokens. Of several at once, one succeeds. */
export async function exchangeCode(database: Database, exchange: Exchange): Promise<TokenResult> {
  const { presented, key, tokens, now, mostKeys, intervalSeconds, origin } = exchange;
  const { secretSha256, clientId, redirect, resource } = presented;
  const given = {
    client_id: clientId,
    resource,
    ...(redirect === null ? {} : { redirect_uri: redirect.uri, challenge: redirect.challenge }),
  };
  const { rows } = await database.pool.query<TokenResult>({
    name: 'exchange-oauth-code',
    text: `select ${RESULT} from exchange_oauth_code($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, make_interval(secs => $11), $12)`,
    values: [
      secretSha256,
      JSON.stringify(given),
      key.id,
      key.sha256,
      tokens.access.sha256,
      tokens.access.expiresAt,
      tokens.refresh.sha256,
      tokens.refresh.expiresAt,
      now,
      mostKeys,
      intervalSeconds,
      JSON.stringify(origin),
    ],
  });
  return rows[0] ?? NO_RESULT;
}

/** Replaces a refresh token. Of several at once, one succeeds, and the others end the grant's tokens. */
export async function rotateToken(
  database: Database,
  rotation: { secretSha256: Buffer; clientId: string; resource: string | null; tokens: NewTokens; now: Date },
): Promise<TokenResult> {
  const { secretSha256, clientId, resource, tokens, now } = rotation;
  const { access, refresh } = tokens;
  const { rows } = await database.pool.query<TokenResult>({
    name: 'rotate-oauth-token',
    text: `select ${RESULT} from rotate_oauth_token($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [secretSha256, clientId, resource, access.sha256, access.expiresAt, refresh.sha256, refresh.expiresAt, now],
  });
  return rows[0] ?? NO_RESULT;
}

/** Returns the grant of a token of this client; null when there is none. */
export async function findGrantOfToken(
  database: Database,
  secretSha256: Buffer,
  clientId: string,
): Promise<{ workspaceId: string; grantId: string } | null> {
  const { rows } = await database.pool.query<{ workspaceId: string; grantId: string }>({
    name: 'oauth-grant-of-token',
    text: 'select workspace_id as "workspaceId", grant_id as "grantId" from oauth_grant_of_token($1, $2)',
    values: [secretSha256, clientId],
  });
  return rows[0] ?? null;
}

/** Returns the key of an access token, until the token ends; null when there is none. Role postroom_gateway. */
export async function findTokenCredential(database: Database, secretSha256: Buffer): Promise<CredentialRow | null> {
  const { rows } = await database.pool.query<CredentialColumns & { resource: string }>({
    name: 'oauth-credential',
    text: 'select * from oauth_credential($1)',
    values: [secretSha256],
  });
  const [row] = rows;
  return row === undefined ? null : { ...readCredential(row), resource: row.resource };
}

/** A grant that was not revoked. */
export interface GrantRow {
  id: string;
  clientId: string;
  clientHost: string;
  name: string;
  level: GrantLevel;
  resource: string;
  reach: Reach | null;
  personId: string;
  personEmail: string | null;
  createdAt: Date;
  /** accurate to seconds; null: not used yet */
  lastUsedAt: Date | null;
  lastUsedFrom: string | null;
}

/** Returns the grants of the workspace, newest first; with `personId` those of one person, with `ids` these. */
export async function listGrants(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { personId, ids }: { personId?: string | null; ids?: readonly string[] },
): Promise<GrantRow[]> {
  const { rows } = await sql<GrantRow>`
    select id, client_id as "clientId", client_host as "clientHost", name, level, resource, reach, person_id as "personId",
      person_email as "personEmail", created_at as "createdAt", last_used_at as "lastUsedAt", last_used_from as "lastUsedFrom"
    from oauth_grants_of(${workspaceId})
    where ${personId === undefined ? sql`true` : sql`person_id = ${personId}`} and ${ids === undefined ? sql`true` : sql`id = any (${ids}::text[])`}
    order by created_at desc, id desc`.execute(transaction);
  return rows;
}
