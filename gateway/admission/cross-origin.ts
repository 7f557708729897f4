import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** Time for which browsers cache a preflight response; seconds. */
const MAX_AGE_SECONDS = 86_400;

/**
 * Allows pages of any origin to call REST. This is safe because scripts send the key, not the browser, so a page gains no access that it does
 * not have already. Cookies are not accepted. Preflights need no key.
 */
export async function allowAnyOrigin(rest: FastifyInstance): Promise<void> {
  await rest.register(cors, {
    origin: '*',
    credentials: false,
    // Invalid preflights get a normal preflight response instead of an error in a foreign format.
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
