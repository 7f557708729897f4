import { base64, type OddCase, oddMail, oddMultipart, oddParts } from './odd-case.ts';

const PLAIN = ['Content-Type: text/plain', '', 'Hello.'];
const ICS = 'BEGIN:VCALENDAR\r\nEND:VCALENDAR';

/** Odd structures, transfer encodings and kinds of parts. */
export const oddStructures: OddCase[] = [
  {
    name: 'an unnamed calendar beside text, in 7 bits',
    raw: oddMultipart('alternative', PLAIN, ['Content-Type: text/calendar; method=REQUEST', '', ICS]),
    is: { text: 'Hello.', attachments: [`attachment-1.ics text/calendar: ${ICS}`] },
  },
  {
    name: 'an unnamed calendar is all there is',
    raw: oddMail(['Content-Type: text/calendar; charset=utf-8; method=REPLY'], ICS),
    is: { text: null, html: null, attachments: [`attachment-1.ics text/calendar: ${ICS}`] },
  },
  {
    name: 'a calendar that is marked inline',
    raw: oddParts(PLAIN, ['Content-Type: text/calendar', 'Content-Disposition: inline', '', ICS]),
    is: { text: 'Hello.', attachments: [`attachment-1.ics text/calendar: ${ICS}`] },
  },
  {
    name: 'AMP between plain text and HTML',
    raw: oddMultipart(
      'alternative',
      PLAIN,
      ['Content-Type: text/x-amp-html', '', '<html amp4email></html>'],
      ['Content-Type: text/html', '', '<p>Hello.</p>'],
    ),
    is: {
      text: 'Hello.',
      html: '<p>Hello.</p>',
      attachments: ['attachment-1.html text/x-amp-html: <html amp4email></html>'],
    },
  },
  {
    name: 'HTML for a watch',
    raw: oddMultipart('alternative', PLAIN, ['Content-Type: text/watch-html', '', '<b>Hi</b>']),
    is: { text: 'Hello.', html: null, attachments: ['attachment-1.html text/watch-html: <b>Hi</b>'] },
  },
  {
    name: 'rich text as an alternative of plain text',
    raw: oddMultipart('alternative', PLAIN, ['Content-Type: text/enriched', '', '<bold>Hello.</bold>']),
    is: { text: 'Hello.', html: null, attachments: [] },
  },
  {
    name: 'rich text that says something else than the plain text',
    raw: oddMultipart('alternative', PLAIN, ['Content-Type: text/enriched', '', '<bold>Goodbye.</bold>']),
    is: { text: 'Hello.', attachments: ['attachment-1.txt text/enriched: <bold>Goodbye.</bold>'] },
  },
  {
    name: 'rich text and a calendar are alternatives',
    raw: oddMultipart(
      'alternative',
      ['Content-Type: text/enriched', '', 'At <bold>noon</bold>.'],
      ['Content-Type: text/calendar', '', 'BEGIN:VCALENDAR'],
    ),
    is: { text: 'At noon.', attachments: ['attachment-1.ics text/calendar: BEGIN:VCALENDAR'] },
  },
  {
    name: 'rich text and source code beside plain text in a mixed message',
    raw: oddParts(
      PLAIN,
      ['Content-Type: text/richtext', '', '<italic>Second</italic><nl>line &amp; <lt>'],
      ['Content-Type: text/x-numbers', '', '1 2 3'],
      ['Content-Type: text/vnd.example.form', '', 'form'],
    ),
    is: {
      textHas: ['Hello.', 'Second\nline &amp; <', '1 2 3'],
      attachments: ['attachment-1.txt text/vnd.example.form: form'],
    },
  },
  {
    name: 'rich text marked as an attachment in a mixed message',
    raw: oddParts(PLAIN, ['Content-Type: text/enriched', 'Content-Disposition: attachment', '', 'x']),
    is: { text: 'Hello.', attachments: ['attachment-1.txt text/enriched: x'] },
  },
  {
    name: 'rich text is the only body',
    raw: oddParts(['Content-Type: text/enriched', '', '<bold>Hello.</bold>'], ['Content-Type: image/png', '', 'x']),
    is: { textHas: ['Hello.'], attachments: ['attachment-1.png image/png: x'] },
  },
  {
    name: 'Markdown is the only body',
    raw: oddMail(['Content-Type: text/markdown; charset=utf-8'], '# Hello'),
    is: { text: '# Hello', attachments: [] },
  },
  {
    name: 'an unnamed table and card in a mixed message',
    raw: oddParts(PLAIN, ['Content-Type: text/csv', '', '1,2'], ['Content-Type: text/x-vcard', '', 'BEGIN:VCARD']),
    is: {
      text: 'Hello.',
      attachments: ['attachment-1.csv text/csv: 1,2', 'attachment-2.vcf text/x-vcard: BEGIN:VCARD'],
    },
  },
  {
    name: 'an unnamed PDF as an alternative',
    raw: oddMultipart('alternative', PLAIN, ['Content-Type: application/pdf', '', '%PDF']),
    is: { text: 'Hello.', attachments: ['attachment-1.pdf application/pdf: %PDF'] },
  },
  {
    name: 'a multipart without a boundary, whose body has no parts',
    raw: oddMail(['Content-Type: multipart/mixed'], 'Hello all.'),
    is: { text: 'Hello all.', attachments: [] },
  },
  {
    name: 'a multipart without a boundary, whose body has delimiters',
    raw: oddMail(
      ['Content-Type: multipart/mixed'],
      '--xyz',
      ...PLAIN,
      '--xyz',
      'Content-Type: image/png',
      '',
      'x',
      '--xyz--',
    ),
    is: { text: 'Hello.', attachments: ['attachment-1.png image/png: x'] },
  },
  {
    name: 'another boundary than the one in the header',
    raw: oddMail(
      ['Content-Type: multipart/mixed; boundary=one'],
      '--two',
      ...PLAIN,
      '--two',
      'Content-Type: image/png',
      '',
      'x',
      '--two--',
    ),
    is: { text: 'Hello.', attachments: ['attachment-1.png image/png: x'] },
  },
  {
    name: 'a nested multipart without parts',
    raw: oddParts(['Content-Type: multipart/alternative; boundary=none', '', 'Only words.'], PLAIN),
    is: { textHas: ['Only words.', 'Hello.'] },
  },
  {
    name: 'a part whose header section has no empty line, with text',
    raw: oddParts(['Content-Type: text/plain', 'Hello there friend.'], ['Content-Type: image/png', '', 'x']),
    is: { text: 'Hello there friend.', attachments: ['attachment-1.png image/png: x'] },
  },
  {
    name: 'a part without fields and without an empty line',
    raw: oddParts(['Hello there friend.']),
    is: { text: 'Hello there friend.' },
  },
  {
    name: 'a part whose text is right below its fields, with an empty line behind it',
    raw: oddParts(PLAIN, ['Content-Type: text/plain', 'Content-Language: en', 'See you.', 'Mara', '']),
    is: { textHas: ['Hello.', 'See you.\nMara'], attachments: [] },
  },
  {
    name: 'a file whose content is right below its fields, with an empty line behind it',
    raw: oddParts(PLAIN, ['Content-Type: application/x-note', 'one', 'two', '']),
    is: { text: 'Hello.', attachments: ['attachment-1.bin application/x-note: one\r\ntwo'] },
  },
  {
    name: 'an empty part with a stray line between its fields',
    raw: oddParts(PLAIN, ['Content-Type: image/png', 'stray', 'Content-ID: <a>', '', '']),
    is: { text: 'Hello.', attachments: ['attachment-1.png image/png: '] },
  },
  {
    name: 'an empty attachment that ends in its header section',
    raw: oddParts(
      PLAIN,
      ['Content-Type: text/plain; name=empty.txt'],
      ['Content-Type: text/plain; name=last.txt', '', 'x'],
    ),
    is: { text: 'Hello.', attachments: ['empty.txt text/plain: ', 'last.txt text/plain: x'] },
  },
  {
    name: 'a message whose header section ends at a delimiter in line feeds',
    raw: Buffer.from(
      'Subject: Odd\nContent-Type: multipart/mixed;\n boundary="b b"\n--b b\nContent-Type: text/plain\n\nHello.\n--b b--\n',
    ),
    is: { subject: 'Odd', text: 'Hello.' },
  },
  {
    name: 'a nested multipart whose header section ends at a delimiter',
    raw: oddParts([
      'Content-Type: multipart/alternative; boundary=c',
      '--c',
      ...PLAIN,
      '--c',
      'Content-Type: text/html',
      '',
      '<p>Hi</p>',
      '--c--',
    ]),
    is: { text: 'Hello.', html: '<p>Hi</p>' },
  },
  {
    name: 'a message whose header section has no end',
    raw: Buffer.from('From: a@x.test\r\nSubject: Odd\r\nThis is the text, friend.\r\nMore of it.\r\n'),
    is: { subject: 'Odd', textHas: ['This is the text, friend.', 'More of it.'] },
  },
  {
    name: 'base64 in two blocks, the first padded once',
    raw: oddMail(
      ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64'],
      base64('Hello all'.slice(0, 8)),
      base64('Footer'),
    ),
    is: { textHas: ['Hello al', 'Footer'] },
  },
  {
    name: 'base64 in three blocks within a file',
    raw: oddParts(PLAIN, [
      'Content-Type: image/png; name=a.png',
      'Content-Transfer-Encoding: base64',
      '',
      'YQ==',
      'YmI=',
      'Y2Nj',
    ]),
    is: { attachments: ['a.png image/png: abbccc'] },
  },
  {
    name: 'base64 with a footer in plain text',
    raw: oddMail(
      ['Content-Type: text/plain', 'Content-Transfer-Encoding: base64'],
      base64('Hello all.'),
      '',
      '-- ',
      'list@x.test mailing list',
    ),
    is: { text: 'Hello all.' },
  },
  {
    name: 'base64 without padding',
    raw: oddParts(PLAIN, ['Content-Type: image/png; name=a.png', 'Content-Transfer-Encoding: base64', '', 'YQ']),
    is: { attachments: ['a.png image/png: a'] },
  },
  ...(
    [
      ['base64;', 'SGVsbG8u'],
      ['"base64"', 'SGVsbG8u'],
      ["'base64'", 'SGVsbG8u'],
      ['=?us-ascii?Q?base64?=', 'SGVsbG8u'],
      ['base64 (really)', 'SGVsbG8u'],
      ['(first) base64', 'SGVsbG8u'],
      ['base64; charset=utf-8', 'SGVsbG8u'],
      ['base-64', 'SGVsbG8u'],
      ['Base64, base64', 'SGVsbG8u'],
      ['quoted-printable;', 'Hello=2E'],
      ['quoted printable', 'Hello=2E'],
      ['quoted-printable charset="utf-8"', 'Hello=2E'],
      ['quotedprintable', 'Hello=2E'],
      ['QUOTED-PRINTABLE.', 'Hello=2E'],
      ['8-bit', 'Hello.'],
      ['7-bit', 'Hello.'],
      ['8bits', 'Hello.'],
      ['none', 'Hello.'],
      ['utf-8', 'Hello.'],
    ] as const
  ).map(([encoding, body]) => ({
    name: `the transfer encoding ${encoding}`,
    raw: oddMail(['Content-Type: text/plain', `Content-Transfer-Encoding: ${encoding}`], body),
    is: { text: 'Hello.' },
  })),
  {
    name: 'base64 on a multipart, whose parts are not encoded',
    raw: oddMail(
      ['Content-Type: multipart/mixed; boundary=b', 'Content-Transfer-Encoding: base64'],
      '--b',
      ...PLAIN,
      '--b--',
    ),
    is: { text: 'Hello.' },
  },
  {
    name: 'text, image and text',
    raw: oddParts(PLAIN, ['Content-Type: image/png; name=a.png', '', 'x'], ['Content-Type: text/plain', '', 'Bye.']),
    is: { textHas: ['Hello.', 'Bye.'], attachments: ['a.png image/png: x'] },
  },
  {
    name: 'HTML, image and HTML',
    raw: oddParts(
      ['Content-Type: text/html', '', '<p>One</p>'],
      ['Content-Type: image/png; name=a.png', '', 'x'],
      ['Content-Type: text/html', '', '<p>Two</p>'],
    ),
    is: { htmlHas: ['<p>One</p>', '<p>Two</p>'], attachments: ['a.png image/png: x'] },
  },
  {
    name: 'a message in base64 without a name',
    raw: oddParts(PLAIN, [
      'Content-Type: message/rfc822',
      'Content-Transfer-Encoding: base64',
      '',
      base64('Subject: In\r\n\r\nInner'),
    ]),
    is: { text: 'Hello.', attachments: ['message-1.eml message/rfc822: Subject: In\r\n\r\nInner'] },
  },
  {
    name: 'delivery reports stay in the text',
    raw: oddMultipart('report', PLAIN, ['Content-Type: message/delivery-status', '', 'Reporting-MTA: dns; x.test']),
    is: { textHas: ['Hello.', 'Reporting-MTA'] },
  },
  {
    name: 'flowed text with delsp in quoted-printable',
    raw: oddMail(
      ['Content-Type: text/plain; format="flowed"; delsp="yes"', 'Content-Transfer-Encoding: quoted-printable'],
      'One wo=20',
      'rd and =',
      'more.',
    ),
    is: { text: 'One word and more.' },
  },
  {
    name: 'a content type of one word',
    raw: oddMail(['Content-Type: text'], 'Hello.'),
    is: { text: 'Hello.', attachments: [] },
  },
  {
    name: 'a content type with a wrong slash and a comma',
    raw: oddMail(['Content-Type: text/html, charset=utf-8'], '<p>Hello.</p>'),
    is: { html: '<p>Hello.</p>', attachments: [] },
  },
  {
    name: 'two content types in one part',
    raw: oddParts(['Content-Type: text/plain', 'Content-Type: text/plain; charset=utf-8', '', 'Hello.']),
    is: { text: 'Hello.' },
  },
  {
    name: 'a boundary with a space at its end',
    raw: oddMail(['Content-Type: multipart/mixed; boundary="b "'], '--b', ...PLAIN, '--b--'),
    is: { text: 'Hello.' },
  },
  {
    name: 'delimiters with spaces behind them',
    raw: oddMail(
      ['Content-Type: multipart/mixed; boundary=b'],
      '--b  ',
      ...PLAIN,
      '--b \t',
      'Content-Type: image/png',
      '',
      'x',
      '--b--  ',
    ),
    is: { text: 'Hello.', attachments: ['attachment-1.png image/png: x'] },
  },
];
