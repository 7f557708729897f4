import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { loggedBody, renamesSecrets, shortenBody, sizeInWords } from '../../core/accounts/logged-body.ts';
import {
  type ApiInterface,
  loggedPath,
  loggedRequestHeaders,
  loggedResponseHeaders,
  operationOf,
  type RequestLogLevel,
} from '../../core/accounts/logged-request.ts';
import type { Database } from '../../db/connection/database.ts';
import { type LoggedRequest, storeApiRequests } from '../../db/queries/accounts/api-request.ts';
import { gatewayMetrics } from '../../schema/metrics.ts';

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
/** Requests in memory; more than this between two writes are not logged. */
const HELD_REQUESTS = 2_000;
/**
 * Bodies in memory. Redacting and storing a body costs more than the rest of its request in the log, so a busy gateway stores requests without
 * them: at 400 requests a second with 4 KB each, every eighth has its body. Characters.
 */
const HELD_BODIES = 262_144;

/** A response in memory, as it was sent. */
interface Held extends Omit<LoggedRequest, 'requestBody' | 'responseBody' | 'operation' | 'path' | 'omitsBodies'> {
  url: string;
  requestText: string | null;
  responseText: string | null;
  omitsBodies: boolean;
  /** whether the request is longer than what is kept of it */
  isCut: boolean;
}

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
      userId: request.userId,
      id: `req_${request.id}`,
      createdAt: new Date(now().getTime() - durationMs),
      keyId: request.rights?.keyId ?? '',
      interface: interfaceOf(request),
      method: request.method,
      url: request.originalUrl,
      status: reply.statusCode,
      durationMs,
      clientAddress: request.ip,
      requestHeaders: loggedRequestHeaders(request.headers),
      responseHeaders: loggedResponseHeaders(reply.getHeaders()),
      requestBytes: sizeOf(request.headers['content-length']) ?? sent?.length ?? null,
      requestText,
      responseBytes: text === null ? sizeOf(reply.getHeader('content-length')) : Buffer.byteLength(text),
      responseText: text === null && payload != null ? undefinedBody(reply) : responseText,
      omitsBodies: level === 'on' && !hasRoom,
      isCut: requestText !== null && requestText !== sent,
    });
  }

  async function write(): Promise<void> {
    if (held.length === 0) return;
    const batch = held;
    held = [];
    heldLength = 0;
    try {
      await storeApiRequests(database, batch.map(loggedOf));
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

/** What is logged of a response whose body is bytes or a stream. */
function undefinedBody(reply: FastifyReply): string {
  const size = sizeOf(reply.getHeader('content-length'));
  return size === null ? '[stream]' : sizeInWords(size);
}

function sizeOf(header: number | string | string[] | undefined): number | null {
  const size = Number(header ?? Number.NaN);
  return Number.isSafeInteger(size) ? size : null;
}

function interfaceOf({ routeOptions }: FastifyRequest): ApiInterface {
  if (routeOptions.url === '/graphql') return 'graphql';
  return routeOptions.url === '/mcp' ? 'mcp' : 'rest';
}

function loggedOf({ url, requestText, responseText, isCut, ...held }: Held): LoggedRequest {
  const why = reasonToHide({ interface: held.interface, isCut }, url, requestText);
  return {
    ...held,
    path: loggedPath(url),
    operation: operationOf(held.interface, requestText),
    requestBody: requestText === null ? null : loggedBody(requestText),
    responseBody: responseText === null ? null : why !== null ? why : loggedBody(responseText),
  };
}

/** Returns the text that replaces a response that is not logged; null when it is logged. */
function reasonToHide(
  { interface: kind, isCut }: Pick<Held, 'interface' | 'isCut'>,
  url: string,
  requestText: string | null,
): string | null {
  if (kind === 'graphql' ? requestText?.includes('apiRequest') : url.startsWith('/api/e2/requests')) return OF_LOG;
  if (kind !== 'graphql') return null;
  return isCut || renamesSecrets(requestText ?? decoded(url)) ? MAY_HOLD_SECRET : null;
}

const OF_LOG = '[not logged: the response shows the request log]';
const MAY_HOLD_SECRET = '[not logged: the document is long, or gives another name to a field that may hold a secret]';

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
