import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../support/gateway.ts';
import type { TestMailbox } from '../support/routing-rows.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
});
afterAll(() => gateway.close());

const post = (body: unknown, key = box.apiKey) => gateway.call(key, 'POST', '/emails', body);
const email = (more: object = {}) => ({
  from: box.address,
  to: 'ada@elsewhere.test',
  subject: 'Hi',
  text: 'Hello',
  ...more,
});

async function rowsOf(emailId: string) {
  const { pool } = gateway.actor;
  const one = async (text: string) => (await pool.query(text, [emailId])).rows;
  const [row] = await one('select * from email where id = $1');
  const [content] = await one('select * from email_content where email_id = $1');
  const [raw] = await one('select r.* from raw_message r join email e on e.raw_id = r.id where e.id = $1');
  const recipients = await one('select * from recipient where email_id = $1 order by address');
  const events = await one('select kind, seq from event where email_id = $1');
  return { email: row, content, raw, recipients, events };
}

test('an email goes into the queue with all its rows, and its wakes follow', async () => {
  const wakes: unknown[] = [];
  const subscriptions = (['sending.send.wake', 'threading.assign.wake'] as const).map((subject) =>
    gateway.bus.onWake(subject, (message) => void wakes.push([subject, message])),
  );
  const response = await post(
    email({ from: `Ann <${box.address}>`, cc: ['c@x.test'], bcc: 'b@y.test', html: '<p>Hello</p>' }),
  );
  expect([response.statusCode, response.json()]).toEqual([
    200,
    {
      id: expect.stringMatching(/^em_/),
      message_id: expect.stringMatching(/^<[0-9a-f]{32}@box\d+\.test>$/),
      messageId: response.json().message_id,
      status: 'sent',
      provider_message_id: response.json().id,
      aws_message_id: response.json().id,
      awsMessageId: response.json().id,
    },
  ]);
  const { id, message_id: messageId } = response.json();
  const rows = await rowsOf(id);
  expect(rows.email).toMatchObject({
    user_id: box.userId,
    type: 'sent',
    status: 'pending',
    own_address: box.address,
    address_id: box.addressId,
    domain_id: box.domainId,
    recipient: null,
    message_id: messageId,
    is_read: false,
    scheduled_at: null,
    from_text: `Ann <${box.address}>`,
    preview: 'Hello',
  });
  expect(rows.recipients.map((row) => [row.address, row.domain, row.status])).toEqual([
    ['ada@elsewhere.test', 'elsewhere.test', 'pending'],
    ['b@y.test', 'y.test', 'pending'],
    ['c@x.test', 'x.test', 'pending'],
  ]);
  for (const row of rows.recipients) expect(row.next_attempt_at).toEqual(rows.email.created_at);
  const octets = rows.raw.octets.toString('latin1');
  expect(octets).toContain(`Message-ID: ${messageId}\r\n`);
  expect(octets).not.toContain('b@y.test');
  expect(rows.events).toEqual([{ kind: 'email.sent', seq: expect.any(Number) }]);
  await expect.poll(() => wakes.length).toBe(2);
  expect(wakes).toEqual([
    ['sending.send.wake', { userId: box.userId, emailIds: [id] }],
    ['threading.assign.wake', { userId: box.userId, emailIds: [id] }],
  ]);
  await Promise.all(subscriptions.map((subscription) => subscription.stop()));
});

describe('an email with scheduled_at', () => {
  test('waits on the schedule', async () => {
    const wakes: unknown[] = [];
    const subscription = gateway.bus.onWake('scheduling.release.wake', (message) => void wakes.push(message));
    const at = new Date(Date.now() + 3_600_000);
    const response = await post(email({ scheduled_at: at.toISOString(), timezone: 'Europe/Berlin' }));
    expect([response.statusCode, response.json()]).toEqual([
      201,
      {
        id: expect.any(String),
        message_id: expect.any(String),
        messageId: response.json().message_id,
        status: 'scheduled',
        scheduled_at: at.toISOString(),
        timezone: 'Europe/Berlin',
      },
    ]);
    const rows = await rowsOf(response.json().id);
    expect(rows.email).toMatchObject({
      type: 'scheduled',
      status: 'scheduled',
      scheduled_at: at,
      timezone: 'Europe/Berlin',
    });
    expect(rows.recipients.map((row) => [row.queued_at, row.next_attempt_at])).toEqual([[null, null]]);
    expect(rows.events.map((event) => event.kind)).toEqual(['email.scheduled']);
    await expect.poll(() => wakes).toEqual([{ userId: box.userId, at: at.toISOString() }]);
    await subscription.stop();
  });
});
