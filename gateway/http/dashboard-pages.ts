import { existsSync } from 'node:fs';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BUILT_FOLDER, readBuiltPage } from './built-page.ts';
import { sendNoRoute } from './error-response.ts';

/** File names in assets/ contain hashes. Seconds. */
const FOR_GOOD_SECONDS = 31_536_000;
const PICTURE_SECONDS = 86_400;
/** Paths that never serve the page, whatever the browser accepts. */
const OTHERS = /^\/(?:api|graphql|health|ready|assets)(?:\/|$)/;

/**
 * Serves the dashboard: its files, and its page for every other path that a browser opens, because the page does its own routing. Needs no
 * key and no session; the page gets its data from GraphQL.
 */
export async function dashboardPages(app: FastifyInstance): Promise<void> {
  if (existsSync(BUILT_FOLDER)) {
    const files = { index: false, preCompressed: true, cacheControl: false } as const;
    await app.register(fastifyStatic, {
      ...files,
      root: path.join(BUILT_FOLDER, 'assets'),
      prefix: '/assets/',
      decorateReply: false,
      setHeaders: (reply) => void reply.header('cache-control', `public, max-age=${FOR_GOOD_SECONDS}, immutable`),
    });
    // The few files beside assets/ have a route each, so that every other path is a page.
    await app.register(fastifyStatic, {
      ...files,
      root: BUILT_FOLDER,
      wildcard: false,
      globIgnore: ['*.html', 'assets/**'],
      // The picture is shown in several places of a page, the script that works offline has to be the newest.
      setHeaders: (reply, file) =>
        void reply.header('cache-control', file.endsWith('.svg') ? `public, max-age=${PICTURE_SECONDS}` : 'no-cache'),
    });
  }
  const sendPage = await readBuiltPage('index.html', makeContentPolicy);
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
function makeContentPolicy(nonce: string, scripts: string): string {
  return [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
