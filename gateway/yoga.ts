import { complexityFromQuery } from '@pothos/plugin-complexity';
import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { GraphQLError, Kind, NoSchemaIntrospectionCustomRule, parse, type ValidationRule, validate } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { OperationContext } from '../operations/context.ts';
import { createGraphContext, type GraphContext } from '../schema/graphql/context.ts';
import { schema } from '../schema/graphql/schema.ts';
import { errorResponse } from './error-response.ts';

export interface GraphqlOptions {
  contextOf: (request: FastifyRequest) => OperationContext;
  publicUrl: string;
  log: Logger;
}

/** As REST answers, and what the longest operation (an endpoint's test) may ask for. Milliseconds. */
const USUAL_ANSWER_MS = 9_000;
const LONGEST_ANSWER_MS = 130_000;
/** guarantees.md S17 */
const MAX_DEPTH = 10;
const MAX_ALIASES = 30;
const MAX_TOKENS = 2_000;
const MAX_COST = 5_000;

/** Mounts `/graphql`. Requests are admitted before; only JSON bodies come this far. */
export function graphqlRoute(app: FastifyInstance, { contextOf, publicUrl, log }: GraphqlOptions): void {
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
    maskedErrors: { maskError: (error) => maskError(error, log) },
    plugins: [bounded, honest],
  });

  // Fastify reads the body, so that its limits hold, and Yoga gets it as text.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.route({
    url: '/graphql',
    method: ['GET', 'POST'],
    schema: { hide: true },
    // What takes long says so itself (GraphContext.answerWithin).
    config: { answerWithinMs: LONGEST_ANSWER_MS },
    handler: (request, reply) => answerInTime({ request, reply }, yoga, { operations: contextOf(request), publicUrl }),
  });
}

interface Answering {
  operations: OperationContext;
  publicUrl: string;
}

/** Answers a request, with 503 when its time is over. */
async function answerInTime(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  yoga: { fetch: (url: URL, init: RequestInit, more: { context: GraphContext }) => Response | Promise<Response> },
  { operations, publicUrl }: Answering,
): Promise<Response> {
  const deadline = startDeadline(USUAL_ANSWER_MS);
  const hangUp = new AbortController();
  reply.raw.once('close', () => hangUp.abort());
  operations.answerBy = performance.now() + USUAL_ANSWER_MS;
  const { context, end } = createGraphContext({
    operations,
    signal: hangUp.signal,
    answerWithin(milliseconds) {
      operations.answerBy = performance.now() + milliseconds;
      deadline.moveTo(milliseconds);
    },
  });
  const { method } = request;
  const headers = { accept: request.headers.accept ?? 'application/json', 'content-type': 'application/json' };
  const body = typeof request.body === 'string' ? request.body : '{}';
  const init = { method, headers, signal: hangUp.signal, ...(method === 'POST' ? { body } : {}) };
  try {
    return await Promise.race([yoga.fetch(new URL(request.url, publicUrl), init, { context }), deadline.passed]);
  } finally {
    deadline.stop();
    await end();
  }
}

interface Deadline {
  /** rejects when the time is over */
  passed: Promise<never>;
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

/** The bounds of guarantees.md S17, and nothing told of the schema: it is published, and its guesses help only who has no key. */
const bounded: Plugin = {
  onParse: ({ setParseFn }) => setParseFn((source, options) => parse(source, { ...options, maxTokens: MAX_TOKENS })),
  onValidate: ({ addValidationRule, setValidationFn }) => {
    addValidationRule(NoSchemaIntrospectionCustomRule);
    addValidationRule(limitAliases);
    setValidationFn((of, document, rules, options) =>
      validate(of, document, rules, { ...options, hideSuggestions: true }),
    );
  },
  onExecute: ({ args, setResultAndStopExecution }) => {
    const variables = (args.variableValues ?? {}) as Record<string, unknown>;
    const { complexity, depth } = complexityFromQuery(args.document, {
      schema,
      ctx: args.contextValue as object,
      variables,
    });
    if (depth > MAX_DEPTH)
      setResultAndStopExecution({ errors: [refusal(`The query is deeper than ${MAX_DEPTH} levels.`)] });
    else if (complexity > MAX_COST)
      setResultAndStopExecution({ errors: [refusal(`The query costs ${complexity}, more than ${MAX_COST}.`)] });
  },
};

/** Yoga answers 200 to a query that cannot be parsed or run when the client accepts `application/json`; here it is 400 for everyone. */
const honest: Plugin = {
  onResultProcess: ({ result }) => {
    const errors = 'errors' in result ? (result.errors ?? []) : [];
    for (const error of errors) {
      const { http } = error.extensions as { http?: { spec?: boolean } };
      if (http?.spec === true) http.spec = false;
    }
  },
};

const limitAliases: ValidationRule = (context) => {
  let aliases = 0;
  return {
    [Kind.FIELD]: (node) => {
      if (node.alias !== undefined && ++aliases === MAX_ALIASES + 1)
        context.reportError(refusal(`The query has more than ${MAX_ALIASES} aliases.`));
    },
  };
};

function refusal(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'validation_error', http: { status: 400 } } });
}

/** What resolvers throw becomes what the REST interface would have answered, in `extensions`. */
function maskError(error: unknown, log: Logger): Error {
  const cause = error instanceof GraphQLError ? error.originalError : error;
  if (error instanceof GraphQLError && (cause === undefined || cause instanceof GraphQLError)) return error;
  const { body, headers } = errorResponse(cause, log);
  const { message, name, statusCode, details, code: reason } = body;
  const http = statusCode >= 500 ? { http: { status: statusCode, headers } } : {};
  return new GraphQLError(message, {
    ...(error instanceof GraphQLError
      ? { nodes: error.nodes, source: error.source, positions: error.positions, path: error.path }
      : {}),
    extensions: {
      code: name,
      statusCode,
      ...(details === undefined ? {} : { details }),
      ...(reason === undefined ? {} : { reason }),
      ...http,
    },
  });
}
