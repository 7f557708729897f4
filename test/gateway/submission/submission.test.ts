import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SUBMITTED_BYTES } from '../../../gateway/submission/submission.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

const { perAccount, perProcess } = SUBMITTED_BYTES;
const FULL = '451 4.3.2 Too many messages are in progress, please try again later';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

/** Returns the SMTP reply to a message whose body is that long. */
async function submit({ address, apiKey }: TestMailbox, bodyBytes: number): Promise<string> {
  const bytes = Buffer.from(
    `From: <${address}>\r\nSubject: x\r\n\r\n${`${'x'.repeat(98)}\r\n`.repeat(bodyBytes / 100)}\r\n`,
  );
  const request = {
    keySha256: hash('sha256', apiKey, 'hex'),
    reversePath: address,
    recipients: ['ada@elsewhere.test'],
  };
  const reply = await gateway.bus.ask('gateway.message.submit', request, { bytes });
  return reply.verdict === 'refused' ? `${reply.code} ${reply.enhancedCode} ${reply.text}` : reply.verdict;
}

test('refuses a message with 451 4.3.2 when its account has reached its limit of messages in progress', async () => {
  const { submitted } = gateway.app;
  submitted.take(box.workspaceId, perAccount - 1_000);
  expect(await submit(box, 1_000)).toBe(FULL);
  expect(await submit(box, 500)).toBe('accepted');
  submitted.giveBack(box.workspaceId, perAccount - 1_000);
  expect(await submit(box, 1_000)).toBe('accepted');
  expect(submitted.count()).toBe(0);
});

test('refuses a large message with 451 4.3.2 when the process has no room, and takes small ones from a reserve', async () => {
  const { submitted } = gateway.app;
  const others = ['usr_a', 'usr_b'];
  for (const user of others) submitted.take(user, perProcess / 2);
  expect(await submit(box, 66_000)).toBe(FULL);
  expect(await submit(box, 65_000)).toBe('accepted');
  for (const user of others) submitted.giveBack(user, perProcess / 2);
  expect(await submit(box, 66_000)).toBe('accepted');
  expect(submitted.count()).toBe(0);
});

test('returns the room of a message that is refused', async () => {
  expect(await submit({ ...box, apiKey: 'unknown' }, 1_000)).toMatch(/^550/);
  expect(await submit({ ...box, address: 'a@unknown.test' }, 1_000)).toMatch(/^550/);
  expect(gateway.app.submitted.count()).toBe(0);
});

test('notes a refused key of a workspace in its audit log: revoked, expired, and without the scope send', async () => {
  const other = await gateway.mailbox();
  const check = (secret: string) =>
    gateway.bus.ask('gateway.key.check', { keySha256: hash('sha256', secret, 'hex'), remoteAddress: '192.0.2.7' });
  const keys = {
    revoked: await insertKey(gateway.owner, other, { scopes: null }),
    expired: await insertKey(gateway.owner, other, { scopes: null }),
    reading: await insertKey(gateway.owner, other, { scopes: ['read'] }),
  };
  await gateway.owner.pool.query('update api_key set revoked_at = now() where id = $1', [keys.revoked.id]);
  await gateway.owner.pool.query(`update api_key set expires_at = now() - interval '1 day' where id = $1`, [
    keys.expired.id,
  ]);
  for (const { secret } of Object.values(keys)) {
    const reply = await check(secret);
    expect(reply).toMatchObject({ verdict: 'reject', code: 535 });
    expect(JSON.stringify(reply)).not.toContain('revoked');
  }
  await check('unknown');
  const key = await insertKey(gateway.owner, other, { scopes: null });
  const { data } = (await gateway.call(key.secret, 'GET', '/audit?action=request.denied')).json();
  const denied = data.map(
    ({ actor_id: id, object_name: what, client_address: address, reason }: Record<string, unknown>) => [
      id,
      what,
      address,
      reason,
    ],
  );
  const ended = 'This API key was revoked, or has expired';
  expect(denied).toHaveLength(3);
  expect(denied).toEqual(
    expect.arrayContaining([
      [keys.revoked.id, 'SMTP AUTH', '192.0.2.7', ended],
      [keys.expired.id, 'SMTP AUTH', '192.0.2.7', ended],
      [keys.reading.id, 'SMTP AUTH', '192.0.2.7', 'This API key has no scope send'],
    ]),
  );
});
