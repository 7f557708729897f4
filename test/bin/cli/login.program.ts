import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../db/connection/database.ts';
import { makeSignInLink } from '../../../db/queries/accounts/sign-in-link.ts';
import { startPostroom } from '../../support/servers/postroom-runs.ts';
import type { DomainAccount } from '../../support/servers/service.ts';
import { type SharedService, sharedService } from '../../support/servers/shared-service.ts';

let service: SharedService;
let account: DomainAccount;
let database: Database;
let home: string;
let cookie: string;

beforeAll(async () => {
  service = await sharedService('single');
  account = await service.createAccount();
  home = await mkdtemp(path.join(tmpdir(), 'postroom-login-'));
  database = openDatabase({
    url: await service.databaseUrl(),
    role: null,
    poolSize: 1,
    applicationName: 'test',
    onError: () => undefined,
  });
  const token = await makeSignInLink(database, `owner@${account.domain}`);
  const signedIn = await fetch(`${service.url}/api/auth/sign-in/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}, 300_000);
afterAll(async () => {
  await database?.close();
  await rm(home, { recursive: true, force: true });
});

const locateConfig = (folder: string) => path.join(home, folder, 'postroom', 'config.json');
const start = (folder: string, words: string[]) =>
  startPostroom(words, { XDG_CONFIG_HOME: path.join(home, folder), POSTROOM_URL: '', POSTROOM_KEY: '' }, '');
const postroom = (folder: string, ...words: string[]) => start(folder, words).ended;

/** Decides in the browser about the code of a terminal. */
async function decide(userCode: string, level: string | null): Promise<number> {
  const post = async (target: string, body: unknown) =>
    fetch(`${service.url}/api/auth/oauth/${target}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie, origin: service.url },
      body: JSON.stringify(body),
    });
  const asked = { userCode };
  const shown = (await (await post('request', asked)).json()) as { question: { workspaceId: string } };
  const { workspaceId } = shown.question;
  return (await post('decision', { asked, workspaceId, level, addresses: null })).status;
}

async function login(folder: string, level: string | null) {
  const run = start(folder, ['login', '--url', service.url, '--no-browser']);
  await expect.poll(() => run.complained(), { timeout: 60_000 }).toMatch(/Code: [A-Z]{4}-[A-Z]{4}/);
  const userCode = /Code: (\S+)/.exec(run.complained())?.[1] ?? '';
  expect(await decide(userCode, level)).toBe(200);
  return run.ended;
}

test('login stores access that only the user can read, other commands use it, and logout ends it', async () => {
  const done = await login('own', 'read');
  expect(done, done.error).toMatchObject({ code: 0, out: expect.stringContaining(`owner@${account.domain}: read.`) });
  const file = locateConfig('own');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const stored = JSON.parse(await readFile(file, 'utf8'));
  expect(stored).toEqual({
    url: service.url,
    tokens: {
      access: expect.stringMatching(/^pr_access_/),
      refresh: expect.stringMatching(/^pr_refresh_/),
      expiresAt: expect.any(String),
    },
  });
  expect(await postroom('own', 'inbox')).toMatchObject({ code: 0 });
  const denied = await postroom(
    'own',
    'send',
    '--from',
    `hello@${account.domain}`,
    '--to',
    'a@b.test',
    '--subject',
    's',
    '--text',
    't',
  );
  expect(denied.code).toBe(4);
  const elsewhere = await postroom('own', 'inbox', '--url', 'http://localhost:9');
  expect(elsewhere.error).toContain('There is no API key for http://localhost:9.');

  // Four runs at once find an access token that expires: one of them refreshes, and the others use what it stored.
  await writeFile(
    file,
    JSON.stringify({ ...stored, tokens: { ...stored.tokens, expiresAt: new Date().toISOString() } }),
  );
  const runs = await Promise.all(Array.from({ length: 4 }, () => postroom('own', 'inbox')));
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const renewed = JSON.parse(await readFile(file, 'utf8'));
  expect(renewed.tokens.refresh).not.toBe(stored.tokens.refresh);
  expect(await readdir(path.dirname(file))).toEqual(['config.json']);

  const ended = await postroom('own', 'logout', '--json');
  expect([ended.code, JSON.parse(ended.out)]).toEqual([0, { url: service.url, access_ended: true }]);
  const call = await fetch(`${service.url}/api/e2/emails`, {
    headers: { authorization: `Bearer ${renewed.tokens.access}` },
  });
  expect(call.status).toBe(401);
  expect(await postroom('own', 'logout')).toMatchObject({ code: 4 });
}, 300_000);

test('a lock of a run that was killed is taken over, and a refresh token that was used asks for a new sign-in', async () => {
  await login('killed', 'read');
  const file = locateConfig('killed');
  const stored = JSON.parse(await readFile(file, 'utf8'));
  const expired = { ...stored, tokens: { ...stored.tokens, expiresAt: new Date().toISOString() } };
  await writeFile(file, JSON.stringify(expired));
  // A number that no process can have.
  await writeFile(`${file}.lock`, '999999999');
  expect(await postroom('killed', 'inbox')).toMatchObject({ code: 0 });
  await writeFile(file, JSON.stringify(expired));
  const ended = await postroom('killed', 'inbox');
  expect(ended).toMatchObject({ code: 4, error: expect.stringContaining('Run postroom login.') });
  expect(await postroom('killed', 'logout')).toMatchObject({ code: 0, out: expect.stringContaining('has ended') });
}, 300_000);

test('login that is denied stores nothing', async () => {
  expect(await login('denied', null)).toMatchObject({ code: 4, error: expect.stringContaining('denied access') });
  expect(await readdir(home)).not.toContain('denied');
}, 300_000);
