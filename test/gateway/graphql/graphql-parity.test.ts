import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import type { TestGateway } from '../../support/servers/gateway.ts';
import type { WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { type ActingGateway, openActingGateway } from '../../support/stages/acting-gateway.ts';

// Operations that were of one interface only, through both, with the actors that they ask.
let stage: ActingGateway;
let gateway: TestGateway;
let box: TestMailbox;
let receiver: WebhookReceiver;

beforeAll(async () => {
  stage = await openActingGateway();
  ({ gateway, box, receiver } = stage);
});
afterAll(() => stage.close());

const ask: ActingGateway['ask'] = (...asked) => stage.ask(...asked);

async function rest(method: string, path: string, body?: unknown, key = box.apiKey) {
  const response = await gateway.call(key, method, path, body);
  return { status: response.statusCode, body: response.json() };
}

/** Receives a template by REST, and returns the ID of the email when its webhook was posted. */
async function simulate(subject: string): Promise<string> {
  const { status, body } = await rest('POST', '/emails/simulate', { template: 'plain', to: box.address, subject });
  expect([status, body.to], JSON.stringify(body)).toEqual([200, box.address]);
  await receiver.until((requests) => requests.some(({ headers }) => headers['x-email-id'] === body.id));
  return body.id;
}

test('POST /emails/simulate receives mail that GraphQL shows as a test, and rejects two sources', async () => {
  const id = await simulate('Through REST');
  const { email } = await ask('query ($id: ID!) { email(id: $id) { subject isTest thread { id } } }', { id });
  expect(email).toMatchObject({ subject: 'Through REST', isTest: true, thread: { id: expect.any(String) } });
  const both = await rest('POST', '/emails/simulate', { template: 'plain', raw: 'Subject: x\n\ny' });
  expect([both.status, both.body.details[0].field]).toEqual([400, 'template']);
  const broken = await rest('POST', '/emails/simulate', { raw_base64: 'not base64!', to: box.address });
  expect([broken.status, broken.body.details[0].field]).toEqual([400, 'raw_base64']);
});

test('POST /emails/reprocess responds as reprocessEmails does', async () => {
  const id = await simulate('To be parsed again');
  await gateway.actor.pool.query(`update email set subject = 'Damaged' where id = $1`, [id]);
  const dry = await rest('POST', '/emails/reprocess', { email_ids: [id], steps: ['parse'], dry_run: true });
  expect(dry.status, JSON.stringify(dry.body)).toBe(200);
  const [preview] = dry.body.data;
  expect(preview).toMatchObject({ email_id: id, delivery_id: null, error: null });
  expect(preview.changes).toContainEqual(
    expect.objectContaining({ step: 'parse', field: 'subject', before: 'Damaged', after: 'To be parsed again' }),
  );
  const { reprocessEmails } = await ask(
    `mutation ($ids: [ID!]!) { reprocessEmails(input: { emailIds: $ids, steps: [PARSE], isDryRun: true }) {
      ... on ReprocessEmailsPayload { emails { emailId changes { field before after } } } } }`,
    { ids: [id] },
  );
  expect(reprocessEmails.emails[0].changes).toEqual(
    preview.changes.map(({ field, before, after }: Record<string, string>) => ({ field, before, after })),
  );
  await rest('POST', '/emails/reprocess', { email_ids: [id], steps: ['parse'], dry_run: false });
  expect((await rest('GET', `/emails/${id}`)).body.subject).toBe('To be parsed again');
});

test('POST /emails/explain-route names the endpoint of mail that was not received', async () => {
  const { status, body } = await rest('POST', '/emails/explain-route', { to: box.address, subject: 'Hi', text: 'x' });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({ email_id: null, would: { outcome: 'endpoint', endpoint: { id: box.endpointId } } });
});

test('GET /deliveries/:id shows a delivery, and POST /deliveries/:id/retry refuses one that succeeded', async () => {
  const id = await simulate('To be delivered again');
  const { body: listed } = await rest('GET', `/emails/${id}/deliveries`);
  const [delivery] = listed.data;
  expect((await rest('GET', `/deliveries/${delivery.id}`)).body.id).toBe(delivery.id);
  // Its outcome is stored a moment after its webhook.
  const status = async () => (await rest('GET', `/deliveries/${delivery.id}`)).body.status;
  await expect.poll(status).toBe('success');
  const retried = await rest('POST', `/deliveries/${delivery.id}/retry`);
  expect(retried.status).toBe(400);
});

const IMPORT = `mutation ($input: ImportEmailsInput!) { importEmails(input: $input) {
  __typename
  ... on ImportEmailsPayload { messages { emailId status reason } }
  ... on Error { message } } }`;

test('importEmails stores messages once, as POST /emails/import does', async () => {
  const raw = Buffer.from(
    'From: ann@example.org\r\nTo: x@y.test\r\nSubject: Old\r\nDate: Mon, 2 Jan 2023 10:00:00 +0000\r\nMessage-ID: <old@example.org>\r\n\r\nOld mail\r\n',
  ).toString('base64');
  const input = { address: box.address, messages: [{ raw, isRead: true }] };
  const { importEmails } = await ask(IMPORT, { input });
  expect(importEmails.messages).toEqual([{ emailId: expect.any(String), status: 'IMPORTED', reason: null }]);
  const [{ emailId }] = importEmails.messages;
  const again = await ask(IMPORT, { input });
  expect(again.importEmails.messages).toEqual([{ emailId, status: 'DUPLICATE', reason: null }]);
  const byRest = await rest('POST', '/emails/import', { address: box.address, messages: [{ raw }] });
  expect(byRest.body.data).toEqual([{ id: emailId, status: 'duplicate', reason: null }]);
});

test('importEmails rejects 0 and 101 messages, text that is not base64, and an address of another account', async () => {
  const attempt = async (input: unknown) => (await ask(IMPORT, { input })).importEmails.message as string;
  expect(await attempt({ address: box.address, messages: [] })).toContain('1 to 100');
  const message = { raw: 'U3ViamVjdDogeA0KDQp4' };
  expect(await attempt({ address: box.address, messages: Array(101).fill(message) })).toContain('1 to 100');
  expect(await attempt({ address: box.address, messages: [{ raw: '{}' }] })).toContain('base64');
  const other = await gateway.mailbox();
  const unknown = await attempt({ address: 'nobody@nowhere.test', messages: [message] });
  const foreign = await attempt({ address: other.address, messages: [message] });
  expect(foreign.replaceAll(other.address, 'X')).toBe(unknown.replaceAll('nobody@nowhere.test', 'X'));
});

const PULL = `query ($endpointId: ID, $after: String, $events: [String!], $first: Int) {
  webhookRequests(endpointId: $endpointId, after: $after, events: $events, first: $first) {
    requests { cursor eventId kind at emailId headers { name value } body } nextCursor hasMore signingSecret } }`;

test('webhookRequests returns the requests that GET /events/webhook-requests returns', async () => {
  const id = await simulate('To be pulled');
  const { webhookRequests: page } = await ask(PULL, { first: 100 });
  const { body } = await rest('GET', '/events/webhook-requests?limit=100');
  expect(page.signingSecret).toBe(body.signing_secret);
  expect(page.requests.map(({ eventId }: { eventId: string }) => eventId)).toEqual(
    body.data.slice(0, page.requests.length).map(({ event_id: eventId }: { event_id: string }) => eventId),
  );
  const ours = page.requests.find(({ emailId }: { emailId: string }) => emailId === id);
  expect(JSON.parse(Buffer.from(ours.body, 'base64').toString())).toMatchObject({
    event: 'email.received',
    email: { id, subject: 'To be pulled' },
  });
  expect(ours.headers.map(({ name }: { name: string }) => name)).toContain('webhook-signature');
});

test('webhookRequests of an endpoint is signed with its own secret, and finds no endpoint of another account', async () => {
  const { webhookRequests: page } = await ask(PULL, { endpointId: box.endpointId, first: 1 });
  expect(page.signingSecret).toBeNull();
  const other = await gateway.mailbox({ endpointUrl: receiver.url });
  const response = await gateway.graphql(box.apiKey, PULL, { endpointId: other.endpointId });
  const unknown = await gateway.graphql(box.apiKey, PULL, { endpointId: 'ep_00000000000070008000000000000000' });
  expect(response.json().errors[0].message).toBe(unknown.json().errors[0].message);
});

test.each([
  [{ first: 0 }, 'first must be 1 to 100'],
  [{ first: 101 }, 'first must be 1 to 100'],
  [{ events: ['email.recieved'] }, 'is not a kind of event'],
  [{ after: 'nonsense' }, 'cursor'],
])('webhookRequests rejects %j', async (variables, message) => {
  const response = await gateway.graphql(box.apiKey, PULL, variables);
  expect(response.json().errors[0].message).toMatch(new RegExp(message, 'i'));
});

test('draftAttachment returns the file of a draft, and only within its own draft and account', async () => {
  const attachments = [{ filename: 'pears.txt', content: 'VHdvIHBlYXJz' }];
  const { body: draft } = await rest('POST', '/drafts', { kind: 'new', attachments });
  const { body: second } = await rest('POST', '/drafts', { kind: 'new' });
  const READ =
    'query ($draftId: ID!, $id: ID!) { draftAttachment(draftId: $draftId, id: $id) { filename contentType content } }';
  const id = draft.attachments[0].id;
  const { draftAttachment: file } = await ask(READ, { draftId: draft.id, id });
  expect(file).toEqual({ filename: 'pears.txt', contentType: 'text/plain', content: 'VHdvIHBlYXJz' });
  const other = await gateway.mailbox();
  for (const [key, draftId] of [
    [box.apiKey, second.id],
    [other.apiKey, draft.id],
  ]) {
    const response = await gateway.graphql(key, READ, { draftId, id });
    expect(response.json()).toMatchObject({ data: { draftAttachment: null } });
  }
});

test('an operation reads at most five attachments of drafts', async () => {
  const fields = Array.from({ length: 6 }, (_, at) => `a${at}: draftAttachment(draftId: "x", id: "y") { content }`);
  const response = await gateway.graphql(box.apiKey, `{ ${fields.join(' ')} }`, {});
  expect(response.json().errors[0].message).toMatch(/cost|complex/i);
});
