import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestGateway, type TestGateway } from '../support/gateway.ts';
import { insertMail } from '../support/mail-rows.ts';
import type { TestMailbox } from '../support/routing-rows.ts';

let gateway: TestGateway;
let mailbox: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  mailbox = await gateway.mailbox();
});
afterAll(() => gateway.close());

const list = async (query: string, key = mailbox.apiKey) => {
  const response = await gateway.call(key, 'GET', `/emails${query}`);
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
};

test('a list shows every field of interface.md', async () => {
  const box = await gateway.mailbox();
  const createdAt = new Date(Date.now() - 60_000);
  const [id] = await insertMail(gateway.actor, [
    { userId: box.userId, createdAt, fromName: 'Ada', subject: 'Hi', cc: ['c@x.test'], ownAddress: box.address },
  ]);
  expect(await list('', box.apiKey)).toEqual({
    object: 'list',
    data: [
      {
        id,
        type: 'received',
        message_id: `<${id}@elsewhere.test>`,
        from: 'ada@elsewhere.test',
        from_name: 'Ada',
        to: [box.address],
        cc: ['c@x.test'],
        subject: 'Hi',
        preview: 'preview',
        status: 'delivered',
        created_at: createdAt.toISOString(),
        sent_at: null,
        scheduled_at: null,
        has_attachments: false,
        attachment_count: 0,
        thread_id: null,
        is_read: false,
        read_at: null,
        is_archived: false,
        envelope_recipient: box.address,
      },
    ],
    has_more: false,
    pagination: { limit: 50, offset: 0, total: 1, has_more: false },
    filters: { type: 'all', time_range: '30d' },
  });
});
