import type { FastifyRequest } from 'fastify';
import { auditText } from '../../core/accounts/audit.ts';
import { FULL_RIGHTS } from '../../core/accounts/key-rights.ts';
import {
  challengeOfVerifier,
  hashOauthSecret,
  isOauthSecret,
  makeOauthSecret,
} from '../../core/accounts/oauth-client.ts';
import { UserError } from '../../core/shared/errors.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import type { Database } from '../../db/connection/database.ts';
import {
  exchangeCode,
  findGrantOfToken,
  type PresentedCode,
  rotateToken,
  type TokenOutcome,
  type TokenResult,
} from '../../db/queries/accounts/oauth.ts';
import { MAX_API_KEYS, revokeApiKey } from '../../operations/accounts/api-keys.ts';
import type { ContextOf } from '../operation-context.ts';
import { DEVICE_GRANT_TYPE, readResource } from './oauth-metadata.ts';
import { OauthRefusal } from './oauth-refusal.ts';

export interface TokenOptions {
  /** role postroom_auth */
  database: Database;
  contextOf: ContextOf;
  publicUrl: string;
  now: () => Date;
  random: (bytes: number) => Uint8Array;
}

/** How long an access token is valid. Seconds. */
const ACCESS_SECONDS = 3_600;
/** How long a refresh token is valid; each use makes a new one. Seconds. */
const REFRESH_SECONDS = 90 * 86_400;
export const SECRET_BYTES = 32;
/** How often a device may ask. Seconds; the limit leaves room for clocks and networks. */
export const POLL_SECONDS = 5;
const LEAST_POLL_SECONDS = 4;

/** A form with each field at most once. */
export type Form = ReadonlyMap<string, string>;

/** The response of the token endpoint (RFC 6749 §5.1). */
interface TokenResponse {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  scope: string;
}

/** Responds to a request for tokens. Throws OauthRefusal. */
export async function issueTokens(options: TokenOptions, form: Form, request: FastifyRequest): Promise<TokenResponse> {
  const type = requireField(form, 'grant_type');
  const secrets = makeSecrets(options);
  if (type === 'refresh_token') {
    const result = await refresh(options, form, secrets);
    return respond(options, result, secrets, request);
  }
  const presented =
    type === 'authorization_code'
      ? readRedirectCode(options, form)
      : type === DEVICE_GRANT_TYPE
        ? readDeviceCode(form)
        : null;
  if (presented === null)
    throw new OauthRefusal(
      'unsupported_grant_type',
      `grant_type must be authorization_code, refresh_token or ${DEVICE_GRANT_TYPE}`,
    );
  const agent = request.headers['user-agent'];
  const result = await exchangeCode(options.database, {
    presented,
    key: { id: newIdentifier(options, 'apiKey'), sha256: Buffer.from(options.random(SECRET_BYTES)) },
    tokens: secrets.tokens,
    now: options.now(),
    mostKeys: MAX_API_KEYS,
    intervalSeconds: LEAST_POLL_SECONDS,
    origin: { address: request.ip, agent: agent === undefined ? null : auditText(agent), request: request.id },
  });
  return respond(options, result, secrets, request);
}

function readRedirectCode({ publicUrl }: TokenOptions, form: Form): PresentedCode {
  const code = requireField(form, 'code');
  const clientId = requireField(form, 'client_id');
  const uri = requireField(form, 'redirect_uri');
  const challenge = challengeOfVerifier(requireField(form, 'code_verifier'));
  if (challenge === null)
    throw new OauthRefusal('invalid_request', 'code_verifier must have 43 to 128 characters of RFC 7636');
  if (!isOauthSecret('code', code)) throw toRefusal('invalid');
  const resource = readOptionalResource(form, publicUrl);
  return { secretSha256: hashOauthSecret(code), clientId, redirect: { uri, challenge }, resource };
}

function readDeviceCode(form: Form): PresentedCode {
  const code = requireField(form, 'device_code');
  const clientId = requireField(form, 'client_id');
  if (!isOauthSecret('device', code)) throw toRefusal('invalid');
  return { secretSha256: hashOauthSecret(code), clientId, redirect: null, resource: null };
}

async function refresh(options: TokenOptions, form: Form, { tokens }: Secrets): Promise<TokenResult> {
  const token = requireField(form, 'refresh_token');
  const clientId = requireField(form, 'client_id');
  const resource = readOptionalResource(form, options.publicUrl);
  if (!isOauthSecret('refresh', token)) throw toRefusal('invalid');
  const secretSha256 = hashOauthSecret(token);
  return rotateToken(options.database, { secretSha256, clientId, resource, tokens, now: options.now() });
}

function readOptionalResource(form: Form, publicUrl: string): string | null {
  const given = form.get('resource') ?? null;
  if (given === null) return null;
  const resource = readResource(given, publicUrl);
  if (resource === null) throw new OauthRefusal('invalid_target', `resource must be ${publicUrl}/mcp or ${publicUrl}`);
  return resource;
}

async function respond(
  options: TokenOptions,
  { outcome, workspaceId, grantId, level }: TokenResult,
  { access, refresh: refreshToken }: Secrets,
  request: FastifyRequest,
): Promise<TokenResponse> {
  // Two parties have what one should have, and it is unknown which of them is the client.
  if (outcome === 'used' && workspaceId !== null && grantId !== null)
    await revokeTokenGrant(options, { workspaceId, grantId }, request);
  if (outcome !== 'made' || level === null) throw toRefusal(outcome);
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_SECONDS,
    refresh_token: refreshToken,
    scope: level,
  };
}

/** Revokes the grant of a token (RFC 7009). An unknown token is no error, since the client's aim is reached. */
export async function revokeToken(options: TokenOptions, form: Form, request: FastifyRequest): Promise<void> {
  const token = requireField(form, 'token');
  const clientId = requireField(form, 'client_id');
  if (!isOauthSecret('access', token) && !isOauthSecret('refresh', token)) return;
  const grant = await findGrantOfToken(options.database, hashOauthSecret(token), clientId);
  if (grant !== null) await revokeTokenGrant(options, grant, request);
}

async function revokeTokenGrant(
  { contextOf }: TokenOptions,
  { workspaceId, grantId }: { workspaceId: string; grantId: string },
  request: FastifyRequest,
): Promise<void> {
  // What the client does with its own grant, as the audit log shows it.
  request.workspaceId = workspaceId;
  request.rights = { ...FULL_RIGHTS, keyId: grantId };
  try {
    await revokeApiKey(contextOf(request), grantId, { keepsConfiguration: false });
  } catch (error) {
    // It was revoked before.
    if (!(error instanceof UserError && error.code === 'not_found')) throw error;
  }
}

interface Secrets {
  access: string;
  refresh: string;
  tokens: Parameters<typeof rotateToken>[1]['tokens'];
}

function makeSecrets({ random, now }: TokenOptions): Secrets {
  const access = makeOauthSecret('access', random(SECRET_BYTES));
  const refreshToken = makeOauthSecret('refresh', random(SECRET_BYTES));
  const after = (seconds: number) => new Date(now().getTime() + seconds * 1_000);
  return {
    access,
    refresh: refreshToken,
    tokens: {
      access: { sha256: hashOauthSecret(access), expiresAt: after(ACCESS_SECONDS) },
      refresh: { sha256: hashOauthSecret(refreshToken), expiresAt: after(REFRESH_SECONDS) },
    },
  };
}

/** Throws OauthRefusal when the field is missing. */
export function requireField(form: Form, name: string): string {
  const value = form.get(name) ?? '';
  if (value === '') throw new OauthRefusal('invalid_request', `${name} is required`);
  return value;
}

function toRefusal(outcome: TokenOutcome): OauthRefusal {
  switch (outcome) {
    case 'pending':
      return new OauthRefusal('authorization_pending', 'The code was not entered yet');
    case 'slow_down':
      return new OauthRefusal('slow_down', `Ask every ${POLL_SECONDS} seconds`);
    case 'denied':
      return new OauthRefusal('access_denied', 'The person denied access');
    case 'expired':
      return new OauthRefusal('expired_token', 'The code has expired. Sign in again.');
    case 'too_many':
      return new OauthRefusal(
        'invalid_grant',
        'The workspace has too many API keys and connected programs. Revoke some.',
      );
    case 'invalid':
    case 'made':
    case 'used':
      return new OauthRefusal(
        'invalid_grant',
        'The code or token is not valid: it was used, has expired, was revoked, or is for another client or redirect_uri. Sign in again.',
      );
  }
}
