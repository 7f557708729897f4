import type { FastifyInstance } from 'fastify';
import { getOperationAST } from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import { gatewayMetrics } from '../../schema/metrics.ts';

/** Counts and times every request by the pattern of its route, never by its path: ids and search texts are the users'. */
export function measureRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    const { method } = request;
    gatewayMetrics.requests.inc({ method, route, status: `${Math.floor(reply.statusCode / 100)}xx` });
    // A stream takes as long as its reader stays.
    const isStream = String(reply.getHeader('content-type') ?? '').startsWith('text/event-stream');
    if (!isStream) gatewayMetrics.requestSeconds.observe({ method, route }, reply.elapsedTime / 1_000);
  });
}

/** Counts operations that were executed; a subscription when it begins. */
export const countedOperations: Plugin = {
  onExecute: ({ args: { document, operationName } }) => ({
    onExecuteDone: (payload) =>
      handleStreamOrSingleExecutionResult(payload, ({ result }) => {
        const kind = getOperationAST(document, operationName)?.operation ?? 'query';
        gatewayMetrics.operations.inc({ kind, outcome: result.errors === undefined ? 'done' : 'failed' });
      }),
  }),
  onSubscribe: () => ({
    onSubscribeResult: () => gatewayMetrics.operations.inc({ kind: 'subscription', outcome: 'done' }),
    onSubscribeError: () => gatewayMetrics.operations.inc({ kind: 'subscription', outcome: 'failed' }),
  }),
};
