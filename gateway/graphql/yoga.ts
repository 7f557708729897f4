import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createYoga } from 'graphql-yoga';
import type { OperationContext } from '../../operations/context.ts';
import { createGraphContext, type GraphContext } from '../../schema/graphql/context.ts';
import { schema } from '../../schema/graphql/schema.ts';
import { access, requireDeclaredAccess } from '../admission/access.ts';
import type { Admission } from '../admission/admission.ts';
import { limitBodiesInFlight } from '../admission/bodies-in-flight.ts';
import { BYTES_PER_MS } from '../http/time-to-answer.ts';
import type { ContextOf } from '../operation-context.ts';
import { MAIL_BODY_LIMIT } from '../rest/sending/outgoing-shapes.ts';
import { scopedOperations } from './document-access.ts';
import { boundedOperations, boundedVariables } from './document-limits.ts';
import { honestStatus, maskedErrors, sendGraphqlError } from './errors.ts';
import { explorerRoutes, isExplorerPage, sendExplorer } from './explorer.ts';
import { readSampleOperations } from './sample-operations.ts';
import { countedOperations, tracedOperations } from './telemetry.ts';

export interface GraphqlOptions {
  admission: Admission;
  contextOf: ContextOf;
  publicUrl: string;
  /** time limit of an operation that does not extend it; milliseconds */
  answerWithinMs: number;
}

/** Time limit of the longest operation, an endpoint test. Milliseconds. */
const LONGEST_ANSWER_MS = 130_000;

/** The plugin of the GraphQL API at `/graphql`, which serves the explorer to browsers. Bodies are JSON; the explorer page needs no key. */
export async function graphqlInterface(
  app: FastifyInstance,
  { admission, contextOf, publicUrl, answerWithinMs }: GraphqlOptions,
): Promise<void> {
  const samples = readSampleOperations();
  const known = new Map(samples.map(({ sha256, text }) => [sha256, text]));
  const yoga = createYoga<{ context: GraphContext }, GraphContext>({
    schema,
    context: ({ context }) => context,
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    batching: false,
    multipart: false,
    cors: false,
    logging: false,
    // maskedErrors below also knows the request.
    maskedErrors: false,
    plugins: [
      usePersistedOperations({
        allowArbitraryOperations: true,
        getPersistedOperation: (sha256) => known.get(sha256) ?? null,
        customErrors: {
          keyNotFound: { message: 'The request has no query.', extensions: { code: 'validation_error', http: BAD } },
          notFound: {
            message: 'PersistedQueryNotFound: send the query itself.',
            extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', http: BAD },
          },
        },
      }),
      tracedOperations,
      boundedVariables,
      scopedOperations,
      boundedOperations(),
      countedOperations,
      maskedErrors,
      honestStatus,
    ],
  });

  // Fastify reads the body, so that its limits apply, and passes it to Yoga as text.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.setErrorHandler(sendGraphqlError);
  explorerRoutes(app, samples);
  await app.register(async (admitted) => {
    requireDeclaredAccess(admitted);
    admitted.addHook('onRequest', async (request, reply) =>
      isExplorerPage(request) ? undefined : admission.admit(request, reply),
    );
    limitBodiesInFlight(admitted, admission.bodiesInFlight);
    admitted.route({
      url: '/graphql',
      method: ['GET', 'POST'],
      schema: { hide: true },
      // Long operations extend their own deadline (GraphContext.answerWithin).
      config: { access: access.byDocument, answerWithinMs: LONGEST_ANSWER_MS },
      // For requests with attachments; document-limits.ts limits all others.
      bodyLimit: MAIL_BODY_LIMIT,
      handler: (request, reply) =>
        isExplorerPage(request)
          ? sendExplorer(reply)
          : answerInTime({ request, reply }, yoga, { operations: contextOf(request), publicUrl, answerWithinMs }),
    });
  });
}

const BAD = { status: 400 };

interface Answering {
  operations: OperationContext;
  publicUrl: string;
  answerWithinMs: number;
}

/** Responds to a request, or throws at its deadline, which becomes 503. */
async function answerInTime(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  yoga: { fetch: (url: URL, init: RequestInit, more: { context: GraphContext }) => Response | Promise<Response> },
  { operations, publicUrl, answerWithinMs }: Answering,
): Promise<Response | string> {
  const body = typeof request.body === 'string' ? request.body : '{}';
  const usualMs = answerWithinMs + body.length / BYTES_PER_MS;
  const deadline = startDeadline(usualMs);
  const hangUp = new AbortController();
  reply.raw.once('close', () => hangUp.abort());
  operations.answerBy = performance.now() + usualMs;
  const { context, stopReads } = createGraphContext({
    operations,
    requestId: request.id,
    signal: hangUp.signal,
    answerWithin(milliseconds) {
      operations.answerBy = performance.now() + milliseconds;
      deadline.moveTo(milliseconds);
    },
  });
  const { method } = request;
  const headers = { accept: request.headers.accept ?? 'application/json', 'content-type': 'application/json' };
  const init = { method, headers, signal: hangUp.signal, ...(method === 'POST' ? { body } : {}) };
  try {
    const answer = yoga.fetch(new URL(request.url, publicUrl), init, { context });
    const response = await Promise.race([answer, deadline.passed]);
    if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) return response;
    // Sent as one string with a length, which is faster than a stream.
    const text = await response.text();
    await Promise.race([context.endReads(), deadline.passed]);
    reply.code(response.status).headers(Object.fromEntries(response.headers));
    return text;
  } catch (error) {
    stopReads();
    // Not awaited, because PostgreSQL may be what is slow.
    void context.endReads();
    throw error;
  } finally {
    deadline.stop();
  }
}

/** The time at which a request gets 503, whatever is still running. */
interface Deadline {
  /** rejects at the deadline */
  passed: Promise<never>;
  /** Moves the deadline to this many milliseconds from now. */
  moveTo: (milliseconds: number) => void;
  stop: () => void;
}

function startDeadline(milliseconds: number): Deadline {
  let timer: NodeJS.Timeout | undefined;
  let fail: (reason: Error) => void = () => undefined;
  const passed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  passed.catch(() => undefined);
  const moveTo = (limitMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => fail(new errorCodes.FST_ERR_HANDLER_TIMEOUT()), limitMs);
  };
  moveTo(milliseconds);
  return { passed, moveTo, stop: () => clearTimeout(timer) };
}
