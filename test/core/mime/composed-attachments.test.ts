import { expect, test } from 'vitest';
import { decodeAttachment } from '../../../core/mime/attachment.ts';
import { composeMessage, type Draft } from '../../../core/mime/compose-message.ts';
import { listComposedAttachments } from '../../../core/mime/composed-attachments.ts';
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

test.each(cases)('attachments are found as a reader finds them: %s', async (_what, more) => {
  const whole = draft(more);
  const octets = await composeMessage(whole);
  const listed = listComposedAttachments(octets, whole);
  const { attachments } = await parseMessage(octets);
  // A reader takes the line end before the delimiter for an empty part's own.
  expect(listed).toEqual(attachments.map((each) => (each.size === 0 ? { ...each, length: 0 } : each)));
  const contents = listed.map(({ start, length, transferEncoding }) =>
    Buffer.from(decodeAttachment(octets.subarray(start, start + length), transferEncoding)).toString('latin1'),
  );
  const given = whole.attachments.map(({ content, contentType }) => {
    const text = Buffer.from(content).toString('latin1');
    return contentType === 'message/rfc822' && !/[\x80-\xff]/.test(text) ? text.replace(/\r?\n/g, '\r\n') : text;
  });
  expect(contents.toSorted()).toEqual(given.toSorted());
});

test('those of another draft are not taken for its own', async () => {
  const octets = await composeMessage(draft({ attachments: [file('a.bin', 'a')] }));
  expect(() => listComposedAttachments(octets, draft({ attachments: [picture('i')] }))).toThrow(/does not have/);
  expect(() => listComposedAttachments(octets, draft({ attachments: [file('a', 'a'), file('b', 'b')] }))).toThrow(
    /lacks/,
  );
});
