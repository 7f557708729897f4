import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { repository } from '../support/runner.ts';
import { type DomainAccount, until } from '../support/servers/service.ts';
import { type SharedService, sharedService } from '../support/servers/shared-service.ts';

interface Ticket {
  number: number;
  status: string;
  agent: string | null;
  address: string;
  messages: { from: string; text: string }[];
}

let service: SharedService;
let account: DomainAccount;
let customer: DomainAccount;
let folder: string;
let port: number;
let app: ChildProcess | null = null;

beforeAll(async () => {
  service = await sharedService('single');
  [account, customer] = [await service.createAccount(), await service.createAccount()];
  const { domain, domainId } = customer;
  await customer.call('POST', '/email-addresses', { address: `ann@${domain}`, domainId });
  folder = await mkdtemp(path.join(tmpdir(), 'postroom-inbox-'));
  port = await freePort();
  await start();
}, 300_000);
afterAll(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
});

const journal = () => path.join(folder, 'tickets.jsonl');

async function start(): Promise<void> {
  app = spawn(process.execPath, [path.join(repository, 'docs/recipes/support-inbox/app.mjs')], {
    env: {
      ...process.env,
      BASE: service.url,
      KEY: account.apiKey,
      DOMAIN: account.domain,
      PORT: String(port),
      JOURNAL: journal(),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(app.stdout ?? app, 'data')) as [Buffer];
  expect(line.toString()).toContain(`support@${account.domain}`);
}

async function stop(): Promise<void> {
  if (app === null) return;
  const ended = once(app, 'exit');
  app.kill('SIGKILL');
  await ended;
  app = null;
}

async function ask(method: string, route: string, body?: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`http://localhost:${port}${route}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const tickets = async () => (await ask('GET', '/tickets')).body as Ticket[];

/** Resolves when the inbox has tickets with so many messages each. */
const untilMessages = (...counts: number[]) =>
  until(
    `tickets have ${counts.join(', ')} messages`,
    () => '',
    async () => JSON.stringify((await tickets()).map(({ messages }) => messages.length)) === JSON.stringify(counts),
  );

const write = async (subject: string, text: string) => {
  const email = { from: `ann@${customer.domain}`, to: `support@${account.domain}`, subject, text };
  const sent = await customer.call('POST', '/emails', email);
  expect(sent.status, JSON.stringify(sent.body)).toBe(200);
};

/** Returns the email from the inbox with this text, once the customer has it. */
const received = async (since: Date, text: string) => {
  const filter = { address: `ann@${customer.domain}`, since: since.toISOString(), timeout: 120 };
  const emails = async () =>
    (await customer.call('GET', '/emails?type=received&limit=100')).body.data as { id: string; preview: string }[];
  await customer.call('POST', '/emails/wait', filter);
  let found: string | undefined;
  await until(
    `“${text}” arrives`,
    () => '',
    async () => {
      found = (await emails()).find(({ preview }) => preview.includes(text))?.id;
      return found !== undefined;
    },
  );
  return found ?? '';
};

test('the support inbox opens a ticket, and a reply to its address joins it whatever its subject is', async () => {
  const since = new Date();
  await write('My order', 'Where is it?');
  await untilMessages(1);
  const acknowledgement = await received(since, 'It is ticket 1');
  const reply = { from: `ann@${customer.domain}`, text: 'Order 4711.', subject: 'Something else' };
  expect((await customer.call('POST', `/emails/${acknowledgement}/reply`, reply)).status).toBe(200);
  await untilMessages(2);
  const [ticket] = await tickets();
  expect(ticket).toMatchObject({ number: 1, status: 'open', address: expect.stringMatching(/^reply\+/) });
  expect(ticket?.messages.map(({ text }) => text.trim())).toEqual(['Where is it?', 'Order 4711.']);
});

test('the support inbox lets one of several agents reply to a ticket', async () => {
  const agents = ['ann', 'bob', 'eve'];
  const taken = await Promise.all(agents.map((agent) => ask('POST', '/tickets/1/take', { agent })));
  expect(taken.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
  const holder = agents[taken.findIndex(({ status }) => status === 200)];
  expect(taken.filter(({ status }) => status === 409).map(({ body }) => body)).toMatchObject(Array(2).fill({ holder }));
  const other = agents.find((agent) => agent !== holder);
  expect((await ask('POST', '/tickets/1/answer', { agent: other, text: 'No' })).status).toBe(409);
  const since = new Date();
  const responded = await ask('POST', '/tickets/1/answer', { agent: holder, text: 'On Tuesday.' });
  expect(responded).toMatchObject({ status: 200, body: { status: 'answered', agent: null } });
  await received(since, 'On Tuesday.');
});

test('the support inbox has each message once after a kill, half a line in its journal, and a replay', async () => {
  await stop();
  await appendFile(journal(), '{"kind":"recei');
  await write('Another question', 'Are you there?');
  await start();
  expect((await tickets()).map(({ messages }) => messages.length)[0]).toBe(2);
  await untilMessages(2, 1);
  const { body } = await account.call('GET', '/endpoints');
  const [{ id }] = body.data;
  const untilDelivered = (count: number) =>
    until(
      `${count} webhooks are delivered`,
      () => '',
      async () => {
        const deliveries = (await account.call('GET', `/endpoints/${id}/deliveries?limit=100`)).body.data;
        const isDone = deliveries.every(({ status }: { status: string }) => status === 'success');
        return deliveries.length === count && isDone;
      },
    );
  await untilDelivered(3);
  const replay = { since: new Date(0).toISOString(), status: 'all' };
  expect((await account.call('POST', `/endpoints/${id}/replay`, replay)).status).toBe(200);
  await untilDelivered(6);
  expect((await tickets()).map(({ messages }) => messages.length)).toEqual([2, 1]);
  await stop();
  await start();
  expect((await tickets()).map(({ messages }) => messages.length)).toEqual([2, 1]);
});

test('the support inbox sends a reply once, posted twice at once, and again after a crash before its record', async () => {
  const response = { agent: 'ann', text: 'Yes, we are here.' };
  const sent = async () => {
    const { data } = (await account.call('GET', '/emails?type=sent&limit=100')).body;
    return (data as { preview: string }[]).filter(({ preview }) => preview.includes(response.text)).length;
  };
  expect((await ask('POST', '/tickets/2/take', { agent: 'ann' })).status).toBe(200);
  const both = await Promise.all([
    ask('POST', '/tickets/2/answer', response),
    ask('POST', '/tickets/2/answer', response),
  ]);
  expect(both.map(({ status }) => status)).toEqual([200, 409]);
  await stop();
  const lines = (await readFile(journal(), 'utf8')).trimEnd().split('\n');
  expect(lines.at(-1)).toContain('"answered"');
  await writeFile(journal(), `${lines.slice(0, -1).join('\n')}\n`);
  await start();
  expect((await tickets())[1]).toMatchObject({ status: 'open', agent: 'ann' });
  await ask('POST', '/tickets/2/answer', response);
  expect(await sent()).toBe(1);
});

test('the support inbox refuses a webhook that is not signed', async () => {
  const forged = { id: 'evt_1', type: 'email.received', email: {} };
  expect((await ask('POST', '/hook', forged)).status).toBe(401);
  const response = await fetch(`http://localhost:${port}/hook`, {
    method: 'POST',
    headers: {
      'webhook-id': 'dlv_1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
    },
    body: JSON.stringify(forged),
  });
  expect(response.status).toBe(401);
});
