import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Reach } from '../../core/accounts/key-rights.ts';
import {
  COMMAND_LINE_CLIENT,
  hashOauthSecret,
  makeOauthSecret,
  type OauthClient,
  readUserCode,
  redirectHost,
} from '../../core/accounts/oauth-client.ts';
import {
  allowedLevels,
  type CodeTerms,
  GRANT_LEVELS,
  type GrantLevel,
  makeTerms,
  requestedLevel,
} from '../../core/accounts/oauth-grant.ts';
import { UserError } from '../../core/shared/errors.ts';
import { createCode, decideDevice, findWaitingDevice } from '../../db/queries/accounts/oauth.ts';
import { findReach, tellOfAccess } from '../../operations/accounts/api-keys.ts';
import { requireFreshSignIn } from '../../operations/accounts/fresh-sign-in.ts';
import type { SessionCredential, SessionLookup } from '../accounts/session-lookup.ts';
import { requireSession } from '../accounts/workspace-routes.ts';
import { findSession } from '../admission/session-admission.ts';
import { openCaller } from '../http/caller.ts';
import { type AuthorizeRequest, readAuthorizeRequest, redirectTo } from './authorize-request.ts';
import type { OauthRouteOptions } from './oauth-routes.ts';
import { SECRET_BYTES } from './tokens.ts';

export interface ConsentRouteOptions extends OauthRouteOptions {
  sessions: SessionLookup;
}

/** A code waits this long for its client. Seconds. */
const CODE_SECONDS = 60;
const MAX_PARAMETER_LENGTH = 4_096;

const parameters = z.record(z.string().max(100), z.string().max(MAX_PARAMETER_LENGTH));
const userCode = z.string().max(32);
/** Which request a person decides about. */
const asked = z.union([z.strictObject({ parameters }), z.strictObject({ userCode })]);
const decision = z.object({
  asked,
  /** the workspace that the page showed */
  workspaceId: z.string().max(64),
  /** null: the person denies access */
  level: z.enum(GRANT_LEVELS).nullable(),
  /** the only addresses; null: all that the person sees */
  addresses: z.array(z.string().max(320)).min(1).max(100).nullable(),
});
type Decision = z.output<typeof decision>;

/** What the page shows. */
interface Question {
  client: Pick<OauthClient, 'name' | 'verifiedHost'>;
  /** where the browser goes next, or where the terminal is */
  host: string;
  workspaceId: string;
  levels: GrantLevel[];
  /** what the client asked for, as far as the person can allow it */
  requested: GrantLevel;
  /** whether the client gets the whole interface, or the tools of the MCP server only */
  isForMcp: boolean;
}

/**
 * Serves the page on which a person decides about a client: `POST /request` shows what it asks, `POST /decision` allows or denies it. Both need a
 * session and come from a page of this gateway, so that no other page can decide.
 */
export async function consentRoutes(plain: FastifyInstance, options: ConsentRouteOptions): Promise<void> {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  const { publicUrl, contextOf } = options;

  app.post('/request', { schema: { hide: true, body: asked } }, async (request) => {
    const session = await requireSession(request, options);
    const found = await find(options, request.body, session, request);
    return 'location' in found ? found : { question: makeQuestion(found, session, publicUrl) };
  });

  app.post('/decision', { schema: { hide: true, body: decision } }, async (request, reply) => {
    // Access that a program gets outlives the session, so the session needs the second factor that the workspace requires.
    const entry = await findSession(request, options.sessions, publicUrl);
    if (entry === null) throw new UserError('unauthorized', 'Authentication required');
    const { session } = entry;
    request.workspaceId = session.workspaceId;
    request.rights = session.rights;
    request.caller = openCaller(reply, {
      via: 'session',
      isAllowed: async () => true,
      signedInAt: session.confirmedAt,
    });
    const { body } = request;
    const found = await find(options, body.asked, session, request);
    if ('location' in found) return found;
    if (body.workspaceId !== session.workspaceId)
      throw new UserError('conflict', 'You switched to another workspace meanwhile. Load the page again.', {
        reason: 'OTHER_WORKSPACE',
      });
    if (body.level !== null) requireFreshSignIn(contextOf(request), 'connect a program');
    const terms = body.level === null ? null : await decideTerms(options, body.level, body, session, request);
    const decided =
      'userCode' in found
        ? await decideAboutDevice(options, found, terms, session)
        : await decideAboutRedirect(options, found, terms, session);
    if (terms !== null) tellOfAccess(contextOf(request), 'program');
    return decided;
  });
}

/** What a person decides about. */
type Found = AuthorizeRequest | DeviceRequest;

interface DeviceRequest {
  userCode: string;
  client: OauthClient;
  host: string;
  resource: string;
  scope: string | null;
}

/** Returns what is asked, or where an invalid request leads. Throws validation, not_found, rate_limited. */
async function find(
  options: ConsentRouteOptions,
  given: z.output<typeof asked>,
  { personId }: SessionCredential,
  request: FastifyRequest,
): Promise<Found | { location: string }> {
  if ('parameters' in given) {
    const { chooseClients, publicUrl } = options;
    const read = await readAuthorizeRequest(given.parameters, { clients: chooseClients(request), publicUrl });
    if (!('kind' in read)) return read;
    if (read.kind === 'redirected') return { location: read.location };
    throw new UserError('validation', read.message, { reason: 'INVALID_OAUTH_REQUEST' });
  }
  const attempt = { kind: 'device-code', address: request.ip, account: personId } as const;
  await options.attempts.take(attempt);
  const code = readUserCode(given.userCode);
  const device = code === null ? null : await findWaitingDevice(options.database, code, options.now());
  if (code === null || device === null)
    throw new UserError('not_found', 'No terminal waits for this code. It may have expired: start again there.', {
      reason: 'UNKNOWN_USER_CODE',
    });
  await options.attempts.succeeded(attempt);
  const { clientHost: host, resource, scope } = device;
  return { userCode: code, client: COMMAND_LINE_CLIENT, host, resource, scope };
}

function makeQuestion(found: Found, { workspaceId, rights }: SessionCredential, publicUrl: string): Question {
  const { client, resource, scope } = found;
  const levels = allowedLevels(rights);
  const asks = requestedLevel(scope) ?? 'read';
  const requested = levels.findLast((level) => GRANT_LEVELS.indexOf(level) <= GRANT_LEVELS.indexOf(asks)) ?? 'read';
  return {
    client: { name: client.name, verifiedHost: client.verifiedHost },
    host: 'userCode' in found ? found.host : redirectHost(found.redirectUri),
    workspaceId,
    levels,
    requested,
    isForMcp: resource !== publicUrl,
  };
}

/** Returns the rights that the client gets: never more than the person has now. Throws forbidden, validation. */
async function decideTerms(
  { contextOf }: ConsentRouteOptions,
  level: GrantLevel,
  { addresses }: Decision,
  { rights }: SessionCredential,
  request: FastifyRequest,
): Promise<CodeTerms> {
  if (!allowedLevels(rights).includes(level))
    throw new UserError('forbidden', `Your role does not allow a program the level ${level}. Choose a lower level.`, {
      title: 'Forbidden',
      reason: 'LEVEL_NOT_ALLOWED',
    });
  if (level === 'everything' && addresses !== null)
    throw new UserError('validation', 'The level everything cannot be limited to addresses. Choose another level.');
  const chosen = await findReach(contextOf(request), { addresses });
  const reach: Reach | null = chosen ?? rights.reach;
  if (reach !== null && reach.domains.length + reach.addresses.length === 0)
    throw new UserError('forbidden', 'You see no mail in this workspace, so a program would see none either.', {
      title: 'Forbidden',
    });
  return makeTerms(level, reach, rights);
}

async function decideAboutDevice(
  { database, now }: ConsentRouteOptions,
  found: DeviceRequest,
  terms: CodeTerms | null,
  { personId, sessionId, workspaceId }: SessionCredential,
): Promise<{ location: null }> {
  const decided = { userCode: found.userCode, personId, sessionId, workspaceId, terms, now: now() };
  if (!(await decideDevice(database, decided)))
    throw new UserError('not_found', 'No terminal waits for this code any more.', { reason: 'UNKNOWN_USER_CODE' });
  return { location: null };
}

async function decideAboutRedirect(
  { database, now, random, publicUrl }: ConsentRouteOptions,
  found: AuthorizeRequest,
  terms: CodeTerms | null,
  { personId, sessionId, workspaceId }: SessionCredential,
): Promise<{ location: string }> {
  if (terms === null)
    return {
      location: redirectTo(found, { error: 'access_denied', error_description: 'The person denied access' }, publicUrl),
    };
  const { client, redirectUri, challenge, resource, scope } = found;
  const code = makeOauthSecret('code', random(SECRET_BYTES));
  await createCode(database, {
    secretSha256: hashOauthSecret(code),
    expiresAt: new Date(now().getTime() + CODE_SECONDS * 1_000),
    columns: {
      client_id: client.id,
      client_name: client.name,
      client_host: redirectHost(redirectUri),
      redirect_uri: redirectUri,
      challenge,
      resource,
      scope,
      terms,
      workspace_id: workspaceId,
      person_id: personId,
      session_id: sessionId,
    },
  });
  return { location: redirectTo(found, { code }, publicUrl) };
}
