import type { Readable } from 'node:stream';
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentNode, ExecutionResult } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { LRUCache } from 'lru-cache';
import { createSizedCache } from '../../core/shared/sized-cache.ts';
import type { OperationContext } from '../../operations/context.ts';
import { createGraphContext, type GraphContext } from '../../schema/graphql/context.ts';
import { schema } from '../../schema/graphql/schema.ts';
import { STREAMED_RESPONSE } from '../admission/limit-responses.ts';
import { streamJson } from '../http/json-stream.ts';
import { BYTES_PER_MS, startDeadline } from '../http/response-deadline.ts';
import { scopedOperations } from './document-access.ts';
import { boundedOperations, boundedVariables } from './document-limits.ts';
import { maskedErrors, rejectInvalidQueries } from './errors.ts';
import { MULTIPART_TYPE, multipartSubscriptions, notAcceptableBody } from './multipart-subscriptions.ts';
import { measuredOperations } from './operation-cost.ts';
import type { SampleOperation } from './sample-operations.ts';
import { countedOperations, tracedOperations } from './telemetry.ts';

/** Responds to a request of the GraphQL API, or throws at its deadline, which becomes 503. */
export type ServeGraphql = (
  exchange: { request: FastifyRequest; reply: FastifyReply },
  options: RespondOptions,
) => Promise<Response | string | Readable>;

export interface RespondOptions {
  operations: OperationContext;
  publicUrl: string;
  /** time limit of an operation that does not extend it; milliseconds */
  respondWithinMs: number;
}

/** Creates the GraphQL server, with the schema and the limits of documents. `samples` can be requested by their SHA-256. */
export function createGraphqlServer(samples: readonly SampleOperation[]): ServeGraphql {
  const known = new Map(samples.map(({ sha256, text }) => [sha256, text]));
  const yoga = createYoga<{ context: GraphContext }, GraphContext>({
    schema,
    context: ({ context }) => context,
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    batching: false,
    multipart: false,
    // Fastify has read the body by the limit of the route, which is larger than Yoga's default.
    maxRequestBodySize: false,
    cors: false,
    logging: false,
    // maskedErrors below also knows the request.
    maskedErrors: false,
    parserAndValidationCache: { documentCache: createDocumentCache(), errorCache: NO_CACHE },
    plugins: [
      usePersistedOperations({
        allowArbitraryOperations: true,
        getPersistedOperation: (sha256) => known.get(sha256) ?? null,
        customErrors: {
          keyNotFound: { message: 'The request has no query.', extensions: { code: 'validation_error', http: BAD } },
          // Operations are not stored on request. By this code and message, Apollo Client and urql send the text from then on.
          notFound: {
            message: 'PersistedQueryNotSupported',
            extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', statusCode: 400, http: BAD },
          },
        },
      }),
      tracedOperations,
      boundedVariables,
      scopedOperations,
      measuredOperations,
      multipartSubscriptions,
      boundedOperations(),
      countedOperations,
      maskedErrors,
      rejectInvalidQueries,
      streamedResults,
    ],
  });
  return (exchange, options) => respondInTime(exchange, yoga, options);
}

const BAD = { status: 400 };

/** Characters of all documents in the cache; a parsed document takes about 40 times the memory of its text. */
export const MAX_CACHED_CHARACTERS = 500_000;
/** Longer documents are parsed each time. */
export const MAX_CACHED_DOCUMENT = 20_000;

/** Returns a cache of parsed documents with a limit of size, since documents of one account can be all different. */
export function createDocumentCache(): LRUCache<string, DocumentNode> {
  return createSizedCache({
    maxSize: MAX_CACHED_CHARACTERS,
    maxEntrySize: MAX_CACHED_DOCUMENT,
    size: (_document, text) => text.length,
  });
}

/** An error keeps its document; documents with errors are seldom sent twice. */
const NO_CACHE = { get: () => undefined, set: () => undefined };

/** Media types of results that are events of a stream. */
const EVENT_STREAM = /\b(?:text\/event-stream|multipart\/mixed)\b/i;

/** Results with bodies of mail, which are sent as a stream. */
const largeResults = new WeakMap<GraphContext, ExecutionResult>();

/** Takes large results out of the response, whose text would be in memory as a whole. */
const streamedResults: Plugin<{ context: GraphContext }, { context: GraphContext }> = {
  onResultProcess: ({ request, result, serverContext, ...hook }) => {
    const { context } = serverContext as unknown as { context: GraphContext };
    if (!('data' in result) || context.bodies.bytes < STREAMED_RESPONSE) return;
    if (EVENT_STREAM.test(request.headers.get('accept') ?? '')) return;
    largeResults.set(context, result);
    hook.setResult({ ...result, data: {} });
  },
};

/** Responds to a request, or throws at its deadline, which becomes 503. */
async function respondInTime(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  yoga: { fetch: (url: URL, init: RequestInit, more: { context: GraphContext }) => Response | Promise<Response> },
  { operations, publicUrl, respondWithinMs }: RespondOptions,
): Promise<Response | string | Readable> {
  const body = typeof request.body === 'string' ? request.body : '{}';
  const usualMs = respondWithinMs + body.length / BYTES_PER_MS;
  const deadline = startDeadline(usualMs);
  const hangUp = new AbortController();
  reply.raw.once('close', () => hangUp.abort());
  operations.respondBy = performance.now() + usualMs;
  const { context, stopReads } = createGraphContext({
    operations,
    requestId: request.id,
    signal: hangUp.signal,
    isEventStream: EVENT_STREAM.test(request.headers.accept ?? ''),
    respondWithin(milliseconds) {
      operations.respondBy = performance.now() + milliseconds;
      deadline.moveTo(milliseconds);
    },
  });
  const { method } = request;
  const headers = { accept: request.headers.accept ?? 'application/json', 'content-type': 'application/json' };
  const init = { method, headers, signal: hangUp.signal, ...(method === 'POST' ? { body } : {}) };
  try {
    const responding = yoga.fetch(new URL(request.url, publicUrl), init, { context });
    const response = await Promise.race([responding, deadline.passed]);
    const contentType = response.headers.get('content-type');
    if (contentType === MULTIPART_TYPE || contentType?.startsWith('text/event-stream') === true) return response;
    if (response.status === 406 && response.body === null) {
      reply.code(406).type('application/json; charset=utf-8');
      return notAcceptableBody();
    }
    // Sent as one string with a length, which is faster than a stream.
    const text = await response.text();
    await Promise.race([context.endReads(), deadline.passed]);
    if (context.bodies.refusal !== null) throw context.bodies.refusal;
    const { 'content-length': _, ...sent } = Object.fromEntries(response.headers);
    reply.code(response.status).headers(sent);
    const large = largeResults.get(context);
    return large === undefined ? text : streamJson(large, request.workspaceId);
  } catch (error) {
    stopReads();
    // Not awaited, because PostgreSQL may be what is slow.
    void context.endReads();
    if (error !== hangUp.signal.reason) throw error;
    request.log.debug('the client aborted the request');
    return '';
  } finally {
    deadline.stop();
  }
}
