import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openForFile } from '../../support/open-for-file.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';

const gateway = openForFile(() => openTestGateway());

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const get = (url: string, headers: Record<string, string> = BROWSER) => gateway.app.inject({ url, headers });
const readNonce = (policy: unknown) => /'nonce-([^']+)'/.exec(String(policy))?.[1] ?? '';

test('every path that a browser opens returns the page, without a key, each time with a new policy', async () => {
  const nonces = new Set<string>();
  for (const url of ['/', '/inbox', '/emails/em_1?tab=raw', '/no-such-page', '/sign-in/link']) {
    const page = await get(url);
    const policy = page.headers['content-security-policy'];
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const [, script = ''] = /<script>([^]*?)<\/script>/.exec(page.body) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    expect(script).toContain('DashboardViewer');
    expect(policy).toContain(`default-src 'none'; script-src 'self' 'sha256-${hash}';`);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(page.body).toContain(`nonce="${readNonce(policy)}"`);
    expect([page.headers['cache-control'], page.headers['x-frame-options']]).toEqual(['no-store', 'DENY']);
    nonces.add(readNonce(policy));
  }
  expect(nonces.size).toBe(5);
  expect([...nonces].every((nonce) => nonce.length >= 22)).toBe(true);
});

test('other paths respond as before, also for a browser', async () => {
  for (const url of ['/api/e2/nothing', '/api', '/assets/none.js', '/health/x']) {
    const response = await get(url);
    expect([url, response.statusCode, response.json().name]).toEqual([url, 404, 'not_found']);
  }
  expect((await get('/inbox', { accept: 'application/json' })).statusCode).toBe(404);
  expect((await gateway.app.inject({ method: 'POST', url: '/inbox', headers: BROWSER })).statusCode).toBe(404);
});

test('files of the page are cached for good, and sent compressed', async () => {
  const assets = path.resolve(import.meta.dirname, '../../../gateway/dashboard/dist/assets');
  const name = readdirSync(assets).find((file) => /^index-.*\.js$/.test(file));
  for (const [asked, sent] of [
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['identity', undefined],
  ] as const) {
    const file = await get(`/assets/${name}`, { 'accept-encoding': asked });
    expect([file.statusCode, file.headers['content-encoding']]).toEqual([200, sent]);
    expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(file.headers['content-type']).toMatch(/javascript/);
  }
  expect((await get('/assets/../index.html', {})).statusCode).toBe(404);
  expect((await get('/assets/..%2findex.html', {})).statusCode).toBe(404);
});
