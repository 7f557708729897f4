import { type Span, SpanKind } from '@opentelemetry/api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { beginSpan, failSpan, inSpan, isTracing, TRACE_PARENT } from '../../actors/bus/tracing.ts';
import { gatewayMetrics } from '../../schema/metrics.ts';

/** Counts and times every request by the pattern of its route. Paths contain private data: IDs and search texts. */
export function measureRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    const { method } = request;
    gatewayMetrics.requests.inc({ method, route, status: `${Math.floor(reply.statusCode / 100)}xx` });
    // The duration of a stream depends on its client.
    const isStream = String(reply.getHeader('content-type') ?? '').startsWith('text/event-stream');
    if (!isStream) gatewayMetrics.requestSeconds.observe({ method, route }, reply.elapsedTime / 1_000);
  });
}

/** Traced routes: the APIs. Pages of the dashboard and probes are not traced. */
const TRACED = /^\/(?:api|graphql|mcp)(?:\/|$)/;
/** Methods of RFC 9110 §9, and PATCH. A client can make up any other word. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Records each request as a span named after the pattern of its route, a child of the span in the client's `traceparent` if there is one
 * (W3C Trace Context). Spans of its work become children of it. Call it before the routes are registered. Does nothing without tracing.
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
      // Emitted exactly once. Fastify's own hooks skip some requests that the client aborted.
      reply.raw.once('close', () => end(span, request, reply));
    }
    inSpan(span, done);
  });
  // Reading the body loses the async context of onRequest.
  app.addHook('preValidation', (request, _reply, done) => inSpan(spans.get(request) ?? null, done));
}

function end(span: Span, { workspaceId }: FastifyRequest, { raw }: FastifyReply): void {
  if (workspaceId !== '') span.setAttribute('user.id', workspaceId);
  if (!raw.writableFinished) failSpan(span, 'aborted');
  else {
    span.setAttribute('http.response.status_code', raw.statusCode);
    if (raw.statusCode >= 500) failSpan(span, String(raw.statusCode));
  }
  span.end();
}
