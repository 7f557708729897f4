import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ran, startPostroom } from '../support/servers/postroom-runs.ts';
import { type TestAccount, until } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';

let service: SharedService;
let receiver: WebhookReceiver;
let account: TestAccount & { domain: string; domainId: string };
let address: string;
let directory: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await sharedService('single');
  account = await service.createAccount();
  address = `box@${account.domain}`;
  const config = { url: receiver.url };
  const endpoint = await account.call('POST', '/endpoints', {
    name: 'hook',
    type: 'webhook',
    events: ['email.received', 'email.threaded'],
    config,
  });
  const { domainId } = account;
  await account.call('POST', '/email-addresses', { address, domainId, endpointId: endpoint.body.id });
  directory = await mkdtemp(path.join(tmpdir(), 'postroom-import-'));
}, 300_000);
afterAll(async () => {
  await receiver?.stop();
  await rm(directory, { recursive: true, force: true });
});

function postroom(words: string[], key = account.apiKey): Promise<Ran> {
  return startPostroom(words, { POSTROOM_URL: service.url, POSTROOM_KEY: key }).ended;
}

const emails = async (search: string) => {
  const { body } = await account.call('GET', `/emails?search=${encodeURIComponent(search)}&limit=100&time_range=all`);
  return body.data as Record<string, unknown>[];
};

const MBOX = [
  'From ann@x.test Thu Jan  2 03:04:05 2003',
  'From: Ann <ann@x.test>',
  'Message-ID: <first@x.test>',
  'Subject: Kolibri plans',
  'Date: Thu, 02 Jan 2003 05:04:05 +0200',
  'Status: RO',
  '',
  '>From the beginning',
  '',
  'From bob@x.test Fri Jan  3 03:04:05 2003',
  'From: Bob <bob@x.test>',
  'Message-ID: <second@x.test>',
  'In-Reply-To: <first@x.test>',
  'Subject: Re: Kolibri plans',
  // In the future, so the time of its receipt counts.
  'Date: Tue, 03 Jan 2198 05:04:05 +0000',
  'Status: O',
  '',
  'Fine',
  '',
  'From eve@x.test Sat Jan  4 03:04:05 2003',
  'From: eve@x.test',
  'Subject: Kolibri too long',
  '',
  'x'.repeat(1_100_000),
  '',
].join('\n');

test('an mbox is imported with dates, threads and flags, without webhooks, and once', async () => {
  const file = path.join(directory, 'mail.mbox');
  await writeFile(file, MBOX);
  const report = path.join(directory, 'refused.jsonl');
  const first = await postroom(['import', 'mbox', file, '--address', address, '--report', report]);
  expect(first, first.error).toMatchObject({ code: 0, error: '' });
  expect(first.out).toMatch(/^Imported 2, already there 0, refused 1, skipped 0 /);
  expect(first.out).toContain(`refused: ${file} message 3: 554 5.6.0 A line is too long`);
  expect(JSON.parse(await readFile(report, 'utf8'))).toEqual({
    source: `${file} message 3`,
    reason: '554 5.6.0 A line is too long',
  });
  await until(
    'both are in their thread',
    () => service.output.slice(-2000),
    async () => (await emails('Kolibri')).filter((email) => email['thread_id'] !== null).length === 2,
  );
  const [second, root_] = await emails('Kolibri');
  expect(root_).toMatchObject({ created_at: '2003-01-02T03:04:05.000Z', is_read: true, from: 'ann@x.test' });
  expect(second).toMatchObject({
    created_at: '2003-01-03T03:04:05.000Z',
    is_read: false,
    thread_id: root_?.['thread_id'],
  });
  const shown = await account.call('GET', `/emails/${String(root_?.['id'])}`);
  expect(shown.body).toMatchObject({ text: 'From the beginning\n', authentication: null });
  const route = await account.call('GET', `/emails/${String(root_?.['id'])}/route`);
  expect(route.body).toMatchObject({ outcome: 'stored', reason: expect.stringContaining('It was imported.') });

  const again = await postroom(['import', 'mbox', file, '--address', address, '--json']);
  expect(JSON.parse(again.out)).toMatchObject({ imported: 0, duplicates: 2, skipped: 0 });
  expect(await emails('Kolibri')).toHaveLength(2);
  expect(receiver.requests).toEqual([]);
});

test('with --webhooks the mail is routed like new mail', async () => {
  const file = path.join(directory, 'one.eml');
  await writeFile(file, 'From: ann@x.test\nMessage-ID: <eml@x.test>\nSubject: Albatross\n\nHello\n');
  const run = await postroom(['import', 'eml', file, '--address', address, '--webhooks', '--read', '--json']);
  expect(JSON.parse(run.out), run.error).toMatchObject({ imported: 1 });
  await receiver.until((requests) => requests.some(({ headers }) => headers['x-message-id'] === '<eml@x.test>'));
  expect(await emails('Albatross')).toMatchObject([{ is_read: true }]);
  const requests = await receiver.until((all) =>
    all.some(({ headers }) => headers['x-webhook-event'] === 'email.threaded'),
  );
  // Events are posted in the order of the feed: what was imported before had its turn.
  expect(requests.filter(({ body }) => body.toString().includes('Kolibri'))).toEqual([]);
});

test('an import that is killed is repeated: every message is there once', async () => {
  const file = path.join(directory, 'killed.mbox');
  const count = 800;
  const subjects = Array.from({ length: count }, (_, n) => `Quokka ${n}`);
  const message = (subject: string, n: number) =>
    `From ann@x.test Thu Jan  2 03:04:05 2003\nFrom: ann@x.test\nMessage-ID: <quokka${n}@x.test>\nSubject: ${subject}\n\nBody\n\n`;
  await writeFile(file, subjects.map(message).join(''));
  const words = ['import', 'mbox', file, '--address', address, '--json'];
  const stored = async () => (await account.call('GET', `/emails?time_range=all&limit=1&address=${address}`)).body;
  const before = (await stored()).pagination.total as number;
  const first = startPostroom(words, { POSTROOM_URL: service.url, POSTROOM_KEY: account.apiKey });
  await until(
    'a part is stored',
    () => 'none is',
    async () => (await stored()).pagination.total > before,
  );
  first.child.kill('SIGKILL');
  await first.ended;
  const again = await postroom(words);
  expect(again, again.error).toMatchObject({ code: 0 });
  const { imported, duplicates, refused } = JSON.parse(again.out);
  expect(refused).toEqual([]);
  expect(imported + duplicates).toBe(count);
  expect(duplicates).toBeGreaterThan(0);
  // Lists show mail when it is parsed.
  const total = async () => (await stored()).pagination.total as number;
  await until('all are parsed', String, async () => (await total()) >= before + count);
  expect(await total()).toBe(before + count);
});

test('a foreign address, a wrong key and a wrong path are named', async () => {
  const file = path.join(directory, 'one.eml');
  const foreign = await postroom(['import', 'eml', file, '--address', 'who@elsewhere.test']);
  expect(foreign).toMatchObject({
    code: 5,
    out: '',
    error: expect.stringMatching(/^The recipient is not one of your addresses/),
  });
  const wrong = await postroom(['import', 'eml', file, '--address', address], 'x'.repeat(40));
  expect(wrong).toMatchObject({ code: 4, error: expect.stringMatching(/does not accept the API key/) });
  const nowhere = await postroom(['import', 'mbox', path.join(directory, 'none'), '--address', address]);
  expect(nowhere).toMatchObject({ code: 1, error: expect.stringMatching(/none does not exist\n$/) });
});
