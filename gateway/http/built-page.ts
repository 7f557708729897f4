import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyReply } from 'fastify';

/** The output of `npm run build`. */
export const BUILT_FOLDER = path.join(import.meta.dirname, '../dashboard/dist');
const NONCE_BYTES = 16;

/** Sends one page of the built dashboard. */
export type BuiltPage = (reply: FastifyReply) => FastifyReply;

/**
 * Returns what sends the page `name`: with a new nonce for its styles, under the policy that `policyOf` returns for it and for the scripts
 * in it, as sources of `script-src`. Without a build it sends 503.
 */
export async function readBuiltPage(
  name: string,
  policyOf: (nonce: string, scripts: string) => string,
): Promise<BuiltPage> {
  const page = await readFile(path.join(BUILT_FOLDER, name), 'utf8').catch(() => null);
  const scripts = ["'self'", ...hashScripts(page ?? '')].join(' ');
  return (reply) => {
    reply.type('text/html; charset=utf-8');
    if (page === null) return reply.code(503).header('retry-after', '60').send(NOT_BUILT);
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    return reply
      .headers({
        'content-security-policy': policyOf(nonce, scripts),
        'referrer-policy': 'same-origin',
        'x-frame-options': 'DENY',
      })
      .send(page.replace('%NONCE%', nonce));
  };
}

/** Returns a source for each script that the page contains, which allows that text and no other. */
function hashScripts(page: string): string[] {
  return [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
}

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Postroom</title>
<h1>The dashboard is not built</h1><p>Run <code>npm run build</code> and start Postroom again.
REST at /api/e2 and GraphQL at <a href="/graphql">/graphql</a> work without it.</p></html>`;
