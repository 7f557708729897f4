import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const call = (method: string, path: string, body?: unknown) => gateway.call(box.apiKey, method, path, body);
const email = () => ({ from: box.address, to: 'ann@elsewhere.test', subject: 'Your order', text: 'Fine?' });
const METADATA = { order: 4711, tags: ['a', null], deep: { ключ: '"\u2028' } };

async function readMetadata(id: string): Promise<unknown[]> {
  const rest = (await call('GET', `/emails/${id}`)).json().metadata;
  const graph = await gateway.graphql(box.apiKey, `{ email(id: "${id}") { metadata } }`);
  return [rest, graph.json().data.email.metadata];
}

test('metadata is stored with an email, a reply, a forwarded email, a scheduled one and each of a batch', async () => {
  const sent = await call('POST', '/emails', { ...email(), metadata: METADATA });
  expect(sent.statusCode, sent.body).toBe(200);
  const { id } = sent.json();
  const reply = await call('POST', `/emails/${id}/reply`, { from: box.address, text: 'x', metadata: { n: 2 } });
  const forward = { from: box.address, to: 'bob@elsewhere.test', metadata: { n: 3 } };
  const forwarded = await call('POST', `/emails/${id}/forward`, forward);
  const later = await call('POST', '/emails', { ...email(), scheduled_at: 'tomorrow at 9am', metadata: { n: 4 } });
  const batch = await call('POST', '/emails/batch', [{ ...email(), metadata: { n: 5 } }, email()]);
  const ids = [
    id,
    reply.json().id,
    forwarded.json().id,
    later.json().id,
    ...batch.json().data.map((each: { id: string }) => each.id),
  ];
  const read = await Promise.all(ids.map(readMetadata));
  expect(read).toEqual(
    [METADATA, { n: 2 }, { n: 3 }, { n: 4 }, { n: 5 }, null].map((metadata) => [metadata, metadata]),
  );
});

test('metadata is accepted by GraphQL', async () => {
  const { body } = await gateway.graphql(
    box.apiKey,
    `mutation($input: SendEmailInput!) { sendEmail(input: $input) { ... on SendEmailPayload { email { metadata } } ... on Error { message } } }`,
    { input: { ...email(), to: [email().to], metadata: METADATA } },
  );
  expect(JSON.parse(body).data.sendEmail).toEqual({ email: { metadata: METADATA } });
});

test('metadata is not part of the sent message', async () => {
  const { id } = (await call('POST', '/emails', { ...email(), metadata: { secret: 'do-not-tell' } })).json();
  const raw = await call('GET', `/emails/${id}/raw`);
  expect(raw.statusCode).toBe(200);
  expect(raw.body).not.toContain('do-not-tell');
});

const LARGEST = { text: 'x'.repeat(4_096 - '{"text":""}'.length) };

test.each([
  ['a list', [1], /object|record/],
  ['a string', 'order', /object|record/],
  ['more than 4,096 bytes', { text: `${LARGEST.text}x` }, /4096 bytes/],
  ['more than 4,096 bytes of other letters', { text: 'ж'.repeat(2_100) }, /4096 bytes/],
  ['NUL', { text: 'a\0b' }, /NUL/],
  ['a lone surrogate', { text: '\ud800' }, /surrogates/],
])('%s is refused over REST and GraphQL', async (_, metadata, message) => {
  const rest = await call('POST', '/emails', { ...email(), metadata });
  expect(rest.statusCode, rest.body).toBe(400);
  expect(rest.json().details).toEqual([{ field: 'metadata', message: expect.stringMatching(message) }]);
  const { body } = await gateway.graphql(
    box.apiKey,
    `mutation($input: SendEmailInput!) { sendEmail(input: $input) { ... on ValidationError { fields { path message } } } }`,
    { input: { ...email(), to: [email().to], metadata } },
  );
  expect(JSON.parse(body).data.sendEmail.fields).toEqual([
    { path: ['metadata'], message: expect.stringMatching(message) },
  ]);
});

test('metadata of 4,096 bytes is stored', async () => {
  const sent = await call('POST', '/emails', { ...email(), metadata: LARGEST });
  expect(sent.statusCode, sent.body).toBe(200);
  expect((await readMetadata(sent.json().id))[0]).toEqual(LARGEST);
});

test('metadata is part of the request that an Idempotency-Key repeats', async () => {
  const send = (metadata: unknown) =>
    gateway.call(box.apiKey, 'POST', '/emails', { ...email(), metadata }, { 'idempotency-key': 'metadata-1' });
  const first = await send({ n: 1 });
  expect((await send({ n: 1 })).json().id).toBe(first.json().id);
  expect((await send({ n: 2 })).statusCode).toBe(409);
});

test('metadata is shown to no other account', async () => {
  const { id } = (await call('POST', '/emails', { ...email(), metadata: METADATA })).json();
  const stranger = await gateway.mailbox();
  expect((await gateway.call(stranger.apiKey, 'GET', `/emails/${id}`)).statusCode).toBe(404);
});
