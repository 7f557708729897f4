import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionResult, GraphQLError } from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { GraphContext } from '../../schema/graphql/context.ts';
import { errorResponse } from '../http/error-response.ts';

/** Masks errors during execution; see maskError. */
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
 * Converts an error of a resolver to what REST would return, in `extensions`: `code`, `statusCode`, `details` and `reason` if there are any,
 * and the request ID, which leads to the cause in the log. Internal errors reveal nothing else.
 */
export function maskError(error: unknown, { log, requestId }: { log: Logger; requestId: string }): GraphQLError {
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

/** Sends errors that occur before GraphQL gets the request (no key, too many requests, invalid JSON) as a GraphQL response. */
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
    .type(`${chooseMediaType(request.headers.accept)}; charset=utf-8`)
    .serializer((payload) => payload as string)
    .send(JSON.stringify({ errors: [{ message, extensions }] }));
}

/** GraphQL over HTTP, "Legacy Watershed": the new media type for clients that accept it. */
function chooseMediaType(accept: string | undefined): string {
  const isNew = accept?.includes('application/graphql-response+json') ?? false;
  return isNew ? 'application/graphql-response+json' : 'application/json';
}

/** Returns 400 for a query that cannot be parsed or executed. Yoga returns 200 if the client accepts `application/json`. */
export const rejectInvalidQueries: Plugin = {
  onResultProcess: ({ result }) => {
    const errors = 'errors' in result ? (result.errors ?? []) : [];
    for (const error of errors) {
      const { http } = error.extensions as { http?: { spec?: boolean } };
      if (http?.spec === true) http.spec = false;
    }
  },
};
