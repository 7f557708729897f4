import { once } from 'node:events';
import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import { SMALL_BODY } from '../admission/bodies-in-flight.ts';
import { refuseOtherHosts } from '../admission/own-host.ts';
import { sendError } from './error-response.ts';
import { handleInOrder } from './pipelined-requests.ts';
import { measureRequests, traceRequests } from './request-telemetry.ts';
import { acceptJson, collectDeclaredMethods, servedPath } from './requests.ts';
import { timeToRespond } from './response-deadline.ts';
import { responseSerializer } from './response-serializer.ts';

export interface HttpServerOptions {
  log: Logger;
  /** base URL of links, without a trailing slash */
  publicUrl: string;
  /** addresses and CIDRs whose X-Forwarded-For is trusted */
  trustedProxies: readonly string[];
  /** returns whether the process is shutting down, so that clients connect to another gateway */
  isLeaving: () => boolean;
  /** time limit of a request, from the last byte of its body to the response; milliseconds */
  respondWithinMs: number;
  /** returns that many bytes from a cryptographic source */
  random: (bytes: number) => Uint8Array;
}

/** Largest request body of routes that take no mail; bytes. @limit */
export const BODY_LIMIT = 262_144;
/** How long a slow client may take for its header section, and for the whole request. Milliseconds. @limit */
export const HEADERS_TIMEOUT_MS = 30_000;
/** @limit */
export const REQUEST_TIMEOUT_MS = 55_000;
const TIMEOUT_CHECK_MS = 5_000;
/** How long one part of the server may take to start; Fastify's 10 s end the start of a busy machine. Milliseconds. */
const START_TIMEOUT_MS = 120_000;
/** Attachment names in a path: each character takes up to four bytes, each of them percent-encoded. Characters. */
const MAX_PARAM_LENGTH = 4_096;
const REQUEST_ID_BYTES = 12;

/** Creates the Fastify instance with the hooks and limits that hold for every route, whichever plugin adds it. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { log, publicUrl, trustedProxies, isLeaving, respondWithinMs, random } = options;
  const always = {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...strictTransportSecurity(publicUrl),
  };
  const app = Fastify({
    // The types of pino's loggers differ in how they write their own levels.
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    pluginTimeout: START_TIMEOUT_MS,
    // Without a trusted proxy the client's address is that of the connection, whatever its headers say.
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
    forceCloseConnections: 'idle',
    // Requests that still arrive while the process shuts down are served.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    genReqId: () => Buffer.from(random(REQUEST_ID_BYTES)).toString('hex'),
    rewriteUrl: (request) => servedPath(request.url ?? '/'),
    // Requests that the router refuses reach no hook.
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply.headers(always));
    },
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'remove',
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(responseSerializer);
  app.setErrorHandler(sendError);
  acceptJson(app);
  collectDeclaredMethods(app);
  app.decorateRequest('workspaceId', '');
  app.decorateRequest('caller', null);
  app.decorateRequest('rights', null);
  handleInOrder(app);
  timeToRespond(app, {
    handlerMs: respondWithinMs,
    uploadMs: REQUEST_TIMEOUT_MS,
    largeBytes: BODY_LIMIT,
    smallBytes: SMALL_BODY,
  });
  traceRequests(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, ...always });
  });
  closeConnectionsWhenLeaving(app, isLeaving);
  measureRequests(app);
  app.addHook('onResponse', async (request, reply) => {
    // Logs the route's pattern, never the path: ids and search texts belong to the users.
    const { method, url: route } = request.routeOptions;
    request.log.info({ method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request');
  });
  refuseOtherHosts(app, publicUrl);
  return app;
}

/** How long a browser remembers to use HTTPS only: a year, in seconds. */
const MAX_AGE_SECONDS = 31_536_000;

/**
 * Returns the HSTS header field (RFC 6797) of a service that PUBLIC_URL names by https, else none. It does not speak for subdomains, which
 * may be other services of the operator; nor for `localhost`, where other programs of the developer's machine speak plain HTTP.
 */
function strictTransportSecurity(publicUrl: string): Record<string, string> {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol !== 'https:' || hostname === 'localhost') return {};
  return { 'strict-transport-security': `max-age=${MAX_AGE_SECONDS}` };
}

/** Makes every response of a process that is shutting down close its connection, so that clients reconnect to another gateway. */
function closeConnectionsWhenLeaving(app: FastifyInstance, isLeaving: () => boolean): void {
  app.addHook('onSend', async (_request, reply) => {
    if (isLeaving()) reply.header('connection', 'close');
  });
}

/**
 * Accepts no more connections and ends streams. Keep-alive connections stay open for a while, because a request may be on its way; its response
 * closes the connection. Resolves when all connections are closed, or after `quietMs`.
 */
export async function turnAway(app: FastifyInstance, quietMs: number): Promise<void> {
  const allGone = once(app.server, 'close');
  // http.Server's own close would also close idle connections.
  Server.prototype.close.call(app.server);
  await Promise.all([app.events.close(), Promise.race([allGone, sleep(quietMs)])]);
}
