import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** How long a browser may remember what a preflight said; seconds. */
const MAX_AGE_SECONDS = 86_400;

/**
 * Pages of any origin may call the REST interface: keys are sent by the page's own program, never by the browser, so no origin gains what
 * it was not given. Cookies are never taken along. Preflights need no key.
 */
export async function allowAnyOrigin(rest: FastifyInstance): Promise<void> {
  await rest.register(cors, {
    origin: '*',
    credentials: false,
    // What is no preflight is answered as one: nothing may answer in another shape than ours.
    strictPreflight: false,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'X-Request-Id',
      'Retry-After',
      'X-Should-Retry',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'Content-Disposition',
    ],
    maxAge: MAX_AGE_SECONDS,
  });
}
