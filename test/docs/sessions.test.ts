import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { type Machine, makeMachine, printedKey, type Run, repository, startOn } from '../support/runner.ts';
import { until } from '../support/servers/service.ts';

/**
 * Pages whose examples are one session: each sets BASE and KEY once, and captures the IDs that it uses. Every block runs, in order, against
 * a fresh service with one received email. Other pages have tests of their own.
 */
const PAGES = ['claims.md', 'requests.md', 'rest.md', 'retention.md', 'routing.md'];

let machine: Machine;
let service: Run;
let key: string;

beforeAll(async () => {
  machine = await makeMachine();
  await copyDataDirectory(machine.dataDirectory);
  service = await startOn(machine);
  key = printedKey(service);
  const body = JSON.stringify({ template: 'plain', to: 'hello@inbox.test' });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const base = `http://localhost:${machine.httpPort}/api/e2`;
  expect((await fetch(`${base}/emails/simulate`, { method: 'POST', headers, body })).status).toBe(200);
  await until(
    'the email has its thread',
    () => '',
    async () => (await (await fetch(`${base}/mail/threads`, { headers })).json()).threads.length > 0,
  );
}, 300_000);
afterAll(() => machine?.remove());

const readBlocks = (text: string) => [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);

/** A curl that fails for an error of HTTP, as a person would see it. */
const STRICT_CURL = 'curl() { command curl --fail-with-body "$@"; }; export -f curl';

test.each(PAGES)('every block of docs/%s runs, in order, in one session', async (page) => {
  const text = await readFile(path.join(repository, 'docs', page), 'utf8');
  const blocks = readBlocks(text);
  expect(blocks.length).toBeGreaterThan(1);
  const script = [STRICT_CURL, ...blocks]
    .join('\n')
    .replaceAll('http://localhost:3000', `http://localhost:${machine.httpPort}`)
    .replaceAll('npx node', `'${process.execPath}'`)
    .replace('KEY=...', `KEY=${key}`);
  // Files that an example writes go to a folder of their own.
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-page-'));
  for (const name of ['bin', 'core', 'db', 'operations', 'actors', 'schema', 'gateway', 'node_modules', 'package.json'])
    await symlink(path.join(repository, name), path.join(folder, name));
  try {
    const env = { ...process.env, ...machine.environment };
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env, timeout: 240_000 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    expect.fail(`${stdout.slice(-2_000)}\n${stderr.slice(-2_000)}`.replaceAll(key, 'KEY'));
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.each(PAGES)('no block of docs/%s has a placeholder that would be pasted', async (page) => {
  const text = await readFile(path.join(repository, 'docs', page), 'utf8');
  const commands = readBlocks(text)
    .join('\n')
    .replaceAll(/^\s*#.*$/gm, '')
    .replace('KEY=...', '');
  expect(commands.match(/…|\.\.\.|YOUR_\w+|\/ID\b/g) ?? []).toEqual([]);
  expect(text.match(/export BASE=|(?<!\w)KEY=\.\.\./g)?.length ?? 0, 'BASE and KEY are set once').toBeLessThanOrEqual(
    2,
  );
});

test('the examples of docs/retention.md leave the first account as it is', async () => {
  const headers = { authorization: `Bearer ${key}` };
  expect((await fetch(`http://localhost:${machine.httpPort}/api/e2/account`, { headers })).status).toBe(200);
});
