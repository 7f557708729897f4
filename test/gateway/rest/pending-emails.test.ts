import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import { deriveReturnAddressKey, makeReturnAddress } from '../../../core/smtp/return-address.ts';
import { acceptGroup } from '../../../db/queries/emails/accept-group.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

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
  const { userId, addressId, domainId, address: ownAddress } = box;
  const offer = {
    envelope: {
      reversePath: 'ada@away.test',
      recipients: [{ recipient, userId, addressId, domainId, ownAddress }],
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

test('an email that SMTP accepted is readable before it is parsed', async () => {
  const id = await accept();
  expect(await read(id)).toMatchObject({
    status: 200,
    body: {
      id,
      type: 'received',
      status: 'delivered',
      message_id: '<first@away.test>',
      from: 'Adá <ada@away.test>',
      to: ['hello@mine.test', 'bob@away.test'],
      cc: ['carl@away.test'],
      subject: 'Grüße',
      text: null,
      html: null,
      attachments: [],
      thread_id: null,
      thread_position: null,
      envelope_recipient: 'hello+tag@mine.test',
      headers: expect.objectContaining({ 'x-note': 'kept' }),
    },
  });
  const { rows } = await gateway.actor.pool.query('select accepted_at from reception where email_id = $1', [id]);
  expect((await read(id)).body.created_at).toBe(rows[0].accepted_at.toISOString());
});

test('the graph reads it by its id, too', async () => {
  const id = await accept();
  const query = `query ($id: ID!) { email(id: $id) { id subject thread { id } from { address } } }`;
  const { data, errors } = (await gateway.graphql(box.apiKey, query, { id })).json();
  expect(errors).toBeUndefined();
  expect(data.email).toMatchObject({ subject: 'Grüße', thread: null, from: { address: 'ada@away.test' } });
});

test('a message without a header section shows its envelope', async () => {
  const id = await accept(box.address, '\r\nnothing but a body\r\n');
  expect(await read(id)).toMatchObject({
    status: 200,
    body: { message_id: `<${id}@mx.postroom.test>`, subject: '', from: '', to: [], envelope_recipient: box.address },
  });
});

test('another user, and a key limited to another domain, find nothing', async () => {
  const id = await accept();
  const other = await gateway.mailbox();
  expect((await read(id, other.apiKey)).status).toBe(404);
  const second = await gateway.mailbox({
    userId: box.userId,
    domain: 'second-mine.test',
    address: 'b@second-mine.test',
  });
  const keyOf = async (domain: { id: string; name: string }) =>
    (await insertKey(gateway.owner, box, { scopes: ['read'], domain })).secret;
  expect((await read(id, await keyOf({ id: second.domainId, name: 'second-mine.test' }))).status).toBe(404);
  expect((await read(id, await keyOf({ id: box.domainId, name: 'mine.test' }))).status).toBe(200);
});

test('a report to a return address is no email, and what was parsed and removed since is gone', async () => {
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
