import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertMail, insertThread, type MailRow } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox({ domain: 'mine.test' });
});
afterAll(() => gateway.close());

const reply = (id: string, body: object = {}, headers: Record<string, string> = {}) =>
  gateway.app.inject({
    method: 'POST',
    url: `/api/e2/emails/${id}/reply`,
    headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': 'application/json', ...headers },
    payload: JSON.stringify({ from: box.address, text: 'An answer', ...body }),
  });
const read = async (id: string) => (await gateway.call(box.apiKey, 'GET', `/emails/${id}`)).json();

const list = (...addresses: string[]) => ({
  text: addresses.join(', '),
  addresses: addresses.map((address) => ({ name: null, address })),
});
interface Fields {
  from?: string;
  to?: string[];
  cc?: string[];
  replyTo?: string;
}
const fields = ({ from = 'ada@elsewhere.test', to = [box.address], cc, replyTo }: Fields) => ({
  from: list(from),
  to: list(...to),
  cc: cc === undefined ? null : list(...cc),
  bcc: null,
  replyTo: replyTo === undefined ? null : list(replyTo),
});

/** A mail of the user's; received from ada@elsewhere.test unless said otherwise. */
async function mail(row: Partial<MailRow> = {}, addresses: Fields = {}): Promise<string> {
  const [id = ''] = await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, ownAddress: box.address, addresses: fields(addresses), ...row },
  ]);
  return id;
}

async function readLinks(id: string) {
  const { rows } = await gateway.actor.pool.query(
    'select in_reply_to, reference_ids from email_content where email_id = $1',
    [id],
  );
  return { inReplyTo: rows[0].in_reply_to, references: rows[0].reference_ids };
}

async function countEmails(): Promise<number> {
  return (await gateway.actor.pool.query('select count(*)::integer as n from email')).rows[0].n;
}

test('a reply goes to the sender, under the subject and in the thread of the original', async () => {
  const original = await mail({
    subject: 'Hello there',
    messageId: '<third@elsewhere.test>',
    references: ['<first@elsewhere.test>', '<second@mine.test>'],
    inReplyTo: ['<second@mine.test>'],
    threadId: 'th_own',
  });
  const response = await reply(original);
  const { id, message_id: messageId } = response.json();
  expect([response.statusCode, response.json()]).toEqual([
    200,
    {
      id: expect.stringMatching(/^em_/),
      message_id: expect.stringMatching(/^<[0-9a-f]{32}@mine\.test>$/),
      messageId,
      status: 'sent',
      provider_message_id: id,
      aws_message_id: id,
      awsMessageId: id,
      replied_to_email_id: original,
      replied_to_thread_id: 'th_own',
      is_thread_reply: false,
    },
  ]);
  expect(await read(id)).toMatchObject({
    type: 'sent',
    status: 'pending',
    from: box.address,
    to: ['ada@elsewhere.test'],
    cc: [],
    subject: 'Re: Hello there',
    text: 'An answer',
    html: null,
    headers: {
      'in-reply-to': '<third@elsewhere.test>',
      references: '<first@elsewhere.test> <second@mine.test> <third@elsewhere.test>',
      subject: 'Re: Hello there',
    },
  });
  expect(await readLinks(id)).toEqual({
    inReplyTo: ['<third@elsewhere.test>'],
    references: ['<first@elsewhere.test>', '<second@mine.test>', '<third@elsewhere.test>'],
  });
});

test('a reply includes the original when the request says so, for keys that may read it', async () => {
  const original = await mail({ subject: 'Tea', text: 'Come at four.\r\n', html: '<p>Come at <b>four</b>.</p>' });
  const opening = /On \w{3}, .* \+0000, ada@elsewhere\.test wrote:/;
  for (const name of ['include_original', 'includeOriginal']) {
    const { id } = (await reply(original, { [name]: true, html: '<i>An answer</i>' })).json();
    const { text, html } = await read(id);
    expect(text).toMatch(new RegExp(`^An answer\n\n${opening.source}\n> Come at four\\.$`));
    expect(html).toMatch(/^<i>An answer<\/i>[^]*<blockquote type="cite">[^]*<b>four<\/b>/);
  }
  const { id } = (await reply(original, { include_original: false })).json();
  expect((await read(id)).text).toBe('An answer');
  const { secret } = await insertKey(gateway.owner, box, { scopes: ['send'] });
  const before = await countEmails();
  const refused = await reply(original, { include_original: true }, { authorization: `Bearer ${secret}` });
  expect([refused.statusCode, refused.json()]).toEqual([403, expect.objectContaining({ name: 'restricted_api_key' })]);
  expect(await countEmails()).toBe(before);
});

describe('the recipients of a reply', () => {
  const cases: [what: string, addresses: Fields, body: object, to: string[], cc: string[]][] = [
    ['Reply-To before From', { replyTo: 'list@x.test' }, {}, ['list@x.test'], []],
    ['to given', {}, { to: ['B <b@x.test>', 'c@x.test'] }, ['b@x.test', 'c@x.test'], []],
    ['an empty to counts as none', {}, { to: [] }, ['ada@elsewhere.test'], []],
    [
      'all, but for oneself',
      { to: ['Hello@mine.test', 'hello+news@mine.test', 'b@x.test'], cc: ['second@mine.test', 'c@x.test', 'B@x.test'] },
      { reply_all: true },
      ['ada@elsewhere.test'],
      ['b@x.test', 'c@x.test'],
    ],
    ['replyAll is the same', { cc: ['c@x.test'] }, { replyAll: true }, ['ada@elsewhere.test'], ['c@x.test']],
    ['not all unless asked', { cc: ['c@x.test'] }, { reply_all: false }, ['ada@elsewhere.test'], []],
    [
      'cc given, beside all, each once',
      { cc: ['c@x.test', 'd@x.test'] },
      { reply_all: true, cc: ['C@x.test', 'e@x.test'] },
      ['ada@elsewhere.test'],
      ['C@x.test', 'e@x.test', 'd@x.test'],
    ],
  ];

  beforeAll(async () => {
    await gateway.mailbox({ domain: 'mine.test', workspaceId: box.workspaceId, address: 'second@mine.test' });
  });

  test.each(cases)('are %s', async (_what, addresses, body, to, cc) => {
    const response = await reply(await mail({}, addresses), body);
    expect(response.statusCode, response.body).toBe(200);
    expect(await read(response.json().id)).toMatchObject({ to, cc });
  });

  test("are the recipients of the user's own message", async () => {
    const sent = await mail({ type: 'sent' }, { from: box.address, to: ['b@x.test', 'c@x.test'] });
    expect(await read((await reply(sent)).json().id)).toMatchObject({ to: ['b@x.test', 'c@x.test'] });
  });

  test('do not include the address by which a catch-all received the original', async () => {
    const original = await mail(
      { ownAddress: 'any@mine.test' },
      { to: ['any@mine.test', 'b@x.test'], cc: ['any+tag@mine.test'] },
    );
    const response = await reply(original, { reply_all: true });
    expect(await read(response.json().id)).toMatchObject({ to: ['ada@elsewhere.test'], cc: ['b@x.test'] });
  });

  test('must include another address', async () => {
    const original = await mail({}, { from: box.address, to: [box.address, 'second@mine.test'] });
    const before = await countEmails();
    const response = await reply(original);
    expect([response.statusCode, response.json().details]).toMatchObject([400, [{ field: 'to' }]]);
    expect(await countEmails()).toBe(before);
  });

  test('may be 50 in Cc beside the sender, and one more is refused', async () => {
    const cc = Array.from({ length: 50 }, (_, n) => `c${n}@x.test`);
    const sent = await reply(await mail({}, { cc }), { reply_all: true });
    expect([sent.statusCode, (await read(sent.json().id)).recipients.length]).toEqual([200, 51]);
    const response = await reply(await mail({}, { cc: [...cc, 'c50@x.test'] }), { reply_all: true });
    expect([response.statusCode, response.json().error]).toEqual([
      400,
      'Too many addresses in cc: at most 50 are allowed',
    ]);
  });
});

describe('with a key that cannot read', () => {
  let key: string;
  beforeAll(async () => {
    key = (await insertKey(gateway.owner, box, { scopes: ['send'] })).secret;
  });
  const people: Fields = { cc: ['carol@x.test'], replyTo: 'Desk@List.test' };
  const replyWith = async (given: string, body: object, id?: string) => {
    const original = id ?? (await mail({ subject: 'Top secret', messageId: '<secret@elsewhere.test>' }, people));
    const response = await gateway.call(given, 'POST', `/emails/${original}/reply`, {
      from: box.address,
      text: 'An answer',
      ...body,
    });
    return { status: response.statusCode, body: response.json() };
  };

  test.each([
    ['whom the original asks for', {}],
    ['everybody of the original', { reply_all: true }],
    [
      'the sender and those in Cc by name',
      { to: 'Ada <ADA@elsewhere.test>', cc: 'carol@x.test', bcc: 'desk@list.test' },
    ],
  ])('sends a reply to %s', async (_what, body) => {
    expect(await replyWith(key, body)).toMatchObject({ status: 200, body: { status: 'sent' } });
  });

  test.each([
    ['to', { to: 'eve@x.test' }],
    ['cc', { cc: ['carol@x.test', 'eve@x.test'] }],
    ['bcc', { bcc: 'eve@x.test' }],
    ['to, even with its own subject', { to: 'eve@x.test', subject: 'Mine' }],
  ])('gets 403 for another address, without a word about the original: in %s', async (_field, body) => {
    const before = await countEmails();
    const message =
      'A reply to an address that is not a participant of the original email needs the scope read. This API key has send only.';
    expect(await replyWith(key, body)).toEqual({
      status: 403,
      body: {
        error: 'Forbidden',
        message,
        statusCode: 403,
        name: 'restricted_api_key',
        code: 'insufficient_scope',
        requiredScope: 'read',
        scopes: ['send'],
      },
    });
    // The original of this try is the one new email.
    expect(await countEmails()).toBe(before + 1);
    expect((await replyWith(box.apiKey, body)).status).toBe(200);
  });

  test('has the same limits for a thread and in the graph', async () => {
    const { threadId: id } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 2,
      lastMessageAt: new Date(),
    });
    expect(await replyWith(key, { to: 'eve@x.test' }, id)).toMatchObject({ status: 403 });
    const original = await mail({}, people);
    const document = `mutation ($to: [String!]) { replyToEmail(input: { id: "${original}", from: "${box.address}", text: "x", to: $to }) {
      __typename ... on ReplyToEmailPayload { email { id } } ... on Error { message } } }`;
    const ask = async (to: string[] | null) => {
      const payload = { query: document, variables: { to } };
      const headers = { authorization: `Bearer ${key}` };
      return (await gateway.app.inject({ method: 'POST', url: '/graphql', headers, payload })).json();
    };
    expect(JSON.stringify(await ask(['eve@x.test']))).toContain('needs the scope read');
    expect(await ask(null)).toMatchObject({ data: { replyToEmail: { email: { id: expect.stringMatching(/^em_/) } } } });
  });

  test('is not shown a suppressed recipient of the original', async () => {
    await gateway.actor.pool.query(
      `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_s', 'shy@x.test', 'bounce', now())`,
      [box.workspaceId],
    );
    const original = await mail({}, { from: 'shy@x.test' });
    const refused = await replyWith(key, {}, original);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).not.toContain('shy@x.test');
    expect(JSON.stringify((await replyWith(box.apiKey, {}, original)).body)).toContain('shy@x.test');
  });
});

describe('a reply to a thread', () => {
  test('goes to its latest message, sent or received, and never to a scheduled one', async () => {
    const { threadId, emailIds } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 3,
      lastMessageAt: new Date(Date.now() - 60_000),
      ownAddress: box.address,
    });
    const first = await reply(threadId, { to: 'b@x.test' });
    expect(first.json()).toMatchObject({
      replied_to_email_id: emailIds[2],
      replied_to_thread_id: threadId,
      is_thread_reply: true,
    });
    const sent = await mail({ type: 'sent', threadId }, { from: box.address, to: ['b@x.test'] });
    await mail({ type: 'scheduled', threadId, createdAt: new Date(Date.now() + 60_000) });
    const second = await reply(threadId);
    expect(second.json()).toMatchObject({ replied_to_email_id: sent, is_thread_reply: true });
    expect(await read(second.json().id)).toMatchObject({ to: ['b@x.test'] });
    expect(await readLinks(second.json().id)).toMatchObject({ inReplyTo: [`<${sent}@elsewhere.test>`] });
  });

  test('that was merged into another goes to that other', async () => {
    const { threadId, emailIds } = await insertThread(gateway.actor, {
      workspaceId: box.workspaceId,
      count: 1,
      lastMessageAt: new Date(),
      ownAddress: box.address,
    });
    await gateway.actor.pool.query('insert into thread_alias (workspace_id, alias_id, thread_id) values ($1, $2, $3)', [
      box.workspaceId,
      'th_merged',
      threadId,
    ]);
    const response = await reply('th_merged', { to: 'b@x.test' });
    expect(response.json()).toMatchObject({
      replied_to_email_id: emailIds[0],
      replied_to_thread_id: threadId,
      is_thread_reply: true,
    });
  });
});

describe('the content of a reply', () => {
  test('has every field of an email', async () => {
    const original = await mail({ subject: 'Re: Hello', text: 'Hello', html: null });
    const response = await reply(original, {
      from_name: 'Ann "A", Smith',
      subject: 'Another one',
      text: 'Text',
      html: '<p>Text</p>',
      bcc: 'b@x.test',
      reply_to: 'r@x.test',
      headers: { 'X-A': 'b' },
      tags: [{ name: 'a', value: 'b' }],
      attachments: [{ filename: 'a.txt', content: Buffer.from('abc').toString('base64') }],
      include_original: false,
      includeOriginal: true,
      simple: true,
    });
    expect(response.statusCode, response.body).toBe(200);
    const { id } = response.json();
    expect(await read(id)).toMatchObject({
      from: `"Ann \\"A\\", Smith" <${box.address}>`,
      subject: 'Another one',
      text: 'Text',
      html: '<p>Text</p>',
      bcc: ['b@x.test'],
      reply_to: ['r@x.test'],
      headers: { 'x-a': 'b' },
      tags: [{ name: 'a', value: 'b' }],
      attachments: [{ filename: 'a.txt', size: 3 }],
    });
    expect((await gateway.call(box.apiKey, 'GET', `/attachments/${id}/a.txt`)).body).toBe('abc');
  });

  test.each([
    ['Re: Hello', 'Re: Hello'],
    ['AW: Hallo', 'Re: Hallo'],
    ['Fwd: Hello', 'Re: Fwd: Hello'],
    ['', 'Re:'],
  ])('has the subject %j for %j', async (subject, expected) => {
    const response = await reply(await mail({ subject }));
    expect(await read(response.json().id)).toMatchObject({ subject: expected });
  });

  test('may be scheduled', async () => {
    const original = await mail({ threadId: 'th_later' });
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const response = await reply(original, { scheduled_at: at });
    const { id } = response.json();
    expect([response.statusCode, response.json()]).toEqual([
      201,
      {
        id,
        message_id: expect.any(String),
        messageId: response.json().message_id,
        status: 'scheduled',
        scheduled_at: at,
        timezone: 'UTC',
        provider_message_id: id,
        aws_message_id: id,
        awsMessageId: id,
        replied_to_email_id: original,
        replied_to_thread_id: 'th_later',
        is_thread_reply: false,
      },
    ]);
    expect(await read(id)).toMatchObject({ type: 'scheduled', thread_id: null });
  });
});

describe('a reply is refused', () => {
  const cases: [what: string, body: object, status: number, field: string, error: RegExp][] = [
    ['without from', { from: undefined }, 400, 'from', /^Missing required fields: from is required$/],
    ['without text', { text: '' }, 400, 'html', /^Either html or text content must be provided$/],
    ['from a strange domain', { from: 'a@strange.test' }, 403, 'from', /^You don't have permission/],
    ['to what is no address', { to: 'x' }, 400, 'to', /^Invalid email format: x$/],
    ['with its own In-Reply-To', { headers: { 'In-Reply-To': '<a@b>' } }, 400, 'headers', /cannot be set/],
    ['with its own References', { headers: { references: '<a@b>' } }, 400, 'headers', /cannot be set/],
    ['with a name of two lines', { from_name: 'Ann\r\nBcc: e@evil.test' }, 400, 'from_name', /name of the sender/],
    ['with the name of another', { from_name: 'ceo@bank.test' }, 400, 'from_name', /name of the sender/],
    ['with a subject of two lines', { subject: 'a\nb' }, 400, 'subject', /one line/],
    ['with a path as text', { text: { path: '/etc/passwd' } }, 400, 'text', /Bad Request/],
    ['with reply_all as text', { reply_all: 'yes' }, 400, 'reply_all', /Bad Request/],
  ];

  test.each(cases)('with %s', async (_what, body, status, field, error) => {
    const original = await mail();
    const before = await countEmails();
    const response = await reply(original, body);
    expect([response.statusCode, response.json().error], response.body).toEqual([status, expect.stringMatching(error)]);
    expect(response.json().details.map((detail: { field: string }) => detail.field)).toContain(field);
    expect(await countEmails()).toBe(before);
  });

  test('to a suppressed address that the original gave', async () => {
    await gateway.actor.pool.query(
      `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_a', 'gone@x.test', 'bounce', now())`,
      [box.workspaceId],
    );
    const response = await reply(await mail({}, { from: 'gone@x.test' }));
    expect([response.statusCode, response.json().error]).toEqual([
      400,
      'Cannot send to blocked recipient(s): gone@x.test',
    ]);
  });

  test('to mail that was not sent yet', async () => {
    const response = await reply(await mail({ type: 'scheduled' }));
    expect([response.statusCode, response.json().error]).toEqual([
      400,
      'Cannot reply to an email that has not been sent',
    ]);
  });

  test.each(['em_00000000000070008000000000000000', 'nonsense', "';--", '%00'])(
    'to %s, which does not exist',
    async (id) => {
      const response = await reply(encodeURIComponent(id));
      expect([response.statusCode, response.json().error]).toEqual([404, 'Email or thread not found']);
    },
  );

  test('from a removed domain, although its mail remains', async () => {
    const gone = await gateway.mailbox({ domain: 'gone.test', workspaceId: box.workspaceId });
    const original = await mail({ ownAddress: gone.address });
    await gateway.actor.pool.query(`delete from domain where name = 'gone.test'`);
    expect((await reply(original, { from: gone.address })).statusCode).toBe(403);
  });
});
