import { base64, type OddCase, oddMail, oddMultipart, oddParts, utf8 } from './odd-case.ts';

const PLAIN = ['Content-Type: text/plain', '', 'Hello.'];
const HTML = ['Content-Type: text/html', '', '<p>Hello.</p>'];
const HEAD = ['From: Mara Quill <mara@quill.example>', 'Subject: Odd'];

/** Returns a message of whole lines; each character is a byte. */
function lines(ends: string, ...all: readonly string[]): Buffer {
  return Buffer.from(all.join(ends), 'latin1');
}

/** Odd mail after public reports of mail parsers, written before any of it was read. */
export const oddWorld: OddCase[] = [
  {
    name: 'a disposition in an encoded word',
    raw: oddMail(
      ['Content-Type: text/html; charset=utf-8', 'Content-Disposition: =?utf-8?Q?inline?='],
      '<p>Hello.</p>',
    ),
    is: { html: '<p>Hello.</p>', attachments: [] },
  },
  {
    name: 'dates without quotes in a disposition',
    raw: oddParts(PLAIN, [
      'Content-Type: text/plain',
      'Content-Disposition: attachment; creation-date=Thu, 29 Jan 2026 14:20:56 GMT; filename=notes.txt',
      '',
      'Notes',
    ]),
    is: { text: 'Hello.', attachments: ['notes.txt text/plain: Notes'] },
  },
  {
    name: 'a text whose name is in its disposition only',
    raw: oddParts(PLAIN, ['Content-Type: text/plain', 'Content-Disposition: attachment; filename="a.log"', '', 'Log']),
    is: { text: 'Hello.', attachments: ['a.log text/plain: Log'] },
  },
  {
    name: 'a signed message',
    raw: oddMail(
      ['Content-Type: multipart/signed; protocol="application/pkcs7-signature"; micalg=sha-256; boundary=b'],
      '--b',
      ...PLAIN,
      '--b',
      'Content-Type: application/pkcs7-signature; name=smime.p7s',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment; filename=smime.p7s',
      '',
      base64('sig'),
      '--b--',
    ),
    is: { text: 'Hello.', attachments: ['smime.p7s application/pkcs7-signature: sig'] },
  },
  {
    name: 'quoted-printable with small digits, spaces behind soft breaks and a stray sign',
    raw: oddMail(
      ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable'],
      'Gr=c3=bc=  ',
      '=c3=9fe, 100 =ZZ',
    ),
    is: { text: 'Gr\u00fc\u00dfe, 100 =ZZ' },
  },
  {
    name: 'a charset in single quotes',
    raw: oddMail(["Content-Type: text/plain; charset='utf-8'"], utf8('Gr\u00fc\u00dfe')),
    is: { text: 'Gr\u00fc\u00dfe' },
  },
  {
    name: 'a charset with a semicolon in its quotes',
    raw: oddMail(['Content-Type: text/plain; charset="windows-1252;"'], 'Gr\xfc\xdfe \x80'),
    is: { text: 'Gr\u00fc\u00dfe \u20ac' },
  },
  {
    name: 'a charset with an underscore',
    raw: oddMail(['Content-Type: text/plain; charset=UTF_8'], utf8('Gr\u00fc\u00dfe')),
    is: { text: 'Gr\u00fc\u00dfe' },
  },
  {
    name: 'a comment in a content type',
    raw: oddMail(['Content-Type: text/html (a page); charset=utf-8'], '<p>Hello.</p>'),
    is: { html: '<p>Hello.</p>' },
  },
  {
    name: 'sections of a name in another order',
    raw: oddParts(PLAIN, [
      'Content-Type: application/octet-stream',
      'Content-Disposition: attachment; filename*1=".pdf"; filename*0="report"',
      '',
      'x',
    ]),
    is: { attachments: ['report.pdf application/octet-stream: x'] },
  },
  {
    name: 'a plain and an extended name',
    raw: oddParts(PLAIN, [
      'Content-Type: application/octet-stream',
      'Content-Disposition: attachment; filename="bericht.pdf"; filename*=UTF-8\'\'%C3%BCbersicht.pdf',
      '',
      'x',
    ]),
    is: { attachments: ['\u00fcbersicht.pdf application/octet-stream: x'] },
  },
  {
    name: 'a name in two encoded words in quotes',
    raw: oddParts(PLAIN, [
      `Content-Type: application/octet-stream; name="=?UTF-8?B?${base64('\u00fcber')}?=\r\n =?UTF-8?B?${base64('sicht.pdf')}?="`,
      'Content-Disposition: attachment',
      '',
      'x',
    ]),
    is: { attachments: ['\u00fcbersicht.pdf application/octet-stream: x'] },
  },
  {
    name: 'a character in two encoded words',
    raw: oddMail(['Subject: =?utf-8?B?4pyT4p0=?= =?utf-8?B?pA==?='], 'x'),
    is: { subject: '\u2713\u2764' },
  },
  {
    name: 'spaces in an encoded word',
    raw: oddMail(['Subject: =?utf-8?Q?Hello World=21?='], 'x'),
    is: { subject: 'Hello World!' },
  },
  {
    name: 'encoded words without a space between them and the text',
    raw: oddMail(['Subject: Re:=?utf-8?Q?_Gr=C3=BC=C3=9Fe?='], 'x'),
    is: { subject: 'Re: Gr\u00fc\u00dfe' },
  },
  {
    name: 'recipients apart by semicolons',
    raw: oddMail(['To: Ann <ann@x.example>; Bob <bob@x.example>'], 'x'),
    is: {
      to: [
        ['Ann', 'ann@x.example'],
        ['Bob', 'bob@x.example'],
      ],
    },
  },
  {
    name: 'a name with an unclosed quote',
    raw: oddMail(['To: "Ann <ann@x.example>'], 'x'),
    is: { to: [['Ann', 'ann@x.example']] },
  },
  {
    name: 'a date of ISO 8601',
    raw: oddMail(['Date: 2026-01-06 10:11:12 +0100'], 'x'),
    is: { date: '2026-01-06T09:11:12' },
  },
  {
    name: 'a date of asctime',
    raw: oddMail(['Date: Tue Jan  6 10:11:12 2026'], 'x'),
    is: { date: '2026-01-06T10:11:12' },
  },
  {
    name: 'a date with a German weekday',
    raw: oddMail(['Date: Di, 6 Jan 2026 10:11:12 +0100'], 'x'),
    is: { date: '2026-01-06T09:11:12' },
  },
  {
    name: 'a date with a long month',
    raw: oddMail(['Date: Tuesday, 8 September 2026 10:11:12 GMT'], 'x'),
    is: { date: '2026-09-08T10:11:12' },
  },
  {
    name: 'a date without seconds and with AM',
    raw: oddMail(['Date: Tue, 6 Jan 2026 10:11 PM +0000'], 'x'),
    is: { date: '2026-01-06T22:11:00' },
  },
  {
    name: 'a related message whose root is its second part',
    raw: oddMail(
      ['Content-Type: multipart/related; start="<root@x>"; boundary=b'],
      '--b',
      'Content-Type: image/png; name=a.png',
      'Content-ID: <a@x>',
      'Content-Transfer-Encoding: base64',
      '',
      base64('png'),
      '--b',
      'Content-Type: text/html',
      'Content-ID: <root@x>',
      '',
      '<img src="cid:a@x">',
      '--b--',
    ),
    is: { html: '<img src="cid:a@x">', attachments: ['a.png image/png: png'], contentIds: ['<a@x>'] },
  },
  {
    name: 'alternatives in the wrong order',
    raw: oddMultipart('alternative', HTML, PLAIN),
    is: { text: 'Hello.', html: '<p>Hello.</p>', attachments: [] },
  },
  {
    name: 'a byte order mark before the fields',
    raw: lines('\r\n', '\xef\xbb\xbfFrom: Mara Quill <mara@quill.example>', 'Subject: Odd', '', 'Hello.'),
    is: { subject: 'Odd', text: 'Hello.' },
  },
  {
    name: 'the line of a mailbox file before the fields',
    raw: lines('\n', 'From mara@quill.example Tue Jan  6 10:11:12 2026', ...HEAD, '', 'Hello.'),
    is: { subject: 'Odd', text: 'Hello.' },
  },
  {
    name: 'two carriage returns in each line end',
    raw: lines('\r\r\n', ...HEAD, 'Content-Type: text/plain', '', 'Hello.'),
    is: { subject: 'Odd', text: 'Hello.' },
  },
  {
    name: 'spaces before colons',
    raw: lines(
      '\r\n',
      'From : Mara Quill <mara@quill.example>',
      'Subject : Odd',
      'Content-Type : text/html',
      '',
      '<p>Hello.</p>',
    ),
    is: { subject: 'Odd', html: '<p>Hello.</p>' },
  },
  {
    name: 'a double file of a Macintosh',
    raw: oddParts(PLAIN, [
      'Content-Type: multipart/appledouble; boundary=c',
      '',
      '--c',
      'Content-Type: application/applefile; name="%a.jpg"',
      'Content-Transfer-Encoding: base64',
      '',
      base64('fork'),
      '--c',
      'Content-Type: image/jpeg; name="a.jpg"',
      'Content-Transfer-Encoding: base64',
      '',
      base64('jpg'),
      '--c--',
    ]),
    is: { text: 'Hello.', attachments: ['%a.jpg application/applefile: fork', 'a.jpg image/jpeg: jpg'] },
  },
  {
    name: 'a transfer encoding with a comment',
    raw: oddMail(['Content-Type: text/plain', 'Content-Transfer-Encoding: base64 (RFC 2045)'], base64('Hello.')),
    is: { text: 'Hello.' },
  },
  {
    name: 'a transfer encoding with a hyphen',
    raw: oddMail(
      ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8-bit'],
      utf8('Gr\u00fc\u00dfe'),
    ),
    is: { text: 'Gr\u00fc\u00dfe' },
  },
  {
    name: 'an invitation and its file',
    raw: oddMail(
      ['Content-Type: multipart/mixed; boundary=b'],
      '--b',
      'Content-Type: multipart/alternative; boundary=c',
      '',
      '--c',
      ...PLAIN,
      '--c',
      'Content-Type: text/calendar; charset=utf-8; method=REQUEST',
      '',
      'BEGIN:VCALENDAR',
      '--c--',
      '--b',
      'Content-Type: application/ics; name="invite.ics"',
      'Content-Disposition: attachment; filename="invite.ics"',
      'Content-Transfer-Encoding: base64',
      '',
      base64('BEGIN:VCALENDAR'),
      '--b--',
    ),
    is: {
      text: 'Hello.',
      attachments: ['attachment-1.ics text/calendar: BEGIN:VCALENDAR', 'invite.ics application/ics: BEGIN:VCALENDAR'],
    },
  },
  {
    name: 'HTML in windows-1251 whose label is UTF-8',
    raw: oddMail(
      ['Content-Type: text/html; charset=utf-8'],
      '<meta charset="windows-1251"><p>\xcf\xf0\xe8\xe2\xe5\xf2</p>',
    ),
    is: { htmlHas: ['\u041f\u0440\u0438\u0432\u0435\u0442'] },
  },
  {
    name: 'text in two encodings of one message',
    raw: oddParts(
      ['Content-Type: text/plain; charset=koi8-r', '', '\xf0\xd2\xc9\xd7\xc5\xd4'],
      ['Content-Type: text/plain; charset=windows-1251', '', '\xcf\xf0\xe8\xe2\xe5\xf2'],
    ),
    is: { textHas: ['\u041f\u0440\u0438\u0432\u0435\u0442'], textLacks: ['\u043f\u0420'], attachments: [] },
  },
];
