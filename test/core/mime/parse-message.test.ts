import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decodeAttachment } from '../../../core/mime/attachment.ts';
import { type ParsedMessage, parseMessage, scanHeaders } from '../../../core/mime/parse-message.ts';

const HEAD = 'From: Joe <joe@x.test>\r\nTo: Ann <ann@y.test>\r\nSubject: Hello\r\nMessage-ID: <1@x.test>\r\n';
const parse = (text: string) => parseMessage(Buffer.from(text, 'latin1'));
const parsed = (headers: string, body: string) => parse(`${HEAD}${headers}\r\n${body}`);

function multipart(kind: string, parts: string[], boundary = 'b'): string {
  const inner = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('');
  return `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\n${inner}--${boundary}--\r\n`;
}

const readBytes = (raw: Buffer, message: ParsedMessage, at: number) => {
  const attachment = message.attachments[at];
  if (attachment === undefined) throw new Error('no such attachment');
  const { start, length, transferEncoding } = attachment;
  return Buffer.from(decodeAttachment(raw.subarray(start, start + length), transferEncoding));
};

test('parses a plain message', async () => {
  const message = await parse(
    `${HEAD}Date: Tue, 1 Apr 2025 09:06:31 +0000\r\nIn-Reply-To: <0@y.test>\r\nReferences: <a@y.test>\r\n <0@y.test>\r\n\r\nHello Ann,\r\nbye.\r\n`,
  );
  expect(message).toEqual({
    messageId: '<1@x.test>',
    inReplyTo: ['<0@y.test>'],
    references: ['<a@y.test>', '<0@y.test>'],
    subject: 'Hello',
    date: new Date('2025-04-01T09:06:31Z'),
    addresses: {
      from: { text: 'Joe <joe@x.test>', addresses: [{ name: 'Joe', address: 'joe@x.test' }] },
      to: { text: 'Ann <ann@y.test>', addresses: [{ name: 'Ann', address: 'ann@y.test' }] },
      cc: null,
      bcc: null,
      replyTo: null,
    },
    textBody: 'Hello Ann,\nbye.\n',
    htmlBody: null,
    cleanedText: 'Hello Ann,\nbye.',
    removedParts: [],
    cleanedHtml: null,
    preview: 'Hello Ann, bye.',
    headers: [
      ['from', 'Joe <joe@x.test>'],
      ['to', 'Ann <ann@y.test>'],
      ['subject', 'Hello'],
      ['message-id', '<1@x.test>'],
      ['date', 'Tue, 1 Apr 2025 09:06:31 +0000'],
      ['in-reply-to', '<0@y.test>'],
      ['references', '<a@y.test> <0@y.test>'],
    ],
    priority: null,
    attachments: [],
    hasAttachments: false,
    isTruncated: false,
    hasSeveralFromFields: false,
    hasUnsignedContent: false,
    holdsReport: false,
    injection: { verdict: 'clear', findings: [] },
    parseError: null,
  } satisfies ParsedMessage);
});

describe('bodies', () => {
  test('are the text and the HTML of an alternative, and the preview is of the text', async () => {
    const html = '<p>Hi <b>Ann</b></p><script>x</script>';
    const message = await parse(
      HEAD +
        multipart('alternative', ['Content-Type: text/plain\r\n\r\nHi Ann', `Content-Type: text/html\r\n\r\n${html}`]),
    );
    expect(message).toMatchObject({
      textBody: 'Hi Ann',
      htmlBody: html,
      cleanedHtml: '<p>Hi <b>Ann</b></p>',
      preview: 'Hi Ann',
    });
    expect(message.attachments).toEqual([]);
  });

  test("say which parts are not the author's text", async () => {
    const text = 'Yes.\r\n\r\nOn Mon, 1 Jan 2026, Ann wrote:\r\n> When?\r\n';
    const message = await parsed('Content-Type: text/plain\r\n', text);
    expect(message).toMatchObject({ cleanedText: 'Yes.', removedParts: [{ kind: 'quote', start: 6, end: 45 }] });
    expect(message.textBody?.slice(6, 45)).toBe('On Mon, 1 Jan 2026, Ann wrote:\n> When?\n');
    const html = await parsed('Content-Type: text/html\r\n', '<p>Yes.</p><blockquote type="cite">When?</blockquote>');
    expect(html).toMatchObject({ cleanedText: null, removedParts: [{ kind: 'quote', start: 35, end: 40 }] });
  });

  test('give a preview without padding and quoted text', async () => {
    const utf8 = (body: string) => Buffer.from(body).toString('latin1');
    const padding = '&#847; &zwnj;&nbsp;&#8199;&shy;&#65279;&#8203;'.repeat(150);
    const html = `<div>50% off</div><div>${padding}</div><p>Hello \u{1f469}\u200d\u{1f4bb}, co\u00adme\u200b in: می\u200cخواهم</p>`;
    const newsletter = await parsed('Content-Type: text/html; charset=utf-8\r\n', utf8(html));
    expect(newsletter.preview).toBe('50% off Hello \u{1f469}\u200d\u{1f4bb}, come in: می\u200cخواهم');
    const spaces = '\u200c \u00a0\u2007'.repeat(900);
    const text = await parsed('Content-Type: text/plain; charset=utf-8\r\n', utf8(`${spaces}Hello\r\n\r\nAnn`));
    expect(text.preview).toBe('Hello Ann');
    const reply =
      '<p>Yes.</p><div class="gmail_attr">On Mon Ann wrote:</div><blockquote class="gmail_quote">Old</blockquote>';
    expect((await parsed('Content-Type: text/html\r\n', reply)).preview).toBe('Yes.');
  });

  test('of HTML only give a preview, and no text', async () => {
    const message = await parsed('Content-Type: text/html\r\n', '<style>p{}</style><p>a &lt; b</p><p>c</p>');
    expect(message).toMatchObject({ textBody: null, cleanedText: null, preview: 'a < b c' });
  });

  test('are joined, and a footer beside HTML is part of the HTML', async () => {
    const alternative = multipart('alternative', ['\r\nHi', 'Content-Type: text/html\r\n\r\n<p>Hi</p>'], 'inner');
    const message = await parse(HEAD + multipart('mixed', [alternative, '\r\nList <footer>']));
    expect(message.textBody).toBe('Hi\nList <footer>');
    expect(message.htmlBody).toBe('<p>Hi</p>\n<pre>List &lt;footer&gt;</pre>');
  });

  test.each([
    ['Begin forwarded message:', 'Parcel', true],
    ['---------- Forwarded message ---------', 'Parcel', true],
    ['-------- Weitergeleitete Nachricht --------', 'Paket', true],
    ['---------- Forwarded message ---------', 'Re: Parcel', false],
    ['-----Original Message-----', 'Parcel', false],
    ['> Begin forwarded message:', 'Parcel', false],
  ])('keep the message below "%s" with the subject %s: %s', async (title, subject, isKept) => {
    const fields = 'From: Otto <otto@x.test>\r\nSubject: Parcel\r\nDate: 2 November 2026 at 10:00\r\nTo: ann@x.test';
    const text = `Please handle this.\r\n\r\n${title}\r\n\r\n${fields}\r\n\r\nThe parcel is broken.\r\n`;
    const { cleanedText } = await parse(`${HEAD.replace('Hello', subject)}\r\n${text}`);
    expect(cleanedText?.includes('The parcel is broken.')).toBe(isKept);
    expect(cleanedText).toContain('Please handle this.');
  });

  test('are stripped of quotations, but not in a forwarded message', async () => {
    const body = 'Look.\r\n\r\nOn Mon, 1 Jan 2026, Ann <ann@y.test> wrote:\r\n> old\r\n';
    expect((await parsed('', body)).cleanedText).toBe('Look.');
    const forwarded = await parse(`${HEAD.replace('Hello', 'Fwd: Hello')}\r\n${body}`);
    expect(forwarded.cleanedText).toContain('> old');
  });

  test.each([
    ['quoted-printable', 'iso-8859-1', 'J=FCrgen=\r\n!', 'Jürgen!'],
    ['base64', 'utf-8', 'SsO8cmdlbg==', 'Jürgen'],
    ['8bit', 'windows-1252', '\x93J\xfcrgen\x94', '“Jürgen”'],
    ['8bit', 'bogus', 'a\0b', 'a\ufffdb'],
  ])('in %s and %s are decoded', async (encoding, charset, body, text) => {
    const headers = `Content-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: ${encoding}\r\n`;
    expect((await parsed(headers, body)).textBody).toBe(text);
  });

  test.each([
    ['', 'one \r\ntwo\r\nthree\r\n', 'one two\nthree\n'],
    ['; delsp=yes', 'one \r\ntwo\r\n', 'onetwo\n'],
    ['', '> one \r\n> two\r\nown\r\n', '> one two\nown\n'],
    ['', 'text \r\n-- \r\nJoe\r\n', 'text \n-- \nJoe\n'],
  ])('that are flowed%s are joined: %j', async (option, body, text) => {
    expect((await parsed(`Content-Type: text/plain; format=flowed${option}\r\n`, body)).textBody).toBe(text);
  });

  test('include the status of a DSN', async () => {
    const status = 'Content-Type: message/delivery-status\r\n\r\nFinal-Recipient: rfc822; a@x.test\r\nAction: failed';
    const message = await parse(
      HEAD +
        multipart('report', ['\r\nNot delivered', status, 'Content-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\ny']),
    );
    expect(message.textBody).toContain('Action: failed');
    expect(message.holdsReport).toBe(true);
    expect(message.attachments.map(({ filename }) => filename)).toEqual(['message-1.eml']);
  });

  test('are empty for an empty message', async () => {
    expect(await parse('Subject: a\r\n\r\n')).toMatchObject({ textBody: '', preview: '', subject: 'a' });
    expect(await parse('Subject: a')).toMatchObject({ subject: 'a', parseError: null });
    expect(await parse('')).toMatchObject({ subject: '', messageId: null, date: null, parseError: null });
    expect(await parse('\r\n\r\n')).toMatchObject({ parseError: null });
  });
});

describe('attachments', () => {
  test('are named parts, parts marked as attachments, and parts that are not text; their bytes are at the given offset', async () => {
    const pixel = Buffer.from('89504e470d0a1a0a0001fffe', 'hex');
    const raw = Buffer.from(
      HEAD +
        multipart('mixed', [
          '\r\nText',
          'Content-Type: text/plain; name=a.txt\r\n\r\nNamed text',
          'Content-Disposition: attachment\r\n\r\nMeant',
          `Content-Type: image/png\r\nContent-ID: <p@x.test>\r\nContent-Disposition: inline\r\nContent-Transfer-Encoding: base64\r\n\r\n${pixel.toString('base64')}\r\n`,
          'Content-Type: application/pdf; name="=?utf-8?Q?=C3=BC.pdf?="\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na=3Db=\r\nc',
          "Content-Type: application/x; name*0*=utf-8''%C3%BC; name*1=.bin\r\n\r\n",
        ]),
      'latin1',
    );
    const message = await parseMessage(raw);
    expect(message.textBody).toBe('Text');
    expect(
      message.attachments.map((each) => [
        each.index,
        each.filename,
        each.contentType,
        each.size,
        each.contentId,
        each.contentDisposition,
      ]),
    ).toEqual([
      [0, 'a.txt', 'text/plain', 10, null, null],
      [1, expect.stringMatching(/^attachment-2\./), expect.any(String), 5, null, 'attachment'],
      [2, 'attachment-3.png', 'image/png', pixel.length, '<p@x.test>', 'inline'],
      [3, 'ü.pdf', 'application/pdf', 4, null, null],
      [4, 'ü.bin', 'application/x', 0, null, null],
    ]);
    expect(readBytes(raw, message, 0).toString()).toBe('Named text');
    expect(readBytes(raw, message, 1).toString()).toBe('Meant');
    expect(readBytes(raw, message, 2)).toEqual(pixel);
    expect(readBytes(raw, message, 3).toString()).toBe('a=bc');
    expect(readBytes(raw, message, 4)).toHaveLength(0);
  });

  test.each(['\n', '\r\n'])('are cut out of large messages to the byte, lines ended by %j', async (lineEnd) => {
    const contents = [1, 63_000, 64_000, 65_536, 200_001].map((size, n) => Buffer.alloc(size, `part ${n} \0\xff`));
    const parts = contents.map(
      (content) =>
        `Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n${content.toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n`,
    );
    const raw = Buffer.from((HEAD + multipart('mixed', ['\r\nHi\r\n\r\n', ...parts])).replaceAll('\r\n', lineEnd));
    const message = await parseMessage(raw);
    const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    expect(message.attachments.map((_, at) => sha256(readBytes(raw, message, at)))).toEqual(contents.map(sha256));
    expect(message.attachments.map(({ size }) => size)).toEqual(contents.map(({ length }) => length));
  });

  test('include whole messages, whose own attachments are not listed', async () => {
    const inner = `Subject: inner\r\n${multipart('mixed', ['Content-Type: image/png; name=x.png\r\n\r\nx'], 'in')}`;
    const raw = Buffer.from(
      HEAD +
        multipart('mixed', ['\r\nSee', `Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\n${inner}`]),
    );
    const message = await parseMessage(raw);
    expect(message.attachments.map(({ filename }) => filename)).toEqual(['message-1.eml']);
    expect(readBytes(raw, message, 0).toString()).toContain('Subject: inner');
    expect(message.subject).toBe('Hello');
  });

  test('a name on the only part leaves it readable', async () => {
    const message = await parsed('Content-Type: text/plain; name=note.txt\r\n', 'Read me');
    expect([message.textBody, message.attachments.length]).toEqual(['Read me', 1]);
  });

  test('after an unclosed multipart are found', async () => {
    const open =
      'Content-Type: multipart/alternative; boundary=in\r\n\r\n--in\r\n\r\nText\r\n--in\r\nContent-Type: text/html\r\n\r\n<p>a</p>';
    const raw = Buffer.from(
      HEAD +
        multipart('mixed', [open, 'Content-Type: image/png\r\n\r\nfirst', 'Content-Type: image/png\r\n\r\nsecond']),
    );
    const message = await parseMessage(raw);
    expect([message.textBody, message.htmlBody]).toEqual(['Text', '<p>a</p>']);
    expect(message.attachments.map((_, at) => readBytes(raw, message, at).toString())).toEqual(['first', 'second']);
  });

  test.each([
    '--b\r\n--b\r\n',
    '--b\r\nContent-Type: text/html\r\n',
    '--b\r\n\r\n',
    '--b\r\n\r\n\r\n',
    '--b\r\nX: 1\r\n\r\n',
  ])('are at the given offset after the broken part %j', async (broken) => {
    for (const lineEnd of ['\r\n', '\n']) {
      const raw = Buffer.from(
        `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n${broken}--b\r\nContent-Type: a/b\r\n\r\nfirst\r\n--b\r\nContent-Type: a/b\r\n\r\nsecond`.replaceAll(
          '\r\n',
          lineEnd,
        ),
      );
      const message = await parseMessage(raw);
      expect(message.attachments.map((_, at) => readBytes(raw, message, at).toString())).toEqual(['first', 'second']);
    }
  });

  test('of one endless line with a final carriage return are complete', async () => {
    const content = `${'a'.repeat(200_000)}\r`;
    const raw = Buffer.from(`${HEAD}Content-Type: application/x\r\n\r\n${content}`);
    expect(readBytes(raw, await parseMessage(raw), 0).toString()).toBe(content);
  });

  test('in a digest are messages', async () => {
    const message = await parse(HEAD + multipart('digest', ['\r\nSubject: a\r\n\r\nb', '\r\nSubject: c\r\n\r\nd']));
    expect(message.attachments.map(({ contentType }) => contentType)).toEqual(['message/rfc822', 'message/rfc822']);
  });
});

test('flags two From fields and shows the first', async () => {
  const message = await parse('From: a@x.test\r\nFrom: b@x.test\r\nReply-To: c@x.test\r\n\r\n');
  expect(message.hasSeveralFromFields).toBe(true);
  expect(message.addresses.from?.addresses).toEqual([{ name: null, address: 'a@x.test' }]);
});

test('names of Object.prototype members are ordinary data', async () => {
  const message = await parse(
    '__proto__: polluted\r\nconstructor: a\r\nContent-Type: text/plain; __proto__=x; constructor=y; charset="__proto__"\r\n\r\nok',
  );
  expect(message.headers.slice(0, 2)).toEqual([
    ['__proto__', 'polluted'],
    ['constructor', 'a'],
  ]);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect(message.textBody).toBe('ok');
});

const many = (unit: string, count: number) => unit.repeat(count);
const series = (count: number, make: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n)).join('');

describe('hostile input takes at most a few seconds, keeps the guaranteed fields, and gives storable text:', () => {
  test.each<[string, string, (message: ParsedMessage) => void]>([
    [
      '60,000 encoded words',
      `Subject: ${many('=?utf-8?Q?a?= ', 60_000)}\r\n\r\nx`,
      (message) => expect(message.subject).toHaveLength(60_000),
    ],
    [
      '50,000 addressees',
      `To: ${many('u@y.test, ', 50_000)}\r\n\r\nx`,
      (message) => {
        expect(message.addresses.to?.addresses).toHaveLength(1_000);
        expect(message.isTruncated).toBe(true);
      },
    ],
    [
      '50,000 References',
      `References: ${series(50_000, (n) => `<${n}@x.test> `)}\r\n\r\nx`,
      (message) => expect(message.references).toHaveLength(1_000),
    ],
    [
      '50,000 continued parameters',
      `Content-Type: application/x;${series(50_000, (n) => ` name*${n}=a;\r\n`)}\r\n\r\nx`,
      (message) => expect(message.attachments[0]?.filename).toHaveLength(200),
    ],
    [
      '1,500 fields',
      `${many('X: 1\r\n', 1_500)}\r\nx`,
      (message) => {
        expect(message.headers).toHaveLength(1_000);
        expect(message.isTruncated).toBe(true);
      },
    ],
    ['50,000 fields', `${many('X: 1\r\n', 50_000)}\r\nx`, (message) => expect(message.textBody).toBe('x')],
    [
      'one field of a megabyte',
      `X: ${many('a', 1_000_000)}\r\n\r\nx`,
      (message) => expect(message.headers[0]?.[1]).toHaveLength(1_000_000),
    ],
    ['50,000 folds', `X: a${many('\r\n b', 50_000)}\r\n\r\nx`, (message) => expect(message.headers).toHaveLength(1)],
    [
      '50,000 parts',
      multipart('mixed', ['\r\nx', ...Array.from({ length: 50_000 }, () => 'Content-Type: a/b\r\n\r\nx')]),
      (message) => {
        expect(message.attachments).toHaveLength(1_000);
        expect(message.isTruncated).toBe(true);
        expect(message.textBody).toBe('x');
      },
    ],
    [
      '20,000 nested multiparts',
      series(20_000, (n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`),
      (message) => expect(message.attachments).toHaveLength(1),
    ],
    [
      '1,000 nested multiparts',
      series(1_000, (n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`),
      (message) => expect(message.attachments[0]?.contentType).toBe('multipart/mixed'),
    ],
    [
      '2,000 nested messages',
      `${many('Content-Type: message/rfc822\r\n\r\n', 2_000)}x`,
      (message) => expect(message.attachments).toHaveLength(1),
    ],
    [
      'a million nested divs',
      `Content-Type: text/html\r\n\r\n${many('<div>', 1_000_000)}`,
      (message) => {
        expect(message.cleanedHtml).toBeNull();
        expect(message.htmlBody).toHaveLength(5_000_000);
      },
    ],
    ['5 MB in one line', `\r\n${many('a', 5_000_000)}`, (message) => expect(message.textBody).toHaveLength(5_000_000)],
    ['2 MB of carriage returns', `\r\n${many('\r', 2_000_000)}`, (message) => expect(message.parseError).toBeNull()],
    ['2 MB of NUL', `\r\n${many('\0', 2_000_000)}`, (message) => expect(message.textBody).not.toContain('\0')],
    [
      '2 MB of flowed lines',
      `Content-Type: text/plain; format=flowed\r\n\r\n${many('a \r\n', 500_000)}`,
      (message) => expect(message.parseError).toBeNull(),
    ],
    [
      'UTF-7',
      `Content-Type: text/plain; charset=utf-7\r\n\r\n${many('+2AA-', 100_000)}`,
      (message) => expect(message.textBody?.isWellFormed()).toBe(true),
    ],
    [
      'lone surrogates',
      `Content-Type: text/plain; charset=utf-16le\r\n\r\n${many('\x00\xd8', 1_000)}`,
      (message) => expect(message.textBody?.isWellFormed()).toBe(true),
    ],
    [
      'brackets in every field',
      ['From', 'To', 'Date', 'References', 'Content-ID', 'Content-Type', 'Content-Transfer-Encoding']
        .map((name) => `${name}: ${many('(<"', 30_000)}\r\n`)
        .join(''),
      (message) => expect(message.references).toEqual([]),
    ],
  ])('%s', async (_, text, check) => {
    const before = process.cpuUsage();
    const message = await parse(text);
    const { user, system } = process.cpuUsage(before);
    // Each takes less than a second.
    expect((user + system) / 1e6).toBeLessThan(5);
    check(message);
    const json = JSON.stringify(message);
    expect(json).not.toMatch(/\\u0000|\\ud[89a-f]/);
  });
});

test('the header scan returns sender, recipients and subject, whatever else the message contains', () => {
  const words = many('=?utf-8?Q?a?= ', 60_000);
  const message = scanHeaders(Buffer.from(`X: ${words}\r\n${HEAD}\r\n${many('\0', 1_000)}`), 'hung');
  expect(message).toMatchObject({ subject: '', parseError: 'hung' });
  const short = scanHeaders(Buffer.from(`${HEAD}X: ${words}\r\n\r\nbody`), 'hung\0');
  expect(short).toMatchObject({
    subject: 'Hello',
    messageId: '<1@x.test>',
    addresses: { from: { addresses: [{ name: 'Joe', address: 'joe@x.test' }] } },
    textBody: null,
    attachments: [],
    isTruncated: true,
    parseError: 'hung\ufffd',
  });
  expect(scanHeaders(new Uint8Array(), 'gone')).toMatchObject({ subject: '', parseError: 'gone' });
});
