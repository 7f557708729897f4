import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FULL_RIGHTS } from '../../core/accounts/key-rights.ts';
import { hasRight } from '../../core/accounts/rights.ts';
import { deriveDownloadLinkKey, type LinkHolder, readDownloadLink } from '../../core/endpoints/download-link.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { Database } from '../../db/connection/database.ts';
import { findRightsNow } from '../../db/queries/accounts/credential.ts';
import type { SessionLookup } from '../accounts/session-lookup.ts';
import type { GatewayConfig } from '../gateway-config.ts';
import { openCaller } from '../http/caller.ts';
import { requireRouteAccess } from './access.ts';
import { type BodiesInFlight, countBodiesInFlight } from './bodies-in-flight.ts';
import { openTokenAdmission, type TokenAdmission, workspaceSuspended } from './browser-tokens.ts';
import type { Credential, Credentials } from './credentials.ts';
import {
  createRequestLimiter,
  createSharedRequestLimiter,
  limitHeaders,
  type RequestLimiter,
} from './request-limit.ts';
import { findSession } from './session-admission.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** the workspace of the request's key, or the active one of its session; empty before admission */
    workspaceId: string;
  }
}

export interface AdmissionOptions {
  config: GatewayConfig;
  /** where all gateways count requests */
  database: Database;
  credentials: Credentials;
  sessions: SessionLookup;
  now: () => Date;
  /** returns that many bytes from a cryptographic source */
  random: (bytes: number) => Uint8Array;
}

export interface Admission {
  /** admits requests by their key or session */
  admit: AdmissionHook;
  /** also admits downloads by their signed link */
  admitDownload: AdmissionHook;
  /** counted over REST and GraphQL */
  bodiesInFlight: BodiesInFlight;
  /** counts the requests of users; null for no limit */
  limiter: RequestLimiter | null;
}

type AdmissionHook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export function openAdmission(options: AdmissionOptions): Admission {
  const { config, credentials, sessions, now } = options;
  const { publicUrl } = config;
  const limiter = openLimiter(options);
  const tokens = openTokenAdmission({
    database: options.database,
    credentials,
    secretKey: config.secretKey,
    publicUrl,
    now,
  });
  const admit = admitByCredential({ credentials, sessions, tokens, publicUrl, limiter, now });
  const linkKey = deriveDownloadLinkKey(config.secretKey);
  return {
    admit,
    admitDownload: admitByLink({ admit, database: options.database, linkKey, limiter, now }),
    bodiesInFlight: countBodiesInFlight(),
    limiter,
  };
}

/**
 * Admits all requests of a plugin before their bodies arrive, and again when they run: a client that sends a body slowly, or waits for a turn, has the
 * rights of that moment.
 */
export function admitRequests(app: FastifyInstance, admit: AdmissionHook): void {
  app.addHook('onRequest', admit);
  app.addHook('preHandler', async ({ method, caller }) => {
    if (method === 'GET' || method === 'HEAD' || caller === null || (await caller.isAllowed())) return;
    throw new UserError('forbidden', 'Your access ended or changed while this request arrived. Nothing was changed.', {
      title: 'Forbidden',
      reason: 'ACCESS_CHANGED',
    });
  });
}

function openLimiter({ config, database, random }: AdmissionOptions): RequestLimiter | null {
  const { rateLimitPerSecond: limit, requestLimitStore: store } = config;
  if (limit === 0) return null;
  const clock = () => performance.now();
  return store === 'memory'
    ? createRequestLimiter(limit, clock)
    : createSharedRequestLimiter({ database, limit, clock, random });
}

interface CredentialAdmission extends RequestCount {
  credentials: Credentials;
  tokens: TokenAdmission;
  sessions: SessionLookup;
  publicUrl: string;
}

/**
 * Admits a request by its credential. Checks the key first, then the request limit of its workspace, then its rights. Keys are accepted only in
 * the Authorization header, because query strings end up in logs and histories. So are browser tokens, from pages of their origins. Without that header, a session cookie gives access to the
 * active workspace with the role of its person, if a page of this gateway sent it. Throws unauthorized, rate_limited, forbidden, RequestLimiterAway.
 */
function admitByCredential(options: CredentialAdmission): AdmissionHook {
  const { credentials, sessions, tokens, publicUrl } = options;
  return async (request, reply) => {
    const entry = await findSession(request, sessions, publicUrl);
    if (entry !== null) {
      request.workspaceId = entry.session.workspaceId;
      request.rights = entry.session.rights;
      request.caller = openCaller(reply, {
        via: 'session',
        isAllowed: entry.isAllowed,
        signedInAt: entry.session.confirmedAt,
      });
      await countRequest(options, entry.session.workspaceId, reply);
      return requireRouteAccess(request, entry.session.rights);
    }
    const { authorization = '' } = request.headers;
    const key = /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
    const credential = key === undefined ? null : await credentials.find(key, request.ip);
    if (credential === null || !isForRequest(credential, request, publicUrl)) {
      const token = key === undefined ? null : await tokens.find(key, request.headers.origin);
      if (token !== null) {
        request.workspaceId = token.workspaceId;
        request.rights = token.rights;
        request.caller = openCaller(reply, { via: 'key', isAllowed: token.isAllowed });
        await countRequest(options, token.workspaceId, reply);
        return requireRouteAccess(request, token.rights);
      }
      if (key !== undefined && (await credentials.isSuspended(key))) throw workspaceSuspended();
      const name = /^Bearer +\S/i.test(authorization) ? 'invalid_api_key' : 'missing_api_key';
      throw new UserError('unauthorized', 'Authentication required', { name });
    }
    request.workspaceId = credential.workspaceId;
    request.rights = credential;
    const isAllowed = async () => isSameAccess(await credentials.find(key ?? ''), credential);
    request.caller = openCaller(reply, { via: 'key', isAllowed });
    await countRequest(options, credential.workspaceId, reply);
    requireRouteAccess(request, credential);
  };
}

/**
 * Returns whether a credential is for what the request asks: an access token of the MCP server is not accepted by the other interfaces (RFC
 * 8707 §2), whose clients asked for more than the person allowed there.
 */
function isForRequest({ resource }: Credential, request: FastifyRequest, publicUrl: string): boolean {
  return resource === null || resource === publicUrl || resource === `${publicUrl}${request.routeOptions.url ?? ''}`;
}

/** Returns whether a key allows what it allowed at the beginning of a stream, whose work is limited to that. */
function isSameAccess(now: Credential | null, before: Credential): boolean {
  return (
    now?.keyId === before.keyId &&
    isDeepStrictEqual([now.scopes, now.reach, now.role], [before.scopes, before.reach, before.role])
  );
}

interface RequestCount {
  /** null for no limit */
  limiter: RequestLimiter | null;
  now: () => Date;
}

/** Counts a request of the user and sets the rate limit headers. Throws rate_limited, RequestLimiterAway. */
export async function countRequest(
  { limiter, now }: RequestCount,
  workspaceId: string,
  reply: FastifyReply,
): Promise<void> {
  if (limiter === null) return;
  const state = await limiter.take(workspaceId);
  reply.headers(limitHeaders(state, now()));
  if (!state.isExceeded) return;
  const seconds = Math.ceil(state.resetMs / 1_000);
  throw new UserError(
    'rate_limited',
    `Rate limit exceeded. Maximum ${state.limit} requests per second. Retry after ${seconds} seconds.`,
  );
}

interface LinkAdmission extends RequestCount {
  admit: AdmissionHook;
  database: Database;
  /** see deriveDownloadLinkKey */
  linkKey: Uint8Array;
}

/**
 * Admits a download by its signed link, with the rights that its holder has now, and within the request limit of the workspace. A request with a
 * key is admitted by the key. A missing, forged or expired signature, one of a suspended or closed workspace, and one whose holder may not read any
 * more get the same response as no credential, so that guessing reveals nothing. Throws the errors of admitByCredential.
 */
function admitByLink(options: LinkAdmission): AdmissionHook {
  const { admit, database, linkKey, now } = options;
  return async (request, reply) => {
    const link = request.headers.authorization === undefined ? readLink(request, linkKey, now()) : null;
    const present = link === null ? null : await findRightsNow(database.kysely, link.workspaceId, link.holder);
    if (link === null || present === null) return admit(request, reply);
    const { workspaceId } = link;
    const rights = { ...FULL_RIGHTS, ...present };
    if (!hasRight(rights, 'read')) return admit(request, reply);
    request.workspaceId = workspaceId;
    request.rights = rights;
    request.caller = openCaller(reply, { via: null, isAllowed: async () => true });
    await countRequest(options, workspaceId, reply);
  };
}

function readLink(request: FastifyRequest, linkKey: Uint8Array, now: Date): LinkHolder | null {
  const { id, index } = request.params as { id: string; index?: string };
  const { user, for: holder, expires, signature } = request.query as Record<string, unknown>;
  // An index has exactly one spelling in a link.
  if (index !== undefined && !/^(?:0|[1-9]\d{0,5})$/.test(index)) return null;
  const part = index === undefined ? 'raw' : Number(index);
  return readDownloadLink(linkKey, { emailId: id, part }, { user, for: holder, expires, signature }, now);
}
