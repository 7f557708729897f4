import { makeMessage, type OutgoingCase } from './outgoing-attacks.ts';

/*
 * More ways to hide a link or a file from a policy: by layout, by the names of files, by XML, by encoded values, and by fields that readers
 * show in a form of their own.
 */

const HEAD = ['From: Ann <ann@inbox.test>', 'MIME-Version: 1.0'];
const html = (body: string) => makeMessage([...HEAD, 'Content-Type: text/html; charset=utf-8'], body);
const text = (body: string) => makeMessage([...HEAD, 'Content-Type: text/plain; charset=utf-8'], body);
const withField = (field: string) => makeMessage([...HEAD, field], 'Hello');
const withPart = (head: string, body: string) =>
  makeMessage(
    [...HEAD, 'Content-Type: multipart/mixed; boundary=b'],
    `--b\r\n\r\nHello\r\n--b\r\n${head}\r\n\r\n${body}\r\n--b--`,
  );
const file = (name: string, body: string, type = 'application/octet-stream') =>
  withPart(`Content-Type: ${type}\r\nContent-Disposition: attachment; filename="${name}"`, body);

const layouts: [string, string, OutgoingCase['finds']][] = [
  ['a hidden element within a name', 'evil.<span style="display:none">zzz</span>com', 'link'],
  ['an element with the attribute hidden', 'evil.<span hidden>zzz</span>com', 'link'],
  ['a hidden class', '<style>.x{display:none}</style>evil.<span class=x>zzz</span>com', 'link'],
  ['a hidden tag', '<style>i{display:none}</style>evil.<i>zzz</i>com', 'link'],
  ['letters without a size', 'evil.<span style="font-size:0">zzz</span>com', 'link'],
  ['invisible text', 'evil.<span style="visibility:hidden">zzz</span>com', 'link'],
  [
    'letters with a size within those without',
    '<p style="font-size:0"><b style="font-size:9pt">evil.</b>zzz<b style="font-size:9pt">com</b>',
    'link',
  ],
  ['an inline block', 'evil.<div style="display:inline">com</div>', 'link'],
  ['inline paragraphs', '<p style="display:inline">evil.</p><p style="display:inline">com</p>', 'link'],
  ['inline paragraphs by a style sheet', '<style>p { display: inline }</style><p>evil.</p><p>com</p>', 'link'],
  ['a hidden line break', 'evil.<br style="display:none">com', 'link'],
  ['an unknown element', 'evil.<x-y>com</x-y>', 'link'],
  ['an element that is no block', 'evil.<output>com</output>', 'link'],
  ['a picture in SVG as data', '<img src="data:image/svg+xml,%3Csvg/%3E">', 'link'],
  ['a charset that a long tag states', `<meta ${'a'.repeat(300)}=1 charset=utf-7>Hello`, 'doubt'],
  ['a charset behind a quoted bracket', '<meta a=">" charset=utf-7>Hello', 'doubt'],
  ['paragraphs that end without a space', '<p>Hello.</p><p>it works</p>', null],
  ['cells and line breaks', '<table><tr><td>Hello.</td><td>it</td></tr></table>Yes.<br>no', null],
  ['a hidden preheader', '<div style="display:none">Your order.</div><p>it is here</p>', null],
];

const fields: [string, string, OutgoingCase['finds']][] = [
  ['a name in angle brackets', 'Reply-To: "<@https://evil.com>" <a@b.test>', 'link'],
  ['a name in angle brackets with a space', 'To: "<x@y https://evil.com>" <a@b.test>', 'link'],
  ['an address in a field of a list without a scheme', 'List-Help: <evil.com/x>', 'link'],
  ['the name of a list', 'List-Id: https://evil.com <x.y>', 'link'],
  ['the id of a list', 'List-Id: Friends <friends.inbox.com>', null],
  ['a quoted local part', 'To: "Ada" <"ada b"@elsewhere.com>', null],
];

const URL_FILE = '[InternetShortcut]\r\nURL=https://evil.com';
const CARD = 'BEGIN:VCARD\r\nVERSION:2.1\r\n';
const files: [string, Buffer, OutgoingCase['finds']][] = [
  ['HTML by its name', file('x.html', '<a href="evil">x</a>'), 'link'],
  ['HTML of an unknown type by its name', file('x.htm', '<a href="evil">x</a>', 'application/x-unknown'), 'link'],
  ['a shortcut', file('x.url', URL_FILE), 'link'],
  [
    'a shortcut in UTF-16',
    Buffer.concat([
      file('x.url', '').subarray(0, -9),
      Buffer.from(`\ufeff${URL_FILE}`, 'utf16le'),
      Buffer.from('\r\n--b--\r\n'),
    ]),
    'link',
  ],
  [
    'a message by its name',
    file('x.eml', 'Subject: Hi\r\nContent-Transfer-Encoding: base64\r\n\r\naHR0cHM6Ly9ldmlsLmNvbQ=='),
    'link',
  ],
  ['a calendar by its name', file('x.ics', 'BEGIN:VCALENDAR\r\nURL:https://evil.com'), 'link'],
  [
    'a plain name beside an extended one',
    withPart(
      `Content-Type: image/png\r\nContent-Disposition: attachment; filename="https://evil.com"; filename*=utf-8''ok.png`,
      'x',
    ),
    'link',
  ],
  [
    'a name beside a filename',
    withPart(
      'Content-Type: image/png; name="https://evil.com"\r\nContent-Disposition: attachment; filename=ok.png',
      'x',
    ),
    'link',
  ],
  [
    'a name in sections out of order',
    withPart(
      'Content-Type: image/png\r\nContent-Disposition: attachment; filename*1="//evil"; filename*0="https:"',
      'x',
    ),
    'link',
  ],
  ['a style sheet of SVG', withPart('Content-Type: image/svg+xml', '<?xml-stylesheet href="evil.css"?><svg/>'), 'link'],
  [
    'an entity of SVG',
    withPart('Content-Type: image/svg+xml', '<!DOCTYPE svg [<!ENTITY x "//evil">]><svg><text>&x;</text></svg>'),
    'link',
  ],
  [
    'CDATA of XHTML',
    withPart('Content-Type: application/xhtml+xml', '<html><body><![CDATA[https://evil.com]]></body></html>'),
    'link',
  ],
  [
    'the charset of XHTML',
    withPart('Content-Type: application/xhtml+xml', '<?xml version="1.0" encoding="utf-7"?><html/>'),
    'doubt',
  ],
  [
    'a quoted-printable value of a card',
    withPart('Content-Type: text/x-vcard', `${CARD}URL;ENCODING=QUOTED-PRINTABLE:http=3A//evil=2Ecom`),
    'link',
  ],
  [
    'a soft line end in a card',
    withPart('Content-Type: text/x-vcard', `${CARD}NOTE;QUOTED-PRINTABLE:evil.=\r\ncom`),
    'link',
  ],
  [
    'a base64 value of a card',
    withPart('Content-Type: text/vcard', `${CARD}URL;ENCODING=b:aHR0cHM6Ly9ldmlsLmNvbQ==`),
    'link',
  ],
  [
    'folded HTML of a calendar',
    withPart(
      'Content-Type: text/calendar',
      'BEGIN:VCALENDAR\r\nX-ALT-DESC;FMTTYPE=text/html:<a hr\r\n ef="evil">x</a>',
    ),
    'link',
  ],
  ['uuencode behind two spaces', text('begin  644 x.txt\r\n#0V%T\r\n`\r\nend'), 'file'],
  ['SVG as data', html('<img src="data:image/svg+xml,%3Csvg/%3E">'), 'file'],
];

const names: [string, string, OutgoingCase['finds']][] = [
  ['a host name of an emoji', 'See 😀.ws now', 'link'],
  ['a host name of a symbol', 'See ☃.net now', 'link'],
  ['an A-label before an ideograph', 'See example.xn--p1ai吧', 'link'],
  ['an emoji before a word', 'Well done 👍. It works', null],
];

/** Messages that hide something in ways that OUTGOING_CASES has not. */
export const OUTGOING_EVASIONS: OutgoingCase[] = [
  ...layouts.map(([name, body, finds]) => ({ name: `layout: ${name}`, bytes: html(body), finds })),
  ...fields.map(([name, field, finds]) => ({ name: `field: ${name}`, bytes: withField(field), finds })),
  ...files.map(([name, bytes, finds]) => ({ name: `file: ${name}`, bytes, finds })),
  ...names.map(([name, body, finds]) => ({ name: `text: ${name}`, bytes: text(body), finds })),
];
