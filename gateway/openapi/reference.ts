import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { readBuiltPage } from '../http/built-page.ts';
import { isTagKnown } from '../http/entity-tag.ts';

/** Cache lifetime of the document, which changes only with the version; seconds. */
const MAX_AGE_SECONDS = 300;

/**
 * Serves `GET /openapi.json`, the OpenAPI document, and `GET /docs`, a page that displays it. Both need no key. The page loads all its files
 * from here and sends requests only to `publicUrl`.
 */
export async function referenceRoutes(app: FastifyInstance, { publicUrl }: { publicUrl: string }): Promise<void> {
  let document: { bytes: Buffer; tag: string } | null = null;
  app.get('/openapi.json', { schema: { hide: true } }, (request, reply) => {
    document ??= serialized(app.swagger());
    reply.headers({ etag: document.tag, 'cache-control': `public, max-age=${MAX_AGE_SECONDS}` });
    if (isTagKnown(request.headers['if-none-match'], document.tag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(document.bytes);
  });

  const sendPage = await readBuiltPage('reference.html', () => readPolicy(publicUrl));
  app.get('/docs', { schema: { hide: true } }, (_request, reply) => sendPage(reply));
}

function serialized(document: object): { bytes: Buffer; tag: string } {
  const bytes = Buffer.from(JSON.stringify(document));
  return { bytes, tag: `"${hash('sha256', bytes, 'base64url')}"` };
}

/** Scalar adds style elements without a nonce; everything else is blocked. */
function readPolicy(publicUrl: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${new URL(publicUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
