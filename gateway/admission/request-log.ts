import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { shortenBody, sizeInWords } from '../../core/accounts/logged-body.ts';
import {
  type ApiInterface,
  loggedRequestHeaders,
  loggedResponseHeaders,
  type RequestLogLevel,
} from '../../core/accounts/logged-request.ts';
import type { Right } from '../../core/accounts/rights.ts';
import type { Database } from '../../db/connection/database.ts';
import { type LoggedRequest, storeApiRequests } from '../../db/queries/accounts/api-request.ts';
import { gatewayMetrics } from '../../schema/metrics.ts';
import { type HeldExchange, redactExchange } from './logged-exchange.ts';

export interface RequestLog {
  /** Writes what is in memory, and resolves when it is stored or dropped. */
  flush(): Promise<void>;
  /** Stops the timer, and writes what is in memory. */
  close(): Promise<void>;
}

export interface RequestLogOptions {
  database: Database;
  log: Logger;
  now: () => Date;
  level: RequestLogLevel;
  /** characters of bodies that are kept in memory between two writes; {@link HELD_BODIES} by default */
  heldBodies?: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** body of the request as text, shortened; null when there is none, or it is not logged */
    sentBody: string | null;
  }
}

/** Interval of writes, which a kill of the process may lose. Milliseconds. */
const FLUSH_INTERVAL_MS = 1_000;
/** Requests in memory; more than this between two writes are not logged. @limit */
export const HELD_REQUESTS = 2_000;
/**
 * Bodies in memory. Redacting and storing a body costs more than the rest of its request in the log, so a busy gateway stores requests without
 * them: at 400 requests a second with 4 KB each, every eighth has its body. Characters.
 * @limit
 */
export const HELD_BODIES = 262_144;

/** Requests that are redacted before other work gets its turn. */
const REDACTED_AT_ONCE = 20;

/** A request and its response in memory, with what else is logged of them. */
type Held = Omit<
  LoggedRequest,
  'requestBody' | 'responseBody' | 'operation' | 'path' | 'status' | 'interface' | 'requestHeaders' | 'rights'
> &
  HeldExchange;

/**
 * Logs every request of REST, GraphQL and MCP that comes with an API key. A request costs a few assignments: redaction and one insert for all
 * users follow about once a second. Requests are dropped, and counted, when the buffer is full or PostgreSQL does not take them. Call it
 * before the routes are registered.
 */
export function logRequests(app: FastifyInstance, options: RequestLogOptions): RequestLog {
  const { database, log, now, level, heldBodies = HELD_BODIES } = options;
  app.decorateRequest('sentBody', null);
  if (level === 'off') return { flush: async () => undefined, close: async () => undefined };
  let held: Held[] = [];
  let heldLength = 0;
  let writing: Promise<void> = Promise.resolve();

  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.caller?.via === 'key' && request.rights?.keyId != null) hold(request, reply, payload);
    done(null, payload);
  });

  function hold(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
    if (held.length >= HELD_REQUESTS) {
      gatewayMetrics.requestLogDropped.inc({ reason: 'full' });
      return;
    }
    const text = typeof payload === 'string' ? payload : null;
    const sent = request.sentBody ?? (typeof request.body === 'string' ? request.body : null);
    const hasRoom = level === 'on' && heldLength < heldBodies;
    const requestText = hasRoom && sent !== null ? shortenBody(sent) : null;
    const responseText = hasRoom && text !== null ? shortenBody(text) : null;
    heldLength += (requestText?.length ?? 0) + (responseText?.length ?? 0);
    const durationMs = Math.round(reply.elapsedTime);
    held.push({
      workspaceId: request.workspaceId,
      id: `req_${request.id}`,
      createdAt: new Date(now().getTime() - durationMs),
      keyId: request.rights?.keyId ?? '',
      interface: toInterface(request),
      method: request.method,
      url: request.originalUrl,
      routePath: request.routeOptions.url ?? null,
      schema: request.routeOptions.schema,
      bodyFields: request.routeOptions.config.bodyFields ?? null,
      status: reply.statusCode,
      routeRights: readRouteRights(request),
      durationMs,
      clientAddress: request.ip,
      credential: credentialIn(request.headers),
      requestHeaders: loggedRequestHeaders(request.headers),
      responseHeaders: loggedResponseHeaders(reply.getHeaders()),
      requestBytes: findSize(request.headers['content-length']) ?? sent?.length ?? null,
      requestText,
      responseBytes: text === null ? findSize(reply.getHeader('content-length')) : Buffer.byteLength(text),
      responseText: text === null && payload != null ? undefinedBody(reply) : responseText,
      omitsBodies: level === 'on' && !hasRoom,
    });
  }

  async function write(): Promise<void> {
    if (held.length === 0) return;
    const batch = held;
    held = [];
    heldLength = 0;
    try {
      await storeApiRequests(database, await redactAll(batch, log));
    } catch (error) {
      gatewayMetrics.requestLogDropped.inc({ reason: 'database' }, batch.length);
      log.warn({ err: error, requests: batch.length }, 'failed to store the request log');
    }
  }
  // One write at a time, so that a slow PostgreSQL fills the buffer and not the pool.
  const flush = () => {
    writing = writing.then(write);
    return writing;
  };
  let isWriting = false;
  const timer = setInterval(() => {
    if (isWriting || held.length === 0) return;
    isWriting = true;
    void flush().then(() => {
      isWriting = false;
    });
  }, FLUSH_INTERVAL_MS).unref();

  return {
    flush,
    close() {
      clearInterval(timer);
      return flush();
    },
  };
}

/** Returns the rights that a route needs; where the request decides, all that it may need. */
function readRouteRights({ routeOptions }: FastifyRequest): readonly Right[] {
  const rights = routeOptions.config.access?.rights ?? [];
  return 'cases' in rights ? Object.values(rights.cases).flat() : rights;
}

/** What is logged of a response whose body is bytes or a stream. */
function undefinedBody(reply: FastifyReply): string {
  const size = findSize(reply.getHeader('content-length'));
  return size === null ? '[stream]' : sizeInWords(size);
}

function findSize(header: number | string | string[] | undefined): number | null {
  const size = Number(header ?? Number.NaN);
  return Number.isSafeInteger(size) ? size : null;
}

/** Returns what authenticates a request: `Bearer KEY` without its scheme. */
function credentialIn({ authorization }: FastifyRequest['headers']): string | null {
  return authorization?.replace(/^\s*\w+\s+/, '').trim() ?? null;
}

function toInterface({ routeOptions }: FastifyRequest): ApiInterface {
  if (routeOptions.url === '/graphql') return 'graphql';
  return routeOptions.url === '/mcp' ? 'mcp' : 'rest';
}

/** Redacts one request after the other, and lets the event loop run in between. */
async function redactAll(batch: readonly Held[], log: Logger): Promise<LoggedRequest[]> {
  const logged: LoggedRequest[] = [];
  for (const held of batch) {
    const {
      url: _url,
      routePath: _path,
      schema: _schema,
      bodyFields: _fields,
      credential: _credential,
      routeRights: _rights,
      requestText: _q,
      responseText: _r,
      ...rest
    } = held;
    try {
      logged.push({ ...rest, ...(await redactExchange(held)) });
    } catch (error) {
      // The others are stored.
      gatewayMetrics.requestLogDropped.inc({ reason: 'unreadable' });
      log.warn({ err: error, requestId: held.id }, 'failed to read a request for the log');
    }
    if (logged.length % REDACTED_AT_ONCE === 0) await setImmediate();
  }
  return logged;
}
