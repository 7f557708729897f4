import { base64, type OddCase, oddMail, oddMultipart, oddParts, utf8 } from './odd-case.ts';

const PLAIN = ['Content-Type: text/plain', '', 'Hello.'];
const ICS = 'BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR';
const VCF = 'BEGIN:VCARD\r\nFN:Ann\r\nEND:VCARD';
const JIS = '\x1b$B$3$s$K$A$O\x1b(B';

/** Odd mail of several kinds, written before any of it was read. */
export const oddFresh: OddCase[] = [
  {
    name: 'an unnamed calendar in base64 beside HTML',
    raw: oddMultipart(
      'alternative',
      ['Content-Type: text/html', '', '<p>Hi</p>'],
      [
        'Content-Type: text/calendar; method=REQUEST; charset="UTF-8"',
        'Content-Transfer-Encoding: base64',
        '',
        base64(ICS),
      ],
    ),
    is: { html: '<p>Hi</p>', attachments: [`attachment-1.ics text/calendar: ${ICS}`] },
  },
  {
    name: 'an unnamed card as the only part of a mixed message',
    raw: oddParts(['Content-Type: text/vcard; charset=utf-8', '', VCF]),
    is: { text: null, attachments: [`attachment-1.vcf text/vcard: ${VCF}`] },
  },
  {
    name: 'an unnamed card of the old type',
    raw: oddParts(PLAIN, ['Content-Type: text/x-vcard', '', VCF]),
    is: { text: 'Hello.', attachments: [`attachment-1.vcf text/x-vcard: ${VCF}`] },
  },
  {
    name: 'a directory of RFC 2425',
    raw: oddParts(PLAIN, ['Content-Type: text/directory; profile=vCard', '', VCF]),
    is: { text: 'Hello.', attachments: [`attachment-1.vcf text/directory: ${VCF}`] },
  },
  {
    name: 'an unnamed table as the root',
    raw: oddMail(['Content-Type: text/csv; header=present'], 'a,b', '1,2'),
    is: { text: null, attachments: ['attachment-1.csv text/csv: a,b\r\n1,2'] },
  },
  {
    name: 'an unnamed table in tabs',
    raw: oddParts(PLAIN, ['Content-Type: text/tab-separated-values', '', 'a\tb']),
    is: { text: 'Hello.', attachments: ['attachment-1.tsv text/tab-separated-values: a\tb'] },
  },
  {
    name: 'a calendar of the old type with a disposition of inline',
    raw: oddParts(PLAIN, ['Content-Type: text/x-vcalendar', 'Content-Disposition: inline', '', ICS]),
    is: { text: 'Hello.', attachments: [`attachment-1.vcs text/x-vcalendar: ${ICS}`] },
  },
  {
    name: 'an unnamed XML beside text',
    raw: oddParts(PLAIN, ['Content-Type: text/xml', '', '<a/>']),
    is: { text: 'Hello.', attachments: ['attachment-1.xml text/xml: <a/>'] },
  },
  {
    name: 'an unnamed JSON as an alternative',
    raw: oddMultipart('alternative', PLAIN, ['Content-Type: application/ld+json', '', '{}']),
    is: { text: 'Hello.', attachments: ['attachment-1.json application/ld+json: {}'] },
  },
  {
    name: 'calendar and HTML inside related',
    raw: oddMultipart(
      'related',
      ['Content-Type: text/html', '', '<p>Hi</p>'],
      ['Content-Type: text/calendar', '', ICS],
    ),
    is: { html: '<p>Hi</p>', attachments: [`attachment-1.ics text/calendar: ${ICS}`] },
  },
  {
    name: 'an alternative of HTML and two calendars',
    raw: oddMultipart(
      'alternative',
      ['Content-Type: text/html', '', '<p>Hi</p>'],
      ['Content-Type: text/calendar', '', 'A'],
      ['Content-Type: text/calendar', '', 'B'],
    ),
    is: { html: '<p>Hi</p>', attachments: ['attachment-1.ics text/calendar: A', 'attachment-2.ics text/calendar: B'] },
  },
  {
    name: 'a multipart whose boundary never occurs',
    raw: oddMail(['Content-Type: multipart/alternative; boundary="none"'], 'All the text.'),
    is: { text: 'All the text.' },
  },
  {
    name: 'a multipart with an empty boundary',
    raw: oddMail(['Content-Type: multipart/mixed; boundary=""'], 'All the text.'),
    is: { text: 'All the text.' },
  },
  {
    name: 'a multipart with only the closing delimiter',
    raw: oddMail(['Content-Type: multipart/mixed; boundary=b'], 'All the text.', '--b--'),
    is: { text: 'All the text.' },
  },
  {
    name: 'a multipart that is cut within its first part',
    raw: oddMail(['Content-Type: multipart/mixed; boundary=b'], '--b', 'Content-Type: text/plain', '', 'Half a sen'),
    is: { text: 'Half a sen' },
  },
  {
    name: 'a multipart without a boundary parameter that holds HTML',
    raw: oddMail(['Content-Type: multipart/alternative'], '<html><body><p>Hi</p></body></html>'),
    is: { htmlHas: ['<p>Hi</p>'] },
  },
  {
    name: 'a boundary in single quotes',
    raw: oddMail(["Content-Type: multipart/mixed; boundary='b'"], '--b', ...PLAIN, '--b--'),
    is: { text: 'Hello.' },
  },
  {
    name: 'a boundary that begins another one',
    raw: oddMail(
      ['Content-Type: multipart/mixed; boundary=b'],
      '--b',
      'Content-Type: multipart/alternative; boundary=bb',
      '',
      '--bb',
      ...PLAIN,
      '--bb--',
      '',
      '--b',
      'Content-Type: text/csv',
      '',
      '1,2',
      '--b--',
    ),
    is: { text: 'Hello.', attachments: ['attachment-1.csv text/csv: 1,2'] },
  },
  {
    name: 'the same boundary outside and inside',
    raw: oddMail(
      ['Content-Type: multipart/mixed; boundary=b'],
      '--b',
      'Content-Type: multipart/alternative; boundary=b',
      '',
      '--b',
      ...PLAIN,
      '--b--',
    ),
    is: { text: 'Hello.' },
  },
  {
    name: 'a header section that ends at the first delimiter',
    raw: Buffer.from(
      [
        'From: Mara Quill <mara@quill.example>',
        'Subject: Odd',
        'Content-Type: multipart/mixed; boundary=b',
        '--b',
        ...PLAIN,
        '--b--',
      ].join('\r\n'),
    ),
    is: { subject: 'Odd', text: 'Hello.' },
  },
  {
    name: 'a part whose header section ends at the next delimiter',
    raw: oddMail(
      ['Content-Type: multipart/mixed; boundary=b'],
      '--b',
      'Content-Type: text/plain',
      '--b',
      ...PLAIN,
      '--b--',
    ),
    is: { text: 'Hello.' },
  },
  {
    name: 'base64 in two blocks, the second in a line of its own',
    raw: oddMail(
      ['Content-Type: text/plain', 'Content-Transfer-Encoding: base64'],
      base64('Hello.\n'),
      base64('Again.'),
    ),
    is: { text: 'Hello.\nAgain.' },
  },
  {
    name: 'base64 in two blocks within a file',
    raw: oddParts(PLAIN, [
      'Content-Type: text/csv; name=a.csv',
      'Content-Transfer-Encoding: base64',
      '',
      `${base64('1')}`,
      base64('22'),
    ]),
    is: { attachments: ['a.csv text/csv: 122'] },
  },
  {
    name: 'base64 with blank lines and tabs inside',
    raw: oddMail(
      ['Content-Transfer-Encoding: base64'],
      `\t${base64('Hello. This is text.').slice(0, 12)}`,
      '',
      ` ${base64('Hello. This is text.').slice(12)}`,
    ),
    is: { text: 'Hello. This is text.' },
  },
  {
    name: 'base64 that is URL-safe',
    raw: oddMail(
      ['Content-Transfer-Encoding: base64', 'Content-Type: text/plain; charset=utf-8'],
      base64('\u00bf\u00bf\u00bf\u00bf~~~???').replaceAll('+', '-').replaceAll('/', '_'),
    ),
    is: { text: '\u00bf\u00bf\u00bf\u00bf~~~???' },
  },
  ...(
    [
      'base64;',
      '"base64"',
      "'base64'",
      'BASE64 (encoded)',
      'base64,base64',
      '=?utf-8?Q?base64?=',
      'x-base64',
      '<base64>',
      'base-64',
      'Base64.',
    ] as const
  ).map((encoding) => ({
    name: `the transfer encoding ${encoding}`,
    raw: oddMail([`Content-Transfer-Encoding: ${encoding}`], base64('Hello there, all of you.')),
    is: { text: 'Hello there, all of you.' },
  })),
  ...(
    [
      'quoted-printable;',
      'quoted printable',
      'Quoted_Printable',
      'quoted-printable (x)',
      'quotedprintable',
      '"quoted-printable"',
    ] as const
  ).map((encoding) => ({
    name: `the transfer encoding ${encoding}`,
    raw: oddMail(
      [`Content-Transfer-Encoding: ${encoding}`, 'Content-Type: text/plain; charset=utf-8'],
      'caf=C3=A9 =',
      'noir',
    ),
    is: { text: 'café noir' },
  })),
  {
    name: 'the transfer encoding 8bit;',
    raw: oddMail(['Content-Transfer-Encoding: 8bit;', 'Content-Type: text/plain; charset=utf-8'], utf8('é=20')),
    is: { text: 'é=20' },
  },
  {
    name: 'an unknown transfer encoding',
    raw: oddMail(['Content-Transfer-Encoding: plain'], 'a=20b'),
    is: { text: 'a=20b' },
  },
  ...(
    [
      ['filename*0="a "; filename*1="b.txt"', 'a b.txt'],
      ["filename*0*=iso-8859-1'de'%E9; filename*1*=%E8.txt", 'éè.txt'],
      ["filename*0*=utf-8''%E4%BD; filename*1*=%A0.txt", '你.txt'],
      ["filename*00*=utf-8''a; filename*01=b.txt", 'ab.txt'],
      ["filename*=UTF-8'en-us'na%20me.txt", 'na me.txt'],
      ["filename*=gb2312''%C4%E3.txt", '你.txt'],
      ['filename*="utf-8\'\'%C3%A9.txt"', 'é.txt'],
      ["filename*=utf-8''%C3%A9%ZZ.txt", 'é%ZZ.txt'],
      ['filename="=?iso-2022-jp?B?GyRCJDMbKEI=?=.txt"', 'こ.txt'],
      ['filename==?utf-8?Q?=C3=A9.txt?=', 'é.txt'],
    ] as const
  ).map(([parameter, name]) => ({
    name: `the disposition attachment; ${parameter}`,
    raw: oddParts(PLAIN, [
      'Content-Type: application/octet-stream',
      `Content-Disposition: attachment; ${parameter}`,
      '',
      'x',
    ]),
    is: { attachments: [`${name} application/octet-stream: x`].map((one) => one) },
  })),
  {
    name: 'a name in RFC 2231 sections of Content-Type only',
    raw: oddParts(PLAIN, ["Content-Type: application/pdf; name*0*=utf-8''%C3%A9; name*1*=.pdf", '', 'x']),
    is: { attachments: ['é.pdf application/pdf: x'] },
  },
  {
    name: 'JIS in HTML without a label',
    raw: oddMail(['Content-Type: text/html'], `<p>${JIS}</p>`),
    is: { html: '<p>こんにちは</p>' },
  },
  {
    name: 'JIS labeled iso-8859-1',
    raw: oddMail(['Content-Type: text/plain; charset=iso-8859-1'], JIS),
    is: { text: 'こんにちは' },
  },
  {
    name: 'JIS in the name of the sender',
    raw: Buffer.from([`From: ${JIS} <mara@quill.example>`, '', 'Hello.'].join('\r\n'), 'latin1'),
    is: { fromName: 'こんにちは' },
  },
  {
    name: 'HZ with a soft line break',
    raw: oddMail(['Content-Type: text/plain; charset=HZ-GB-2312'], '~{<:~}~', '~{<:~}'),
    is: { text: '己己' },
  },
  {
    name: 'HZ with a tilde',
    raw: oddMail(['Content-Type: text/plain; charset=hz-gb-2312'], 'a ~~ b ~{<:~}'),
    is: { text: 'a ~ b 己' },
  },
  {
    name: 'ISO-2022-KR across lines',
    raw: oddMail(['Content-Type: text/plain; charset=iso-2022-kr'], '\x1b$)C\x0e>H\x0f x', '\x0e>H\x0f'),
    is: { text: '안 x\n안' },
  },
  { name: 'ISO-2022-KR without a label', raw: oddMail([], '\x1b$)C\x0e>H\x0f x'), is: { text: '안 x' } },
  {
    name: 'a meta charset in single quotes, in quoted-printable',
    raw: oddMail(
      ['Content-Type: text/html', 'Content-Transfer-Encoding: quoted-printable'],
      "<meta charset=3D'iso-8859-2'><p>=B1=B6</p>",
    ),
    is: { htmlHas: ['<p>ąś</p>'] },
  },
  {
    name: 'a meta charset of Japanese, in base64',
    raw: oddMail(
      ['Content-Type: text/html', 'Content-Transfer-Encoding: base64'],
      base64(
        Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>\x82\xb1</p>', 'latin1'),
      ),
    ),
    is: { htmlHas: ['<p>こ</p>'] },
  },
  {
    name: 'an XML declaration with an encoding',
    raw: oddMail(['Content-Type: text/html'], '<?xml version="1.0" encoding="windows-1251"?><p>\xcf\xf0\xe8</p>'),
    is: { htmlHas: ['<p>При</p>'] },
  },
  {
    name: 'raw GB2312 in the subject, by the body',
    raw: oddMail(['Subject: \xc4\xe3\xba\xc3', 'Content-Type: text/plain; charset=gb2312'], '\xc4\xe3'),
    is: { subject: '你好', text: '你' },
  },
  {
    name: 'raw EUC-KR in a name, by the body',
    raw: Buffer.from(
      ['From: "\xbe\xc8" <mara@quill.example>', 'Content-Type: text/html; charset=euc-kr', '', '<p>\xbe\xc8</p>'].join(
        '\r\n',
      ),
      'latin1',
    ),
    is: { fromName: '안' },
  },
  {
    name: 'raw ISO-8859-2 in the subject, by the second part',
    raw: Buffer.from(
      [
        'From: mara@quill.example',
        'Subject: \xb1\xb6\xe6',
        'Content-Type: multipart/alternative; boundary=b',
        '',
        '--b',
        'Content-Type: text/html; charset=iso-8859-2',
        '',
        '<p>\xb1</p>',
        '--b--',
      ].join('\r\n'),
      'latin1',
    ),
    is: { subject: 'ąść' },
  },
  ...(
    [
      ['csISOLatin2', '\xb1', 'ą'],
      ['x-sjis', '\x82\xb1', 'こ'],
      ['windows-31j', '\x82\xb1', 'こ'],
      ['ks_c_5601-1987', '\xbe\xc8', '안'],
      ['cp1251', '\xcf', 'П'],
      ['unicode-1-1-utf-8', utf8('é'), 'é'],
      ['utf8mb4', utf8('é'), 'é'],
      ['iso8859_15', '\xa4', '€'],
      ['x-mac-cyrillic', '\x80', 'А'],
      ['cp850', '\x82', 'é'],
      ['tis-620', '\xa1', 'ก'],
      ['big5-hkscs', '\xa4\xa4', '中'],
      ['gb18030-2000', '\xc4\xe3', '你'],
      ['_iso-8859-1$ESC', '\xe9', 'é'],
      ['no-such-charset', '\x93x\x94', '\u201cx\u201d'],
    ] as const
  ).map(([charset, body, text]) => ({
    name: `the charset ${charset}`,
    raw: oddMail([`Content-Type: text/plain; charset=${charset}`], body),
    is: { text },
  })),
];
