import { beforeAll, describe, expect, test } from 'vitest';
import { openForFile } from '../../support/open-for-file.ts';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';
import { countStatements } from '../../support/statements.ts';

const gateway = openForFile(() => openTestGateway());

async function list(box: TestMailbox, query = '') {
  const response = await gateway.call(box.apiKey, 'GET', `/mail/threads${query}`);
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

const ids = (response: { threads: { id: string }[] }) => response.threads.map((thread) => thread.id);

async function putAlias(workspaceId: string, aliasId: string, threadId: string) {
  await gateway.actor.pool.query('insert into thread_alias (workspace_id, alias_id, thread_id) values ($1, $2, $3)', [
    workspaceId,
    aliasId,
    threadId,
  ]);
}

test('a list shows every documented field', async () => {
  const box = await gateway.mailbox();
  const lastMessageAt = new Date(Date.now() - 60_000);
  const { threadId, emailIds } = await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    count: 2,
    readCount: 1,
    lastMessageAt,
    subject: 'Order 7',
  });
  expect(await list(box)).toEqual({
    threads: [
      {
        id: threadId,
        root_message_id: `<${emailIds[0]}@elsewhere.test>`,
        normalized_subject: 'Order 7',
        participant_emails: ['ada@elsewhere.test', 'hello@box.test'],
        participant_names: ['ada@elsewhere.test', 'hello@box.test'],
        message_count: 2,
        last_message_at: lastMessageAt.toISOString(),
        created_at: lastMessageAt.toISOString(),
        has_unread: true,
        unread_count: 1,
        is_archived: false,
        assignee_id: null,
        is_read_by_me: null,
        snoozed_until: null,
        remind_at: null,
        returned_at: null,
        returned_by: null,
        claim: null,
        latest_message: {
          id: emailIds[1],
          type: 'inbound',
          subject: 'Order 7',
          from_text: 'ada@elsewhere.test',
          text_preview: 'preview',
          is_read: false,
          has_attachments: false,
          date: lastMessageAt.toISOString(),
        },
      },
    ],
    pagination: { limit: 25, has_more: false, next_cursor: null },
    filters: { unread_only: false },
  });
});

test('the latest message may be a sent one, and shows the names of participants', async () => {
  const box = await gateway.mailbox();
  const { threadId, emailIds } = await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    count: 1,
    lastMessageAt: new Date(),
  });
  await gateway.actor.pool.query(`update email set type = 'sent' where id = $1`, [emailIds[0]]);
  await gateway.actor.pool.query('update thread set participant_names = $2 where id = $1', [
    threadId,
    ['Ada <ada@elsewhere.test>', 'hello@box.test'],
  ]);
  expect((await list(box)).threads[0]).toMatchObject({
    participant_names: ['Ada <ada@elsewhere.test>', 'hello@box.test'],
    latest_message: { id: emailIds[0], type: 'outbound' },
  });
});

describe('filters', () => {
  let box: TestMailbox;
  const made: Record<string, string> = {};

  beforeAll(async () => {
    box = await gateway.mailbox({ domain: 'shop.test' });
    const threads = {
      newest: { subject: 'Invoice 100%', participants: ['ada@elsewhere.test', box.address] },
      middle: { subject: 'Lunch', participants: ['bob@sub.shop.test'], readCount: 1 },
      oldest: { subject: 'invoice_2', participants: ['zoe@other.test', box.address], readCount: 1 },
    };
    let minutes = 0;
    for (const [name, thread] of Object.entries(threads))
      made[name] = (
        await insertThread(gateway.actor, {
          workspaceId: box.workspaceId,
          count: 1,
          lastMessageAt: new Date(Date.now() - minutes++ * 60_000),
          ...thread,
        })
      ).threadId;
  });

  test.each<[string, string[]]>([
    ['', ['newest', 'middle', 'oldest']],
    ['?unread=true', ['newest']],
    ['?unread=1', ['newest']],
    ['?unread=false', ['newest', 'middle', 'oldest']],
    ['?unread=0', ['newest', 'middle', 'oldest']],
    ['?search=INVOICE', ['newest', 'oldest']],
    ['?search=0%25', ['newest']],
    ['?search=e_2', ['oldest']],
    ['?search=zoe@', ['oldest']],
    ['?search=invoice&unread=true', ['newest']],
    ['?domain=shop.test', ['newest', 'oldest']],
    ['?domain=SUB.shop.test', ['middle']],
    ['?domain=hop.test', []],
    ['?domain=other.test&search=lunch', []],
    ['?domain=dom_none', []],
    ['?address=Ada@Elsewhere.test', ['newest']],
    ['?address=ada@elsewhere.tes', []],
    ['?address=addr_none', []],
  ])('%s', async (query, names) => {
    expect(ids(await list(box, query))).toEqual(names.map((name) => made[name]));
  });

  test('accept a domain and an address by id', async () => {
    expect(ids(await list(box, `?domain=${box.domainId}`))).toEqual([made['newest'], made['oldest']]);
    expect(ids(await list(box, `?address=${box.addressId}`))).toEqual([made['newest'], made['oldest']]);
  });

  test('are echoed when they were applied', async () => {
    expect((await list(box, '?unread=1&search=a&domain=b.test&address=c@b.test')).filters).toEqual({
      unread_only: true,
      search: 'a',
      domain: 'b.test',
      address: 'c@b.test',
    });
  });
});

describe('cursors', () => {
  test('lead through all threads, newest first, threads of the same instant included', async () => {
    const box = await gateway.mailbox();
    const at = Date.now();
    const made: string[] = [];
    for (let n = 0; n < 11; n++)
      made.push(
        (
          await insertThread(gateway.actor, {
            workspaceId: box.workspaceId,
            count: 1,
            lastMessageAt: new Date(at - Math.floor(n / 4)),
          })
        ).threadId,
      );
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const response = await list(box, `?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...ids(response));
      cursor = response.pagination.next_cursor;
      expect(response.pagination.has_more).toBe(cursor !== null);
    }
    expect(seen).toHaveLength(11);
    expect(new Set(seen)).toEqual(new Set(made));
  });

  test('may be the id of a thread that was merged into another', async () => {
    const box = await gateway.mailbox();
    const at = Date.now();
    const [first, second] = [0, 1].map((n) => ({
      workspaceId: box.workspaceId,
      count: 1,
      lastMessageAt: new Date(at - n),
    }));
    const living = await insertThread(gateway.actor, first ?? never());
    const next = await insertThread(gateway.actor, second ?? never());
    await putAlias(box.workspaceId, 'th_merged', living.threadId);
    expect(ids(await list(box, '?cursor=th_merged'))).toEqual([next.threadId]);
  });

  test('that are broken, unknown or of another user are 400 Invalid cursor', async () => {
    const box = await gateway.mailbox();
    const other = await gateway.mailbox();
    const foreign = await insertThread(gateway.actor, {
      workspaceId: other.workspaceId,
      count: 1,
      lastMessageAt: new Date(),
    });
    const bodies = [];
    for (const cursor of [
      foreign.threadId,
      'th_00000000000000000000000000000000',
      '',
      '%00',
      "';--",
      'x'.repeat(500),
    ]) {
      const response = await gateway.call(box.apiKey, 'GET', `/mail/threads?cursor=${cursor}`);
      expect(response.statusCode).toBe(400);
      bodies.push(response.body);
    }
    expect(new Set(bodies)).toEqual(
      new Set([
        JSON.stringify({
          error: 'Invalid cursor',
          message: 'Invalid cursor',
          statusCode: 400,
          name: 'validation_error',
          details: [{ field: 'cursor', message: 'Invalid cursor' }],
        }),
      ]),
    );
  });
});

test.each([
  ['limit=0', 'limit'],
  ['unread=maybe', 'unread'],
  [`search=${'a'.repeat(501)}`, 'search'],
  ['search=is:nonsense', 'search'],
  ['address=%00', 'address'],
])('%s is 400 and names the field', async (query, field) => {
  const box = await gateway.mailbox();
  const response = await gateway.call(box.apiKey, 'GET', `/mail/threads?${query}`);
  expect([response.statusCode, response.json().details[0].field]).toEqual([400, field]);
});

describe('one thread', () => {
  test('shows its messages in order with every documented field', async () => {
    const box = await gateway.mailbox();
    const lastMessageAt = new Date();
    const { threadId, emailIds } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 1,
      lastMessageAt,
      text: 'Why?',
    });
    const [sentId] = await insertMail(gateway.actor, [
      {
        workspaceId: box.workspaceId,
        type: 'sent',
        status: 'bounced',
        threadId,
        threadPosition: 1,
        createdAt: new Date(lastMessageAt.getTime() + 1_000),
        references: ['<a@x.test>', '<b@x.test>'],
        inReplyTo: ['<b@x.test>'],
        html: '<p>Because</p>',
      },
    ]);
    const response = (await gateway.call(box.apiKey, 'GET', `/mail/threads/${threadId}`)).json();
    expect(response.thread).toEqual({
      id: threadId,
      root_message_id: `<${emailIds[0]}@elsewhere.test>`,
      normalized_subject: 'A subject',
      participant_emails: ['ada@elsewhere.test', 'hello@box.test'],
      participant_names: ['ada@elsewhere.test', 'hello@box.test'],
      message_count: 1,
      last_message_at: lastMessageAt.toISOString(),
      created_at: lastMessageAt.toISOString(),
      updated_at: expect.any(String),
      trashed_at: null,
      assignee_id: null,
      snoozed_until: null,
      remind_at: null,
      returned_at: null,
      returned_by: null,
      claim: null,
    });
    expect(response.total_count).toBe(2);
    expect(response.messages[0]).toEqual({
      id: emailIds[0],
      message_id: `<${emailIds[0]}@elsewhere.test>`,
      type: 'inbound',
      thread_position: 0,
      subject: 'A subject',
      text_body: 'Why?',
      html_body: null,
      from: 'ada@elsewhere.test',
      from_name: null,
      from_address: 'ada@elsewhere.test',
      to: ['hello@box.test'],
      cc: [],
      bcc: [],
      date: lastMessageAt.toISOString(),
      received_at: lastMessageAt.toISOString(),
      sent_at: null,
      is_read: false,
      read_at: null,
      has_attachments: false,
      attachments: [],
      in_reply_to: null,
      references: [],
      headers: {},
      tags: [],
    });
    expect(response.messages[1]).toMatchObject({
      id: sentId,
      type: 'outbound',
      thread_position: 1,
      html_body: '<p>Because</p>',
      received_at: null,
      in_reply_to: '<b@x.test>',
      references: ['<a@x.test>', '<b@x.test>'],
      status: 'bounced',
      failure_reason: null,
    });
  });

  test.each([
    ['pending', 'pending'],
    ['delivered', 'sent'],
    ['bounced', 'bounced'],
    ['failed', 'failed'],
  ] as const)('shows sent mail that is %s as %s, and no status of received mail', async (status, shown) => {
    const box = await gateway.mailbox();
    const { threadId } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 1,
      lastMessageAt: new Date(),
    });
    await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId, type: 'sent', status, threadId, threadPosition: 1 },
    ]);
    const { messages } = (await gateway.call(box.apiKey, 'GET', `/mail/threads/${threadId}`)).json();
    expect(messages[1]).toMatchObject({ type: 'outbound', status: shown, failure_reason: null, received_at: null });
    expect(messages[0]).not.toHaveProperty('status');
    expect(messages[0]).not.toHaveProperty('failure_reason');
  });

  test('is found by the ids of the threads that were merged into it', async () => {
    const box = await gateway.mailbox();
    const { threadId } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 2,
      lastMessageAt: new Date(),
    });
    await putAlias(box.workspaceId, 'th_former', threadId);
    const [living, former] = [threadId, 'th_former'].map((id) =>
      gateway.call(box.apiKey, 'GET', `/mail/threads/${id}`),
    );
    expect((await former)?.body).toBe((await living)?.body);
  });
});

describe('few statements', () => {
  test('are needed for a page of threads and for a thread of 50 messages: at most 6 each', async () => {
    const box = await gateway.mailbox();
    for (let n = 0; n < 3; n++)
      await insertThread(gateway.actor, {
        workspaceId: box.workspaceId,
        count: 50,
        lastMessageAt: new Date(Date.now() - n),
      });
    const { threads } = await list(box);
    const counted = async (path: string) => {
      const { response, statements } = await countStatements(() => gateway.call(box.apiKey, 'GET', path));
      expect(response.statusCode).toBe(200);
      return statements;
    };
    expect(await counted('/mail/threads?limit=50')).toBeLessThanOrEqual(4);
    expect(await counted(`/mail/threads?limit=50&cursor=${threads[0].id}`)).toBeLessThanOrEqual(6);
    expect(await counted(`/mail/threads/${threads[0].id}`)).toBeLessThanOrEqual(6);
    expect(await counted('/emails?limit=100')).toBeLessThanOrEqual(5);
    expect(await counted('/emails?limit=100&search=subject&time_range=all')).toBeLessThanOrEqual(7);
  });
});

function never(): never {
  throw new Error('unreachable');
}

test('a claim shows who replies to a thread, in the list and with the thread, and never its token', async () => {
  const box = await gateway.mailbox();
  const threads = [];
  for (let n = 0; n < 2; n++)
    threads.push(
      await insertThread(gateway.actor, { workspaceId: box.workspaceId, count: 1, lastMessageAt: new Date(n) }),
    );
  const [threadId = '', free = ''] = threads.map((thread) => thread.threadId);
  const call = (method: string, path: string, body?: object) =>
    gateway.call(box.apiKey, method, `/mail/threads/${threadId}/claim${path}`, body);

  const granted = await call('POST', '', { holder: 'agent-7', ttl: 300 });
  expect(granted.statusCode, granted.body).toBe(200);
  const { token, thread_id: _, ...shown } = granted.json();
  expect(granted.json()).toEqual({
    token: expect.stringMatching(/^clm_[0-9a-f]{32}$/),
    thread_id: threadId,
    holder: 'agent-7',
    claimed_at: expect.any(String),
    expires_at: expect.any(String),
  });
  expect(Date.parse(shown.expires_at) - Date.parse(shown.claimed_at)).toBe(300_000);
  const refused = await call('POST', '', { holder: 'agent-8' });
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([409, '300']);
  expect(refused.json()).toMatchObject({ code: 'THREAD_CLAIMED', holder: 'agent-7', expires_at: shown.expires_at });

  expect((await list(box)).threads.map((thread: { claim: unknown }) => thread.claim)).toEqual([null, shown]);
  expect(ids(await list(box, '?claimed=true'))).toEqual([threadId]);
  expect(ids(await list(box, '?claimed=false&unread=true'))).toEqual([free]);
  expect((await list(box, '?claimed=0')).filters).toEqual({ unread_only: false, claimed: false });
  const read = await gateway.call(box.apiKey, 'GET', `/mail/threads/${threadId}`);
  expect(read.json().thread.claim).toEqual(shown);

  const renewed = await call('POST', '/renew', { token, ttl: 600 });
  expect(renewed.json()).toMatchObject({ token, holder: 'agent-7', claimed_at: shown.claimed_at });
  const released = await call('POST', '/release', { token });
  expect([released.statusCode, released.json()]).toEqual([200, { thread_id: threadId, released: true }]);
  const again = await call('POST', '/release', { token });
  expect([again.statusCode, again.json().code]).toEqual([409, 'CLAIM_LOST']);
  expect((await list(box, '?claimed=true')).threads).toEqual([]);
});

test.each([
  ['POST', '', {}, 'holder'],
  ['POST', '', { holder: 'a', ttl: 9 }, 'ttl'],
  ['POST', '', { holder: 'a', ttl: '300' }, 'ttl'],
  ['POST', '', { holder: 7 }, 'holder'],
  ['POST', '/renew', { ttl: 300 }, 'token'],
  ['POST', '/renew', { token: 'clm_0', ttl: 1e9 }, 'ttl'],
  ['POST', '/release', {}, 'token'],
])('%s /claim%s with %j is 400 and names %s', async (method, path, body, field) => {
  const box = await gateway.mailbox();
  const { threadId } = await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    count: 1,
    lastMessageAt: new Date(),
  });
  const response = await gateway.call(box.apiKey, method, `/mail/threads/${threadId}/claim${path}`, body);
  expect([response.statusCode, response.json().details[0].field], response.body).toEqual([400, field]);
});
