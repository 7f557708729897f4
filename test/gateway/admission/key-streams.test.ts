import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { CREDENTIAL_AGE_MS } from '../../../gateway/admission/credentials.ts';
import { SWEEP_INTERVAL_MS } from '../../../operations/events/event-hub.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type EventClient, followEvents } from '../../support/stages/event-feed.ts';

let gateway: TestGateway;
let second: Awaited<ReturnType<TestGateway['beside']>>;
let url: string;
let secondUrl: string;
let box: TestMailbox;
let other: TestMailbox;
let clients: EventClient[] = [];
let shiftMs = 0;

beforeAll(async () => {
  gateway = await openTestGateway({ now: () => new Date(Date.now() + shiftMs) });
  second = await gateway.beside();
  url = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  secondUrl = await second.app.listen({ host: '127.0.0.1', port: 0 });
});
beforeEach(async () => {
  shiftMs = 0;
  box = await gateway.mailbox();
  other = await gateway.mailbox({ workspaceId: box.workspaceId });
});
afterEach(() => {
  for (const client of clients) client.close();
  clients = [];
});
afterAll(async () => {
  await second.app.close();
  await gateway.close();
});

const readName = (mailbox: TestMailbox) => mailbox.address.split('@')[1] ?? '';
const limited = (expiresAt?: Date) =>
  insertKey(gateway.owner, box, {
    scopes: ['read', 'send'],
    domain: { id: box.domainId, name: readName(box) },
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
async function follow(base: string, key: string): Promise<EventClient> {
  const client = await followEvents(base, key);
  clients.push(client);
  return client;
}

/** A mail that came to the mailbox, told of as the actors tell. */
async function receive(mailbox: TestMailbox): Promise<string> {
  const [emailId = ''] = await insertMail(gateway.actor, [
    {
      workspaceId: mailbox.workspaceId,
      ownAddress: mailbox.address,
      threadId: `th_${mailbox.domainId}`,
      threadPosition: 1,
    },
  ]);
  const { rows } = await gateway.owner.pool.query(`select append_events($1, $2) as last_seq`, [
    mailbox.workspaceId,
    JSON.stringify([{ id: `evt_${emailId}`, kind: 'email.threaded', emailId, data: { type: 'received' } }]),
  ]);
  gateway.bus.publish('event.appended', { workspaceId: mailbox.workspaceId, lastSeq: rows[0].last_seq });
  return emailId;
}
const listIds = ({ messages }: EventClient) => messages.map(({ data }) => data.email_id as string);

test('a stream with a key of one domain has events of that domain only, live and from the beginning', async () => {
  const { secret } = await limited();
  const first = await receive(box);
  await receive(other);
  const [stream, whole] = [await follow(url, secret), await follow(url, box.apiKey)];
  await stream.until((messages) => messages.length === 1);
  await receive(other);
  const last = await receive(box);
  await stream.until((messages) => messages.length === 2);
  await whole.until((messages) => messages.length === 4);
  expect(listIds(stream)).toEqual([first, last]);
  const again = await follow(url, secret);
  await again.until((messages) => messages.length === 2);
  expect(listIds(again)).toEqual([first, last]);
  const page = (await gateway.call(secret, 'GET', '/events')).json();
  expect(page.data.map((event: { email_id: string }) => event.email_id)).toEqual([first, last]);
});

test('a wait for mail of a key of one domain skips mail of another', async () => {
  const { secret } = await limited();
  const waiting = gateway.call(secret, 'POST', '/emails/wait', { timeout: 30 });
  const graph = gateway.graphql(secret, `{ waitForEmail(timeout: 30) { id } }`);
  await expect.poll(() => gateway.app.events.size()).toBe(2);
  await receive(other);
  const mine = await receive(box);
  expect((await waiting).json()).toMatchObject({ email: { id: mine } });
  expect((await graph).json()).toMatchObject({ data: { waitForEmail: { id: mine } } });
});

test('keys are looked up and streams are checked often enough for 5 seconds', () => {
  expect(CREDENTIAL_AGE_MS + SWEEP_INTERVAL_MS).toBeLessThanOrEqual(5_000);
});

const readCode = (client: EventClient) => client.messages.at(-1)?.data.code as unknown;
const subscribe = (base: string, key: string) =>
  fetch(`${base}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'subscription { events { kind } }' }),
  });

test('a key that expires is rejected, and its streams end', async () => {
  const { secret } = await limited(new Date(Date.now() + 600_000));
  const stream = await follow(url, secret);
  const subscription = await subscribe(url, secret);
  const waiting = gateway.call(secret, 'GET', '/events?after=latest&wait=30');
  await expect.poll(() => gateway.app.events.size()).toBe(3);
  shiftMs = 601_000;
  await stream.ended;
  expect(readCode(stream)).toBe('UNAUTHORIZED');
  expect(await subscription.text()).toContain('UNAUTHORIZED');
  expect((await waiting).statusCode).toBe(401);
  expect((await gateway.call(secret, 'GET', '/emails')).statusCode).toBe(401);
  expect((await gateway.graphql(secret, '{ emails { edges { cursor } } }')).statusCode).toBe(401);
});

test('a key that is revoked while the bus is down is rejected on another gateway, and its streams there end', async () => {
  const { id, secret } = await limited();
  expect((await second.call(secret, 'GET', '/emails')).statusCode).toBe(200);
  const stream = await follow(secondUrl, secret);
  const subscription = await subscribe(secondUrl, secret);
  const publish = gateway.bus.publish.bind(gateway.bus);
  gateway.bus.publish = () => undefined;
  try {
    const revoked = await gateway.graphql(
      box.apiKey,
      `mutation { revokeApiKey(input: { id: "${id}" }) { __typename ... on RevokeApiKeyPayload { apiKey { status domains { name } } } } }`,
    );
    expect(revoked.json().data.revokeApiKey.apiKey).toEqual({ status: 'REVOKED', domains: [{ name: readName(box) }] });
    await stream.ended;
    expect(readCode(stream)).toBe('UNAUTHORIZED');
    expect(await subscription.text()).toContain('UNAUTHORIZED');
    expect((await second.call(secret, 'GET', '/emails')).statusCode).toBe(401);
    expect((await second.call(secret, 'POST', '/graphql', { query: '{ __typename }' })).statusCode).toBe(401);
    expect((await second.call(box.apiKey, 'GET', '/emails')).statusCode).toBe(200);
  } finally {
    gateway.bus.publish = publish;
  }
});

test('a stream and requests that wait give nothing that happened after their key was revoked', async () => {
  const { id, secret } = await limited();
  const stream = await follow(url, secret);
  const waiting = gateway.call(secret, 'POST', '/emails/wait', { timeout: 30 });
  const polling = gateway.call(secret, 'GET', '/events?after=latest&wait=30');
  const graph = gateway.graphql(secret, '{ waitForEmail(timeout: 30) { id } }');
  await expect.poll(() => gateway.app.events.size()).toBe(4);
  expect((await gateway.call(box.apiKey, 'DELETE', `/api-keys/${id}`)).statusCode).toBe(200);
  // At once: before the hub looks after its streams.
  const emailId = await receive(box);
  expect([(await waiting).statusCode, (await polling).statusCode]).toEqual([401, 401]);
  expect((await graph).body).not.toContain(emailId);
  await stream.ended;
  expect(readCode(stream)).toBe('UNAUTHORIZED');
  expect(JSON.stringify(stream.messages)).not.toContain(emailId);
});

test('the keys of a domain end with it', async () => {
  const { id, secret } = await limited();
  const stream = await follow(url, secret);
  await gateway.owner.pool.query('delete from email_address where domain_id = $1', [box.domainId]);
  expect((await gateway.call(box.apiKey, 'DELETE', `/domains/${box.domainId}`)).statusCode).toBe(200);
  await stream.ended;
  expect((await gateway.call(secret, 'GET', '/emails')).statusCode).toBe(401);
  const shown = await gateway.graphql(box.apiKey, `{ apiKey(id: "${id}") { status domains { id name } } }`);
  expect(shown.json().data.apiKey).toEqual({ status: 'REVOKED', domains: [{ id: box.domainId, name: readName(box) }] });
});

test('a stream ends when its key loses an address, since it would show the mail of that address', async () => {
  const address = `second@${readName(box)}`;
  const added = await gateway.call(box.apiKey, 'POST', '/email-addresses', { address, domain_id: box.domainId });
  expect(added.statusCode, added.body).toBe(201);
  const addresses = [box.address, address];
  const { id, secret } = await insertKey(gateway.owner, box, { scopes: ['read'], addresses });
  const stream = await follow(url, secret);
  const subscription = await subscribe(url, secret);
  await expect.poll(() => gateway.app.events.size()).toBe(2);
  expect((await gateway.call(box.apiKey, 'PATCH', `/api-keys/${id}`, { addresses: [address] })).statusCode).toBe(200);
  await stream.ended;
  expect(readCode(stream)).toBe('UNAUTHORIZED');
  expect(await subscription.text()).toContain('UNAUTHORIZED');
  const later = await follow(url, secret);
  await receive(box);
  const mine = await receive({ ...box, address });
  await later.until((messages) => messages.length === 1);
  expect(listIds(later)).toEqual([mine]);
});
