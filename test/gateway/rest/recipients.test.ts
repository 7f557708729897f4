import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertSentMail } from '../../support/rows/sent-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let mailbox: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  mailbox = await gateway.mailbox();
});

const read = async (emailId: string) => (await gateway.call(mailbox.apiKey, 'GET', `/emails/${emailId}`)).json();

async function insertAttempts(recipientId: string, rows: Record<string, unknown>[]): Promise<void> {
  await gateway.actor.pool.query(
    `insert into sending_attempt select (jsonb_populate_record(null::sending_attempt, r || $2)).* from jsonb_array_elements($1::jsonb) r`,
    [JSON.stringify(rows), JSON.stringify({ workspace_id: mailbox.workspaceId, recipient_id: recipientId })],
  );
}

test('a sent email shows the outcome of each recipient, and every attempt', async () => {
  const sent = await insertSentMail(gateway.actor, mailbox, {
    recipients: [
      { address: 'zoe@x.test', attempts: 2 },
      {
        address: 'ann@x.test',
        status: 'bounced',
        lastStatus: '5.1.1',
        lastText: '550 5.1.1 No such user',
        refusalReason: 'user_unknown',
      },
      { address: 'eve@x.test', status: 'pending', attempts: 0 },
    ],
  });
  const failed = {
    number: 1,
    started_at: '2026-11-26T10:00:00.000Z',
    finished_at: '2026-11-26T10:00:01.000Z',
    outcome: 'deferred',
    host: null,
    remote_address: null,
    code: null,
    enhanced_status: null,
    text: 'Connection refused',
  };
  const taken = {
    number: 2,
    started_at: '2026-11-26T10:05:00.000Z',
    finished_at: '2026-11-26T10:05:01.500Z',
    outcome: 'delivered',
    host: 'mx.x.test',
    remote_address: '192.0.2.1',
    code: 250,
    enhanced_status: '2.0.0',
    text: 'Ok',
  };
  const open = { number: 1, started_at: '2026-11-26T10:00:00.000Z' };
  await insertAttempts(sent.recipientIds[0] ?? '', [
    { ...taken, is_tls: true },
    { ...failed, is_tls: null },
  ]);
  await insertAttempts(sent.recipientIds[2] ?? '', [open]);
  const settled = { next_attempt_at: null, settled_at: expect.stringMatching(/^\d{4}-.*Z$/) };
  expect((await read(sent.emailId)).recipients).toEqual([
    {
      address: 'zoe@x.test',
      status: 'delivered',
      attempts: 2,
      last_response: '250 2.0.0 Ok',
      enhanced_status: '2.0.0',
      refusal: null,
      ...settled,
      log: [
        { ...failed, tls: null },
        { ...taken, tls: true },
      ],
    },
    {
      address: 'ann@x.test',
      status: 'bounced',
      attempts: 1,
      last_response: '550 5.1.1 No such user',
      enhanced_status: '5.1.1',
      refusal: {
        reason: 'user_unknown',
        type: 'hard',
        title: 'The address does not exist',
        advice: 'Check the address for typos and remove it from your lists.',
      },
      ...settled,
      log: [],
    },
    {
      address: 'eve@x.test',
      status: 'pending',
      attempts: 0,
      last_response: null,
      enhanced_status: null,
      refusal: null,
      next_attempt_at: expect.stringMatching(/^\d{4}-.*Z$/),
      settled_at: null,
      log: [
        {
          ...open,
          finished_at: null,
          outcome: null,
          host: null,
          remote_address: null,
          tls: null,
          code: null,
          enhanced_status: null,
          text: null,
        },
      ],
    },
  ]);
});

test('blind copies are shown to their sender, after the other recipients', async () => {
  const sent = await insertSentMail(gateway.actor, mailbox, {
    recipients: [{ address: 'ann@x.test' }, { address: 'bob@x.test' }, { address: 'zoe@x.test' }],
  });
  await gateway.actor.pool.query('update email set to_addresses = $2, cc_addresses = $3 where id = $1', [
    sent.emailId,
    ['zoe@x.test'],
    ['bob@x.test'],
  ]);
  const { recipients } = await read(sent.emailId);
  expect(recipients.map((recipient: { address: string }) => recipient.address)).toEqual([
    'zoe@x.test',
    'bob@x.test',
    'ann@x.test',
  ]);
});

test('received mail has no recipients', async () => {
  const [id = ''] = await insertMail(gateway.actor, [{ workspaceId: mailbox.workspaceId }]);
  expect((await read(id)).recipients).toEqual([]);
});

test('another user’s recipients and attempts are shown nowhere, whatever their ids', async () => {
  const sent = await insertSentMail(gateway.actor, mailbox);
  await insertAttempts(sent.recipientIds[0] ?? '', [{ number: 1, started_at: '2026-11-26T10:00:00Z' }]);
  for (const table of ['recipient', 'sending_attempt'])
    await gateway.actor.pool.query(
      `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(t) || '{"workspace_id": "usr_twin"}')).* from ${table} t
       where workspace_id = $1`,
      [mailbox.workspaceId],
    );
  const { recipients } = await read(sent.emailId);
  expect(recipients).toHaveLength(1);
  expect(recipients[0].log).toHaveLength(1);
});

test('fifty recipients take as few statements as one', async () => {
  const single = await insertSentMail(gateway.actor, mailbox);
  const sent = await insertSentMail(gateway.actor, mailbox, {
    recipients: Array.from({ length: 50 }, (_, n) => ({ address: `a${n}@x.test` })),
  });
  // The first request looks the key up.
  await read(single.emailId);
  const one = await countStatements(() => read(single.emailId));
  const fifty = await countStatements(() => read(sent.emailId));
  expect(fifty.response.recipients).toHaveLength(50);
  expect(fifty.statements).toBe(one.statements);
});

test('a thread shows why a sent message failed', async () => {
  const sent = await insertSentMail(gateway.actor, mailbox, {
    recipients: [{ address: 'a@x.test', status: 'bounced' }],
  });
  await gateway.actor.pool.query(
    `update email set thread_id = 'th_one', thread_position = 0, failure_reason = '550 No such user' where id = $1`,
    [sent.emailId],
  );
  await gateway.actor.pool.query(
    `insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text,
       message_count, received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at)
     values ($1, 'th_one', '<a@b>', 'a', '{}', '{}', 'a', 1, 0, 0, 0, $2, now(), now())`,
    [mailbox.workspaceId, sent.emailId],
  );
  const { messages } = (await gateway.call(mailbox.apiKey, 'GET', '/mail/threads/th_one')).json();
  expect(messages).toMatchObject([{ type: 'outbound', status: 'bounced', failure_reason: '550 No such user' }]);
});
