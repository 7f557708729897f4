import { complexityFromQuery } from '@pothos/plugin-complexity';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GraphQLError, Kind, NoSchemaIntrospectionCustomRule, parse, type ValidationRule, validate } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { OperationContext } from '../operations/context.ts';
import type { GraphContext } from '../schema/graphql/builder.ts';
import { schema } from '../schema/graphql/schema.ts';
import { createThreadPages } from '../schema/graphql/thread-pages.ts';
import { errorResponse } from './error-response.ts';

export interface GraphqlOptions {
  contextOf: (request: FastifyRequest) => OperationContext;
  publicUrl: string;
  log: Logger;
}

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
    handler: (request) => {
      const operations = contextOf(request);
      const context: GraphContext = { operations, threadPages: createThreadPages(operations) };
      const { method } = request;
      const accept = request.headers.accept ?? 'application/json';
      const body = typeof request.body === 'string' ? request.body : '{}';
      return yoga.fetch(
        new URL(request.url, publicUrl),
        { method, headers: { accept, 'content-type': 'application/json' }, ...(method === 'POST' ? { body } : {}) },
        { context },
      ) as Promise<Response>;
    },
  });
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
