import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Actor } from '../../../actors/actor.ts';
import { startReceivingActor } from '../../../actors/receiving/actor.ts';
import { startThreadingActor } from '../../../actors/threading/actor.ts';
import { moveClock } from '../../support/rows/outgoing-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

let gateway: TestGateway;
let box: TestMailbox;
const actors: Actor[] = [];
const secretKey = Buffer.alloc(32, 7);

beforeAll(async () => {
  gateway = await openTestGateway({ config: { secretKey } });
  box = await gateway.mailbox();
  const context = { ...testActorContext(gateway.actor), bus: gateway.bus };
  const options = { workers: 1, dnsServers: ['127.0.0.1:1'], dataDirectory: null, mailHostname: 'mx.test', secretKey };
  actors.push(await startReceivingActor(context, options), await startThreadingActor(context));
});
afterAll(async () => {
  await Promise.all(actors.map((actor) => actor.stop()));
  await gateway?.close();
});

interface Failure {
  __typename: string;
  message: string;
  fields?: { field: string; message: string }[];
}

async function ask(query: string, variables: Record<string, unknown>, key = box.apiKey) {
  const response = await gateway.graphql(key, query, variables);
  const { data, errors } = response.json();
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}

const SIMULATE = `mutation ($input: SimulateInboundInput!) { simulateInbound(input: $input) {
  __typename
  ... on SimulateInboundPayload { emailId to email { subject isTest } reportedEmail { id status } }
  ... on Error { message }
} }`;
const simulate = async (input: Record<string, unknown>, key?: string) =>
  (await ask(SIMULATE, { input }, key)).simulateInbound;

async function untilParsed(emailId: string): Promise<void> {
  for (;;) {
    const { rows } = await gateway.actor.pool.query('select thread_id from email where id = $1', [emailId]);
    if (rows[0]?.thread_id != null) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a template arrives, and REST shows that it is a test', async () => {
  const made = await simulate({ template: 'ONE_TIME_CODE', to: box.address, subject: 'Yours', idempotencyKey: 'a' });
  expect(made).toMatchObject({ __typename: 'SimulateInboundPayload', to: box.address, reportedEmail: null });
  await untilParsed(made.emailId);
  const again = await simulate({ template: 'ONE_TIME_CODE', to: box.address, subject: 'Yours', idempotencyKey: 'a' });
  expect(again).toMatchObject({ emailId: made.emailId, email: { subject: 'Yours', isTest: true } });
  const rest = await gateway.call(box.apiKey, 'GET', `/emails/${made.emailId}`);
  expect(rest.json()).toMatchObject({ subject: 'Yours', is_test: true });
  const other = await simulate({ template: 'PLAIN', to: box.address, idempotencyKey: 'a' });
  expect(other.__typename).toBe('Conflict');
});

test('a raw message and one in base64 arrive alike', async () => {
  const raw = 'From: a@b.test\nSubject: raw\n\nhello\n';
  const ids = [
    await simulate({ raw, to: box.address }),
    await simulate({ rawBase64: Buffer.from(raw).toString('base64'), to: box.address }),
  ].map(({ emailId }) => emailId);
  for (const id of ids) await untilParsed(id);
  const { nodes } = await ask('query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Email { subject isTest } } }', { ids });
  expect(nodes).toEqual([
    { subject: 'raw', isTest: true },
    { subject: 'raw', isTest: true },
  ]);
});

test.each([
  [{ to: 'hello@elsewhere.test', template: 'PLAIN' }, 'NotFound', 'The recipient is not one of your addresses.'],
  [{ template: 'PLAIN' }, 'ValidationError', 'to is required'],
  [{ template: 'PLAIN', raw: 'x' }, 'ValidationError', 'Give exactly one of: a raw message as text'],
  [{}, 'ValidationError', 'Give exactly one of: a raw message as text'],
  [{ rawBase64: '%' }, 'ValidationError', 'The raw message must be base64'],
  [{ template: 'REPLY' }, 'ValidationError', 'Give the ID of the email that is answered'],
  [{ template: 'REPLY', emailId: 'em_unknown' }, 'NotFound', 'Email not found'],
  [{ template: 'BOUNCE', emailId: 'em_unknown' }, 'NotFound', 'Sent email not found'],
  [{ template: 'PLAIN', from: 'nobody' }, 'ValidationError', 'Invalid email format: nobody'],
] as const)('%j is %s', async (input, typename, message) => {
  const response: Failure = await simulate(input);
  expect([response.__typename, response.message]).toEqual([typename, expect.stringContaining(message)]);
});

const FORWARD = `mutation ($input: ForwardEmailInput!) { forwardEmail(input: $input) {
  __typename
  ... on ForwardEmailPayload { email { id subject attachmentCount type } }
  ... on Error { message }
} }`;
const forward = async (input: Record<string, unknown>, key?: string) =>
  (await ask(FORWARD, { input }, key)).forwardEmail;

test('a stored email is simulated again, with its attachments or without', async () => {
  const { emailId } = await simulate({ template: 'ATTACHMENT', to: box.address });
  await untilParsed(emailId);
  const input = { id: emailId, from: box.address, to: ['joe@elsewhere.test'] };
  const whole = await forward({ ...input, idempotencyKey: 'f' });
  expect(whole).toMatchObject({
    __typename: 'ForwardEmailPayload',
    email: { subject: 'Fwd: Our invoice', attachmentCount: 2, type: 'SENT' },
  });
  expect((await forward({ ...input, idempotencyKey: 'f' })).email.id).toBe(whole.email.id);
  const bare = await forward({ ...input, withAttachments: false, text: 'see below' });
  expect(bare.email).toMatchObject({ attachmentCount: 0 });
  const rest = await gateway.call(box.apiKey, 'GET', `/emails/${bare.email.id}`);
  expect(rest.json().text).toMatch(/^see below\n\n-+ Forwarded message/);
  expect((await forward({ ...input, from: 'x@elsewhere.test' })).__typename).toBe('Forbidden');
  expect((await forward({ ...input, to: [] })).__typename).toBe('ValidationError');
  const other = await gateway.mailbox();
  const foreign = await forward({ ...input, from: other.address }, other.apiKey);
  const unknown = await forward({ ...input, id: 'em_unknown', from: other.address }, other.apiKey);
  expect(foreign).toEqual({ __typename: 'NotFound', message: 'Email not found' });
  expect(foreign).toEqual(unknown);
});

test('after 24 hours an idempotency key is free: its response is not replayed', async () => {
  const input = { template: 'PLAIN', to: box.address, idempotencyKey: 'aged' };
  const { emailId } = await simulate(input);
  await untilParsed(emailId);
  await moveClock(gateway.actor, 23 * 3_600);
  expect((await simulate(input)).emailId).toBe(emailId);
  await moveClock(gateway.actor, 3_600 + 1);
  const later = await simulate(input);
  expect(later.__typename).toBe('SimulateInboundPayload');
  expect(later.emailId).not.toBe(emailId);
});

test('reports that no receiving actor is running', async () => {
  await Promise.all(actors.splice(0).map((actor) => actor.stop()));
  const response = await gateway.graphql(box.apiKey, SIMULATE, { input: { template: 'PLAIN', to: box.address } });
  expect(response.statusCode).toBe(503);
});
