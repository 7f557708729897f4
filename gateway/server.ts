import { randomBytes } from 'node:crypto';
import swagger from '@fastify/swagger';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { NO_RIGHTS } from '../core/accounts/key-rights.ts';
import { deriveDownloadLinkKey } from '../core/endpoints/download-link.ts';
import { createAddressGuard } from '../core/shared/network-address.ts';
import { KEEP_FOR_EVER } from '../core/upkeep/retention.ts';
import { type Database, limitedTo } from '../db/connection/database.ts';
import { openEntityStore, refusingStore } from '../db/entities/store.ts';
import type { Caller } from '../operations/caller.ts';
import type { OperationContext, OperationParts } from '../operations/context.ts';
import { createEventHub, type EventHub } from '../operations/events/event-hub.ts';
import { sendSystemMail } from '../operations/sending/system-mail.ts';
import type { Bus } from '../schema/messages.ts';
import { openAccounts } from './accounts/accounts.ts';
import { requireDeclaredAccess, requireRequestScope } from './admission/access.ts';
import { admission } from './admission/admission.ts';
import { countBodiesInFlight, limitBodiesInFlight } from './admission/bodies-in-flight.ts';
import { openCredentials } from './admission/credentials.ts';
import { allowAnyOrigin } from './admission/cross-origin.ts';
import { downloadAdmission } from './admission/download-admission.ts';
import { refuseDownloadsAsCode } from './admission/download-destination.ts';
import { limitDownloads } from './admission/downloads-in-flight.ts';
import { refuseOtherHosts } from './admission/own-host.ts';
import { createRequestLimiter, type RequestLimiter } from './admission/request-limit.ts';
import { createSharedRequestLimiter } from './admission/shared-request-limit.ts';
import type { GatewayConfig } from './gateway-config.ts';
import { graphqlRoute } from './graphql/yoga.ts';
import { warnOfUnknownFields } from './http/body-warnings.ts';
import { dashboardPages } from './http/dashboard-pages.ts';
import { collectDeclaredMethods } from './http/declared-methods.ts';
import { hasNoRoute, sendError, sendGone, sendNoRoute } from './http/error-response.ts';
import { healthRoutes } from './http/health.ts';
import { measureRequests } from './http/measure-requests.ts';
import { mtaStsRoute } from './http/mta-sts.ts';
import { traceRequests } from './http/request-spans.ts';
import { acceptJson, servedPath } from './http/requests.ts';
import { timeToAnswer } from './http/time-to-answer.ts';
import { strictTransportSecurity } from './http/transport-security.ts';
import { closeConnectionsWhenLeaving } from './http/turn-away.ts';
import { openApiOptions } from './openapi/openapi.ts';
import { referenceRoutes } from './openapi/reference.ts';
import { dmarcReportRoutes } from './rest/domains/dmarc-reports.ts';
import { domainChangeRoutes } from './rest/domains/domain-changes.ts';
import { domainRoutes } from './rest/domains/domains.ts';
import { emailAddressRoutes } from './rest/domains/email-addresses.ts';
import { legacyDomainRoutes } from './rest/domains/legacy-domains.ts';
import { attachmentRoutes } from './rest/emails/attachments.ts';
import { downloadRoutes } from './rest/emails/downloads.ts';
import { emailHtmlRoutes } from './rest/emails/email-html.ts';
import { emailWaitRoutes } from './rest/emails/email-wait.ts';
import { emailRoutes } from './rest/emails/emails.ts';
import { legacyMailRoutes } from './rest/emails/legacy-mail.ts';
import { receivingRoutes } from './rest/emails/receiving.ts';
import { timelineRoutes } from './rest/emails/timeline.ts';
import { deliveryRoutes } from './rest/endpoints/deliveries.ts';
import { endpointActionRoutes } from './rest/endpoints/endpoint-actions.ts';
import { endpointRoutes } from './rest/endpoints/endpoints.ts';
import { retryRoutes } from './rest/endpoints/retries.ts';
import { eventRoutes } from './rest/events/events.ts';
import { guardRoutes } from './rest/routing/guard.ts';
import { guardBacktestRoutes } from './rest/routing/guard-backtest.ts';
import { routeRoutes } from './rest/routing/routes.ts';
import { batchRoutes } from './rest/sending/batches.ts';
import { legacyScheduledRoutes } from './rest/sending/legacy-scheduled.ts';
import { replyRoutes } from './rest/sending/replies.ts';
import { scheduledEmailRoutes } from './rest/sending/scheduled-emails.ts';
import { sendingRoutes } from './rest/sending/sending.ts';
import { suppressionRoutes } from './rest/sending/suppressions.ts';
import { threadRoutes } from './rest/threads/threads.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** who follows which feed */
    events: EventHub;
  }
}

export interface GatewayOptions {
  /** role postroom_gateway */
  database: Database;
  /** role postroom_auth, for accounts and sessions alone */
  authDatabase: Database;
  bus: Bus;
  log: Logger;
  config: GatewayConfig;
  /** whether the process is about to end: then clients are to go elsewhere */
  isLeaving?: () => boolean;
  now?: () => Date;
  /** octets from a cryptographic source */
  random?: (octets: number) => Uint8Array;
}

/** Octets of a request body but for those of mail (guarantees.md S18). */
const BODY_LIMIT = 262_144;
/** An answer comes within 10 s even when PostgreSQL does not (guarantees.md C3). Milliseconds. */
const HANDLER_TIMEOUT_MS = 9_000;
/** A slow client has this long for its header section and for the whole request (guarantees.md H2). Milliseconds. */
const HEADERS_TIMEOUT_MS = 30_000;
const REQUEST_TIMEOUT_MS = 55_000;
const TIMEOUT_CHECK_MS = 5_000;
/** Names of attachments in a path, each character of up to four octets percent-encoded. Characters. */
const MAX_PARAM_LENGTH = 4_096;

const resources = [
  emailRoutes,
  emailHtmlRoutes,
  emailWaitRoutes,
  sendingRoutes,
  batchRoutes,
  scheduledEmailRoutes,
  retryRoutes,
  routeRoutes,
  timelineRoutes,
  replyRoutes,
  threadRoutes,
  attachmentRoutes,
  suppressionRoutes,
  domainRoutes,
  domainChangeRoutes,
  dmarcReportRoutes,
  emailAddressRoutes,
  endpointRoutes,
  endpointActionRoutes,
  deliveryRoutes,
  eventRoutes,
  guardRoutes,
  guardBacktestRoutes,
  receivingRoutes,
  legacyScheduledRoutes,
  legacyMailRoutes,
  legacyDomainRoutes,
];

/**
 * Makes the gateway; the caller listens. Closing it ends what it opened, not the database and not the bus.
 * `app.swagger()` answers the OpenAPI document once `app.ready()` has resolved; nothing connects before the first request.
 */
export async function createGateway(options: GatewayOptions): Promise<FastifyInstance> {
  const { database, bus, log, config, isLeaving = () => false } = options;
  const { now = () => new Date(), random = randomBytes } = options;
  const always = {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...strictTransportSecurity(config.publicUrl),
  };
  const app = Fastify({
    // The types of pino's loggers differ in how they write their own levels.
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    handlerTimeout: HANDLER_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Of everybody else the address is that of the connection, whatever they say.
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
    forceCloseConnections: 'idle',
    // Who still reaches us is served to the end.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    genReqId: () => randomBytes(12).toString('hex'),
    rewriteUrl: (request) => servedPath(request.url ?? '/'),
    // What the router refuses meets no hook.
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply.headers(always));
    },
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(sendError);
  acceptJson(app);
  collectDeclaredMethods(app);
  app.decorateRequest('userId', '');
  app.decorateRequest('caller', null);
  app.decorateRequest('rights', null);
  timeToAnswer(app, { handlerMs: HANDLER_TIMEOUT_MS, uploadMs: REQUEST_TIMEOUT_MS, largeOctets: BODY_LIMIT });
  traceRequests(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, ...always });
  });
  closeConnectionsWhenLeaving(app, isLeaving);
  measureRequests(app);
  app.addHook('onResponse', async (request, reply) => {
    // The route's pattern, never the path: ids and search texts are the users'.
    const { method, url: route } = request.routeOptions;
    request.log.info({ method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request');
  });
  refuseOtherHosts(app, config.publicUrl);

  await app.register(swagger, openApiOptions(config.publicUrl));

  await dashboardPages(app);
  healthRoutes(app, { database, bus, isLeaving });
  app.all('/api/v1', { schema: { hide: true } }, sendGone);
  app.all('/api/v1/*', { schema: { hide: true } }, sendGone);

  const guard = createAddressGuard(config);
  const { publicUrl, mailHostname, trustedDomains, secretKey, sendLimitPerHour, hasGuardModel } = config;
  const settings = {
    publicUrl,
    mailHostname,
    trustedDomains,
    secretKey,
    requestsPerSecond: config.rateLimitPerSecond,
    sendLimitPerHour,
    mtaStsMode: config.mtaStsMode ?? ('testing' as const),
    retention: config.retention ?? KEEP_FOR_EVER,
    hasGuardModel,
    smtp: config.smtp,
    version: config.version,
    isSignUpOpen: config.isSignUpOpen,
    guard,
  };
  const entities = openEntityStore(database);
  const credentials = openCredentials({ database, bus, log, now });
  app.addHook('onClose', () => credentials.close());
  // Behind the credentials, so that a key is forgotten before its streams are looked at.
  const events = createEventHub({ database, bus, log, readersPerUser: config.streamLimitPerUser });
  app.addHook('preClose', () => events.close());
  app.decorate('events', events);
  const forgetCredentials = (userId: string) => credentials.forget(userId);
  const parts: OperationParts = { database, entities, bus, events, log, now, random, settings, forgetCredentials };
  const partsOf = ({ rights }: FastifyRequest): OperationParts =>
    rights?.domain == null
      ? parts
      : { ...parts, database: limitedTo(database, rights.domain), entities: refusingStore(rights.domain) };
  mtaStsRoute(app, parts);
  const contextOf = (request: FastifyRequest): OperationContext => ({
    ...partsOf(request),
    log: request.log as Logger,
    userId: request.userId,
    rights: request.rights ?? NO_RIGHTS,
    answerBy: request.answerBy,
    caller: request.caller ?? NOBODY,
  });

  const { sessions, routes } = openAccounts({
    ...config,
    database: options.authDatabase,
    bus,
    log,
    now,
    random,
    mail: (mail) => sendSystemMail(parts, config.systemMailFrom, mail),
  });
  app.addHook('onClose', () => sessions.close());
  await app.register(routes, { prefix: '/api/auth' });

  const limiter = limiterOf(options, random);
  const bodiesInFlight = countBodiesInFlight();
  const admit = admission({ credentials, sessions, publicUrl, limiter, now });
  const admitDownload = downloadAdmission({ admit, linkKey: deriveDownloadLinkKey(secretKey), limiter, now });

  await app.register(
    async (rest) => {
      await allowAnyOrigin(rest);
      refuseDownloadsAsCode(rest);
      limitDownloads(rest);
      // Here too, so that a page may read that a path is none.
      rest.setNotFoundHandler(sendNoRoute);
      // Before the body is read: whatever it is, the path or the method is wrong.
      rest.addHook('onRequest', async (request, reply) =>
        hasNoRoute(request) ? sendNoRoute(request, reply) : undefined,
      );
      await referenceRoutes(rest, { publicUrl });
      await rest.register(async (admitted) => {
        requireDeclaredAccess(admitted);
        admitted.addHook('onRequest', admit);
        admitted.addHook('preHandler', requireRequestScope);
        limitBodiesInFlight(admitted, bodiesInFlight);
        warnOfUnknownFields(admitted);
        for (const routes of resources) await admitted.register(routes, { contextOf });
      });
      await rest.register(async (downloads) => {
        requireDeclaredAccess(downloads);
        downloads.addHook('onRequest', admitDownload);
        await downloads.register(downloadRoutes, { contextOf });
      });
    },
    { prefix: '/api/e2' },
  );
  await app.register(async (graphql) => {
    graphqlRoute(graphql, { admit, contextOf, bodiesInFlight, publicUrl });
  });
  return app;
}

/** Of a request that was not admitted, which reaches no operation. */
const NOBODY: Caller = { via: null, gone: AbortSignal.abort(), isAllowed: async () => false, hangUp: () => undefined };

function limiterOf(
  { config, database }: GatewayOptions,
  random: (octets: number) => Uint8Array,
): RequestLimiter | null {
  const { rateLimitPerSecond: limit, requestLimitStore: store } = config;
  if (limit === 0) return null;
  const clock = () => performance.now();
  return store === 'memory'
    ? createRequestLimiter(limit, clock)
    : createSharedRequestLimiter({ database, limit, clock, random });
}
