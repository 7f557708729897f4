import { base64, type OddCase, oddMail, oddParts, utf8 } from './odd-case.ts';

const JIS = '\x1b$B$3$s$K$A$O\x1b(B';

/** Odd charsets of bodies and fields. */
export const oddCharsets: OddCase[] = [
  { name: 'JIS without a label', raw: oddMail([], JIS), is: { text: 'こんにちは' } },
  { name: 'JIS of 1978 without a label', raw: oddMail([], '\x1b$@$3$s$K$A$O\x1b(J'), is: { text: 'こんにちは' } },
  {
    name: 'JIS labeled UTF-8',
    raw: oddMail(['Content-Type: text/plain; charset=utf-8'], JIS),
    is: { text: 'こんにちは' },
  },
  {
    name: 'JIS labeled US-ASCII',
    raw: oddMail(['Content-Type: text/plain; charset=us-ascii'], JIS),
    is: { text: 'こんにちは' },
  },
  {
    name: 'half-width Katakana in JIS',
    raw: oddMail(['Content-Type: text/plain; charset=iso-2022-jp'], '\x1b(I1\x1b(B'),
    is: { text: 'ｱ' },
  },
  {
    name: 'ISO-2022-JP-1 with JIS X 0212',
    raw: oddMail(['Content-Type: text/plain; charset=iso-2022-jp-1'], '\x1b$(D0"\x1b(B'),
    is: { text: '丄' },
  },
  {
    name: 'UTF-8 labeled ISO-2022-JP',
    raw: oddMail(['Content-Type: text/plain; charset=iso-2022-jp'], utf8('こんにちは')),
    is: { text: 'こんにちは' },
  },
  {
    name: 'Shift_JIS labeled ISO-2022-JP',
    raw: oddMail(['Content-Type: text/plain; charset=iso-2022-jp'], '\x82\xb1\x82\xf1'),
    is: { text: 'こん' },
  },
  {
    name: 'JIS in Subject and From without any label',
    raw: oddMail([`Subject: ${JIS}`], 'Hello.'),
    is: { subject: 'こんにちは' },
  },
  {
    name: 'Shift_JIS in Subject, by the charset of the body',
    raw: oddMail(['Subject: \x82\xb1\x82\xf1', 'Content-Type: text/plain; charset=shift_jis'], '\x82\xb1'),
    is: { subject: 'こん' },
  },
  {
    name: 'windows-1251 in Subject, by the charset of the first text',
    raw: Buffer.concat([
      Buffer.from('Subject: \xcf\xf0\xe8\r\n', 'latin1'),
      oddParts(['Content-Type: text/plain; charset=windows-1251', '', '\xcf\xf0\xe8']),
    ]),
    is: { subject: 'При', text: 'При' },
  },
  {
    name: 'windows-1252 in Subject although the body is UTF-8',
    raw: oddMail(['Subject: caf\xe9', 'Content-Type: text/plain; charset=utf-8'], utf8('é')),
    is: { subject: 'café', text: 'é' },
  },
  {
    name: 'Big5 in the name of an attachment',
    raw: oddParts(
      ['Content-Type: text/plain; charset=big5', '', '\xa7A'],
      ['Content-Type: image/png; name="\xa7A\xa6n.png"', '', 'x'],
    ),
    is: { text: '你', attachments: ['你好.png image/png: x'] },
  },
  {
    name: 'HTML with meta charset only',
    raw: oddMail(
      ['Content-Type: text/html'],
      '<html><head><meta charset="shift_jis"></head><p>\x82\xb1\x82\xf1</p></html>',
    ),
    is: { htmlHas: ['<p>こん</p>'] },
  },
  {
    name: 'HTML with a meta http-equiv only, in capitals',
    raw: oddMail(
      ['Content-Type: text/html'],
      `<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=KOI8-R'><p>\xf0\xd2\xc9</p>`,
    ),
    is: { htmlHas: ['<p>При</p>'] },
  },
  {
    name: 'HTML with meta and an unknown label',
    raw: oddMail(['Content-Type: text/html; charset=x-unknown'], '<meta charset=iso-8859-2><p>\xb3</p>'),
    is: { htmlHas: ['<p>ł</p>'] },
  },
  {
    name: 'HTML that is UTF-8 although its meta says otherwise',
    raw: oddMail(['Content-Type: text/html; charset=utf-8'], `<meta charset=iso-8859-1><p>${utf8('ł')}</p>`),
    is: { htmlHas: ['<p>ł</p>'] },
  },
  {
    name: 'a byte order mark of UTF-8',
    raw: oddMail(['Content-Type: text/plain; charset=utf-8'], `${utf8('\ufeff')}Hello.`),
    is: { text: 'Hello.' },
  },
  {
    name: 'UTF-16 with a byte order mark labeled UTF-8',
    raw: oddMail(
      ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64'],
      base64(Buffer.from('\ufeffHé', 'utf16le')),
    ),
    is: { text: 'Hé' },
  },
  {
    name: 'UTF-16 without a label',
    raw: oddMail(
      ['Content-Type: text/html', 'Content-Transfer-Encoding: base64'],
      base64(Buffer.from('\ufeff<p>ł</p>', 'utf16le')),
    ),
    is: { html: '<p>ł</p>' },
  },
  {
    name: 'UTF-16BE by its byte order mark',
    raw: oddMail(
      ['Content-Type: text/plain; charset=utf-16', 'Content-Transfer-Encoding: base64'],
      base64(Buffer.from('\ufeffHé', 'utf16le').swap16()),
    ),
    is: { text: 'Hé' },
  },
  {
    name: 'UTF-32',
    raw: oddMail(
      ['Content-Type: text/plain; charset=utf-32', 'Content-Transfer-Encoding: base64'],
      base64(Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x41])),
    ),
    is: { text: 'A' },
  },
  {
    name: 'HZ',
    raw: oddMail(['Content-Type: text/plain; charset=hz-gb-2312'], 'a~{<:Ky2;~}b~~'),
    is: { text: 'a己所不b~' },
  },
  {
    name: 'ISO-2022-KR',
    raw: oddMail(['Content-Type: text/plain; charset=iso-2022-kr'], '\x1b$)CAB \x0e>H3g\x0f!'),
    is: { text: 'AB 안녕!' },
  },
  {
    name: 'ISO-2022-CN',
    raw: oddMail(['Content-Type: text/plain; charset=iso-2022-cn'], '\x1b$)A\x0eDc:C\x0f!'),
    is: { text: '你好!' },
  },
  {
    name: 'EBCDIC',
    raw: oddMail(
      ['Content-Type: text/plain; charset=ibm037', 'Content-Transfer-Encoding: base64'],
      base64(Buffer.from([0xc8, 0x85, 0x93, 0x93, 0x96])),
    ),
    is: { text: 'Hello' },
  },
  ...(
    [
      ['utf8mb4', utf8('é'), 'é'],
      ['utf-8;', utf8('é'), 'é'],
      ['"utf-8', utf8('é'), 'é'],
      ["'utf-8'", utf8('é'), 'é'],
      ['charset=utf-8', utf8('é'), 'é'],
      ['"charset=koi8-r"', '\xf0', 'П'],
      ['utf-8 (Unicode)', utf8('é'), 'é'],
      ['UTF_8', utf8('é'), 'é'],
      ['x-no-such', '\xe9', 'é'],
      ['x-no-such', utf8('ł'), 'ł'],
      ['_iso-2022-jp', JIS, 'こんにちは'],
      ['csISO2022JP', JIS, 'こんにちは'],
      ['cp50220', JIS, 'こんにちは'],
      ['932', '\x82\xb1', 'こ'],
      ['ms_kanji', '\x82\xb1', 'こ'],
      ['windows-31j', '\x87@', '①'],
      ['136', '\xa7A', '你'],
      ['cp936', '\xc4\xe3', '你'],
      ['x-gbk', '\xc4\xe3', '你'],
      ['204', '\xcf', 'П'],
      ['1251', '\xcf', 'П'],
      ['cp-1251', '\xcf', 'П'],
      ['windows_1251', '\xcf', 'П'],
      ['x-cp1251', '\xcf', 'П'],
      ['windows1250', '\xb3', 'ł'],
      ['ISO_8859-2:1987', '\xb3', 'ł'],
      ['iso8859_15', '\xa4', '€'],
      ['iso-8859-8-i', '\xf9', 'ש'],
      ['x-mac-roman', '\x8e', 'é'],
      ['x-mac-ce', '\xb8', 'ł'],
      ['x-mac-cyrillic', '\x80', 'А'],
      ['koi8u', '\xa4', 'є'],
      ['cp1258', '\xd0', 'Đ'],
      ['IBM850', '\x82', 'é'],
      ['cp00858', '\xd5', '€'],
      ['437', '\x82', 'é'],
      ['tis620', '\xa1', 'ก'],
      ['ks_c_5601-1989', '\xbe\xc8', '안'],
      ['949', '\xbe\xc8', '안'],
      ['x-euc-jp', '\xa4\xb3', 'こ'],
      ['ansi_x3.110-1983', '\xe9', 'é'],
      ['unicode-1-1-utf-7', '+AOk-', 'é'],
      ['x-unicode-2-0-utf-7', '+AOk-', 'é'],
      ['big5-hkscs:2004', '\xa7A', '你'],
      ['gb_2312-80', '\xc4\xe3', '你'],
      ['iso-ir-100', '\xe9', 'é'],
      ['l9', '\xa4', '€'],
      ['arabic', '\xc8', 'ب'],
      ['viscii', '\xd0', 'Đ'],
    ] as const
  ).map(([charset, bytes, text]) => ({
    name: `the charset ${charset} of ${text}`,
    raw: oddMail([`Content-Type: text/plain; charset=${charset}`], bytes),
    is: { text },
  })),
];
