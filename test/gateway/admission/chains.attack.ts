import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import { type GatewayMail, takeMail } from '../../support/rows/gateway-mail.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

/*
 * Chains of two or three allowed steps by which a key reaches what it lacks (docs/decisions/0246). Each attempt says what the key has, and what it is
 * after; the IDs of others are known to it.
 */

let gateway: TestGateway;
let mail: GatewayMail;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
  mail = await takeMail(gateway);
});
afterAll(async () => {
  await mail.stop();
  await gateway.close();
});
beforeEach(async () => {
  box = await gateway.mailbox();
});

const SECRET = 'xyzzy-the-password';
const STRANGER = 'stranger@outside.test';
const keyWith = async (...scopes: Scope[]) => (await insertKey(gateway.owner, box, { scopes })).secret;
const sql = (text: string, ...values: unknown[]) => gateway.owner.pool.query(text, values);
const refusal = ({ statusCode, body }: { statusCode: number; body: string }) => {
  const { code, requiredScope } = JSON.parse(body);
  return [statusCode, code, requiredScope];
};
const NEEDS_READ = [403, 'insufficient_scope', 'read'];

async function receive(text: string): Promise<string> {
  const id = await mail.deliver(
    `From: Ada <ada@elsewhere.test>\r\nTo: <${box.address}>\r\nSubject: ${SECRET}\r\nMessage-ID: <${text.length}.${Date.now()}@elsewhere.test>\r\n\r\n${text}\r\n`,
    box.address,
  );
  await expect.poll(async () => (await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).statusCode).toBe(200);
  return id;
}
const sentTo = async (address: string) =>
  (
    await sql(
      `select e.subject from email e join recipient r on r.workspace_id = e.workspace_id and r.email_id = e.id
       where e.workspace_id = $1 and r.address = $2`,
      box.workspaceId,
      address,
    )
  ).rows.length;

describe('a key that may only manage', () => {
  test('reads no mail in what reprocessing says that differs', async () => {
    const id = await receive('Hello');
    await sql(`update email_content set text_body = $2 where email_id = $1`, id, SECRET);
    const key = await keyWith('manage', 'send', 'approve');
    const body = { email_ids: [id], steps: ['parse'], dry_run: true };
    const response = await gateway.call(key, 'POST', '/emails/reprocess', body);
    expect(response.body).not.toContain(SECRET);
    expect(refusal(response)).toEqual(NEEDS_READ);
    const query =
      'mutation($input: ReprocessEmailsInput!) { reprocessEmails(input: $input) { __typename ... on ReprocessEmailsPayload { emails { changes { before after } } } } }';
    const input = { emailIds: [id], steps: ['PARSE'], isDryRun: true };
    const inGraph = await gateway.graphql(key, query, { input });
    expect([inGraph.statusCode, inGraph.body.includes(SECRET)]).toEqual([403, false]);
    const whole = await gateway.call(box.apiKey, 'POST', '/emails/reprocess', body);
    expect(whole.body).toContain(SECRET);
  });

  test('asks no question about mail by a guard rule, and what becomes of the mail', async () => {
    const key = await keyWith('manage', 'send', 'approve');
    const rule = {
      name: 'x',
      type: 'explicit',
      config: { subject: { operator: 'OR', values: [SECRET] } },
      action: { action: 'block' },
    };
    for (const action of ['block', 'allow'])
      expect(refusal(await gateway.call(key, 'POST', '/guard', { ...rule, action: { action } }))).toEqual(NEEDS_READ);
    const made = await gateway.call(box.apiKey, 'POST', '/guard', { ...rule, isActive: false });
    expect(made.statusCode, made.body).toBeLessThan(300);
    const { id } = made.json().data;
    for (const change of [
      { config: rule.config },
      { isActive: true },
      { action: { action: 'block' } },
      { priority: 9 },
    ])
      for (const method of ['PATCH', 'PUT'])
        expect(refusal(await gateway.call(key, method, `/guard/${id}`, change)), JSON.stringify(change)).toEqual(
          NEEDS_READ,
        );
    expect((await gateway.call(key, 'PATCH', `/guard/${id}`, { isActive: false, name: 'y' })).statusCode).toBe(200);
  });
});

describe('a key that may only send', () => {
  const later = { scheduled_at: new Date(Date.now() + 86_400_000).toISOString() };

  test('sends no draft of others to itself, as it is or with another recipient', async () => {
    const original = await receive(SECRET);
    const key = await keyWith('send');
    const drafts = [
      { kind: 'new', from: box.address, to: ['ada@elsewhere.test'], subject: 'x', text: SECRET },
      { kind: 'reply', original_email_id: original, from: box.address, text: SECRET },
      { kind: 'forward', original_email_id: original, from: box.address, to: ['ada@elsewhere.test'] },
    ];
    for (const draft of drafts) {
      const { id, version } = (await gateway.call(box.apiKey, 'POST', '/drafts', draft)).json();
      for (const [method, path, body] of [
        ['PATCH', `/drafts/${id}`, { version, to: [STRANGER] }],
        ['POST', `/drafts/${id}/send`, { version }],
        ['DELETE', `/drafts/${id}`, undefined],
      ] as const) {
        const response = await gateway.call(key, method, path, body);
        expect([method, path, response.body.includes(SECRET), ...refusal(response)]).toEqual([
          method,
          path,
          false,
          ...NEEDS_READ,
        ]);
      }
    }
    expect(await sentTo(STRANGER)).toBe(0);
  });

  test('sends no subject or text of mail to a stranger by a draft of its own', async () => {
    const original = await receive(SECRET);
    const key = await keyWith('send');
    for (const kind of ['reply', 'reply_all', 'forward']) {
      const draft = { kind, original_email_id: original, from: box.address, to: [STRANGER], text: 'x' };
      const made = await gateway.call(key, 'POST', '/drafts', draft);
      expect(made.body).not.toContain(SECRET);
      if (made.statusCode >= 300) continue;
      const { id, version } = made.json();
      const changed = await gateway.call(key, 'PATCH', `/drafts/${id}`, { version, text: 'y' });
      expect(changed.body).not.toContain(SECRET);
      const sent = await gateway.call(key, 'POST', `/drafts/${id}/send`, {});
      expect([kind, sent.statusCode, sent.body.includes(SECRET)]).toEqual([kind, 403, false]);
    }
    expect(await sentTo(STRANGER)).toBe(0);
  });

  test('puts no stored file of a draft or an email into its own mail', async () => {
    const file = { filename: 'a.txt', content: Buffer.from(SECRET).toString('base64') };
    const draft = {
      kind: 'new',
      from: box.address,
      to: ['ada@elsewhere.test'],
      subject: 'x',
      text: 'x',
      attachments: [file],
    };
    const { attachments } = (await gateway.call(box.apiKey, 'POST', '/drafts', draft)).json();
    const key = await keyWith('send');
    const own = (await gateway.call(key, 'POST', '/drafts', { ...draft, to: [STRANGER], attachments: [] })).json();
    for (const given of [{ id: attachments[0].id }, { id: attachments[0].id, filename: 'b.txt' }]) {
      const changed = await gateway.call(key, 'PATCH', `/drafts/${own.id}`, {
        version: own.version,
        attachments: [given],
      });
      expect([changed.statusCode, changed.body.includes(SECRET)]).toEqual([400, false]);
    }
    const sent = await gateway.call(key, 'POST', '/emails', {
      ...draft,
      kind: undefined,
      to: [STRANGER],
      attachments: [{ id: attachments[0].id }],
    });
    expect(sent.statusCode).toBe(400);
  });

  test('learns nothing of scheduled mail of others in what it pauses, moves or cancels', async () => {
    const email = { from: box.address, to: 'ada@elsewhere.test', subject: SECRET, text: SECRET, ...later };
    const { id } = (await gateway.call(box.apiKey, 'POST', '/emails', email)).json();
    const key = await keyWith('send');
    for (const [method, path, body] of [
      ['POST', `/emails/${id}/pause`, {}],
      ['PATCH', `/emails/${id}`, { scheduled_at: 'in 3 days' }],
      ['POST', `/emails/${id}/resume`, {}],
      ['DELETE', `/emails/${id}`, undefined],
    ] as const) {
      const response = await gateway.call(key, method, path, body);
      expect([path, response.statusCode, response.body.includes(SECRET), response.body.includes('ada@')]).toEqual([
        path,
        200,
        false,
        false,
      ]);
    }
  });

  test('gets no thread, subject or address of a message that it names in its own mail', async () => {
    const original = await receive(SECRET);
    const { message_id: messageId, thread_id: threadId } = (
      await gateway.call(box.apiKey, 'GET', `/emails/${original}`)
    ).json();
    const key = await keyWith('send');
    const response = await gateway.call(key, 'POST', '/emails', {
      from: box.address,
      to: STRANGER,
      subject: 'x',
      text: 'x',
      in_reply_to: messageId,
      references: [messageId],
      headers: { 'In-Reply-To': messageId },
    });
    expect([response.body.includes(SECRET), response.body.includes(threadId ?? 'none')]).toEqual([false, false]);
  });
});

describe('a key that may only read', () => {
  test('changes nothing by any read, not even whether mail is read', async () => {
    const id = await receive('Hello');
    const key = await keyWith('read');
    const before = (await sql('select to_jsonb(e) - $2::text[] as row from email e where id = $1', id, [])).rows;
    for (const path of [
      `/emails/${id}`,
      `/emails/${id}/html`,
      `/emails/${id}/raw`,
      `/emails/${id}/timeline`,
      `/emails/${id}?mark_read=true`,
    ])
      await gateway.call(key, 'GET', path);
    expect((await sql('select to_jsonb(e) - $2::text[] as row from email e where id = $1', id, [])).rows).toEqual(
      before,
    );
    for (const [method, path, body] of [
      ['POST', `/emails/${id}/list-unsubscribe`, {}],
      ['POST', '/emails/bulk', { email_ids: [id], is_read: true }],
      ['POST', '/image-senders', { address: 'ada@elsewhere.test' }],
    ] as const)
      expect((await gateway.call(key, method, path, body)).statusCode, path).not.toBeLessThan(400);
  });
});

test.each([
  ['suspended', 'update workspace set suspended_at = now() where id = $1'],
  ['closed', 'update workspace set erase_at = now() where id = $1'],
])('the link of a download opens nothing of a workspace that is %s', async (_how, end) => {
  const id = await receive(SECRET);
  const { raw } = (await gateway.call(box.apiKey, 'GET', `/emails/receiving/${id}`)).json();
  const link = new URL(raw.download_url);
  const download = () => gateway.app.inject({ method: 'GET', url: `${link.pathname}${link.search}` });
  expect((await download()).body).toContain(SECRET);
  await sql(end, box.workspaceId);
  const refused = await download();
  expect([refused.statusCode, refused.body.includes(SECRET)]).toEqual([401, false]);
});
