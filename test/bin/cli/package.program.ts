import { execFile } from 'node:child_process';
import { access, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXIT } from '../../../bin/cli/command-error.ts';
import { openDatabase } from '../../../db/connection/database.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { repository } from '../../support/runner.ts';
import { type Ran, startPostroom } from '../../support/servers/postroom-runs.ts';
import type { DomainAccount } from '../../support/servers/service.ts';
import { type SharedService, sharedService } from '../../support/servers/shared-service.ts';

const run = promisify(execFile);

let service: SharedService;
let account: DomainAccount;
let address: string;
let folder: string;

beforeAll(async () => {
  service = await sharedService('single');
  account = await service.createAccount();
  address = `hello@${account.domain}`;
  await account.call('POST', '/email-addresses', { address, domainId: account.domainId });
  folder = await mkdtemp(path.join(tmpdir(), 'postroom-package-'));
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const signedIn = () => ({ XDG_CONFIG_HOME: folder, POSTROOM_URL: service.url, POSTROOM_KEY: account.apiKey });
const postroom = (words: string[], input = ''): Promise<Ran> => startPostroom(words, signedIn(), input).ended;

async function json(...words: string[]) {
  const { code, out, error } = await postroom([...words, '--json']);
  expect({ code, error }).toEqual({ code: 0, error: '' });
  return JSON.parse(out);
}

test('the package is one file that runs in an empty folder, without the repository', async () => {
  await run(process.execPath, [path.join(repository, 'bin/build-cli.ts'), '--pack', folder]);
  const [archive = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await run('tar', ['-xzf', archive], { cwd: folder });
  expect((await readdir(path.join(folder, 'package'))).toSorted()).toEqual([
    'LICENSE',
    'README.md',
    'package.json',
    'postroom.mjs',
  ]);
  const manifest = JSON.parse(await readFile(path.join(folder, 'package/package.json'), 'utf8'));
  expect([manifest.bin, manifest.dependencies]).toEqual([{ postroom: 'postroom.mjs' }, undefined]);
  // A name without an ending, as in a folder of PATH.
  const program = path.join(folder, 'postroom');
  await writeFile(program, await readFile(path.join(folder, 'package/postroom.mjs')), { mode: 0o755 });
  const options = { cwd: folder, env: { ...process.env, ...signedIn() } };
  const sent = ['send', '--to', address, '--subject', 'Packed', '--text', 'Your code is 918273', '--json'];
  expect(JSON.parse((await run(process.execPath, [program, ...sent], options)).stdout).status).toBe('sent');
  const wait = ['wait', '--subject', 'Packed', '--since', '5m', '--code'];
  expect((await run(process.execPath, [program, ...wait], options)).stdout).toBe('918273\n');
  const doctor = await run(process.execPath, [program, 'doctor', '--json'], options);
  expect(JSON.parse(doctor.stdout).isWell).toBe(true);
});

test('send and wait of the served file run on the Node of this machine, which can be older', async () => {
  const node = await machineNode();
  const program = path.join(folder, 'served.mjs');
  await writeFile(program, await (await fetch(`${service.url}/postroom.mjs`)).text());
  const options = { cwd: folder, env: { ...process.env, ...signedIn() } };
  const sent = ['send', '--to', address, '--subject', 'Served', '--text', 'Your code is 620417', '--json'];
  expect(JSON.parse((await run(node, [program, ...sent], options)).stdout).status).toBe('sent');
  const wait = ['wait', '--subject', 'Served', '--since', '5m', '--code'];
  expect((await run(node, [program, ...wait], options)).stdout).toBe('620417\n');
});

/** Returns the path of the `node` of the machine: the first in PATH that is no package of this repository. */
async function machineNode(): Promise<string> {
  for (const place of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const program = path.join(place, 'node');
    if (place.includes('node_modules')) continue;
    const real = await realpath(program).catch(() => '');
    if (real !== '' && !real.includes('node_modules')) return real;
  }
  return process.execPath;
}

test('the gateway serves the file', async () => {
  const built = path.join(repository, 'gateway/dashboard/dist/postroom.mjs');
  await access(built);
  const response = await fetch(`${service.url}/postroom.mjs`);
  expect([response.status, await response.text()]).toEqual([200, await readFile(built, 'utf8')]);
});

test('send without --from takes the only address, and names the addresses when there are several', async () => {
  const sent = await json('send', '--to', address, '--subject', 'Derived', '--text', 'x');
  expect((await account.call('GET', `/emails/${sent.id}`)).body.from).toBe(address);
  const { body: second } = await account.call('POST', '/email-addresses', {
    address: `second@${account.domain}`,
    domainId: account.domainId,
  });
  const refused = await postroom(['send', '--to', address, '--subject', 's', '--text', 'x', '--json']);
  expect(refused.code).toBe(EXIT.usage);
  expect(JSON.parse(refused.error).error.message).toContain(`second@${account.domain}`);
  expect(await json('addresses', '--delete', second.id)).toMatchObject({ success: true });
});

test('every error with --json is one line of JSON with the exit code, that of the command line included', async () => {
  const cases: [words: string[], code: number][] = [
    [['inbox', '--nope'], EXIT.usage],
    [['nope'], EXIT.usage],
    [['reply'], EXIT.usage],
    [['inbox', '--limit', '0'], EXIT.usage],
    [['send', '--to', 'nonsense', '--subject', 's', '--text', 't', '--from', address], EXIT.failure],
    [['read', 'em_unknown'], EXIT.notFound],
    [['claim', 'th_unknown', '--holder', 'x'], EXIT.notFound],
    [['claim', 'th_unknown'], EXIT.usage],
    [['reject', 'em_unknown'], EXIT.notFound],
    [['endpoints', '--create', 'https://x.example', '--delete', 'ep_x'], EXIT.usage],
    [['addresses', '--create', 'a@nowhere.example'], EXIT.notFound],
    [['simulate', '--to', address, '--raw', '/nonexistent'], EXIT.usage],
    [['inbox', '--url', 'http://127.0.0.1:9'], EXIT.unavailable],
    [['inbox', '--key', 'wrong'], EXIT.auth],
  ];
  for (const [words, code] of cases) {
    const ran = await postroom([...words, '--json']);
    expect([words, ran.code, ran.out]).toEqual([words, code, '']);
    expect(ran.error.trim().split('\n'), words.join(' ')).toHaveLength(1);
    expect(JSON.parse(ran.error).error).toMatchObject({ message: expect.stringMatching(/\w/), exit_code: code });
  }
});

test('the table of exit codes has each code of the program once', async () => {
  const page = await readFile(path.join(repository, 'docs/cli.md'), 'utf8');
  const [, rows = ''] = /\| Exit code \| Meaning \|\n\|---\|---\|\n([\s\S]*)$/.exec(page) ?? [];
  const codes = [...rows.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(codes.filter((code) => code !== 130)).toEqual(Object.values(EXIT));
});

test('endpoints, addresses and drafts are created, listed, sent and deleted', async () => {
  const endpoint = await json('endpoints', '--create', 'https://hooks.example/x', '--name', 'Hook');
  expect(endpoint).toMatchObject({ name: 'Hook', type: 'webhook', signingSecret: expect.any(String) });
  const made = await json('addresses', '--create', `orders@${account.domain}`, '--endpoint', endpoint.id);
  expect(made).toMatchObject({ endpointId: endpoint.id });
  expect((await postroom(['addresses'])).out).toContain(`orders@${account.domain}`);
  expect((await json('endpoints')).data.map(({ id }: { id: string }) => id)).toContain(endpoint.id);
  await json('addresses', '--delete', made.id);
  await json('endpoints', '--delete', endpoint.id);
  expect((await json('endpoints')).data).toEqual([]);
  const draft = { from: address, to: address, subject: 'Drafted', text: 'x' };
  const { body } = await account.call('POST', '/drafts', draft);
  expect((await postroom(['drafts'])).out).toContain('Drafted');
  expect(await json('drafts', '--send', body.id)).toMatchObject({ status: 'sent' });
  expect((await json('drafts')).data).toEqual([]);
});

test('a thread is claimed, renewed and released, and a simulated email arrives', async () => {
  const { id } = await json('simulate', '--to', address, '--template', 'one-time-code');
  const threadId = async () => (await account.call('GET', `/emails/${id}`)).body.thread_id;
  await expect.poll(threadId, { timeout: 30_000 }).toMatch(/^th_/);
  const thread = await threadId();
  const token = (await postroom(['claim', thread, '--holder', 'one'])).out.trim();
  const other = await postroom(['claim', thread, '--holder', 'two']);
  expect([other.code, other.error]).toEqual([EXIT.failure, expect.stringContaining('one has claimed this thread')]);
  expect(await json('claim', thread, '--token', token, '--for', '10m')).toMatchObject({ holder: 'one' });
  expect(await json('claim', thread, '--token', token, '--release')).toMatchObject({ released: true });
});

test('mail that waits for approval is listed, approved and rejected', async () => {
  // A key of another family, as one from the dashboard: no key approves what a key that it created sent.
  const owner = openDatabase({
    url: await service.databaseUrl(),
    role: null,
    poolSize: 1,
    applicationName: 'test',
    onError: () => undefined,
  });
  const { secret } = await insertKey(owner, account, { scopes: ['send'], policy: { approval: 'always' } });
  await owner.close();
  const send = async (subject: string) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const email = JSON.stringify({ from: address, to: address, subject, text: 'x' });
    return (await fetch(`${service.url}/api/e2/emails`, { method: 'POST', headers, body: email })).json();
  };
  const [first, second] = [await send('First'), await send('Second')];
  const waiting = (await json('approve')).data.map((each: { id: string }) => each.id);
  expect(new Set(waiting)).toEqual(new Set([first.id, second.id]));
  expect(await json('approve', first.id)).toMatchObject({ approval: 'approved', changed: true });
  expect(await json('reject', second.id, '--reason', 'No')).toMatchObject({ approval: 'rejected' });
  expect((await json('approve')).data).toEqual([]);
});
