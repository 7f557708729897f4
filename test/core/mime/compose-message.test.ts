import { describe, expect, test } from 'vitest';
import type { Mailbox } from '../../../core/mime/address.ts';
import { decodeAttachment } from '../../../core/mime/attachment.ts';
import { composeMessage, type Draft } from '../../../core/mime/compose-message.ts';
import { readHeaderSection, unfold } from '../../../core/mime/header-fields.ts';
import { readParts } from '../../../core/mime/message-parts.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import type { OutgoingAttachment } from '../../../core/sending/outgoing-attachments.ts';

const mailbox = (address: string, name: string | null = null): Mailbox => ({ name, address });
const draft = (over: Partial<Draft> = {}): Draft => ({
  messageId: '<em_1@own.test>',
  date: new Date('2026-11-20T20:05:06Z'),
  from: mailbox('ann@own.test'),
  to: [mailbox('bob@x.test')],
  cc: [],
  replyTo: [],
  subject: 'Lunch',
  text: 'Hello\n',
  html: null,
  inReplyTo: null,
  references: [],
  fields: [],
  attachments: [],
  ...over,
});
const file = (over: Partial<OutgoingAttachment> = {}): OutgoingAttachment => ({
  filename: 'a.bin',
  content: Buffer.from('abc'),
  contentType: 'application/octet-stream',
  contentId: null,
  ...over,
});
const compose = (over: Partial<Draft> = {}) => composeMessage(draft(over));

/** What every message must be, whatever it was made of. */
function expectClean(bytes: Buffer): void {
  const text = bytes.toString('latin1');
  expect(text.endsWith('\r\n')).toBe(true);
  expect(text.replaceAll('\r\n', '')).toMatch(/^[\t\x20-\x7f\x01-\x08\x0b\x0c\x0e-\x1f]*$/);
  expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
  const [head = ''] = text.split('\r\n\r\n');
  for (const line of head.split('\r\n')) expect(line).toMatch(/^(?:[!-9;-~]+:|[ \t].*\S)/);
}

/** Names of the fields of the message's own header section, in lower case. */
const listFields = (bytes: Buffer) => readHeaderSection(bytes).fields.map((field) => field.name);
const OWN_FIELDS = [
  'from',
  'to',
  'subject',
  'message-id',
  'date',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
];

test('composes a plain message', async () => {
  expect((await compose({ fields: [['X-A', 'b']] })).toString()).toBe(
    [
      'From: ann@own.test',
      'To: bob@x.test',
      'Message-ID: <em_1@own.test>',
      'Date: Fri, 20 Nov 2026 20:05:06 +0000',
      'Subject: Lunch',
      'X-A: b',
      'Content-Transfer-Encoding: 7bit',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      '',
      'Hello',
      '',
    ].join('\r\n'),
  );
});

test('the same draft gives the same bytes, another id other boundaries', async () => {
  const rich = {
    html: '<p>Hello</p>',
    attachments: [file({ contentId: '<a@own.test>' }), file({ filename: 'b.bin' })],
  };
  const [one, two, other] = [
    await compose(rich),
    await compose(rich),
    await compose({ ...rich, messageId: '<em_2@own.test>' }),
  ];
  expect(one.equals(two)).toBe(true);
  const boundaries = (bytes: Buffer) => [...bytes.toString().matchAll(/boundary="([^"]+)"/g)].map((match) => match[1]);
  expect(boundaries(one)).toHaveLength(3);
  expect(new Set([...boundaries(one), ...boundaries(other)]).size).toBe(6);
});

test('parsing returns everything that was composed', async () => {
  const bytes = await compose({
    from: mailbox('ann@own.test', 'Änn "A" Doe, 田中'),
    to: [mailbox('bob@x.test', 'Doe, Bob'), mailbox('c@xn--bcher-kva.test')],
    cc: [mailbox('dan@x.test', 'Dan')],
    replyTo: [mailbox('help@own.test', 'Help'), mailbox('ann@own.test')],
    subject: 'Grüße aus  München 🎉 "quoted"',
    text: 'Zeile 1\nZeile 2: äöü 🎉\n.\nFrom here\n',
    html: '<p>äöü</p><img src="cid:logo@own.test">',
    inReplyTo: '<b@x.test>',
    references: ['<a@x.test>', '<b@x.test>'],
    fields: [
      ['X-Json', '{"a": "b"}'],
      ['X-Wide', 'Grüße'],
      ['List-Id', '"My list" <list.own.test>'],
    ],
    attachments: [
      file({
        filename: 'naïve "résumé" 🎉 (1).pdf',
        contentType: 'application/pdf',
        content: Buffer.from([0, 10, 13, 255]),
      }),
      file({ filename: 'logo.png', contentType: 'image/png', contentId: '<logo@own.test>' }),
      file({
        filename: 'invite.ics',
        contentType: 'text/calendar; method=REQUEST; charset=utf-8',
        content: Buffer.from('BEGIN:VCALENDAR\n'),
      }),
      file({ filename: 'empty.txt', contentType: 'text/plain', content: Buffer.alloc(0) }),
    ],
  });
  expectClean(bytes);
  const message = await parseMessage(bytes);
  expect(message.messageId).toBe('<em_1@own.test>');
  expect(message.date).toEqual(new Date('2026-11-20T20:05:06Z'));
  expect(message.addresses.from?.addresses).toEqual([mailbox('ann@own.test', 'Änn "A" Doe, 田中')]);
  expect(message.addresses.to?.addresses).toEqual([mailbox('bob@x.test', 'Doe, Bob'), mailbox('c@xn--bcher-kva.test')]);
  expect(message.addresses.cc?.addresses).toEqual([mailbox('dan@x.test', 'Dan')]);
  expect(message.addresses.replyTo?.addresses).toEqual([mailbox('help@own.test', 'Help'), mailbox('ann@own.test')]);
  expect(message.subject).toBe('Grüße aus  München 🎉 "quoted"');
  expect(message.textBody).toBe('Zeile 1\nZeile 2: äöü 🎉\n.\nFrom here\n');
  expect(message.htmlBody?.trimEnd()).toBe('<p>äöü</p><img src="cid:logo@own.test">');
  expect(message.inReplyTo).toEqual(['<b@x.test>']);
  expect(message.references).toEqual(['<a@x.test>', '<b@x.test>']);
  const headers = Object.fromEntries(message.headers);
  expect(headers).toMatchObject({ 'x-json': '{"a": "b"}', 'x-wide': 'Grüße', 'list-id': '"My list" <list.own.test>' });
  // The image stands within the HTML's multipart/related, so it comes first.
  expect(
    message.attachments.map(({ filename, contentType, contentId, contentDisposition, size }) => [
      filename,
      contentType,
      contentId,
      contentDisposition,
      size,
    ]),
  ).toEqual([
    ['logo.png', 'image/png', '<logo@own.test>', 'inline', 3],
    ['naïve "résumé" 🎉 (1).pdf', 'application/pdf', null, 'attachment', 4],
    ['invite.ics', 'text/calendar', null, 'attachment', 16],
    ['empty.txt', 'text/plain', null, 'attachment', 0],
  ]);
  expect(bytes.toString()).toContain('Content-Type: text/calendar; method=REQUEST; charset=utf-8');
  const [, pdf] = message.attachments;
  const encoded = bytes.subarray(pdf?.start, (pdf?.start ?? 0) + (pdf?.length ?? 0));
  expect([...decodeAttachment(encoded, 'base64')]).toEqual([0, 10, 13, 255]);
});

describe('the structure of a message', () => {
  const inline = file({ filename: 'l.png', contentType: 'image/png', contentId: '<l>' });
  test.each([
    ['text', {}, ['text/plain']],
    ['HTML', { text: null, html: '<p>a</p>' }, ['text/html']],
    ['both', { html: '<p>a</p>' }, ['text/plain', 'text/html']],
    ['text and a file', { attachments: [file()] }, ['text/plain', 'application/octet-stream']],
    [
      'both and a file',
      { html: '<p>a</p>', attachments: [file()] },
      ['text/plain', 'text/html', 'application/octet-stream'],
    ],
    ['HTML with an image', { text: null, html: '<p>a</p>', attachments: [inline] }, ['text/html', 'image/png']],
    ['text with an image', { attachments: [inline] }, ['text/plain', 'image/png']],
    ['a file alone', { text: null, attachments: [file()] }, ['application/octet-stream']],
    ['nothing', { text: null }, ['text/plain']],
    ['empty text and HTML', { text: '', html: '' }, ['text/plain']],
  ])('follows from %s', async (_, over, types) => {
    const bytes = await compose(over);
    expectClean(bytes.subarray(0, bytes.length));
    expect((await readParts(bytes)).leaves.map((leaf) => leaf.contentType)).toEqual(types);
  });
});

test('Bcc never appears in a message, and nothing is loaded from files or URLs', async () => {
  const smuggled = {
    ...draft(),
    bcc: [mailbox('secret@x.test')],
    text: { path: '/etc/passwd' },
    html: null,
  } as unknown as Draft;
  await expect(composeMessage(smuggled)).rejects.toThrow();
  const bytes = await composeMessage({ ...draft(), bcc: [mailbox('secret@x.test')] } as Draft);
  expect(bytes.toString()).not.toMatch(/bcc|secret/i);
});

describe('an attached message', () => {
  const attach = (content: string, contentType = 'message/rfc822') =>
    compose({ attachments: [file({ filename: 'm.eml', contentType, content: Buffer.from(content, 'latin1') })] });

  test('with valid lines stays a message', async () => {
    const bytes = await attach('Subject: a\nFrom: a@x.test\n\nHello\n');
    expectClean(bytes);
    expect(bytes.toString()).toContain('Subject: a\r\nFrom: a@x.test\r\n\r\nHello\r\n');
    expect((await parseMessage(bytes)).attachments[0]).toMatchObject({
      contentType: 'message/rfc822',
      filename: 'm.eml',
    });
  });

  test.each([
    ['bytes beyond ASCII', 'Subject: \xfc\n\n'],
    ['a long line', `Subject: a\n\n${'x'.repeat(999)}\n`],
    ['a carriage return alone', 'Subject: a\n\na\rb\n'],
    ['NUL', 'Subject: a\n\n\0\n'],
  ])('with %s is attached as bytes', async (_, content) => {
    const bytes = await attach(content);
    expectClean(bytes);
    const [attached] = (await parseMessage(bytes)).attachments;
    expect(attached).toMatchObject({
      contentType: 'application/octet-stream',
      filename: 'm.eml',
      size: content.length,
    });
  });

  test.each([
    'message/external-body; access-type=URL; URL="http://x.test/"',
    'message/partial; id=a; number=1',
    'message/delivery-status',
  ])('of the type %s is attached as bytes', async (contentType) => {
    expect((await parseMessage(await attach('a: b\n\n', contentType))).attachments[0]?.contentType).toBe(
      'application/octet-stream',
    );
  });
});

describe('lines are short and end in CRLF, whatever the body', () => {
  test.each([
    ['LF', 'a\nb\n'],
    ['CR', 'a\rb\r'],
    ['CRLF', 'a\r\nb\r\n'],
    ['a mix of them', 'a\r\r\n\nb\n\r'],
    ['the end of data of SMTP', 'a\r\n.\r\nMAIL FROM:<b@x.test>\r\n'],
    ['... with LF', 'a\n.\nMAIL FROM:<b@x.test>\n'],
    ['... with CR', 'a\r.\rMAIL FROM:<b@x.test>\r'],
    ['... between both', 'a\n.\r\nMAIL\r\n.\nb'],
    ['leading dots', '..a\n.b\n'],
    ['no line end', 'a'],
    ['nothing but line ends', '\n\n\n'],
    ['a long line', 'x'.repeat(100_000)],
    ['a long line of words', 'word '.repeat(20_000)],
    ['a long line beyond ASCII', 'ü'.repeat(50_000)],
    ['a long line of emoji', '🎉'.repeat(20_000)],
    ['NUL', 'a\0b'],
    ['control characters', 'a\u0001\u001b[31m\u007fb'],
    ['Unicode line ends', 'a\u2028b\u2029c\u0085d'],
    ['half a character', 'a\ud800b'],
    ['a boundary of ours', `--=_-${'0'.repeat(32)}-Part_1\r\nContent-Type: text/html\r\n\r\n`],
    ['a header section', 'Bcc: evil@e.test\r\n\r\n'],
    ['spaces at line ends', 'a  \nb\t\n'],
  ])('%s', async (_, body) => {
    const expected = body
      .toWellFormed()
      .replaceAll('\0', '\ufffd')
      .replace(/\r\n|\r|\n/g, '\n');
    for (const over of [
      { text: body },
      { text: null, html: body },
      { text: body, html: body, attachments: [file()] },
    ]) {
      const bytes = await compose(over);
      expectClean(bytes);
      const { textBody, htmlBody } = await parseMessage(bytes);
      expect((textBody ?? htmlBody ?? '').trimEnd()).toBe(expected.trimEnd());
    }
  });
});

describe('has exactly the intended header fields', () => {
  const hostile = [
    'a\r\nBcc: evil@e.test',
    'a\nBcc: evil@e.test',
    'a\rBcc: evil@e.test',
    'a\r\n\r\nbody',
    'a\n\nbody',
    'a\0b',
    'a\u0085Bcc: evil@e.test',
    'a\u2028Bcc: evil@e.test',
    'a\u2029Bcc: evil@e.test',
    'a\u000bBcc: evil@e.test',
    'a\u000cb',
    'a\r\n\tb',
    '=?utf-8?Q?a=0D=0ABcc:_evil=40e.test?=',
    '=?utf-8?B?DQpCY2M6IGV2aWxAZS50ZXN0?=',
    '=?utf-8?Q?never ends',
    '"',
    '"a" <evil@e.test>, b',
    'a\\',
    '(a',
    '<evil@e.test>',
    'evil@e.test,evil2@e.test',
    'group: evil@e.test;',
    '\ud800',
    'x'.repeat(998),
    'ü'.repeat(998),
    '🎉'.repeat(499),
    `${' '.repeat(300)}a${' '.repeat(300)}b`,
    `${'\t'.repeat(100)}a`,
    'constructor',
    '__proto__',
  ];

  test.each(hostile)('with the subject %j', async (subject) => {
    const bytes = await compose({ subject });
    expectClean(bytes);
    expect(listFields(bytes).toSorted()).toEqual(OWN_FIELDS.toSorted());
    const message = await parseMessage(bytes);
    expect(message.textBody).toBe('Hello\n');
    expect(message.subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
  });

  test.each([
    ['a\r\nBcc: evil@e.test', 'a Bcc: evil@e.test'],
    [' a\tb ', 'a b'],
    ['=?utf-8?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'],
    ['=?utf-8?B?R3LDvA==?= =?utf-8?Q?=C3=9Fe?=', 'Grüße'],
    ['=?utf-8?Q?a=0D=0ABcc:_evil=40e.test?=', '=?utf-8?Q?a=0D=0ABcc:_evil=40e.test?='],
    ['see =?utf-8?Q?b?= there', 'see =?utf-8?Q?b?= there'],
    ['"quoted" \\ words', '"quoted" \\ words'],
  ])('the subject %j is parsed as %j', async (subject, read) => {
    expect((await parseMessage(await compose({ subject }))).subject).toBe(read);
  });

  test.each(hostile)('with the name %j', async (name) => {
    const bytes = await compose({
      from: mailbox('ann@own.test', name),
      to: [mailbox('bob@x.test', name), mailbox('c@x.test', name)],
    });
    expectClean(bytes);
    expect(listFields(bytes).toSorted()).toEqual(OWN_FIELDS.toSorted());
    const { addresses } = await parseMessage(bytes);
    expect(addresses.from?.addresses.map((one) => one.address)).toEqual(['ann@own.test']);
    expect(addresses.to?.addresses.map((one) => one.address)).toEqual(['bob@x.test', 'c@x.test']);
  });

  test.each(hostile)('with the field value %j', async (value) => {
    const bytes = await compose({ fields: [['X-A', value]] });
    expectClean(bytes);
    expect(
      listFields(bytes)
        .filter((name) => name !== 'x-a')
        .toSorted(),
    ).toEqual(OWN_FIELDS.toSorted());
  });

  test.each(hostile)('with the file name %j', async (filename) => {
    const bytes = await compose({ attachments: [file({ filename })] });
    expectClean(bytes);
    expect(listFields(bytes).toSorted()).toEqual(
      OWN_FIELDS.filter((name) => name !== 'content-transfer-encoding').toSorted(),
    );
    const { leaves } = await readParts(bytes);
    expect(leaves.map((leaf) => leaf.contentType)).toEqual(['text/plain', 'application/octet-stream']);
  });

  test('of 50 recipients with long names', async () => {
    const to = Array.from({ length: 50 }, (_, index) => mailbox(`${'a'.repeat(60)}${index}@x.test`, 'Ünï '.repeat(50)));
    const bytes = await compose({ to, cc: to });
    expectClean(bytes);
    expect((await parseMessage(bytes)).addresses.to?.addresses).toHaveLength(50);
  });

  test('of 100 long ids', async () => {
    const references = Array.from({ length: 100 }, (_, index) => `<${'x'.repeat(950)}${index}@x.test>`);
    const bytes = await compose({ references, inReplyTo: `<${'y'.repeat(993)}@x>` });
    expectClean(bytes);
    expect((await parseMessage(bytes)).references).toEqual(references);
  });

  test('of 50 custom fields with names and values of the maximum length', async () => {
    const fields = Array.from({ length: 50 }, (_, index) => [`X-${index}-`.padEnd(126, 'n'), 'v'.repeat(997)] as const);
    const bytes = await compose({ fields });
    expectClean(bytes);
    const values = readHeaderSection(bytes).fields.filter((field) => field.name.startsWith('x-'));
    expect(values.map((field) => unfold(field.raw))).toEqual(fields.map(([, value]) => value));
  });
});

test('composes 10 MiB', async () => {
  const content = Buffer.alloc(10 * 1_024 * 1_024, 'x');
  const bytes = await compose({ attachments: [file({ content })] });
  expect((await parseMessage(bytes)).attachments[0]?.size).toBe(content.length);
});

test('an unchecked draft with an invalid field is rejected', async () => {
  await expect(compose({ from: mailbox('ä@own.test') })).rejects.toThrow('non-ASCII');
  await expect(compose({ messageId: `<${'x'.repeat(1_000)}@own.test>` })).rejects.toThrow('too long');
});
