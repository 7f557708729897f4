import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeParsed } from '../../../actors/receiving/store-parsed.ts';
import { scanHeaders } from '../../../core/mime/parse-message.ts';
import { type IdentifierKind, makeIdentifier } from '../../../core/shared/identifiers.ts';
import { deriveReturnAddressKey, makeReturnAddress } from '../../../core/smtp/return-address.ts';
import { acceptGroup } from '../../../db/queries/emails/accept-group.ts';
import type { Reception } from '../../../db/queries/emails/reception-claim.ts';
import { MAX_WAITING } from '../../../operations/emails/pending-emails.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { waitFor } from '../../support/wait-for.ts';

let gateway: TestGateway;
let box: TestMailbox;

// No receiving actor runs: what is accepted here stays as it is right after the 250.
beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox({ domain: 'mine.test', address: 'hello@mine.test' });
});
afterAll(() => gateway.close());

const MESSAGE = [
  'From: =?utf-8?Q?Ad=C3=A1?= <ada@away.test>',
  'To: hello@mine.test, Bob <bob@away.test>',
  'Cc: carl@away.test',
  'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
  'Message-ID: <first@away.test>',
  'X-Note: kept',
  '',
  'A body',
  '',
].join('\r\n');

async function accept(recipient = 'hello+tag@mine.test', message = MESSAGE): Promise<string> {
  const bytes = Buffer.from(message);
  const identifier = (kind: 'email' | 'raw') => makeIdentifier(kind, new Date(), randomBytes(10));
  const { workspaceId, addressId, domainId, address: ownAddress } = box;
  const offer = {
    envelope: {
      reversePath: 'ada@away.test',
      recipients: [{ recipient, workspaceId, addressId, domainId, ownAddress }],
      remoteAddress: '192.0.2.1',
      helo: 'away.test',
      isTls: false,
      traceFields: '',
    },
    bytes,
    sha256: createHash('sha256').update(bytes).update(randomBytes(8)).digest('hex'),
    rawId: identifier('raw'),
    emailIds: [identifier('email')],
    traceParent: null,
    repeatSeconds: 600,
  };
  const [outcome] = await acceptGroup(
    gateway.actor.pool,
    [offer as unknown as Parameters<typeof acceptGroup>[1][0]],
    null,
  );
  return outcome?.emailIds[0] ?? '';
}

const read = async (id: string, key = box.apiKey) => {
  const response = await gateway.call(key, 'GET', `/emails/${id}`);
  return { status: response.statusCode, body: response.json() };
};

/** Parses and threads what was accepted, as the receiving actor does. */
const arrive = async (id: string) => {
  const { database, bytes, log, now, random } = testActorContext(gateway.actor);
  await gateway.actor.pool.query(
    `update reception set claimed_by = 'test', claimed_until = now() + interval '1 minute' where email_id = $1`,
    [id],
  );
  const { rows } = await gateway.actor.pool.query('select * from reception where email_id = $1', [id]);
  const [row] = rows;
  const reception = {
    workspaceId: box.workspaceId,
    emailId: id,
    rawId: row.raw_id,
    recipient: row.recipient,
    ownAddress: row.own_address,
    imported: null,
    acceptedAt: row.accepted_at,
  } as unknown as Reception;
  const message = scanHeaders(Buffer.from(MESSAGE), '');
  const outcome = { message, authentication: null, dmarcReport: null, words: new Map() };
  const makeId = (kind: IdentifierKind) => makeIdentifier(kind, new Date(), randomBytes(10));
  const options = { database, bytes, log, now, random, makeId, claimant: 'test', mailHostname: 'mx.postroom.test' };
  await storeParsed(options, [{ reception, outcome }]);
};

test('a read right after the 250 waits until the email is parsed and has its thread', async () => {
  const id = await accept();
  const reading = read(id);
  await arrive(id);
  expect(await reading).toMatchObject({
    status: 200,
    body: {
      id,
      type: 'received',
      message_id: '<first@away.test>',
      subject: 'Grüße',
      envelope_recipient: 'hello+tag@mine.test',
      thread_id: expect.stringMatching(/^th_/),
      thread_position: 0,
    },
  });
});

test.each([
  ['GET', '/timeline', 200],
  ['GET', '/route', 200],
  ['GET', '/deliveries', 200],
  ['POST', '/trash', 200],
  ['POST', '/spam', 200],
  ['POST', '/not-spam', 200],
  // Their refusals are those of a parsed email.
  ['DELETE', '', 400],
  // No actor routes it here.
  ['DELETE', '?forever=true', 503],
  ['POST', '/retry', 409],
] as const)('%s of an email%s right after the 250 waits until it is parsed', async (method, path, status) => {
  const id = await accept();
  const asked = gateway.call(box.apiKey, method, `/emails/${id}${path}`, method === 'POST' ? {} : undefined);
  await arrive(id);
  const response = await asked;
  expect(response.statusCode, response.body).toBe(status);
});

test('a key that may not send waits, too, to delete an email right after the 250', async () => {
  const { secret } = await insertKey(gateway.owner, box, { scopes: ['read', 'manage'] });
  const id = await accept();
  const asked = gateway.call(secret, 'DELETE', `/emails/${id}?forever=true`);
  await arrive(id);
  expect((await asked).statusCode, (await asked).body).toBe(503);
});

test('a forward and a move right after the 250 wait until the email is parsed', async () => {
  const first = await accept();
  const input = { from: box.address, to: 'bob@away.test' };
  const forwarded = gateway.call(box.apiKey, 'POST', `/emails/${first}/forward`, input);
  await arrive(first);
  expect((await forwarded).statusCode, (await forwarded).body).toBe(200);
  const { thread_id: threadId } = (await read(first)).body as { thread_id: string };
  const second = await accept();
  const moved = gateway.call(box.apiKey, 'POST', `/mail/threads/${threadId}/move`, { email_ids: [second] });
  await arrive(second);
  expect((await moved).statusCode, (await moved).body).toBe(200);
});

test('an email that stays unparsed is 503 with Retry-After and never 404, over REST and in the graph', async () => {
  const id = await accept();
  const parsed = await accept();
  await arrive(parsed);
  const query = `query ($id: ID!, $parsed: ID!) { pending: email(id: $id) { id } node(id: $id) { id } parsed: email(id: $parsed) { id } }`;
  const paths = ['', '/html', '/timeline'];
  const [graph, mail, ...responses] = await Promise.all([
    gateway.graphql(box.apiKey, query, { id, parsed }),
    gateway.call(box.apiKey, 'GET', `/mail/${id}/thread`),
    ...paths.map((path) => gateway.call(box.apiKey, 'GET', `/emails/${id}${path}`)),
  ]);
  for (const { statusCode, headers, body } of [mail, ...responses]) {
    expect(statusCode, body).toBe(503);
    expect(headers['retry-after']).toMatch(/^\d+$/);
  }
  const { data, errors } = graph.json();
  expect(data).toEqual({ pending: null, node: null, parsed: { id: parsed } });
  expect(errors.map(({ message }: { message: string }) => message)).toEqual([
    'The email is still being parsed. Try again in a moment.',
    'The email is still being parsed. Try again in a moment.',
  ]);
});

test('an email that is being parsed is waited for by as many requests of a workspace as may, and others get 503 at once', async () => {
  const id = await accept();
  const responded: { statusCode: number; body: string }[] = [];
  const asked = Array.from({ length: MAX_WAITING + 10 }, async () => {
    responded.push(await gateway.call(box.apiKey, 'GET', `/emails/${id}`));
  });
  // All ten: a request that looks for the first time after the email has arrived does not wait.
  await waitFor(() => expect(responded).toHaveLength(10));
  for (const { statusCode, body } of responded)
    expect([statusCode, JSON.parse(body).code], body).toEqual([503, 'EMAIL_NOT_PARSED']);
  await arrive(id);
  await Promise.all(asked);
  const statuses = responded.map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 200)).toHaveLength(MAX_WAITING);
  expect(statuses.filter((status) => status === 503)).toHaveLength(10);
  expect((await read(id)).status).toBe(200);
});

test('another user, and a key limited to another domain, find nothing', async () => {
  const id = await accept();
  const other = await gateway.mailbox();
  expect((await read(id, other.apiKey)).status).toBe(404);
  const second = await gateway.mailbox({
    workspaceId: box.workspaceId,
    domain: 'second-mine.test',
    address: 'b@second-mine.test',
  });
  const createKey = async (domain: { id: string; name: string }) =>
    (await insertKey(gateway.owner, box, { scopes: ['read'], domain })).secret;
  expect((await read(id, await createKey({ id: second.domainId, name: 'second-mine.test' }))).status).toBe(404);
  await arrive(id);
  expect((await read(id, await createKey({ id: box.domainId, name: 'mine.test' }))).status).toBe(200);
});

test('a report to a return address is no email, and a parsed and removed one is gone', async () => {
  const returnKey = deriveReturnAddressKey(randomBytes(32));
  const returnAddress = makeReturnAddress(
    returnKey,
    makeIdentifier('recipient', new Date(), randomBytes(10)),
    'mine.test',
  );
  expect((await read(await accept(returnAddress))).status).toBe(404);
  const id = await accept();
  await gateway.actor.pool.query('update reception set parsed_at = now() where email_id = $1', [id]);
  expect((await read(id)).status).toBe(404);
});

test('lists and totals have an email once it is parsed', async () => {
  const id = await accept();
  const { data, pagination } = (await gateway.call(box.apiKey, 'GET', '/emails')).json();
  expect(data.map((email: { id: string }) => email.id)).not.toContain(id);
  expect(pagination.total).toBe(data.length);
});
