import { type Span, SpanKind } from '@opentelemetry/api';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type DocumentNode, getOperationAST } from 'graphql';
import { handleStreamOrSingleExecutionResult, type Plugin } from 'graphql-yoga';
import { TRACE_PARENT } from '../../actors/bus/trace-parent.ts';
import { beginSpan, failSpan, inSpan, isTracing } from '../../actors/bus/tracing.ts';
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
  onExecute: ({ args }) => ({
    onExecuteDone: (payload) =>
      handleStreamOrSingleExecutionResult(payload, ({ result }) => {
        const kind =
          getOperationAST(args.document as DocumentNode, args.operationName as string | null | undefined)?.operation ??
          'query';
        gatewayMetrics.operations.inc({ kind, outcome: result.errors === undefined ? 'done' : 'failed' });
      }),
  }),
  onSubscribe: () => ({
    onSubscribeResult: () => gatewayMetrics.operations.inc({ kind: 'subscription', outcome: 'done' }),
    onSubscribeError: () => gatewayMetrics.operations.inc({ kind: 'subscription', outcome: 'failed' }),
  }),
};

/** What answers programs and the dashboard's data; its pages and probes are not traced. */
const TRACED = /^\/(?:api|graphql)(?:\/|$)/;
/** RFC 9110 §9, and PATCH: any other word is one that its client made up. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Records each request as a span named after its route's pattern, below the span that its client's `traceparent` names if there is one
 * (W3C Trace Context), and lets what is done for it be recorded below. To be called before the routes are registered; without tracing
 * nothing is added to a request's way.
 */
export function traceRequests(app: FastifyInstance): void {
  if (!isTracing()) return;
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url ?? '';
    if (!TRACED.test(route)) return done();
    const method = METHODS.has(request.method) ? request.method : '_OTHER';
    const options = {
      kind: SpanKind.SERVER,
      attributes: { 'http.request.method': method, 'http.route': route, 'postroom.request.id': request.id },
    };
    const given = request.headers[TRACE_PARENT];
    const span = beginSpan(`${method} ${route}`, options, typeof given === 'string' ? given : null);
    if (span !== null) {
      spans.set(request, span);
      // Comes once in any case: Fastify's own hooks leave out some requests that their client gave up.
      reply.raw.once('close', () => end(span, request, reply));
    }
    inSpan(span, done);
  });
  // Where the body has come in the context of the request's beginning is gone.
  app.addHook('preValidation', (request, _reply, done) => inSpan(spans.get(request) ?? null, done));
}

function end(span: Span, { userId }: FastifyRequest, { raw }: FastifyReply): void {
  if (userId !== '') span.setAttribute('user.id', userId);
  if (!raw.writableFinished) failSpan(span, 'aborted');
  else {
    span.setAttribute('http.response.status_code', raw.statusCode);
    if (raw.statusCode >= 500) failSpan(span, String(raw.statusCode));
  }
  span.end();
}
