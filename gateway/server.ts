import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { SCIM_PATH } from '../core/accounts/scim/schema.ts';
import { loadOnce } from '../core/shared/load-once.ts';
import type { Database } from '../db/connection/database.ts';
import { openEntityStore } from '../db/entities/store.ts';
import type { OperationParts, PayloadQueries } from '../operations/context.ts';
import { createEventHub, type EventHub } from '../operations/events/event-hub.ts';
import type { LocalSending } from '../operations/sending/local-sender.ts';
import { sendSystemMail } from '../operations/sending/system-mail.ts';
import { repeatNotices } from '../operations/threads/note-notices.ts';
import { createPresenceHub } from '../operations/threads/presence-hub.ts';
import { createReadStateHub } from '../operations/threads/read-state-hub.ts';
import type { Bus } from '../schema/messages.ts';
import { type AccountsOptions, openAccounts } from './accounts/accounts.ts';
import { createAuthAttempts } from './accounts/auth-attempts.ts';
import { openAdmission } from './admission/admission.ts';
import { gatherAuditNotes } from './admission/audit-notes.ts';
import { type ByteLedger, createByteLedger } from './admission/byte-ledger.ts';
import {
  limitConnections,
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_PER_ADDRESS,
  MAX_CONNECTIONS_PER_MINUTE,
} from './admission/connection-limit.ts';
import { openCredentials } from './admission/credentials.ts';
import { warnOfForwardedRequests } from './admission/forwarded-requests.ts';
import { limitResponses } from './admission/limit-responses.ts';
import { logRequests } from './admission/request-log.ts';
import { beginInTurns } from './admission/request-turns.ts';
import { countResponseBytes, type ResponseBytes } from './admission/response-bytes.ts';
import type { GatewayConfig } from './gateway-config.ts';
import { graphqlInterface } from './graphql/graphql-routes.ts';
import { dashboardPages } from './http/dashboard-pages.ts';
import { sendGone } from './http/error-response.ts';
import { healthRoutes } from './http/health.ts';
import { createHttpServer } from './http/http-server.ts';
import { mtaStsRoute } from './http/mta-sts.ts';
import { unsubscribeRoutes } from './http/unsubscribe.ts';
import { mcpInterface } from './mcp/mcp-routes.ts';
import { oauthInterface } from './oauth/oauth.ts';
import { documentRoutes } from './openapi/openapi.ts';
import { createContextFactory, operationSettings } from './operation-context.ts';
import { agentSignUpRoutes } from './rest/accounts/agent-sign-up.ts';
import { restInterface } from './rest/rest.ts';
import { scimInterface } from './scim/scim-routes.ts';
import { SUBMITTED_BYTES, type SubmissionParts, serveSubmission } from './submission/submission.ts';
import { buildEventPayloads, buildSamplePayload } from './webhooks/event-payload.ts';
import { pullRequests } from './webhooks/pulled-requests.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** the event streams of this gateway */
    events: EventHub;
    /** the bytes of responses in the memory of this gateway */
    responses: ResponseBytes;
    /** the bytes of submitted messages in the memory of this gateway */
    submitted: ByteLedger;
  }
}

export interface GatewayOptions {
  /** role postroom_gateway */
  database: Database;
  /** role postroom_auth, used for accounts and sessions only */
  authDatabase: Database;
  bus: Bus;
  log: Logger;
  config: GatewayConfig;
  /** returns whether the process is shutting down, so that clients connect to another gateway */
  isLeaving?: () => boolean;
  now?: () => Date;
  /** returns that many bytes from a cryptographic source */
  random?: (bytes: number) => Uint8Array;
  /** time limit of a request, from the last byte of its body to the response; {@link RESPOND_WITHIN_MS} by default */
  respondWithinMs?: number;
  /** the sending actor of this process; omitted: it runs in other processes */
  localSending?: LocalSending;
  /** checks outgoing mail for viruses; omitted: it is not checked */
  scanOutgoing?: OperationParts['scanOutgoing'];
  /** ends the process at these points, for tests */
  fault?: SubmissionParts['fault'] & NonNullable<OperationParts['fault']> & NonNullable<AccountsOptions['fault']>;
}

/** Every request gets its response within 10 s, even when PostgreSQL does not respond. Milliseconds. @limit */
export const RESPOND_WITHIN_MS = 9_000;

/**
 * Creates the gateway: one plugin per area on a server whose hooks hold for all of them. The caller listens. Closing the gateway closes what
 * it opened, but not the database and the bus. `app.swagger()` returns the OpenAPI document once `app.ready()` has resolved. Nothing
 * connects before the first request.
 */
export async function createGateway(options: GatewayOptions): Promise<FastifyInstance> {
  const { database, bus, log, config, isLeaving = () => false } = options;
  const { now = () => new Date(), random = randomBytes, respondWithinMs = RESPOND_WITHIN_MS } = options;
  const { publicUrl, trustedProxies } = config;
  const app = createHttpServer({ log, publicUrl, trustedProxies, isLeaving, respondWithinMs, random });

  const findForwarded = warnOfForwardedRequests(app, { log, openForLocal: config.openForLocal ?? [], now });
  limitConnections(app, {
    perAddress: config.connectionsPerAddress ?? MAX_CONNECTIONS_PER_ADDRESS,
    perMinute: config.connectionsPerMinute ?? MAX_CONNECTIONS_PER_MINUTE,
    total: config.connections ?? MAX_CONNECTIONS,
    trustedProxies,
    log,
  });

  const credentials = openCredentials({ database, bus, log, now });
  app.addHook('onClose', () => credentials.close());
  const requestLog = logRequests(app, { database, log, now, level: config.requestLog ?? 'on' });
  app.addHook('onClose', () => requestLog.close());
  const auditNotes = gatherAuditNotes(app, { database, log, now, withReads: config.auditReads ?? false });
  app.addHook('onClose', () => auditNotes.close());
  const responses = countResponseBytes();
  limitResponses(app, responses);
  beginInTurns(app);
  app.decorate('responses', responses);
  // Opened after the credentials, so that a revoked key is forgotten before its streams are checked.
  const events = createEventHub({ database, bus, log, readersPerWorkspace: config.streamLimitPerUser });
  app.addHook('preClose', () => events.close());
  app.decorate('events', events);
  const presence = createPresenceHub({ bus });
  app.addHook('preClose', async () => presence.close());
  const readStates = createReadStateHub({ bus });
  app.addHook('preClose', async () => readStates.close());
  const parts: OperationParts = {
    database,
    entities: openEntityStore(database),
    bus,
    events,
    presence,
    readStates,
    log,
    now,
    random,
    settings: operationSettings(config),
    payloadQueries: openPayloadQueries(),
    buildEventPayloads,
    buildSamplePayload,
    pullRequests,
    forgetCredentials(ownerId) {
      credentials.forget(ownerId);
      accounts.sessions.forget(ownerId);
    },
    sendServiceMail: (mail) => sendSystemMail(parts, config.systemMailFrom, mail),
    storeLoggedRequests: () => requestLog.flush(),
    storeAuditNotes: () => auditNotes.flush(),
    noteReads: (...reads) => auditNotes.noteReads(...reads),
    noteRefusal: (...refusal) => auditNotes.noteRefusal(...refusal),
    ...(options.localSending === undefined ? {} : { localSending: options.localSending }),
    ...(options.scanOutgoing === undefined ? {} : { scanOutgoing: options.scanOutgoing }),
    ...(options.fault === undefined ? {} : { fault: options.fault }),
  };
  const notices = repeatNotices(parts);
  app.addHook('onClose', () => notices.close());
  const contextOf = createContextFactory(parts, config);
  const accounts = openAccounts({
    ...config,
    database: options.authDatabase,
    userDatabase: database,
    bus,
    log,
    now,
    random,
    mail: parts.sendServiceMail,
    ...(options.fault === undefined ? {} : { fault: options.fault }),
  });
  app.addHook('onClose', () => accounts.sessions.close());
  const admission = openAdmission({ config, database, credentials, sessions: accounts.sessions, now, random });

  const submitted = createByteLedger(SUBMITTED_BYTES);
  app.decorate('submitted', submitted);
  const endSubmission = serveSubmission({
    parts,
    credentials,
    attempts: createAuthAttempts(options.authDatabase, config.secretKey),
    limiter: admission.limiter,
    ledger: submitted,
    fault: options.fault ?? (() => undefined),
  });
  app.addHook('preClose', endSubmission);

  // Before any route, since the document collects the routes that are added after it.
  await documentRoutes(app, publicUrl);
  await app.register(dashboardPages);
  await app.register(async (open) => {
    healthRoutes(open, { database, bus, isLeaving, findForwarded });
    mtaStsRoute(open, parts);
    await open.register(unsubscribeRoutes, { parts });
    open.all('/api/v1', { schema: { hide: true } }, sendGone);
    open.all('/api/v1/*', { schema: { hide: true } }, sendGone);
  });
  await app.register(accounts.routes, { prefix: '/api/auth' });
  const oauth = { parts, config, authDatabase: options.authDatabase, sessions: accounts.sessions, contextOf };
  await app.register(oauthInterface, oauth);
  await app.register(restInterface, { prefix: '/api/e2', admission, contextOf, publicUrl });
  await app.register(agentSignUpRoutes, {
    prefix: '/api/e2/agent',
    admission,
    contextOf,
    attempts: createAuthAttempts(options.authDatabase, config.secretKey),
    domain: config.agentSignUpDomain ?? null,
  });
  await app.register(scimInterface, { prefix: SCIM_PATH, admission, contextOf, database, publicUrl, now });
  await app.register(graphqlInterface, { admission, contextOf, publicUrl, respondWithinMs });
  await app.register(mcpInterface, { admission, contextOf, publicUrl, respondWithinMs });
  return app;
}

/** Loads the GraphQL schema at the first query. */
function openPayloadQueries(): PayloadQueries {
  const load = loadOnce(async () => (await import('./graphql/payload-query.ts')).createPayloadQueries());
  return {
    check: async (query) => (await load()).check(query),
    select: async (...request) => (await load()).select(...request),
    selectAll: async (...request) => (await load()).selectAll(...request),
  };
}
