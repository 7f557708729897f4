/** A body of POST /emails, wrong ones too. */
export type EmailBody = Record<string, unknown>;

/** What hostile emails name. */
export interface HostileStage {
  /** an address that may send */
  sender: string;
  /** of a server and of a file that must not be read */
  canary: { url: string; file: string };
}

/** Characters that end a line for some reader, and others that no line may hold. */
export const lineEnds: [name: string, mark: string][] = [
  ['CR LF', '\r\n'],
  ['LF', '\n'],
  ['CR', '\r'],
  ['NUL', '\0'],
  ['NEL', '\u0085'],
  ['LINE SEPARATOR', '\u2028'],
  ['PARAGRAPH SEPARATOR', '\u2029'],
  ['VT', '\v'],
  ['FF', '\f'],
  ['half a character', '\ud800'],
];

/** Where a line end may try to begin a header field of its own. */
export const oneLineFields: [field: string, over: (smuggled: string, sender: string) => EmailBody][] = [
  ['from', (smuggled, sender) => ({ from: `${sender}${smuggled}` })],
  ['from', (smuggled, sender) => ({ from: `Ada${smuggled} <${sender}>` })],
  ['from', (smuggled, sender) => ({ from: `"Ada${smuggled}" <${sender}>` })],
  ['to', (smuggled) => ({ to: `ada@hostile-peer.test${smuggled}` })],
  ['to', (smuggled) => ({ to: ['bob@hostile-peer.test', `Ada${smuggled} <ada@hostile-peer.test>`] })],
  ['cc', (smuggled) => ({ cc: `ada@hostile-peer.test${smuggled}` })],
  ['bcc', (smuggled) => ({ bcc: [`ada@hostile-peer.test${smuggled}`] })],
  ['reply_to', (smuggled) => ({ reply_to: `"Ada${smuggled}" <ada@hostile-peer.test>` })],
  ['subject', (smuggled) => ({ subject: `Hello${smuggled}` })],
  ['headers', (smuggled) => ({ headers: { [`X-One${smuggled}`]: 'value' } })],
  ['headers', (smuggled) => ({ headers: { 'X-One': `value${smuggled}` } })],
  ['headers', (smuggled) => ({ headers: { References: `<a@b>${smuggled}` } })],
  ['tags', (smuggled) => ({ tags: [{ name: `kind${smuggled}`, value: 'x' }] })],
  ['tags', (smuggled) => ({ tags: [{ name: 'kind', value: `x${smuggled}` }] })],
  ['attachments', (smuggled) => ({ attachments: [{ filename: `a.txt${smuggled}`, content: 'QQ==' }] })],
  ['attachments', (smuggled) => ({ attachments: [{ content_type: `text/plain${smuggled}`, content: 'QQ==' }] })],
  ['attachments', (smuggled) => ({ attachments: [{ content_id: `a${smuggled}`, content: 'QQ==' }] })],
  ['scheduled_at', (smuggled) => ({ scheduled_at: `in 2 hours${smuggled}` })],
  ['timezone', (smuggled) => ({ scheduled_at: 'in 2 hours', timezone: `UTC${smuggled}` })],
];

const words = (text: string) => text.split(' ');

/** Header fields that are ours, or only for agents on the way, and names that are none. */
const refusedNames = [
  ...words('From Sender To Cc Bcc bcc BCC Reply-To Subject Date Message-ID Return-Path Received Received-SPF'),
  ...words('DKIM-Signature dkim-signature Authentication-Results ARC-Seal MIME-Version Content-Type Resent-Bcc'),
  ...'Bcc | Bcc|Bcc:|Bcc\t|B\u0441c|X One|X:One||X-\u00e9'.split('|'),
  'x'.repeat(127),
];

/** Emails that cannot be sent: what is wrong with each, the field at fault, and what makes an ordinary email so. */
export const refusedEmails: [title: string, field: string, over: (stage: HostileStage) => EmailBody][] = [
  ...refusedNames.map((name): [string, string, () => EmailBody] => [
    `a header called ${JSON.stringify(name)}`,
    'headers',
    () => ({ headers: { [name]: 'eve@evil.test' } }),
  ]),
  ['a header given twice', 'headers', () => ({ headers: { 'X-One': '1', 'x-one': '2' } })],
  [
    '51 headers',
    'headers',
    () => ({ headers: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`X-${n}`, 'x'])) }),
  ],
  ['a header of 999 characters', 'headers', () => ({ headers: { 'X-One': 'x '.repeat(499) + 'xx' } })],
  [
    'a prepared header',
    'headers',
    () => ({ headers: { 'X-One': { prepared: true, value: 'x\r\nBcc: eve@evil.test' } } }),
  ],
  ['headers in a list', 'headers', () => ({ headers: [{ key: 'Bcc', value: 'eve@evil.test' }] })],
  ['text by path', 'text', ({ canary }) => ({ text: { path: canary.file } })],
  ['text by URL', 'text', ({ canary }) => ({ text: { href: canary.url } })],
  ['HTML by path', 'html', ({ canary }) => ({ html: { path: canary.file } })],
  ['HTML by URL', 'html', ({ canary }) => ({ html: { href: canary.url } })],
  ['a subject by path', 'subject', ({ canary }) => ({ subject: { path: canary.file } })],
  ['an attachment by path', 'attachments', ({ canary }) => ({ attachments: [{ filename: 'a', path: canary.file }] })],
  [
    'an attachment by path beside content',
    'attachments',
    ({ canary }) => ({ attachments: [{ content: '', path: canary.file }] }),
  ],
  [
    'an attachment by URL',
    'attachments',
    ({ canary }) => ({ attachments: [{ filename: 'a', path: canary.url, content: 'QQ==' }] }),
  ],
  ['an attachment by href', 'attachments', ({ canary }) => ({ attachments: [{ filename: 'a', href: canary.url }] })],
  ['raw attachment octets', 'attachments', ({ canary }) => ({ attachments: [{ raw: { path: canary.file } }] })],
  [
    'attachment content by path',
    'attachments',
    ({ canary }) => ({ attachments: [{ content: { path: canary.file } }] }),
  ],
  ['attachment content by URL', 'attachments', ({ canary }) => ({ attachments: [{ content: { href: canary.url } }] })],
  [
    'attachment content as a file: URL',
    'attachments',
    ({ canary }) => ({ attachments: [{ content: `file://${canary.file}` }] }),
  ],
  ['attachment content as an http: URL', 'attachments', ({ canary }) => ({ attachments: [{ content: canary.url }] })],
  ['a data: URL that is not base64', 'attachments', () => ({ attachments: [{ content: 'data:text/plain,hello' }] })],
  [
    'a Buffer as JSON with more than a byte',
    'attachments',
    () => ({ attachments: [{ content: { type: 'Buffer', data: [256] } }] }),
  ],
  ['wrong base64', 'attachments', () => ({ attachments: [{ content: 'QQ=' }] })],
  [
    'a multipart as attachment',
    'attachments',
    () => ({ attachments: [{ content_type: 'multipart/mixed', content: 'QQ==' }] }),
  ],
  [
    'the same content_id twice',
    'attachments',
    () => ({
      attachments: [
        { content: 'QQ==', content_id: 'a' },
        { content: 'QQ==', content_id: 'a' },
      ],
    }),
  ],
  ['21 attachments', 'attachments', () => ({ attachments: Array.from({ length: 21 }, () => ({ content: 'QQ==' })) })],
  [
    '10 MiB and 1 octet',
    'attachments',
    () => ({ text: 'x', attachments: [{ content: Buffer.alloc(10 * 1_024 * 1_024).toString('base64') }] }),
  ],
  ['10 MiB and 1 octet of text', 'text', () => ({ text: 'x'.repeat(10 * 1_024 * 1_024 + 1) })],
  ['a subject of 999 characters', 'subject', () => ({ subject: 'x'.repeat(999) })],
  ['no body', 'html', () => ({ text: '', html: null })],
  ['no recipient', 'to', () => ({ to: [] })],
  ['an empty recipient', 'to', () => ({ to: [''] })],
  ['51 recipients', 'to', () => ({ to: Array.from({ length: 51 }, (_, n) => `r${n}@hostile-peer.test`) })],
  [
    '51 recipients in one text',
    'to',
    () => ({ to: Array.from({ length: 51 }, (_, n) => `r${n}@hostile-peer.test`).join(', ') }),
  ],
  ['two senders', 'from', ({ sender }) => ({ from: `${sender}, eve@evil.test` })],
  ['a list of senders', 'from', ({ sender }) => ({ from: [sender] })],
  ['a sender as an object', 'from', () => ({ from: { name: 'Ada', address: 'eve@evil.test' } })],
  ["another's address as the sender's name", 'from', ({ sender }) => ({ from: `"ceo@evil.test" <${sender}>` })],
  [
    "another's address as the sender's name, in disguise",
    'from',
    ({ sender }) => ({ from: `=?utf-8?q?ceo=40evil.test?= <${sender}>` }),
  ],
  [
    "another's address as the sender's name, in wide letters",
    'from',
    ({ sender }) => ({ from: `"ceo\uff20evil.test" <${sender}>` }),
  ],
  ['a comment with an address', 'from', ({ sender }) => ({ from: `eve@evil.test (${sender})(` })],
  ['a group', 'to', () => ({ to: 'all: eve@evil.test, ada@hostile-peer.test;' })],
  ['a source route', 'to', () => ({ to: '<@evil.test:ada@hostile-peer.test>' })],
  ['a quoted local-part', 'to', () => ({ to: '"eve@evil.test"@hostile-peer.test' })],
  ['two at signs', 'to', () => ({ to: 'eve@evil.test@hostile-peer.test' })],
  ['an address literal', 'to', () => ({ to: 'ada@[127.0.0.1]' })],
  ['a number for a domain', 'to', () => ({ to: 'ada@2130706433' })],
  ['SMTP parameters', 'to', () => ({ to: 'ada@hostile-peer.test> SIZE=1' })],
  ['an address in an address', 'to', () => ({ to: '<ada@hostile-peer.test> <eve@evil.test>' })],
  ['a local-part of 65 characters', 'to', () => ({ to: `${'a'.repeat(65)}@hostile-peer.test` })],
  ['a local-part beyond ASCII', 'to', () => ({ to: 'ad\u00e4@hostile-peer.test' })],
  ['a recipient as an object', 'to', () => ({ to: { address: 'eve@evil.test' } })],
  ['21 tags', 'tags', () => ({ tags: Array.from({ length: 21 }, () => ({ name: 'a', value: 'b' })) })],
  ['an unknown zone', 'timezone', () => ({ scheduled_at: 'in 2 hours', timezone: 'Mars/Phobos' })],
  ['a past time', 'scheduled_at', () => ({ scheduled_at: '2020-01-01T00:00:00Z' })],
  ['a time in 59 seconds', 'scheduled_at', () => ({ scheduled_at: new Date(Date.now() + 59_000).toISOString() })],
  [
    'a time in two years',
    'scheduled_at',
    () => ({ scheduled_at: new Date(Date.now() + 730 * 86_400_000).toISOString() }),
  ],
  ['a time within other words', 'scheduled_at', () => ({ scheduled_at: 'never, or tomorrow at 9am; drop table' })],
];
