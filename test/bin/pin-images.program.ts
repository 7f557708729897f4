import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const FILES = ['Dockerfile', 'docker-compose.yml'];
let folder: string;
let registry: string;
/** what the registry sends for a tag, by its path */
const manifests = new Map<string, string>();
let saidDigest: string | null = null;

/** A registry that sends a manifest to whoever has a token for the repository, as Docker Hub does. */
const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', registry);
  if (url.pathname === '/token') {
    const scope = url.searchParams.get('scope');
    response.end(JSON.stringify({ token: url.searchParams.get('service') === 'test' ? scope : 'none' }));
    return;
  }
  const [, repository = ''] = /^\/v2\/(.+)\/manifests\/.+$/.exec(url.pathname) ?? [];
  const scope = `repository:${repository}:pull`;
  if (request.headers.authorization !== `Bearer ${scope}`) {
    response.setHeader('www-authenticate', `Bearer realm="${registry}/token",service="test",scope="${scope}"`);
    response.writeHead(401).end();
    return;
  }
  if (saidDigest !== null) response.setHeader('docker-content-digest', saidDigest);
  if (manifests.get('away') === url.pathname) response.writeHead(404).end();
  else response.end(manifests.get(url.pathname) ?? `{"of":"${url.pathname}"}`);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'postroom-images-'));
  for (const file of FILES) copyFileSync(path.join(root, file), path.join(folder, file));
  manifests.clear();
  saidDigest = null;
  return () => rmSync(folder, { recursive: true });
});

async function run(...words: string[]): Promise<{ status: number; out: string }> {
  const given = [path.join(root, 'bin/pin-images.ts'), '--registry', registry, ...words];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, given, { cwd: folder });
    return { status: 0, out: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, out: `${stdout}${stderr}` };
  }
}
const read = () => FILES.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('\n');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('pins every image of others by the digest of its bytes, and a check then passes', async () => {
  expect((await run('--check')).status).toBe(1);
  expect((await run()).status).toBe(0);
  const text = read();
  const node = /^FROM (node:\S+)@sha256:(\w+) AS build$/m.exec(text);
  const tag = node?.[1]?.split(':')[1] ?? '';
  expect(node?.[2]).toBe(sha256(`{"of":"/v2/library/node/manifests/${tag}"}`));
  expect(text).toMatch(/image: rspamd\/rspamd:[\d.]+@sha256:[0-9a-f]{64}\n/);
  expect(text).toMatch(/image: postroom:[\d.]+\n/);
  expect(text.replaceAll(/@sha256:[0-9a-f]{64}/g, '')).toBe(
    FILES.map((file) => readFileSync(path.join(root, file), 'utf8')).join('\n'),
  );
  expect(await run('--check')).toMatchObject({
    status: 0,
    out: expect.stringContaining('have the digest of the registry'),
  });
});

test('a check fails and writes nothing when a tag has moved', async () => {
  await run();
  const before = read();
  const [, tag = ''] = /nats:([\w.-]+)@/.exec(before) ?? [];
  manifests.set(`/v2/library/nats/manifests/${tag}`, '{"other":true}');
  const checked = await run('--check');
  expect([checked.status, checked.out.trim().split('\n').length]).toEqual([1, 1]);
  expect(checked.out).toContain(`nats:${tag} has sha256:`);
  expect(read()).toBe(before);
});

test('a registry that sends another manifest than it says, or none, changes no file', async () => {
  const before = read();
  saidDigest = `sha256:${sha256('other')}`;
  expect((await run()).out).toContain('and sends what has');
  saidDigest = null;
  const [, tag = ''] = /^FROM node:(\S+) AS build$/m.exec(before) ?? [];
  manifests.set('away', `/v2/library/node/manifests/${tag}`);
  expect(await run()).toMatchObject({ status: 1, out: expect.stringContaining('responds 404') });
  expect(read()).toBe(before);
});
