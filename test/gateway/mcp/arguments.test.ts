import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';

let gateway: TestGateway;
let box: TestMailbox;
let client: Client;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox({ domain: 'mine.test' });
  client = await connectInjected(gateway, box.apiKey);
});
afterAll(async () => {
  await client?.close();
  await gateway?.close();
});

const thread = () => ({ workspaceId: box.workspaceId, count: 1, lastMessageAt: new Date() });

async function call(name: string, given: Record<string, unknown>) {
  const { structuredContent, content, isError = false } = await client.callTool({ name, arguments: given });
  const [block] = content as { text?: string }[];
  return { data: structuredContent as Record<string, unknown>, text: block?.text ?? '', isError };
}

describe('a wrong name of an argument', () => {
  test.each([
    ['reply_to_email', { id: 'em_x', text: 'Hi' }, 'id', 'email_id'],
    ['forward_email', { id: 'em_x', from: 'a@mine.test', to: 'b@x.test' }, 'id', 'email_id'],
    ['read_email', { emailId: 'em_x' }, 'emailId', 'email_id'],
    ['read_email', { message_id: 'em_x' }, 'message_id', 'email_id'],
    ['read_thread', { id: 'th_x' }, 'id', 'thread_id'],
    ['search_emails', { query: 'invoice' }, 'query', 'search'],
    ['search_threads', { q: 'invoice' }, 'q', 'search'],
    ['search_emails', { from: 'ann' }, 'from', 'search'],
    ['search_emails', { label: 'billing' }, 'label', 'search'],
    ['send_email', { from: 'a@mine.test', to: 'b@x.test', subject: 'x', body: 'Hi' }, 'body', 'text'],
    ['send_email', { from: 'a@mine.test', recipients: 'b@x.test', subject: 'x', text: 'Hi' }, 'recipients', 'to'],
    ['send_email', { from: 'a@mine.test', to: 'b@x.test', subjet: 'x', text: 'Hi' }, 'subjet', 'subject'],
    [
      'send_email',
      { from: 'a@mine.test', to: 'b@x.test', subject: 'x', text: 'Hi', sendAt: 'x' },
      'sendAt',
      'scheduled_at',
    ],
    ['label_threads', { threadIds: ['th_x'], labels: ['x'] }, 'threadIds', 'thread_ids'],
    ['label_threads', { thread_ids: ['th_x'], labels: ['x'] }, 'labels', 'add_labels'],
    ['wait_for_email', { to: 'a@mine.test', timeout_seconds: 1 }, 'timeout_seconds', 'timeout'],
    ['release_thread', { thread_id: 'th_x', token: 'clm_x' }, 'token', 'claim_token'],
  ])('%s %j: the error names the right one', async (tool, given, wrong, right) => {
    const { isError, text } = await call(tool, given);
    expect(isError).toBe(true);
    expect(text).toContain(`There is no argument \`${wrong}\`. Did you mean \`${right}\`?`);
    // The missing argument is the one that was named wrongly.
    expect(text).not.toContain(`${right}: `);
  });

  test('that resembles none lists the arguments that exist, and its own text is cut', async () => {
    const { isError, text } = await call('read_thread', { thread_id: 'th_x', ['z'.repeat(100_000)]: 1 });
    expect(isError).toBe(true);
    expect(text).toContain('The arguments are `thread_id`, `limit`, `cursor`.');
    expect(text.length).toBeLessThan(1_000);
  });

  test('of a tool without arguments says that it takes none', async () => {
    const { isError, text } = await call('who_am_i', { nonsense: 1 });
    expect([isError, text]).toEqual([
      true,
      expect.stringContaining('There is no argument `nonsense`. It takes no arguments.'),
    ]);
  });

  test('never changes the call', async () => {
    const { isError } = await call('send_email', { from: box.address, to: 'b@x.test', subject: 'x', body: 'Hi' });
    expect(isError).toBe(true);
    expect((await call('search_emails', { type: 'sent' })).data['emails']).toEqual([]);
  });
});

test.each([
  ['sendEmail', 'There is no tool `sendEmail`. Did you mean `send_email`?'],
  ['send_emial', 'There is no tool `send_emial`. Did you mean `send_email`?'],
  ['fly', 'There is no tool `fly`. The tools are `who_am_i`, `search_threads`, '],
])('a call of the unknown tool %s says which tools there are', async (name, words) => {
  await expect(call(name, {})).rejects.toThrow(words);
});

test('the error of a tool with a long name is short', async () => {
  const error: unknown = await call('z'.repeat(1_000_000), {}).catch((each: unknown) => each);
  expect(String(error).length).toBeLessThan(3_000);
});

describe('null for an argument that is not needed', () => {
  test('counts as left out', async () => {
    const [id = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    const nothing = { status: null, type: null, search: null, order_by: null, limit: null, cursor: null, domain: null };
    const { data } = await call('search_emails', nothing);
    expect((data['emails'] as { id: string }[]).map((email) => email.id)).toContain(id);
    expect((await call('read_email', { email_id: id, body: null, offset: null, max_chars: null })).isError).toBe(false);
  });

  test.each([
    ['read_email', { email_id: null }, 'email_id: Invalid input: expected string, received null'],
    ['label_threads', { thread_ids: null, add_labels: ['x'] }, 'thread_ids: Invalid input: expected array'],
    ['label_threads', { thread_ids: [null], add_labels: ['x'] }, 'thread_ids.0: Invalid input: expected string'],
    ['search_emails', { nothing: null }, 'There is no argument `nothing`.'],
  ])('%s %j is refused all the same', async (tool, given, words) => {
    const { isError, text } = await call(tool, { ...given });
    expect([isError, text]).toEqual([true, expect.stringContaining(words)]);
  });

  test('still clears a field where it means that', async () => {
    const draft = { from: box.address, to: 'ada@example.org', subject: 'Draft', text: 'One' };
    const { data: created } = await call('create_draft', draft);
    const change = { draft_id: created['id'], version: created['version'], subject: null };
    const { data } = await call('update_draft', change);
    expect(data['untrusted']).toMatchObject({ subject: null, to: ['ada@example.org'] });
  });
});

describe('an ID of another kind', () => {
  test.each([
    ['read_email', { email_id: 'THREAD' }, '`email_id` takes an ID that begins with `em_`.'],
    ['read_thread', { thread_id: 'EMAIL' }, '`thread_id` takes an ID that begins with `th_`.'],
    ['archive_threads', { thread_ids: ['EMAIL'] }, '`thread_ids` takes an ID that begins with `th_`'],
    ['read_draft', { draft_id: 'EMAIL' }, '`draft_id` takes an ID that begins with `drf_`'],
    ['revoke_reply_address', { reply_address_id: 'EMAIL' }, '`reply_address_id` takes an ID that begins with `rpl_`'],
    [
      'forward_email',
      { email_id: 'THREAD', to: 'b@x.test', text: 'Hi' },
      '`email_id` takes an ID that begins with `em_`',
    ],
    ['read_email', { email_id: '7' }, '`email_id` takes an ID that begins with `em_`.'],
    ['read_email', { email_id: '<hello@mine.test>' }, '`email_id` takes an ID that begins with `em_`.'],
  ])('%s %j: the error says which it takes', async (tool, given, words) => {
    const { threadId } = await insertThread(gateway.actor, thread());
    const [id = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    const text = JSON.stringify(given).replace('THREAD', threadId).replace('EMAIL', id);
    const asked = { ...(tool === 'forward_email' ? { from: box.address } : {}), ...(JSON.parse(text) as object) };
    const result = await call(tool, asked);
    expect([result.isError, result.text]).toEqual([true, expect.stringMatching(/not found/i)]);
    expect(result.text).toContain(words);
  });

  test('that a tool takes, too, is not found without further words', async () => {
    const unknown = 'th_0190f3b2c4d57e8f9a0b1c2d3e4f5a6b';
    const { text } = await call('reply_to_email', { email_id: unknown, from: box.address, text: 'Soon' });
    expect(text).toBe('Email or thread not found');
  });
});

describe('a reply without `from`', () => {
  test('is sent from the address that received the original', async () => {
    const ownAddress = 'sales@mine.test';
    const [id = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, ownAddress }]);
    const reply = await call('reply_to_email', { email_id: id, to: 'ada@elsewhere.test', text: 'Soon' });
    expect(reply.data).toMatchObject({ status: 'sent', replied_to_email_id: id });
    const { data } = await call('read_email', { email_id: reply.data['id'] });
    expect(data['untrusted']).toMatchObject({ from: ownAddress, to: ['ada@elsewhere.test'] });
  });

  test('to a thread is sent from the address of its latest message, and once for a key', async () => {
    const { threadId } = await insertThread(gateway.actor, { ...thread(), ownAddress: 'first@mine.test' });
    const given = { email_id: threadId, to: 'ada@elsewhere.test', text: 'Soon', idempotency_key: 'thread-reply' };
    const first = await call('reply_to_email', given);
    const { data } = await call('read_email', { email_id: first.data['id'] });
    expect(data['untrusted']).toMatchObject({ from: 'first@mine.test' });
    await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId, ownAddress: 'second@mine.test', threadId, threadPosition: 9 },
    ]);
    expect((await call('reply_to_email', given)).data).toEqual(first.data);
  });

  test('to an unknown email is refused like any other reply', async () => {
    const { isError, text } = await call('reply_to_email', { email_id: 'em_unknown', text: 'Soon' });
    expect([isError, text]).toEqual([true, 'Email or thread not found']);
  });
});

describe('a claim', () => {
  test('keeps other holders from the thread until it is released', async () => {
    const { threadId } = await insertThread(gateway.actor, thread());
    const mine = await call('claim_thread', { thread_id: threadId, holder: 'one' });
    expect(mine.data).toMatchObject({ thread_id: threadId, claim_token: expect.stringMatching(/./) });
    const other = await call('claim_thread', { thread_id: threadId, holder: 'two' });
    expect([other.isError, other.text]).toEqual([true, expect.stringMatching(/^one has claimed this thread until /)]);
    const { data: found } = await call('search_threads', {});
    expect(JSON.stringify(found)).not.toContain(mine.data['claim_token']);
    const renewal = { thread_id: threadId, claim_token: mine.data['claim_token'], ttl: 600 };
    const renewed = await call('claim_thread', renewal);
    expect(String(renewed.data['expires_at']) > String(mine.data['expires_at'])).toBe(true);
    const stolen = await call('release_thread', { thread_id: threadId, claim_token: 'clm_wrong' });
    expect([stolen.isError, stolen.text]).toEqual([true, expect.stringContaining('does not hold the thread')]);
    const released = await call('release_thread', { thread_id: threadId, claim_token: mine.data['claim_token'] });
    expect(released.data).toEqual({ thread_id: threadId, released: true });
    expect((await call('claim_thread', { thread_id: threadId, holder: 'two' })).isError).toBe(false);
  });

  test('requires a holder', async () => {
    const { threadId } = await insertThread(gateway.actor, thread());
    const { isError, text } = await call('claim_thread', { thread_id: threadId });
    expect([isError, text]).toEqual([true, expect.stringContaining('The holder has 1 to 100 characters')]);
  });
});

test('who_am_i lists the scopes of a key with full access, and that it has full access', async () => {
  expect((await call('who_am_i', {})).data['key']).toEqual({
    scopes: ['read', 'send', 'manage', 'approve', 'workspaces'],
    has_full_access: true,
    domains: null,
    addresses: null,
  });
});
