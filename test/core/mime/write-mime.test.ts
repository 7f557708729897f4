import MailComposer from 'nodemailer/lib/mail-composer';
import { expect, test } from 'vitest';
import { decodeAttachment } from '../../../core/mime/attachment.ts';
import { composeMessage, type Draft, listComposedAttachments, writeMime } from '../../../core/mime/compose-message.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import type { OutgoingAttachment } from '../../../core/sending/outgoing-attachments.ts';

const draft = (more: Partial<Draft>): Draft => ({
  messageId: '<0123456789abcdef@box.test>',
  date: new Date(0),
  from: { name: null, address: 'ann@box.test' },
  to: [{ name: null, address: 'ada@elsewhere.test' }],
  cc: [],
  replyTo: [],
  subject: 'files',
  text: 'text',
  html: null,
  inReplyTo: null,
  references: [],
  fields: [],
  attachments: [],
  ...more,
});
const file = (filename: string, content: string | Buffer, more: Partial<OutgoingAttachment> = {}) => ({
  filename,
  content: Buffer.from(content),
  contentType: 'application/octet-stream',
  contentId: null,
  ...more,
});
const picture = (id: string) => file(`${id}.png`, id, { contentType: 'image/png', contentId: `<${id}@x>` });
const message = (text: string) => file('m.eml', text, { contentType: 'message/rfc822' });

const cases: [what: string, draft: Partial<Draft>][] = [
  ['one', { attachments: [file('a.bin', 'a')] }],
  ['an empty one', { attachments: [file('a.bin', ''), file('b.bin', 'b')] }],
  ['an empty one at the end', { attachments: [file('a.bin', 'a'), file('b.bin', '')] }],
  ['large ones', { attachments: [file('a.bin', Buffer.alloc(200_000, 1)), file('b.bin', Buffer.alloc(57, 2))] }],
  ['twins', { attachments: [file('a.bin', 'one'), file('a.bin', 'two')] }],
  ['names of every kind', { attachments: [file('Größe 1 "x".pdf', 'a'), file(`${'ü'.repeat(150)}.txt`, 'b')] }],
  [
    'parameters of types',
    { attachments: [file('a.csv', 'a', { contentType: 'Text/CSV; charset=utf-8; header=present' })] },
  ],
  ['beside text and HTML', { html: '<p>x', attachments: [file('a.bin', 'a')] }],
  ['within HTML', { html: '<img src="cid:i@x">', attachments: [picture('i'), picture('j')] }],
  ['within HTML alone', { text: null, html: '<img src="cid:i@x">', attachments: [picture('i')] }],
  [
    'within HTML and beside it, mixed',
    { html: '<p>x', attachments: [file('a.bin', 'a'), picture('i'), file('b.bin', 'b'), picture('j')] },
  ],
  ['named but not shown', { attachments: [picture('i'), file('a.bin', 'a')] }],
  ['messages', { attachments: [message('Subject: x\n\nbody\n'), message('Subject: ü\n\n'), message('')] }],
  [
    'a message that is parted',
    { attachments: [message('Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b--\r\n')] },
  ],
  ['delimiters in the text', { text: '--=_-b-Part_1\n--=_\n', attachments: [file('a.txt', '--=_-b-Part_1')] }],
];

test.each(cases)('attachments are found where a parser finds them: %s', async (_what, more) => {
  const whole = draft(more);
  const bytes = await composeMessage(whole);
  const listed = listComposedAttachments(bytes, whole);
  const { attachments } = await parseMessage(bytes);
  // A reader takes the line end before the delimiter for an empty part's own.
  expect(listed).toEqual(attachments.map((each) => (each.size === 0 ? { ...each, length: 0 } : each)));
  const contents = listed.map(({ start, length, transferEncoding }) =>
    Buffer.from(decodeAttachment(bytes.subarray(start, start + length), transferEncoding)).toString('latin1'),
  );
  const given = whole.attachments.map(({ content, contentType }) => {
    const text = Buffer.from(content).toString('latin1');
    return contentType === 'message/rfc822' && !/[\x80-\xff]/.test(text) ? text.replace(/\r?\n/g, '\r\n') : text;
  });
  expect(contents.toSorted()).toEqual(given.toSorted());
});

test('throws for attachments of another draft', async () => {
  const bytes = await composeMessage(draft({ attachments: [file('a.bin', 'a')] }));
  expect(() => listComposedAttachments(bytes, draft({ attachments: [picture('i')] }))).toThrow(/does not have/);
  expect(() => listComposedAttachments(bytes, draft({ attachments: [file('a', 'a'), file('b', 'b')] }))).toThrow(
    /is missing/,
  );
});

const words = (count: number, word: string) => Array.from({ length: count }, () => word).join(' ');
const binary = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 31) % 256));

const texts = {
  absent: undefined,
  plain: 'Hello,\r\nbye.\r\n',
  'without an end of line': 'Hello',
  'in long lines': words(80, 'long'),
  'in long lines of words without end': 'x'.repeat(3_000),
  'with umlauts': `Grüße\r\n${words(60, 'größer')}\r\n`,
  'mostly beyond ASCII': '日本語の文章です。\r\n'.repeat(40),
  'with spaces at line ends': `a \r\n${words(40, 'b')} \r\n \r\n`,
  'that begins with dots and dashes': '..\r\n--\r\n.\r\n',
};
const htmls = { absent: undefined, plain: '<p>Hello</p>', 'in one long line': `<p>${words(400, 'größer')}</p>` };
const attachments = {
  none: [],
  one: [{ filename: 'a.bin', content: binary }],
  'inline, text and a message': [
    { filename: 'b.png', cid: 'b@x', contentDisposition: 'inline' as const, content: binary.subarray(0, 57) },
    { filename: 'größe.txt', contentType: 'text/plain', content: Buffer.from(words(100, 'größer')) },
    { contentType: 'message/rfc822', content: Buffer.from('Subject: x\r\n\r\nbody\r\n') },
    { filename: 'empty.txt', content: Buffer.alloc(0) },
  ],
};

for (const [textName, text] of Object.entries(texts)) {
  test(`gives the bytes of nodemailer's own streams for a text ${textName}`, async () => {
    for (const html of Object.values(htmls)) {
      for (const files of Object.values(attachments)) {
        const compiled = () =>
          new MailComposer({
            messageId: '<a@own.test>',
            date: new Date('2026-11-20T20:05:06Z'),
            from: 'ann@own.test',
            to: 'bob@x.test',
            subject: 'Größe',
            baseBoundary: 'abc',
            ...(text === undefined ? {} : { text }),
            ...(html === undefined ? {} : { html }),
            attachments: files,
          }).compile();
        expect(writeMime(compiled()).toString('latin1')).toBe((await compiled().build()).toString('latin1'));
      }
    }
  });
}

test('rejects content that would have to be loaded from elsewhere', () => {
  const message = new MailComposer({ text: 'a', attachments: [{ path: '/etc/hostname' }] }).compile();
  expect(() => writeMime(message)).toThrow('neither a string nor a buffer');
});
