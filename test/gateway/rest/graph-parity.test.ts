import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

// Operations that REST shares with GraphQL and that need no actor. Those that do are in test/flow.
let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
beforeEach(async () => {
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

async function read(method: string, path: string, body?: unknown, status = 200) {
  const response = await gateway.call(box.apiKey, method, path, body);
  expect(response.statusCode, response.body).toBe(status);
  return response.json();
}

const addMail = () => insertMail(gateway.actor, [{ workspaceId: box.workspaceId }, { workspaceId: box.workspaceId }]);

test('POST /emails/bulk marks all emails or none', async () => {
  const ids = await addMail();
  await read(
    'POST',
    '/emails/bulk',
    { email_ids: [ids[0], 'em_00000000000070008000000000000000'], is_read: true },
    404,
  );
  const before = await read('GET', '/emails?status=unread');
  expect(before.data).toHaveLength(2);
  const done = await read('POST', '/emails/bulk', { email_ids: ids, is_read: true });
  expect(done.data.map(({ id, is_read }: { id: string; is_read: boolean }) => [id, is_read])).toEqual(
    ids.map((id) => [id, true]),
  );
});

test('POST /emails/:id/forward sends a new email with the original, and replays it for the same Idempotency-Key', async () => {
  const [id = ''] = await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, raw: Buffer.from('Subject: Lunch\r\n\r\nAt noon?\r\n'), subject: 'Lunch' },
  ]);
  const body = { from: box.address, to: 'bob@elsewhere.test', text: 'See below.' };
  const send = () => gateway.call(box.apiKey, 'POST', `/emails/${id}/forward`, body, { 'idempotency-key': 'one' });
  const [first, second] = [await send(), await send()];
  expect(first.statusCode, first.body).toBe(200);
  expect(first.json()).toMatchObject({ status: 'sent', forwarded_email_id: id });
  expect(second.json()).toEqual(first.json());
  const sent = await read('GET', `/emails/${first.json().id}`);
  expect(sent.subject).toBe('Fwd: Lunch');
  expect(sent.text).toContain('See below.');
});

test('POST /emails/:id/forward needs the scope read as well as send', async () => {
  const [id = ''] = await addMail();
  const made = await read('POST', '/api-keys', { name: 'sender', scopes: ['send'] }, 201);
  const response = await gateway.call(made.token, 'POST', `/emails/${id}/forward`, {
    from: box.address,
    to: 'bob@elsewhere.test',
  });
  expect([response.statusCode, response.json().name]).toEqual([403, 'restricted_api_key']);
});

test('GET /mail/contacts and /senders suggest addresses by prefix', async () => {
  await insertThread(gateway.actor, { workspaceId: box.workspaceId, count: 1, lastMessageAt: new Date() });
  const contacts = await read('GET', '/mail/contacts?prefix=ad');
  expect(contacts.data).toEqual([{ name: null, address: 'ada@elsewhere.test' }]);
  expect((await read('GET', '/mail/contacts?prefix=zz')).data).toEqual([]);
  const senders = await read('GET', '/senders');
  expect(senders.data).toEqual([{ address: box.address, address_id: box.addressId, domain_id: box.domainId }]);
  await read('GET', '/mail/contacts?limit=0', undefined, 400);
});

test('image senders are added, listed and removed', async () => {
  const added = await read('POST', '/image-senders', { address: 'News@Example.org' });
  expect(added).toMatchObject({ object: 'image_sender', address: 'news@example.org' });
  expect((await read('GET', '/image-senders')).data).toEqual([added]);
  await read('DELETE', '/image-senders/news%40example.org');
  await read('DELETE', '/image-senders/news%40example.org', undefined, 404);
});

test('PUT /retention sets the periods, asks before it erases mail, and rejects texts that outlive their email', async () => {
  expect(await read('GET', '/retention')).toMatchObject({ object: 'retention', is_default: true });
  const kept = { raw_days: 30, body_days: 60, metadata_days: null };
  expect(await read('PUT', '/retention', kept)).toEqual({ object: 'retention', ...kept, is_default: false });
  await read('PUT', '/retention', { raw_days: 30, body_days: 60, metadata_days: 10 }, 400);
  await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, createdAt: new Date(Date.now() - 90 * 86_400_000) },
  ]);
  expect((await read('GET', '/retention/preview?metadata_days=50&body_days=50&raw_days=50')).emails).toBe(1);
  const shorter = { raw_days: 20, body_days: 20, metadata_days: 20 };
  const refused = await gateway.call(box.apiKey, 'PUT', '/retention', shorter);
  expect([refused.statusCode, refused.json().code]).toEqual([409, 'WOULD_ERASE']);
  await read('PUT', '/retention', { ...shorter, accept_erasing: 1 });
});

test('GET /account and /overview show the account at a glance', async () => {
  const account = await read('GET', '/account');
  expect(account).toMatchObject({ object: 'account', id: box.workspaceId, via: 'key' });
  await addMail();
  const overview = await read('GET', '/overview?hours=2');
  expect(overview.totals.received).toBe(2);
  expect(overview.hours).toHaveLength(2);
  await read('GET', '/overview?hours=0', undefined, 400);
});

test('GET /guard/limits and /deliveries/:id respond, and unknown deliveries are 404', async () => {
  expect(await read('GET', '/guard/limits')).toMatchObject({ object: 'guard_limits', hasModel: false });
  await read('GET', '/deliveries/dlv_00000000000070008000000000000000', undefined, 404);
  await read('POST', '/deliveries/dlv_00000000000070008000000000000000/retry', undefined, 404);
});

test('POST /endpoints/preview-payload names errors of the query and an unknown cursor', async () => {
  const unknown = await read('POST', '/endpoints/preview-payload', { query: '{ id }', cursor: 'x' }, 400);
  expect(unknown.details[0].field).toBe('cursor');
});
