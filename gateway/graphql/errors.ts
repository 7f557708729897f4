import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionResult, GraphQLError } from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { GraphContext } from '../../schema/graphql/context.ts';
import { errorResponse } from '../http/error-response.ts';

/** Masks what goes wrong while an operation is executed; see maskError. */
export const maskedErrors: Plugin<GraphContext> = {
  onExecute: ({ args: { contextValue } }) => ({
    onExecuteDone: (payload) => handleStreamOrSingleExecutionResult(payload, masking(contextValue)),
  }),
  onSubscribe: ({ args: { contextValue } }) => ({
    onSubscribeResult: (payload) => handleStreamOrSingleExecutionResult(payload, masking(contextValue)),
    onSubscribeError: ({ error, setError }) => setError(maskError(error, of(contextValue))),
  }),
};

const of = ({ operations, requestId }: GraphContext) => ({ log: operations.log, requestId });

function masking(context: GraphContext) {
  return ({ result, setResult }: { result: ExecutionResult; setResult: (result: ExecutionResult) => void }) => {
    if (result.errors === undefined) return;
    setResult({ ...result, errors: result.errors.map((error) => maskError(error, of(context))) });
  };
}

/**
 * What resolvers throw becomes what the REST interface would have answered, in `extensions`: `code`, `statusCode`, where there are any
 * `details` and `reason`, and the id of the request, by which the log tells what was behind it. Of what is our fault nothing else is told.
 */
function maskError(error: unknown, { log, requestId }: { log: Logger; requestId: string }): GraphQLError {
  const cause = error instanceof GraphQLError ? error.cause : error;
  if (error instanceof GraphQLError && (cause === undefined || cause instanceof GraphQLError)) return error;
  const { body, headers } = errorResponse(cause, log);
  const { message, name, statusCode, details, code: reason } = body;
  return new GraphQLError(message, {
    ...(error instanceof GraphQLError
      ? { nodes: error.nodes, source: error.source, positions: error.positions, path: error.path }
      : {}),
    extensions: {
      code: name,
      statusCode,
      requestId,
      ...(details === undefined ? {} : { details }),
      ...(reason === undefined ? {} : { reason }),
      ...(statusCode >= 500 || statusCode === 429 ? { http: { status: statusCode, headers } } : {}),
    },
  });
}

/** Sends what went wrong before GraphQL got the request (no key, too many requests, no JSON) in the form of a GraphQL answer. */
export function sendGraphqlError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { body, headers } = errorResponse(error, request.log as unknown as Logger);
  const { message, name, statusCode, details, code: reason } = body;
  const extensions = {
    code: name,
    statusCode,
    requestId: request.id,
    ...(details === undefined ? {} : { details }),
    ...(reason === undefined ? {} : { reason }),
  };
  return reply
    .code(statusCode)
    .headers(headers)
    .type(`${answersAs(request.headers.accept)}; charset=utf-8`)
    .serializer((payload) => payload as string)
    .send(JSON.stringify({ errors: [{ message, extensions }] }));
}

/** GraphQL over HTTP, "Legacy Watershed": the new type for who knows it. */
function answersAs(accept: string | undefined): string {
  const isNew = accept?.includes('application/graphql-response+json') ?? false;
  return isNew ? 'application/graphql-response+json' : 'application/json';
}

/** Yoga answers 200 to a query that cannot be parsed or run when the client accepts `application/json`; here it is 400 for everyone. */
export const honestStatus: Plugin = {
  onResultProcess: ({ result }) => {
    const errors = 'errors' in result ? (result.errors ?? []) : [];
    for (const error of errors) {
      const { http } = error.extensions as { http?: { spec?: boolean } };
      if (http?.spec === true) http.spec = false;
    }
  },
};
