import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { assignThreads } from '../../../actors/threading/assign-thread.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  box = await gateway.mailbox();
});

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  gateway.call(box.apiKey, method, path, body, headers);

async function create(body: object = {}): Promise<{ id: string; version: number } & Record<string, unknown>> {
  const response = await call('POST', '/drafts', body);
  expect(response.statusCode, response.body).toBe(201);
  return response.json();
}

const whole = () => ({ from: box.address, to: ['ada@elsewhere.test'], subject: 'Order', text: 'On its way.' });
const draftIds = async () => (await call('GET', '/drafts')).json().data.map(({ id }: { id: string }) => id);
const listEmails = async (type = 'sent') =>
  (
    await gateway.actor.pool.query<{ id: string; thread_id: string | null; subject: string; in_reply_to: string[] }>(
      `select e.id, e.thread_id, e.subject, c.in_reply_to from email e
       join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id where e.workspace_id = $1 and e.type = $2`,
      [box.workspaceId, type],
    )
  ).rows;
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a draft', () => {
  test('may be empty, and shows its fields as they were given', async () => {
    const empty = await create();
    expect(empty).toMatchObject({ object: 'draft', version: 1, kind: 'new', from: null, to: null, text: null });
    const given = {
      from: `Support <${box.address}>`,
      to: 'Ada <ada@elsewhere.test>, bob@elsewhere.test',
      cc: ['eve@elsewhere.test'],
      bcc: [],
      reply_to: 'help@elsewhere.test',
      subject: 'Ördér',
      text: 'Hello\u{0}\u{d800} there',
      html: '<p>Hello</p>',
      headers: { 'X-Order': '4711' },
      tags: [{ name: 'kind', value: 'order' }],
      scheduled_at: 'tomorrow at 9am',
      timezone: 'Europe/Berlin',
      list_unsubscribe: false,
    };
    const full = await create({
      ...given,
      attachments: [{ filename: 'a.txt', content: base64('Two pears'), content_id: 'a' }],
    });
    const attachment = { filename: 'a.txt', content_type: 'text/plain', content_id: '<a>', size: 9 };
    const shown = {
      ...given,
      text: 'Hello\u{fffd}\u{fffd} there',
      attachments: [{ ...attachment, id: expect.any(String) }],
    };
    expect(full).toMatchObject(shown);
    expect((await call('GET', `/drafts/${full.id}`)).json()).toEqual(full);
    const [stored] = full['attachments'] as { id: string }[];
    const file = await call('GET', `/drafts/${full.id}/attachments/${stored?.id}`);
    expect([file.statusCode, file.headers['content-type'], file.body]).toEqual([200, 'text/plain', 'Two pears']);
    expect((await call('GET', `/drafts/${empty.id}/attachments/${stored?.id}`)).statusCode).toBe(404);
    const listed = (await call('GET', '/drafts?limit=1')).json();
    const { text: _, html: __, ...summary } = full;
    expect(listed).toMatchObject({ data: [summary], has_more: true, pagination: { total: 2 } });
    expect(listed.data[0].preview).toBe('Hello\u{fffd}\u{fffd} there');
    expect((await call('GET', '/drafts')).json().data.map(({ id }: { id: string }) => id)).toEqual([full.id, empty.id]);
  });

  test('changes the given fields, clears null ones, and increases its version by one', async () => {
    const { id } = await create({ ...whole(), html: '<b>x</b>' });
    const changed = await call('PATCH', `/drafts/${id}`, { version: 1, subject: 'Changed', html: null });
    expect(changed.json()).toMatchObject({
      version: 2,
      subject: 'Changed',
      html: null,
      text: 'On its way.',
      from: box.address,
    });
    const first = await create();
    expect(await draftIds()).toEqual([first.id, id]);
    await call('PATCH', `/drafts/${id}`, { version: 2, to: null });
    expect(await draftIds()).toEqual([id, first.id]);
  });

  test('is not changed by a request that has read another version, and the error names the present one', async () => {
    const { id } = await create(whole());
    expect((await call('PATCH', `/drafts/${id}`, { version: 1, subject: 'First' })).statusCode).toBe(200);
    const late = await call('PATCH', `/drafts/${id}`, { version: 1, subject: 'Second' });
    expect([late.statusCode, late.json()]).toMatchObject([409, { code: 'DRAFT_CHANGED', version: 2 }]);
    expect((await call('GET', `/drafts/${id}`)).json()).toMatchObject({ version: 2, subject: 'First' });
    const both = await Promise.all(
      ['a', 'b', 'c', 'd'].map((subject) => call('PATCH', `/drafts/${id}`, { version: 2, subject })),
    );
    expect(both.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
  });

  test('keeps the attachments that a change names, in its order, and stores the new ones', async () => {
    const file = (filename: string) => ({ filename, content: base64(filename) });
    const { id, attachments } = await create({ attachments: [file('a.txt'), file('b.txt')] });
    const [a, b] = attachments as { id: string }[];
    const change = { version: 1, attachments: [{ id: b?.id }, file('c.txt'), { id: a?.id }] };
    const changed = (await call('PATCH', `/drafts/${id}`, change)).json();
    expect(changed.attachments.map((each: { filename: string }) => each.filename)).toEqual(['b.txt', 'c.txt', 'a.txt']);
    const other = await create({ attachments: [file('d.txt')] });
    const foreign = { version: 2, attachments: [{ id: (other['attachments'] as { id: string }[])[0]?.id }] };
    const refused = await call('PATCH', `/drafts/${id}`, foreign);
    expect([refused.statusCode, refused.json().details]).toMatchObject([400, [{ field: 'attachments.0.id' }]]);
    expect((await call('PATCH', `/drafts/${id}`, { version: 2, text: 'x' })).json().attachments).toHaveLength(3);
    const rest = await call('PATCH', `/drafts/${id}`, { version: 3, attachments: null });
    expect(rest.json().attachments).toEqual([]);
  });

  test.each([
    [{ from: 'nonsense' }, 'from'],
    [{ to: ['ada@elsewhere.test', 'bob@'] }, 'to'],
    [{ reply_to: 'x' }, 'reply_to'],
    [{ subject: 'a\nb' }, 'subject'],
    [{ headers: { From: 'x@y.test' } }, 'headers'],
    [{ tags: [{ name: '', value: '' }] }, 'tags.0.name'],
    [{ scheduled_at: 'some day' }, 'scheduled_at'],
    [{ attachments: [{ filename: 'a', content: '!' }] }, 'attachments.0'],
    [{ attachments: [{ path: 'https://x.test/' }] }, 'attachments.0.path'],
    [{ to: 5 }, 'to'],
    [{ kind: 'reply' }, 'original_email_id'],
    [{ original_email_id: 'em_1' }, 'original_email_id'],
    [{ with_attachments: true }, 'with_attachments'],
  ])('rejects %j, naming the field', async (body, field) => {
    const response = await call('POST', '/drafts', body);
    expect([response.statusCode, response.json().details?.[0]?.field]).toEqual([400, field]);
    expect(await draftIds()).toEqual([]);
  });

  test('is limited with its attachments to the size of a message, at once or one by one', async () => {
    const half = { filename: 'half', content: Buffer.alloc(6_000_000).toString('base64') };
    const { id, attachments } = await create({ attachments: [half] });
    const more = { version: 1, attachments: [{ id: (attachments as { id: string }[])[0]?.id }, half] };
    const refused = await call('PATCH', `/drafts/${id}`, more);
    expect([refused.statusCode, refused.json().message]).toEqual([
      400,
      expect.stringContaining('larger than 10485760'),
    ]);
    const text = await call('PATCH', `/drafts/${id}`, { version: 1, text: 'x'.repeat(5_000_000) });
    expect([text.statusCode, text.json().details?.[0]?.field]).toEqual([400, 'attachments']);
  });

  test('is refused when the account has 1,000, or 500 MB of them', async () => {
    const { id } = await create();
    const fill = (count: number, bytes: number) =>
      gateway.actor.pool.query(
        `insert into draft (workspace_id, id, kind, fields, size_bytes, created_at, updated_at)
         select workspace_id, 'drf_' || n, kind, fields, $3, now(), now() from draft, generate_series(1, $2) n where workspace_id = $1`,
        [box.workspaceId, count, bytes],
      );
    await fill(1, 500_000_000);
    const full = await call('POST', '/drafts', { text: 'x' });
    expect([full.statusCode, full.json()]).toMatchObject([409, { code: 'TOO_MANY_DRAFTS' }]);
    expect((await call('PATCH', `/drafts/${id}`, { version: 1, text: 'x' })).statusCode).toBe(409);
    expect((await call('DELETE', '/drafts/drf_1')).json()).toEqual({ object: 'draft', id: 'drf_1', deleted: true });
    expect((await call('PATCH', `/drafts/${id}`, { version: 1, text: 'x' })).statusCode).toBe(200);
    await fill(999, 1);
    expect((await call('POST', '/drafts', { text: 'x' })).json()).toMatchObject({ code: 'TOO_MANY_DRAFTS' });
    expect((await call('PATCH', `/drafts/${id}`, { version: 2, text: 'y' })).statusCode).toBe(200);
  });
});

describe('metadata of a draft', () => {
  const graph = async (query: string, variables: object) => {
    const response = await gateway.graphql(box.apiKey, query, { ...variables });
    return response.json().data;
  };

  test('is shown, changed, cleared, and sent with the email, over REST and GraphQL', async () => {
    const metadata = { order: 4711, lines: [{ sku: 'a"b', count: 2 }], __proto: null };
    const { id } = await create({ ...whole(), metadata });
    expect((await call('GET', `/drafts/${id}`)).json()).toMatchObject({ metadata });
    const shown = await graph('query ($id: ID!) { draft(id: $id) { metadata } }', { id });
    expect(shown.draft).toEqual({ metadata });
    expect((await call('PATCH', `/drafts/${id}`, { version: 1, metadata: null })).json().metadata).toBeNull();
    const { updateDraft } = await graph(
      `mutation ($id: ID!, $metadata: JSON) { updateDraft(input: { id: $id, version: 2, metadata: $metadata }) {
        ... on UpdateDraftPayload { draft { version metadata } } ... on Error { message } } }`,
      { id, metadata: { order: 4712 } },
    );
    expect(updateDraft).toEqual({ draft: { version: 3, metadata: { order: 4712 } } });
    expect((await call('PATCH', `/drafts/${id}`, { version: 3, subject: 'Kept' })).json().metadata).toEqual({
      order: 4712,
    });
    const sent = (await call('POST', `/drafts/${id}/send`, {})).json();
    expect((await call('GET', `/emails/${sent.id}`)).json()).toMatchObject({ metadata: { order: 4712 } });
  });

  test('is sent with a reply and a forward', async () => {
    const [original] = await insertMail(gateway.actor, [
      {
        workspaceId: box.workspaceId,
        ownAddress: box.address,
        subject: 'Where?',
        text: 'Hi',
        from: 'ada@elsewhere.test',
      },
    ]);
    for (const [kind, more] of [
      ['reply', { to: ['ada@elsewhere.test'] }],
      ['forward', { to: ['bob@elsewhere.test'] }],
    ] as const) {
      const fields = { from: box.address, text: 'Here.', ...more };
      const { id } = await create({ kind, original_email_id: original, ...fields, metadata: { kind } });
      const sent = (await call('POST', `/drafts/${id}/send`, {})).json();
      expect((await call('GET', `/emails/${sent.id}`)).json(), JSON.stringify(sent)).toMatchObject({
        metadata: { kind },
      });
    }
  });

  test.each([
    ['a text', 'x'],
    ['a list', [1]],
    ['more than 4,096 bytes', { a: 'x'.repeat(4_090) }],
    ['NUL', { a: { 'b\0': 1 } }],
    ['a lone surrogate', { a: ['\ud800'] }],
  ])('is refused with its field if it is or has %s', async (_, metadata) => {
    const response = await call('POST', '/drafts', { metadata });
    expect([response.statusCode, response.body]).toEqual([400, expect.stringContaining('metadata')]);
    const made = await graph(
      `mutation ($metadata: JSON) { createDraft(input: { metadata: $metadata }) {
        __typename ... on ValidationError { fields { path } } } }`,
      { metadata },
    );
    expect(made.createDraft).toEqual({ __typename: 'ValidationError', fields: [{ path: ['metadata'] }] });
  });
});

describe('sending a draft', () => {
  test('responds as POST /emails, stores the email with its attachments, and removes the draft', async () => {
    const { id } = await create({ ...whole(), attachments: [{ filename: 'a.txt', content: base64('Two pears') }] });
    const sent = await call('POST', `/drafts/${id}/send`, { version: 1 });
    expect([sent.statusCode, sent.json()]).toEqual([
      200,
      expect.objectContaining({ id: expect.stringMatching(/^em_/), status: 'sent', message_id: expect.any(String) }),
    ]);
    const email = (await call('GET', `/emails/${sent.json().id}`)).json();
    expect(email).toMatchObject({ subject: 'Order', attachments: [{ filename: 'a.txt', size: 9 }] });
    expect(await draftIds()).toEqual([]);
    const { rows } = await gateway.actor.pool.query('select from draft_attachment where workspace_id = $1', [
      box.workspaceId,
    ]);
    expect(rows).toEqual([]);
    expect((await call('POST', `/drafts/${id}/send`, { version: 1 })).statusCode).toBe(404);
  });

  test.for([{}, undefined])('without a version sends the present one, with the body %j', async (body) => {
    const { id } = await create(whole());
    await call('PATCH', `/drafts/${id}`, { version: 1, subject: 'Changed' });
    const sent = await call('POST', `/drafts/${id}/send`, body);
    expect(sent.statusCode).toBe(200);
    expect((await call('GET', `/emails/${sent.json().id}`)).json().subject).toBe('Changed');
    expect(await draftIds()).toEqual([]);
  });

  test('schedules a draft with a send time', async () => {
    const { id } = await create({ ...whole(), scheduled_at: 'tomorrow at 9am' });
    const sent = await call('POST', `/drafts/${id}/send`, { version: 1 });
    expect([sent.statusCode, sent.json().status]).toEqual([201, 'scheduled']);
    expect(await listEmails('scheduled')).toHaveLength(1);
  });

  test('waits for undo_seconds, and can be cancelled meanwhile', async () => {
    const { id } = await create(whole());
    const refused = await call('POST', `/drafts/${id}/send`, { version: 1, undo_seconds: 86_401 });
    expect([refused.statusCode, refused.json().details[0].field]).toEqual([400, 'undo_seconds']);
    const before = Date.now();
    const sent = await call('POST', `/drafts/${id}/send`, { version: 1, undo_seconds: 600 });
    expect([sent.statusCode, sent.json().status]).toEqual([201, 'scheduled']);
    expect(Date.parse(sent.json().scheduled_at)).toBeGreaterThanOrEqual(before + 599_000);
    expect((await call('DELETE', `/emails/${sent.json().id}`)).statusCode).toBe(200);
    expect(await draftIds()).toEqual([]);
  });

  test('keeps a draft that is invalid, and names the missing or wrong fields', async () => {
    const { id } = await create({ to: 'ada@elsewhere.test' });
    const missing = await call('POST', `/drafts/${id}/send`, { version: 1 });
    expect(missing.statusCode).toBe(400);
    expect(missing.json().details.map(({ field }: { field: string }) => field)).toEqual(['from', 'subject']);
    await call('PATCH', `/drafts/${id}`, { version: 1, ...whole(), from: 'x@unknown.test' });
    const unverified = await call('POST', `/drafts/${id}/send`, { version: 2 });
    expect([unverified.statusCode, unverified.json().details[0].field]).toEqual([403, 'from']);
    await call('PATCH', `/drafts/${id}`, { version: 2, from: box.address });
    const stale = await call('POST', `/drafts/${id}/send`, { version: 2 });
    expect([stale.statusCode, stale.json()]).toMatchObject([409, { code: 'DRAFT_CHANGED', version: 3 }]);
    expect([await listEmails(), await draftIds()]).toEqual([[], [id]]);
  });

  test('sends one email when 40 requests through two gateways send it at once', async () => {
    const { id } = await create(whole());
    const other = await gateway.beside();
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 === 0 ? gateway : other).call(box.apiKey, 'POST', `/drafts/${id}/send`, { version: 1 }),
      ),
    );
    await other.app.close();
    const statuses = responses.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array<number>(39).fill(404)]);
    expect(await listEmails()).toHaveLength(1);
  });

  test('returns the first response to every request with the same key, also after the draft is removed', async () => {
    const { id } = await create(whole());
    const send = (key: string) => call('POST', `/drafts/${id}/send`, { version: 1 }, { 'idempotency-key': key });
    const responses = await Promise.all(Array.from({ length: 10 }, () => send('k')));
    responses.push(await send('k'));
    expect(new Set(responses.map(({ body }) => body)).size).toBe(1);
    expect(responses[0]?.statusCode).toBe(200);
    expect((await send('other')).statusCode).toBe(404);
    const next = await create(whole());
    const reused = await call('POST', `/drafts/${next.id}/send`, { version: 1 }, { 'idempotency-key': 'k' });
    expect([reused.statusCode, await draftIds()]).toEqual([409, [next.id]]);
    expect(await listEmails()).toHaveLength(1);
  });

  test('either sends a draft or changes it', async () => {
    for (let round = 0; round < 20; round++) {
      const { id } = await create(whole());
      const [sent, changed] = await Promise.all([
        call('POST', `/drafts/${id}/send`, { version: 1 }),
        call('PATCH', `/drafts/${id}`, { version: 1, subject: 'Changed' }),
      ]);
      expect([
        [200, 404],
        [409, 200],
      ]).toContainEqual([sent.statusCode, changed.statusCode]);
    }
  });
});

describe('a draft of a reply', () => {
  const list = (address: string) => ({ text: address, addresses: [{ name: null, address }] });

  async function received(): Promise<{ emailId: string; threadId: string; messageId: string }> {
    const addresses = {
      from: list('ada@elsewhere.test'),
      to: list(box.address),
      cc: list('bob@elsewhere.test'),
      bcc: null,
      replyTo: null,
    };
    const mail = { workspaceId: box.workspaceId, ownAddress: box.address, subject: 'A question', addresses };
    const [emailId = ''] = await insertMail(gateway.actor, [mail]);
    await assignThreads(testActorContext(gateway.actor), box.workspaceId, [emailId]);
    const { rows } = await gateway.actor.pool.query<{ threadId: string; messageId: string }>(
      'select thread_id as "threadId", message_id as "messageId" from email where id = $1',
      [emailId],
    );
    return { emailId, threadId: rows[0]?.threadId ?? '', messageId: rows[0]?.messageId ?? '' };
  }

  test('is sent as the reply, joins the thread, and is listed by it until then', async () => {
    const { emailId, threadId, messageId } = await received();
    await create(whole());
    const reply = { kind: 'reply_all', original_email_id: threadId, from: box.address, text: 'An answer' };
    const draft = await create(reply);
    expect(draft).toMatchObject({ kind: 'reply_all', original_email_id: emailId, thread_id: threadId, to: null });
    const ofThread = (await call('GET', `/drafts?thread_id=${threadId}`)).json();
    expect(ofThread).toMatchObject({ data: [{ id: draft.id }], pagination: { total: 1 } });
    const sent = (await call('POST', `/drafts/${draft.id}/send`, { version: 1 })).json();
    expect(await listEmails()).toEqual([
      { id: sent.id, thread_id: threadId, subject: 'Re: A question', in_reply_to: [messageId] },
    ]);
    const { to, cc } = (await call('GET', `/emails/${sent.id}`)).json();
    expect([to, cc]).toEqual([['ada@elsewhere.test'], ['bob@elsewhere.test']]);
    expect((await call('GET', `/drafts?thread_id=${threadId}`)).json().data).toEqual([]);
  });

  test('of a forward carries the original, and has no attachments of its own', async () => {
    const { emailId } = await received();
    const forward = { kind: 'forward', original_email_id: emailId, from: box.address, to: 'eve@elsewhere.test' };
    const files = await call('POST', '/drafts', { ...forward, attachments: [{ filename: 'a', content: base64('a') }] });
    expect([files.statusCode, files.json().details[0].field]).toEqual([400, 'attachments']);
    const { id } = await create({ ...forward, with_attachments: false });
    expect((await call('POST', `/drafts/${id}/send`, { version: 1 })).statusCode).toBe(200);
    expect(await listEmails()).toMatchObject([{ subject: 'Fwd: A question' }]);
  });

  test('says so when the original is gone', async () => {
    const { emailId } = await received();
    const { id } = await create({ kind: 'reply', original_email_id: emailId, from: box.address, text: 'x' });
    await gateway.actor.pool.query('delete from email where id = $1', [emailId]);
    const refused = await call('POST', `/drafts/${id}/send`, { version: 1 });
    expect([refused.statusCode, refused.json().details[0].field]).toEqual([400, 'original_email_id']);
    expect((await call('POST', '/drafts', { kind: 'reply', original_email_id: emailId })).statusCode).toBe(404);
  });
});

describe('an API key', () => {
  test('without the scope read writes and sends its own drafts, and no others', async () => {
    const { secret: sending } = await insertKey(gateway.owner, box, { scopes: ['send'] });
    const { secret: other } = await insertKey(gateway.owner, box, { scopes: ['send'] });
    const made = await gateway.call(sending, 'POST', '/drafts', whole());
    const { id, created_by_key_id: keyId } = made.json();
    expect([made.statusCode, keyId]).toEqual([201, expect.stringMatching(/^key_/)]);
    expect((await gateway.call(sending, 'GET', `/drafts/${id}`)).statusCode).toBe(403);
    expect((await gateway.call(sending, 'PATCH', `/drafts/${id}`, { version: 1, text: 'x' })).statusCode).toBe(200);
    for (const [method, path, body] of [
      ['PATCH', '', { version: 2, to: 'me@elsewhere.test' }],
      ['POST', '/send', { version: 2 }],
      ['DELETE', '', undefined],
    ] as const) {
      const refused = await gateway.call(other, method, `/drafts/${id}${path}`, body);
      expect([refused.statusCode, refused.json()]).toMatchObject([403, { requiredScope: 'read' }]);
    }
    // Once another has written in it, the key would read what it did not write.
    await call('PATCH', `/drafts/${id}`, { version: 2, text: 'A secret' });
    expect((await gateway.call(sending, 'POST', `/drafts/${id}/send`, { version: 3 })).statusCode).toBe(403);
    expect((await call('POST', `/drafts/${id}/send`, { version: 3 })).statusCode).toBe(200);
  });

  test('of one domain reaches the drafts of its domain', async () => {
    const domain = { id: box.domainId, name: box.address.split('@')[1] ?? '' };
    const { secret } = await insertKey(gateway.owner, box, { scopes: ['read', 'send'], domain });
    const limited = (method: string, path: string, body?: unknown) => gateway.call(secret, method, path, body);
    const foreign = await create({ from: 'x@other.test' });
    const empty = await create();
    for (const { id } of [foreign, empty])
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { version: 1, from: box.address }],
        ['POST', '/send', { version: 1 }],
        ['DELETE', '', undefined],
      ] as const)
        expect((await limited(method, `/drafts/${id}${path}`, body)).statusCode).toBe(404);
    expect((await limited('POST', '/drafts', { from: 'x@other.test' })).statusCode).toBe(403);
    const made = await limited('POST', '/drafts', { text: 'Mine' });
    expect(made.statusCode, made.body).toBe(201);
    const { id } = made.json();
    expect((await limited('GET', '/drafts')).json().pagination.total).toBe(1);
    expect((await limited('PATCH', `/drafts/${id}`, { version: 1, from: 'x@other.test' })).statusCode).toBe(403);
    const file = { filename: 'a.txt', content: base64('a') };
    const changed = await limited('PATCH', `/drafts/${id}`, { version: 1, ...whole(), attachments: [file] });
    expect(changed.json().attachments).toHaveLength(1);
    expect((await limited('POST', `/drafts/${id}/send`, { version: 2 })).statusCode).toBe(200);
  });
});
