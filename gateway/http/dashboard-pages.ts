import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendNoRoute } from './error-response.ts';

/** The output of `npm run build`. */
const BUILT = path.join(import.meta.dirname, '../dashboard/dist');
/** File names in assets/ contain hashes. Seconds. */
const FOR_GOOD_SECONDS = 31_536_000;
const NONCE_BYTES = 16;
/** Paths that never serve the page, whatever the browser accepts. */
const OTHERS = /^\/(?:api|graphql|health|ready|assets)(?:\/|$)/;

/**
 * Serves the dashboard: its files, and its page for every other path that a browser opens, because the page does its own routing. Needs no
 * key and no session; the page gets its data from GraphQL.
 */
export async function dashboardPages(app: FastifyInstance): Promise<void> {
  const page = await readFile(path.join(BUILT, 'index.html'), 'utf8').catch(() => null);
  if (page !== null) {
    const files = { index: false, preCompressed: true, cacheControl: false } as const;
    await app.register(fastifyStatic, {
      ...files,
      root: path.join(BUILT, 'assets'),
      prefix: '/assets/',
      decorateReply: false,
      setHeaders: (reply) => void reply.header('cache-control', `public, max-age=${FOR_GOOD_SECONDS}, immutable`),
    });
    // The few files beside assets/ have a route each, so that every other path is a page.
    await app.register(fastifyStatic, {
      ...files,
      root: BUILT,
      wildcard: false,
      globIgnore: ['index.html', 'assets/**'],
      setHeaders: (reply) => void reply.header('cache-control', 'no-cache'),
    });
  }
  const sendPage = (reply: FastifyReply): FastifyReply => {
    reply.type('text/html; charset=utf-8');
    if (page === null) return reply.code(503).header('retry-after', '60').send(NOT_BUILT);
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    return reply
      .headers({
        'content-security-policy': policyOf(nonce),
        'referrer-policy': 'same-origin',
        'x-frame-options': 'DENY',
      })
      .send(page.replace('%NONCE%', nonce));
  };
  app.get('/', { schema: { hide: true } }, (_request, reply) => sendPage(reply));
  app.setNotFoundHandler((request, reply) => (isPage(request) ? sendPage(reply) : sendNoRoute(request, reply)));
}

/** Returns whether a browser requests a page. */
function isPage(request: FastifyRequest): boolean {
  const { method, headers, url } = request;
  const wantsPage = headers.accept?.includes('text/html') ?? false;
  return (method === 'GET' || method === 'HEAD') && wantsPage && !OTHERS.test(url.split('?')[0] ?? '');
}

/** Allows our own scripts and styles only; style elements that components create have the nonce. */
function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Postroom</title>
<h1>The dashboard is not built</h1><p>Run <code>npm run build</code> and start Postroom again.
REST at <a href="/api/e2/docs">/api/e2</a> and GraphQL at <a href="/graphql">/graphql</a> work without it.</p></html>`;
