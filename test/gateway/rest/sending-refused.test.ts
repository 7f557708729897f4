import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { MESSAGE_COLUMNS, readStoredMessage } from '../../support/rows/stored-message.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let box: TestMailbox;
let other: TestMailbox;
let pending: TestMailbox;
let counted: unknown;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox({ domain: 'mine.test' });
  other = await gateway.mailbox({ domain: 'theirs.test' });
  await gateway.mailbox({ domain: 'deep.high.test', workspaceId: box.workspaceId });
  pending = await gateway.mailbox({ domain: 'pending.test', workspaceId: box.workspaceId, domainStatus: 'pending' });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  counted = await countRows();
});

const post = (body: unknown) => gateway.call(box.apiKey, 'POST', '/emails', body);
const email = (more: object = {}) => ({
  from: box.address,
  to: 'ada@elsewhere.test',
  subject: 'Hi',
  text: 'Hello',
  ...more,
});
const base64 = (content: string) => Buffer.from(content).toString('base64');
const many = (count: number, name = 'a') => Array.from({ length: count }, (_, n) => `${name}${n}@x.test`);

/** Rows that sending writes, of all users. */
async function countRows(): Promise<unknown> {
  const tables = ['email', 'email_content', 'email_search', 'raw_message', 'recipient', 'event', 'idempotency_key'];
  const counts = tables.map((table) => `(select count(*) from ${table}) as ${table}`);
  return (await gateway.actor.pool.query(`select ${counts.join(', ')}`)).rows[0];
}

/** The response names the field, says why in `error` and `message`, and nothing was stored. */
async function expectRefused(body: unknown, field: string, error: string | RegExp, status = 400): Promise<void> {
  const response = await post(body);
  const result = response.json();
  expect([response.statusCode, result.statusCode], response.body).toEqual([status, status]);
  if (typeof error === 'string') expect(result.error).toBe(error);
  else expect(result.error).toMatch(error);
  expect(typeof result.message).toBe('string');
  expect(result.details.map((detail: { field: string }) => detail.field)).toContain(field);
  expect(await countRows()).toEqual(counted);
}

const MISSING = 'Missing required fields: from, to, and subject are required';
const EMPTY = 'Either html or text content must be provided';
const SHAPE = 'Bad Request';

type Case = [what: string, more: object, field: string, error: string | RegExp];

const cases: Case[] = [
  ['no from', { from: undefined }, 'from', MISSING],
  ['an empty from', { from: '' }, 'from', MISSING],
  ['a null from', { from: null }, 'from', MISSING],
  ['no to', { to: undefined }, 'to', MISSING],
  ['no subject', { subject: undefined }, 'subject', MISSING],
  ['an empty subject', { subject: '' }, 'subject', MISSING],
  ['neither text nor html', { text: undefined }, 'html', EMPTY],
  ['empty bodies', { text: '', html: '' }, 'html', EMPTY],
  ['an empty list of recipients', { to: [] }, 'to', 'At least one recipient is required in to, cc or bcc'],
  ['from as a number', { from: 5 }, 'from', SHAPE],
  ['from as a list', { from: [] }, 'from', SHAPE],
  ['to as an object', { to: { address: 'a@x.test' } }, 'to', SHAPE],
  ['subject as a list', { subject: ['x'] }, 'subject', SHAPE],
  ['text as a path', { text: { path: '/etc/passwd' } }, 'text', SHAPE],
  ['html as an address', { html: { href: 'http://127.0.0.1/' } }, 'html', SHAPE],
  ['text as a raw object', { text: { raw: 'x' } }, 'text', SHAPE],
  ['headers as a list', { headers: ['X-A: b'] }, 'headers', SHAPE],
  ['a header as a prepared object', { headers: { 'X-A': { prepared: true, value: 'x\r\ny' } } }, 'headers.X-A', SHAPE],
  ['a header as a list', { headers: { 'X-A': ['b'] } }, 'headers.X-A', SHAPE],
  ['attachments as an object', { attachments: {} }, 'attachments', SHAPE],
  [
    'an attachment without content',
    { attachments: [{ filename: 'a' }] },
    'attachments.0.content',
    'An attachment needs `content`: the file, base64-encoded.',
  ],
  ['content as a path', { attachments: [{ content: { path: '/etc/passwd' } }] }, 'attachments.0.content', SHAPE],
  [
    'an attachment by path',
    { attachments: [{ filename: 'a', content: '', path: 'http://127.0.0.1/a' }] },
    'attachments.0.path',
    'Postroom does not fetch attachments from a path or URL. Send the file base64-encoded in `content`.',
  ],
  [
    'an attachment by path alone',
    { attachments: [{ filename: 'a.pdf', path: 'https://files.test/a.pdf' }] },
    'attachments.0.path',
    'Postroom does not fetch attachments from a path or URL. Send the file base64-encoded in `content`.',
  ],
  ['tags as text', { tags: 'a' }, 'tags', SHAPE],
  ['a tag without value', { tags: [{ name: 'a' }] }, 'tags.0.value', SHAPE],
  ['scheduled_at as a number', { scheduled_at: 5 }, 'scheduled_at', SHAPE],
  ['two senders', { from: 'a@mine.test, b@mine.test' }, 'from', /^Invalid email format: /],
  [
    'words behind the address of the sender',
    { from: 'Hook <hook@mine.test> extra' },
    'from',
    'Invalid email format: Hook <hook@mine.test> extra',
  ],
  ['quoted words behind it', { from: 'Hook <hook@mine.test> "extra"' }, 'from', /^Invalid email format/],
  ['words behind a recipient', { to: 'Ada <ada@x.test> extra, b@x.test' }, 'to', /^Invalid email format/],
  ['a sender without domain', { from: 'hello' }, 'from', 'Invalid email format: hello'],
  ['a name that shows a strange address', { from: '"ceo@bank.test" <hello@mine.test>' }, 'from', /^Invalid email/],
  ['a recipient that is none', { to: 'nobody' }, 'to', 'Invalid email format: nobody'],
  ['one wrong among right ones', { to: ['a@x.test', 'b@'] }, 'to', 'Invalid email format: b@'],
  ['a group', { to: 'friends: a@x.test;' }, 'to', /^Invalid email format/],
  ['a source route', { to: '<@relay.test:a@x.test>' }, 'to', /^Invalid email format/],
  ['a quoted local-part', { to: '"a@b"@x.test' }, 'to', /^Invalid email format/],
  ['a wrong cc', { cc: ['x y'] }, 'cc', /^Invalid email format/],
  ['a wrong bcc', { bcc: '@' }, 'bcc', /^Invalid email format/],
  ['a wrong reply_to', { reply_to: 'x' }, 'reply_to', /^Invalid email format/],
  ['a wrong replyTo', { replyTo: 'x' }, 'reply_to', /^Invalid email format/],
  ['51 in to', { to: many(51) }, 'to', 'Too many addresses in to: at most 50 are allowed'],
  ['51 in cc', { cc: many(51) }, 'cc', 'Too many addresses in cc: at most 50 are allowed'],
  ['51 in bcc', { bcc: many(51).join(', ') }, 'bcc', 'Too many addresses in bcc: at most 50 are allowed'],
  ['11 in reply_to', { reply_to: many(11) }, 'reply_to', 'Too many addresses in reply_to: at most 10 are allowed'],
  ['a subject of 999', { subject: 'a'.repeat(999) }, 'subject', 'Subject cannot be longer than 998 characters'],
  [
    '51 header fields',
    { headers: Object.fromEntries(many(51).map((_, n) => [`X-${n}`, 'a'])) },
    'headers',
    /at most|more than 50/,
  ],
  ['a header of 999', { headers: { 'X-A': 'a b '.repeat(250) } }, 'headers', 'Invalid value for header: X-A'],
  ['a header twice', { headers: { 'X-A': '1', 'x-a': '2' } }, 'headers', 'Header is given twice: x-a'],
  ['an empty header name', { headers: { '': 'x' } }, 'headers', 'Invalid header name: ""'],
  ['a header name with a colon', { headers: { 'X:Y': 'x' } }, 'headers', 'Invalid header name: "X:Y"'],
  ['21 tags', { tags: Array(21).fill({ name: 'a', value: 'b' }) }, 'tags', 'Tags cannot be more than 20'],
  ['a tag name of 65', { tags: [{ name: 'a'.repeat(65), value: 'b' }] }, 'tags.0.name', /1 to 64/],
  ['an empty tag name', { tags: [{ name: '', value: 'b' }] }, 'tags.0.name', /1 to 64/],
  ['a tag value of 257', { tags: [{ name: 'a', value: 'b'.repeat(257) }] }, 'tags.0.value', /at most 256/],
  ['21 attachments', { attachments: Array(21).fill({ content: 'YQ==' }) }, 'attachments', /more than 20/],
  [
    'wrong base64',
    {
      attachments: [
        { filename: 'ok', content: 'YQ==' },
        { filename: 'bad.txt', content: 'no base64!' },
      ],
    },
    'attachments.1',
    'Attachment bad.txt is not valid base64',
  ],
  ['a cut base64', { attachments: [{ filename: 'a.txt', content: 'YWJ=j' }] }, 'attachments.0', /not valid base64/],
  [
    'a data: address without base64',
    { attachments: [{ filename: 'a.txt', content: 'data:text/plain,hello' }] },
    'attachments.0',
    /not valid base64/,
  ],
  [
    'a multipart as attachment',
    { attachments: [{ filename: 'a', content: 'YQ==', content_type: 'multipart/mixed' }] },
    'attachments.0',
    /invalid content type/,
  ],
  [
    'one content_id twice',
    {
      attachments: [
        { content: 'YQ==', content_id: 'a' },
        { content: 'YQ==', contentId: '<a>' },
      ],
    },
    'attachments.1',
    /content_id of another/,
  ],
  ['a text of 10 MiB and one', { text: 'a'.repeat(10 * 1_024 * 1_024 + 1) }, 'text', /cannot be larger than 10485760/],
];

const crowds: Case[] = [
  ['a crowd in to', { to: many(201) }, 'to', / cannot have more than 200 entries$/],
  [
    'a crowd of header fields',
    { headers: Object.fromEntries(many(201).map((name) => [name, 1])) },
    'headers',
    / cannot have more than 200 entries$/,
  ],
  ['a crowd of tags', { tags: Array(201).fill({}) }, 'tags', / cannot have more than 200 entries$/],
  ['a crowd of attachments', { attachments: Array(201).fill(1) }, 'attachments', / cannot have more than 200 entries$/],
];

test.each(crowds)('%s is refused as a whole', async (_what, more, field, error) => {
  await expectRefused(email(more), field, error);
  expect((await post(email(more))).json().details).toHaveLength(1);
});

test('the first of many errors are returned', async () => {
  const response = await post(email({ tags: Array(200).fill({}) }));
  expect([response.statusCode, response.json().details.length]).toEqual([400, 20]);
});

test('a body above 40 MB is 413', async () => {
  const response = await post(email({ text: 'a'.repeat(40_000_000) }));
  expect([response.statusCode, response.json().name]).toEqual([413, 'validation_error']);
  expect(await countRows()).toEqual(counted);
});

test.each(cases)('%s is refused', async (_what, more, field, error) => {
  await expectRefused(email(more), field, error);
});

const OURS = `From Sender To Cc Bcc Reply-To Subject Date Message-ID DKIM-Signature Received Return-Path MIME-Version Content-Type
  Content-Transfer-Encoding Resent-From ARC-Seal bcc`;

test.each(OURS.split(/\s+/).map((name) => [name]))('a custom %s is refused', async (name) => {
  await expectRefused(
    email({ headers: { [name]: 'x@x.test' } }),
    'headers',
    new RegExp(`^Header cannot be set: ${name}`),
  );
});

test('all missing fields are named', async () => {
  const response = await post({});
  expect(response.json()).toMatchObject({
    error: MISSING,
    message: MISSING,
    statusCode: 400,
    name: 'missing_required_field',
  });
  expect(response.json().details.map((detail: { field: string }) => detail.field)).toEqual(['from', 'to', 'subject']);
});

test.each([
  ['no body', undefined, 400],
  ['a list', [], 400],
  ['a text', 'x', 400],
  ['null', null, 400],
])('%s instead of an email is refused', async (_what, body, status) => {
  expect((await post(body)).statusCode).toBe(status);
  expect(await countRows()).toEqual(counted);
});

describe('line ends and control characters', () => {
  const characters: [name: string, character: string][] = [
    ['CR', '\r'],
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['NUL', '\0'],
    ['U+2028', '\u2028'],
    ['U+0085', '\u0085'],
    ['DEL', '\x7f'],
    ['half a character', '\ud83d'],
  ];

  const fields: [what: string, field: string, more: (evil: string) => object][] = [
    ['from', 'from', (evil) => ({ from: `hello@mine.test${evil}Bcc: e@evil.test` })],
    ['the name in from', 'from', (evil) => ({ from: `Ann${evil}Bcc: e@evil.test <hello@mine.test>` })],
    ['to', 'to', (evil) => ({ to: `c@x.test${evil}Bcc: e@evil.test` })],
    ['to in a list', 'to', (evil) => ({ to: ['a@x.test', `"A${evil}" <c@x.test>`] })],
    ['cc', 'cc', (evil) => ({ cc: `c@x.test${evil}` })],
    ['bcc', 'bcc', (evil) => ({ bcc: [`${evil}c@x.test`] })],
    ['reply_to', 'reply_to', (evil) => ({ reply_to: `c@x${evil}.test` })],
    ['the subject', 'subject', (evil) => ({ subject: `Hi${evil}Bcc: e@evil.test` })],
    ['the name of a header', 'headers', (evil) => ({ headers: { [`X-A${evil}Bcc`]: 'x' } })],
    ['a header', 'headers', (evil) => ({ headers: { 'X-A': `x${evil}Bcc: e@evil.test` } })],
    ['In-Reply-To', 'headers', (evil) => ({ headers: { 'In-Reply-To': `<a@x.test>${evil}Bcc: e@evil.test` } })],
    ['the name of a tag', 'tags.0.name', (evil) => ({ tags: [{ name: `a${evil}`, value: 'b' }] })],
    ['a tag', 'tags.0.value', (evil) => ({ tags: [{ name: 'a', value: `b${evil}` }] })],
    ['a file name', 'attachments.0', (evil) => ({ attachments: [{ content: 'YQ==', filename: `a${evil}X: y.txt` }] })],
    [
      'a type',
      'attachments.0',
      (evil) => ({ attachments: [{ content: 'YQ==', content_type: `text/plain${evil}X: y` }] }),
    ],
    ['a content_id', 'attachments.0', (evil) => ({ attachments: [{ content: 'YQ==', content_id: `a${evil}` }] })],
    ['scheduled_at', 'scheduled_at', (evil) => ({ scheduled_at: `tomorrow at${evil}9am` })],
    ['timezone', 'timezone', (evil) => ({ scheduled_at: 'tomorrow at 9am', timezone: `UTC${evil}` })],
  ];
  const table = fields.flatMap(([what, field, more]) =>
    characters.map(([name, character]) => [name, what, field, more(character)] as const),
  );

  test.each(table)('%s in %s is refused', async (_name, _what, field, more) => {
    await expectRefused(email(more), field, /./);
  });

  test.each(characters)('are encoded for %s in the bodies, in lines that end in CRLF', async (_name, character) => {
    const text = `a${character}.${character}.${character}b${'x'.repeat(2_000)}`;
    const response = await post(email({ text, html: text }));
    expect(response.statusCode, response.body).toBe(200);
    const { rows } = await gateway.actor.pool.query(
      `select ${MESSAGE_COLUMNS} from raw_message m join email e on e.raw_id = m.id where e.id = $1`,
      [response.json().id],
    );
    const bytes = readStoredMessage(rows[0]).toString('latin1');
    expect(bytes).not.toMatch(/[^\t\r\n\x20-\x7e]/);
    expect(bytes.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(Math.max(...bytes.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
    expect((await gateway.call(box.apiKey, 'GET', `/emails/${response.json().id}`)).statusCode).toBe(200);
  });
});

describe('names of JavaScript', () => {
  test('are ordinary data', async () => {
    const body = JSON.stringify(email({ tags: [{ name: '__proto__', value: 'constructor' }] })).replace(
      '{',
      '{"__proto__":{"polluted":1},"headers":{"constructor":"a","toString":"b","__proto__":"c"},',
    );
    const response = await gateway.app.inject({
      method: 'POST',
      url: '/api/e2/emails',
      headers: { authorization: `Bearer ${box.apiKey}`, 'content-type': 'application/json' },
      payload: body,
    });
    expect(response.statusCode, response.body).toBe(200);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    const shown = (await gateway.call(box.apiKey, 'GET', `/emails/${response.json().id}`)).json();
    expect(shown.headers).toMatchObject({ constructor: 'a', tostring: 'b' });
    expect(shown.tags).toEqual([{ name: '__proto__', value: 'constructor' }]);
  });
});

describe('the sender must be a verified address of the user:', () => {
  const refused: [what: string, from: () => string, domain: string][] = [
    ['another user’s domain', () => other.address, 'theirs.test'],
    ['an unknown domain', () => 'a@unknown.test', 'unknown.test'],
    ['a domain under an own one', () => 'a@sub.mine.test', 'sub.mine.test'],
    ['the domain above an own one', () => 'a@high.test', 'high.test'],
    ['a domain that is like an own one', () => 'a@mıne.test', 'xn--mne-jua.test'],
  ];

  test.each(refused)('%s is 403', async (_what, from, domain) => {
    const text = `You don't have permission to send from domain: ${domain}. Add it and verify it first.`;
    await expectRefused(email({ from: from() }), 'from', text, 403);
  });

  test('an unverified domain of the user is 403', async () => {
    await expectRefused(email({ from: pending.address }), 'from', /pending\.test\. It is not verified yet/, 403);
  });

  test('letter case does not matter, and the address need not be registered', async () => {
    expect((await post(email({ from: 'Any.One@MINE.test' }))).statusCode).toBe(200);
  });
});

describe('suppressed recipients', () => {
  beforeAll(async () => {
    for (const [workspaceId, address] of [
      [box.workspaceId, 'gone@x.test'],
      [box.workspaceId, 'angry@x.test'],
      [other.workspaceId, 'fine@x.test'],
    ])
      await gateway.actor.pool.query(
        `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, $2, $2, 'bounce', now())`,
        [workspaceId, address],
      );
  });

  test.each<Case>([
    ['to', { to: ['ok@x.test', 'Gone@X.test'] }, 'to', 'Cannot send to blocked recipient(s): Gone@x.test'],
    ['cc', { cc: 'gone@x.test' }, 'cc', 'Cannot send to blocked recipient(s): gone@x.test'],
    [
      'several',
      { bcc: ['angry@x.test', 'gone@x.test', 'Angry <angry@x.test>'] },
      'bcc',
      'Cannot send to blocked recipient(s): angry@x.test, gone@x.test',
    ],
  ])('in %s are refused and named', async (_what, more, field, error) => {
    await expectRefused(email(more), field, error);
  });

  test('of another user are not refused', async () => {
    expect((await post(email({ to: 'fine@x.test' }))).statusCode).toBe(200);
  });
});

test.each<[string, object]>([
  ['50 recipients', { to: many(50) }],
  ['50 recipients in all', { to: many(20), cc: many(20, 'b'), bcc: many(10, 'c') }],
  ['one recipient often', { to: Array(50).fill('a@x.test'), cc: 'a@x.test', bcc: 'a@x.test' }],
  ['only blind copies', { to: [], bcc: 'b@x.test' }],
  ['a subject of 998', { subject: 'a'.repeat(998) }],
  ['a subject of 998 beyond ASCII', { subject: 'ü'.repeat(998) }],
  ['50 header fields', { headers: Object.fromEntries(many(50).map((_, n) => [`X-${n}`, 'a'])) }],
  ['20 tags', { tags: Array(20).fill({ name: 'a'.repeat(64), value: 'b'.repeat(256) }) }],
  ['20 attachments', { attachments: Array(20).fill({ filename: 'a', content: base64('a') }) }],
  ['a zone without a schedule', { timezone: 'Europe/Berlin' }],
])('%s are sent', async (_what, more) => {
  const response = await post(email(more));
  expect(response.statusCode, response.body).toBe(200);
});
