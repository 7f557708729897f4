import { base64, type OddCase, oddMail, oddMultipart, oddParts, utf8 } from './odd-case.ts';

const PLAIN = ['Content-Type: text/plain; charset=utf-8', '', 'Hello.'];
const HTML = ['Content-Type: text/html; charset=utf-8', '', '<p>Hello.</p>'];

/** Structures and fields as programs and gateways write them, written before any of them was read. */
export const oddTemplates: OddCase[] = [
  {
    name: 'Apple Mail: text, PDF and text inside an alternative',
    raw: oddMultipart(
      'alternative',
      ['Content-Type: text/plain; charset=us-ascii', '', 'One.'],
      [
        'Content-Type: multipart/mixed; boundary=i',
        '',
        '--i',
        'Content-Type: text/html; charset=us-ascii',
        '',
        '<p>One.</p>',
        '--i',
        'Content-Disposition: inline; filename=plan.pdf',
        'Content-Type: application/pdf; name=plan.pdf',
        'Content-Transfer-Encoding: base64',
        '',
        base64('pdf'),
        '--i--',
      ],
    ),
    is: { text: 'One.', htmlHas: ['<p>One.</p>'], attachments: ['plan.pdf application/pdf: pdf'] },
  },
  {
    name: 'Outlook: winmail.dat beside text',
    raw: oddParts(PLAIN, [
      'Content-Type: application/ms-tnef; name="winmail.dat"',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment; filename="winmail.dat"',
      '',
      base64('x\x9f>"'),
    ]),
    is: { text: 'Hello.' },
  },
  {
    name: 'an embedded message with a German name',
    raw: oddParts(PLAIN, [
      'Content-Type: message/rfc822; name="=?utf-8?Q?Gr=C3=BC=C3=9Fe=2Eeml?="',
      'Content-Disposition: attachment; filename="=?utf-8?Q?Gr=C3=BC=C3=9Fe=2Eeml?="',
      '',
      'From: a@b.test',
      'Subject: Inner',
      '',
      'Inner text.',
    ]),
    is: { text: 'Hello.', textLacks: ['Inner'] },
  },
  {
    name: 'related with the image before its HTML',
    raw: oddMultipart(
      'related; start="<root@x>"',
      [
        'Content-Type: image/png; name=a.png',
        'Content-ID: <a@x>',
        'Content-Transfer-Encoding: base64',
        '',
        base64('png'),
      ],
      ['Content-Type: text/html', 'Content-ID: <root@x>', '', '<img src="cid:a@x">'],
    ),
    is: { htmlHas: ['cid:a@x'], contentIds: ['<a@x>'] },
  },
  {
    name: 'a boundary with an apostrophe, a slash and a question mark',
    raw: oddMail(
      ['Subject: Odd', 'Content-Type: multipart/mixed; boundary="a\'b/c?d=e"'],
      "--a'b/c?d=e",
      ...PLAIN,
      "--a'b/c?d=e--",
    ),
    is: { text: 'Hello.', attachments: [] },
  },
  {
    name: 'a preamble and an epilogue with text',
    raw: oddMail(
      ['Subject: Odd', 'Content-Type: multipart/mixed; boundary=b'],
      'This is a multi-part message in MIME format.',
      '--b',
      ...PLAIN,
      '--b--',
      'Scanned by a gateway.',
    ),
    is: { text: 'Hello.' },
  },
  {
    name: 'parameters on folded lines with tabs and comments',
    raw: oddMail(
      ['Subject: Odd', 'Content-Type: text/plain (plain text);\r\n\tformat=flowed (RFC 3676);\r\n\tcharset="utf-8"'],
      utf8('Grüße'),
    ),
    is: { text: 'Grüße' },
  },
  {
    name: 'a charset with a trailing comma',
    raw: oddMail(['Subject: Odd', 'Content-Type: text/plain; charset=iso-8859-1,'], 'Gr\xfc\xdfe'),
    is: { text: 'Grüße' },
  },
  {
    name: 'charset x-unknown with bytes of UTF-8',
    raw: oddMail(
      ['Subject: Odd', 'Content-Type: text/plain; charset=x-unknown', 'Content-Transfer-Encoding: 8bit'],
      utf8('Grüße'),
    ),
    is: { text: 'Grüße' },
  },
  {
    name: 'charset cp-850',
    raw: oddMail(['Subject: Odd', 'Content-Type: text/plain; charset=cp850'], 'Gr\x81\xe1e'),
    is: { text: 'Grüße' },
  },
  {
    name: 'charset macintosh',
    raw: oddMail(['Subject: Odd', 'Content-Type: text/plain; charset=macintosh'], 'Gr\x9f\xa7e'),
    is: { text: 'Grüße' },
  },
  {
    name: 'UTF-7 in the body',
    raw: oddMail(['Subject: Odd', 'Content-Type: text/plain; charset=utf-7'], 'Gr+APwA3w-e'),
    is: { text: 'Grüße' },
  },
  {
    name: 'quoted-printable declared, eight bits written',
    raw: oddMail(
      ['Subject: Odd', 'Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: quoted-printable'],
      utf8('Grüße =3D ok'),
    ),
    is: { text: 'Grüße = ok' },
  },
  {
    name: 'base64 declared, plain text written',
    raw: oddMail(
      ['Subject: Odd', 'Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 7bit'],
      'Hello, this is plain.',
    ),
    is: { text: 'Hello, this is plain.' },
  },
  {
    name: 'an encoded word with lower-case b and a charset with language',
    raw: oddMail(['Subject: =?utf-8*de?b?R3LDvMOfZQ==?=', 'Content-Type: text/plain'], 'x'),
    is: { subject: 'Grüße' },
  },
  {
    name: 'an encoded word that is split within its base64',
    raw: oddMail(['Subject: =?utf-8?B?R3LD?=\r\n =?utf-8?B?vMOfZQ==?=', 'Content-Type: text/plain'], 'x'),
    is: { subject: 'Grüße' },
  },
  {
    name: 'an encoded word in a quoted string of From',
    raw: Buffer.from(
      'From: "=?utf-8?Q?M=C3=BCller=2C_Anna?=" <anna@x.test>\r\nSubject: Odd\r\nContent-Type: text/plain\r\n\r\nx',
      'latin1',
    ),
    is: { fromName: 'Müller, Anna' },
  },
  {
    name: 'an encoded word with an underscore as a space and an equals sign at its end',
    raw: oddMail(['Subject: =?iso-8859-1?Q?Caf=E9_au_lait_=3D?=', 'Content-Type: text/plain'], 'x'),
    is: { subject: 'Café au lait =' },
  },
  {
    name: 'a name in RFC 2231 with a percent sign',
    raw: oddParts(PLAIN, [
      'Content-Type: application/pdf',
      "Content-Disposition: attachment; filename*=UTF-8''100%25%20%C3%BC.pdf",
      'Content-Transfer-Encoding: base64',
      '',
      base64('pdf'),
    ]),
    is: { attachments: ['100% ü.pdf application/pdf: pdf'] },
  },
  {
    name: 'a name in raw UTF-8',
    raw: oddParts(PLAIN, [
      'Content-Type: application/pdf',
      `Content-Disposition: attachment; filename="${utf8('Übersicht.pdf')}"`,
      'Content-Transfer-Encoding: base64',
      '',
      base64('pdf'),
    ]),
    is: { attachments: ['Übersicht.pdf application/pdf: pdf'] },
  },
  {
    name: 'a name with a path of Windows',
    raw: oddParts(PLAIN, [
      'Content-Type: application/pdf; name="plan.pdf"',
      'Content-Transfer-Encoding: BASE64',
      'Content-Disposition: ATTACHMENT; FILENAME="plan.pdf"',
      '',
      base64('pdf'),
    ]),
    is: { attachments: ['plan.pdf application/pdf: pdf'] },
  },
  {
    name: 'HTML alone with a signature image',
    raw: oddMultipart('related', HTML, [
      'Content-Type: image/gif; name="logo.gif"',
      'Content-ID: logo',
      'Content-Transfer-Encoding: base64',
      '',
      base64('gif'),
    ]),
    is: { html: '<p>Hello.</p>', contentIds: ['<logo>'] },
  },
  {
    name: 'alternatives with an empty plain text',
    raw: oddMultipart('alternative', ['Content-Type: text/plain', '', ''], HTML),
    is: { html: '<p>Hello.</p>' },
  },
  {
    name: 'a footer of a list as a second text',
    raw: oddParts(PLAIN, [
      'Content-Type: text/plain; charset=us-ascii',
      'MIME-Version: 1.0',
      'Content-Transfer-Encoding: 7bit',
      'Content-Disposition: inline',
      '',
      '_______________________________________________',
      'Team mailing list',
    ]),
    is: { textHas: ['Hello.', 'Team mailing list'], attachments: [] },
  },
  {
    name: 'PGP/MIME keeps its parts',
    raw: oddMail(
      ['Subject: Odd', 'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b'],
      '--b',
      'Content-Type: application/pgp-encrypted',
      '',
      'Version: 1',
      '--b',
      'Content-Type: application/octet-stream; name="encrypted.asc"',
      '',
      '-----BEGIN PGP MESSAGE-----',
      '--b--',
    ),
    is: {
      attachments: [
        'attachment-1.asc application/pgp-encrypted: Version: 1',
        'encrypted.asc application/octet-stream: -----BEGIN PGP MESSAGE-----',
      ],
    },
  },
  {
    name: 'a date with a comment of its zone',
    raw: oddMail(['Date: Tue, 6 Jan 2026 10:11:12 +0100 (CET)', 'Subject: Odd', 'Content-Type: text/plain'], 'x'),
    is: { date: '2026-01-06T09:11:12' },
  },
  {
    name: 'a date with the zone EST',
    raw: oddMail(['Date: Tue, 06 Jan 26 10:11:12 EST', 'Subject: Odd', 'Content-Type: text/plain'], 'x'),
    is: { date: '2026-01-06T15:11:12' },
  },
  {
    name: 'a date with dashes',
    raw: oddMail(['Date: Tue, 06-Jan-2026 10:11:12 +0000', 'Subject: Odd', 'Content-Type: text/plain'], 'x'),
    is: { date: '2026-01-06T10:11:12' },
  },
  {
    name: 'recipients in a group and one beside it',
    raw: oddMail(
      ['To: Team: Ann <ann@x.test>, joe@x.test;, Kim <kim@x.test>', 'Subject: Odd', 'Content-Type: text/plain'],
      'x',
    ),
    is: {
      to: [
        ['Ann', 'ann@x.test'],
        [null, 'joe@x.test'],
        ['Kim', 'kim@x.test'],
      ],
    },
  },
  {
    name: 'a recipient whose name is in a comment',
    raw: oddMail(['To: ann@x.test (Ann Smith)', 'Subject: Odd', 'Content-Type: text/plain'], 'x'),
    is: { to: [['Ann Smith', 'ann@x.test']] },
  },
];
