import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ParsedMail, simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmailBody, lineEnds, oneLineFields, refusedEmails } from '../support/mail/hostile-emails.ts';
import { MESSAGE_COLUMNS, type MessageColumns, readStoredMessage } from '../support/rows/stored-message.ts';
import { type ServiceResponse, until } from '../support/servers/service.ts';
import type { SharedZone } from '../support/servers/shared-dns.ts';
import type { SinkMessage } from '../support/servers/sink-mta.ts';
import { SmtpClient, toData } from '../support/servers/smtp-client.ts';
import {
  listFields,
  readField,
  SendingStage,
  type SharedGround,
  type StageAccount,
} from '../support/stages/sending-stage.ts';

const CANARY = 'canary-9f1c7b';
/** in the text of whatever is sent here */
const MARK = 'mark-9f1c7b';

let stage: SendingStage<SharedGround>;
/** of the domain that nothing may lead to */
let evil: SharedZone;
let stranger: StageAccount;
let sender: string;
/** an email that came in, to be answered */
let original: string;
let canary: { url: string; file: string; visits: string[]; server: Server; directory: string };

beforeAll(async () => {
  stage = await SendingStage.share('single', 'hostile-peer.test');
  evil = stage.service.openZone('evil.test');
  stranger = await stage.service.createAccount();
  sender = await stage.createAddress('hello');
  original = await receive([
    'Message-ID: <original@hostile-peer.test>',
    'From: ada@hostile-peer.test',
    'Subject: Hello',
  ]);
  const visits: string[] = [];
  const server = createServer((request, response) => {
    visits.push(request.url ?? '');
    response.end(CANARY);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-canary-'));
  const file = path.join(directory, 'canary.txt');
  await writeFile(file, CANARY);
  const { port } = server.address() as AddressInfo;
  canary = { url: `http://127.0.0.1:${port}/canary`, file, visits, server, directory };
}, 300_000);

afterAll(async () => {
  await stage?.stop();
  canary?.server.close();
  await rm(canary?.directory ?? '', { recursive: true, force: true });
});

function benign(over: EmailBody = {}): EmailBody {
  return { from: sender, to: 'ada@hostile-peer.test', subject: 'Hello', text: `Hello ${MARK}`, ...over };
}

function send(body: EmailBody, headers: Record<string, string> = {}): Promise<ServiceResponse> {
  return stage.account.call('POST', '/emails', body, headers);
}

/** Hands a message with these header fields to our listener; returns the id of the email once it is threaded. */
async function receive(fields: string[]): Promise<string> {
  const client = await SmtpClient.greet(stage.service.smtpPort);
  const reply = await client.deliver(toData(Buffer.from([...fields, '', 'Text', ''].join('\r\n'))), [sender]);
  client.destroy();
  const id = /em_[0-9a-f]{32}/.exec(reply.text)?.[0] ?? '';
  await until(
    `the received ${id} is threaded`,
    () => reply.text,
    async () => (await stage.account.call('GET', `/emails/${id}`)).body.thread_id !== null,
  );
  return id;
}

/** The names of the fields that a response is about. */
function faults(response: ServiceResponse): string[] {
  const details: unknown = response.body.details;
  return Array.isArray(details) ? details.map((detail: { field: string }) => detail.field) : [];
}

async function countRows(): Promise<Record<string, number>> {
  const [row] = await stage.query<Record<string, number>>(
    `select (select count(*)::int from email where workspace_id = any($1)) as emails,
            (select count(*)::int from raw_message where id not in
              (select raw_id from email where workspace_id <> all($1) and raw_id is not null)) as messages,
            (select count(*)::int from recipient where workspace_id = any($1)) as recipients,
            (select count(*)::int from idempotency_key where workspace_id = any($1)) as keys`,
    [[stage.account.workspaceId, stranger.workspaceId]],
  );
  return row ?? {};
}

/** The rows once those of earlier mail no longer change: a message is stored before the email that refers to it. */
async function settledRows(): Promise<Record<string, number>> {
  let rows = await countRows();
  await until(
    'the rows of earlier mail settle',
    () => JSON.stringify(rows),
    async () => {
      const before = JSON.stringify(rows);
      await sleep(250);
      rows = await countRows();
      return JSON.stringify(rows) === before;
    },
  );
  return rows;
}

/** Runs the attempts, whose responses are checked within, and shows that nothing came of them: no row, nothing at the sink, no look-up. */
async function expectNothing(attempts: () => Promise<void>): Promise<void> {
  const rows = await settledRows();
  const offered = stage.sink.offered.length;
  await attempts();
  expect(await countRows()).toEqual(rows);
  const after = await send(benign({ subject: 'The one that follows' }));
  expect(after.status, JSON.stringify(after.body)).toBe(200);
  await stage.awaitMessage(after.body.message_id);
  expect(stage.sink.offered.length - offered, 'messages at the sink').toBe(1);
  expect(evil.asked()).toEqual([]);
  expect(canary.visits).toEqual([]);
}

test.each(lineEnds)('%s in a field of one line is 400 with the field, and stores nothing', async (_, mark) => {
  await expectNothing(async () => {
    for (const [field, over] of oneLineFields) {
      const body = over(`${mark}Bcc: eve@evil.test`, sender);
      const key = { 'idempotency-key': `line-end-${field}` };
      const response = await send(benign(body), key);
      expect([response.status, faults(response)[0]?.split('.')[0], body], JSON.stringify(response.body)).toEqual([
        400,
        field,
        body,
      ]);
      const reply = await stage.account.call('POST', `/emails/${original}/reply`, benign(body), key);
      expect([reply.status, faults(reply)[0]?.split('.')[0], body], JSON.stringify(reply.body)).toEqual([
        400,
        field,
        body,
      ]);
      const batch = await stage.account.call('POST', '/emails/batch', [benign(), benign(body)], key);
      expect([batch.status, faults(batch)[0]?.split('.').slice(0, 3), body], JSON.stringify(batch.body)).toMatchObject([
        400,
        ['emails', '1', field],
        body,
      ]);
    }
  });
});

test('a request that cannot be sent is 400 with the field, and stores nothing', async () => {
  await expectNothing(async () => {
    for (const [title, field, over] of refusedEmails) {
      const response = await send(benign(over({ sender, canary })), { 'idempotency-key': 'refused' });
      expect([title, response.status, faults(response)[0]?.split('.')[0]], JSON.stringify(response.body)).toEqual([
        title,
        400,
        field,
      ]);
      expect(JSON.stringify(response.body)).not.toContain(CANARY);
    }
  });
});

test("a sender at another's, an unverified or an unknown domain is 403, and stores nothing", async () => {
  await stage.account.call('POST', '/domains', { domain: 'pending.example' });
  const domains = await stage.account.call('GET', '/domains?status=pending');
  expect(domains.body.data.map((each: { domain: string }) => each.domain)).toEqual(['pending.example']);
  await expectNothing(async () => {
    for (const from of [
      `hello@${stranger.domain}`,
      `"Hello" <hello@${stranger.domain.toUpperCase()}>`,
      'hello@pending.example',
      'hello@evil.test',
      `hello@sub.${stage.account.domain}`,
      `hello@x${stage.account.domain}`,
    ]) {
      const response = await send(benign({ from }), { 'idempotency-key': 'foreign' });
      expect([from, response.status, faults(response)]).toEqual([from, 403, ['from']]);
    }
  });
});

interface Wire {
  message: SinkMessage;
  /** as an independent reader has it */
  parsed: ParsedMail;
}

const CRLF_TEXT =
  'one\r\ntwo\nthree\rfour\n\r\n\r.\n.\r\n..\r\n.\r.\r\nMAIL FROM:<eve@evil.test>\nRCPT TO:<eve@evil.test>\nDATA\r\n.';
/** How a reader sees it: every line end is one. */
const LINES = CRLF_TEXT.replace(/\r\n|\r|\n/g, '\n');

const accepted: [string, () => EmailBody, (wire: Wire) => void][] = [
  [
    'every kind of line end and lines of dots in text',
    () => ({ text: CRLF_TEXT }),
    ({ parsed }) => expect(parsed.text?.trimEnd()).toBe(LINES),
  ],
  [
    'every kind of line end and lines of dots in HTML',
    () => ({ text: undefined, html: `<pre>\n${CRLF_TEXT}</pre>` }),
    ({ parsed }) => expect(parsed.html).toContain(LINES),
  ],
  [
    'lines of 2,000 characters that begin with dots',
    () => ({ text: `${'.'.repeat(2_000)}\n${'x'.repeat(2_000)}\n.`, html: `.${'y'.repeat(5_000)}` }),
    ({ parsed }) => expect(parsed.text?.trimEnd()).toBe(`${'.'.repeat(2_000)}\n${'x'.repeat(2_000)}\n.`),
  ],
  ['a text that is one dot', () => ({ text: '.' }), ({ parsed }) => expect(parsed.text?.trimEnd()).toBe('.')],
  [
    'a text that begins with a header section',
    () => ({ text: 'Bcc: eve@evil.test\r\nSubject: Other\r\n\r\nText' }),
    ({ parsed }) => expect(parsed.text).toContain('Bcc: eve@evil.test'),
  ],
  [
    'a text that looks like a part of ours',
    () => ({ text: '----_NmP-1\r\nContent-Type: text/html\r\n\r\nx', html: '<p>Hi</p>' }),
    ({ parsed }) => expect(parsed.text).toContain('Content-Type: text/html'),
  ],
  [
    'Unicode line ends, NUL, half a character and a byte order mark in text',
    () => ({ text: '\ufeffa\u2028b\u2029c\u0085d\0e\ud800f' }),
    ({ parsed }) => expect(parsed.text?.trimEnd()).toMatch(/a\u2028b\u2029c\u0085d.?e\ufffdf$/),
  ],
  [
    'text of any script',
    () => ({ text: '日本語 עברית 🙂'.repeat(400) }),
    ({ parsed }) => expect(parsed.text).toContain('עברית'),
  ],
  [
    'a subject that hides line ends in an encoded word',
    () => ({ subject: '=?utf-8?q?Hello=0d=0aBcc:_eve=40evil.test?=' }),
    ({ parsed }) => expect(parsed.subject).toMatch(/^(=\?utf-8\?q\?Hello|Hello)/),
  ],
  [
    'a subject of 998 characters beyond ASCII',
    () => ({ subject: 'ü'.repeat(998) }),
    ({ parsed }) => expect(parsed.subject).toBe('ü'.repeat(998)),
  ],
  [
    'a subject of one word of 998 characters',
    () => ({ subject: 's'.repeat(998) }),
    ({ parsed }) => expect(parsed.subject).toBe('s'.repeat(998)),
  ],
  [
    'header values that hide line ends in encoded words',
    () => ({ headers: { 'X-One': '=?utf-8?b?DQpCY2M6IGV2ZUBldmlsLnRlc3Q=?=' } }),
    ({ message }) => expect(readField(message.bytes, 'X-One')).not.toBeNull(),
  ],
  [
    'the longest header value, and fifty of them',
    () => ({
      headers: Object.fromEntries(
        Array.from({ length: 50 }, (_, n) => [`X-Long-${n}`, `${'v'.repeat(490)} ${'w'.repeat(490)}`]),
      ),
    }),
    ({ message }) => expect(readField(message.bytes, 'X-Long-49')).toBe(`${'v'.repeat(490)} ${'w'.repeat(490)}`),
  ],
  [
    'names that hide line ends and quotes',
    () => ({ from: `=?utf-8?q?Ada=0d=0aBcc=3a_eve?= <${sender}>`, to: '"A \\"B\\" , C; <D>" <ada@hostile-peer.test>' }),
    ({ parsed }) => expect(parsed.from?.value).toMatchObject([{ address: sender }]),
  ],
  [
    'percent hack and bang path, which are but local-parts',
    () => ({
      to: [
        'eve%evil.test@hostile-peer.test',
        'evil.test!eve@hostile-peer.test',
        '-oQ/tmp@hostile-peer.test',
        '|cat@hostile-peer.test',
      ],
    }),
    ({ message }) =>
      expect(message.recipients.toSorted()).toEqual(
        [
          'eve%evil.test@hostile-peer.test',
          'evil.test!eve@hostile-peer.test',
          '-oQ/tmp@hostile-peer.test',
          '|cat@hostile-peer.test',
        ].toSorted(),
      ),
  ],
  [
    'fifty recipients, some of them twice, most of them blind',
    () => ({
      to: ['t1@hostile-peer.test', 't1@hostile-peer.test'],
      cc: ['c1@hostile-peer.test', 't1@HOSTILE-PEER.test'],
      bcc: Array.from({ length: 48 }, (_, n) => `b${n}@hostile-peer.test`),
    }),
    ({ message }) => {
      expect(message.bytes.toString('latin1')).not.toMatch(/b\d+@hostile-peer/);
      expect(new Set(message.recipients).size).toBe(50);
    },
  ],
  [
    'everything that a mailer might obey and no field of ours',
    () => ({
      envelope: { from: 'eve@evil.test', to: ['eve@evil.test'] },
      raw: { path: canary.file },
      sender: 'eve@evil.test',
      inReplyTo: '<x@evil.test>',
      alternatives: [{ path: canary.file }],
      icalEvent: { href: canary.url },
      amp: { href: canary.url },
      watchHtml: { path: canary.file },
      list: { unsubscribe: 'eve@evil.test' },
      dkim: { privateKey: { path: canary.file } },
      encoding: 'binary',
      textEncoding: '8bit',
      messageId: '<eve@evil.test>',
      date: '1970-01-01',
      attachDataUrls: true,
      constructor: { prototype: { to: 'eve@evil.test' } },
      html: `<img src="data:image/png;base64,iVBORw0KGgo="><img src="${canary.url}"><img src="file://${canary.file}"><link href="${canary.url}">`,
    }),
    ({ message, parsed }) => {
      expect(message.bytes.toString('latin1')).not.toContain('eve@evil');
      expect(parsed.html).toContain(`file://${canary.file}`);
      expect(parsed.attachments).toEqual([]);
    },
  ],
  [
    'attachments with hostile names and contents',
    () => ({
      attachments: [
        { filename: '../../etc/passwd', content: Buffer.from('.\r\n.\n.\r').toString('base64') },
        { filename: 'a"; filename="b.pdf', content: 'QQ==' },
        { filename: '\u202egnp.fdp', content: 'QQ==' },
        { filename: 'ü'.repeat(255), content: 'QQ==' },
        { content: `data:text/plain;base64,${Buffer.from('data').toString('base64')}` },
        {
          content_type: 'message/rfc822',
          content: Buffer.from(`Subject: x\n\n.\n${'z'.repeat(3_000)}\r`).toString('base64'),
        },
        { content_type: 'message/rfc822', content: Buffer.from('Subject: clean\r\n\r\n.\r\n').toString('base64') },
        {
          content_type: 'text/html; charset="x y"',
          filename: 'p.html',
          content: Buffer.from('<script>').toString('base64'),
        },
      ],
    }),
    ({ parsed }) => {
      expect(parsed.attachments).toHaveLength(8);
      expect(parsed.attachments[0]?.content.toString()).toBe('.\r\n.\n.\r');
    },
  ],
  [
    'a sender in capitals',
    () => ({ from: `HELLO@${stage.account.domain.toUpperCase()}` }),
    ({ parsed }) => expect(parsed.from?.value[0]?.address?.toLowerCase()).toBe(sender),
  ],
  [
    'headers that are called as parts of objects are',
    () =>
      JSON.parse(
        '{"headers":{"constructor":"1","toString":"2","__proto__":{"X-Evil":"3"},"hasOwnProperty":"4"}}',
      ) as EmailBody,
    ({ message }) => {
      const names = listFields(message.bytes).map(([name]) => name.toLowerCase());
      expect(names).toEqual(expect.arrayContaining(['constructor', 'tostring', 'hasownproperty']));
      expect(names).not.toContain('x-evil');
    },
  ],
];

/** What a message of ours may bear at its head, beside custom fields. */
const OWN_FIELDS = new Set([
  ...'dkim-signature from to cc reply-to subject message-id date in-reply-to references'.split(' '),
  ...'mime-version content-type content-transfer-encoding'.split(' '),
]);

describe('valid requests arrive once, as they were composed', () => {
  test.each(accepted)('%s', async (_, over, check) => {
    const body = benign(over());
    const custom = Object.keys((body['headers'] ?? {}) as object).map((name) => name.toLowerCase());
    check(await expectAsComposed(await send(body), custom));
  });

  test('a reply to an email that hides line ends in every field that the reply copies', async () => {
    const id = await receive([
      'Message-ID: <hostile@hostile-peer.test>',
      `References: ${Array.from({ length: 400 }, (_, n) => `<r${n}@hostile-peer.test>`).join('\r\n ')} <a"\u0001b@x> <broken`,
      'From: =?utf-8?q?Ada=0d=0aBcc:_eve=40evil.test?= <ada@hostile-peer.test>',
      'Reply-To: =?utf-8?b?QWRhDQpCY2M6IGV2ZUBldmlsLnRlc3Q=?= <replies@hostile-peer.test>',
      'To: =?utf-8?q?a=40evil.test=2c?= <bob@hostile-peer.test>, "x\\\r\n <eve@hostile-peer.test>" <cay@hostile-peer.test>',
      'Cc: all: dan@hostile-peer.test;, "\0" <"quoted part"@hostile-peer.test>',
      'Subject: =?utf-8?q?Hello=0d=0aBcc:_eve=40evil.test=0d=0a=0d=0aText=E2=80=A8?= \u0001',
    ]);
    const body = { from: sender, text: 'An answer', reply_all: true };
    const response = await stage.account.call('POST', `/emails/${id}/reply`, body);
    const { message } = await expectAsComposed(response, []);
    expect(message.recipients.toSorted()).toEqual(
      ['bob', 'cay', 'dan', 'replies'].map((name) => `${name}@hostile-peer.test`),
    );
    expect(readField(message.bytes, 'In-Reply-To')).toBe('<hostile@hostile-peer.test>');
    expect(readField(message.bytes, 'References')).toMatch(/<hostile@hostile-peer\.test>$/);
    expect(readField(message.bytes, 'Bcc')).toBeNull();
  });
});

/** Shows of an email that was answered 200 all that must hold of it at the sink, whatever it says. */
async function expectAsComposed(response: ServiceResponse, customFields: string[]): Promise<Wire> {
  expect(response.status, JSON.stringify(response.body)).toBe(200);
  const message = await stage.awaitMessage(response.body.message_id);
  const wire = message.wireBytes.toString('latin1');
  expect(wire.endsWith('\r\n.\r\n')).toBe(true);
  expect(wire).not.toMatch(/[^\r]\n|\r[^\n]|^\n/);
  expect(wire).not.toMatch(/[\0\x80-\xff]/);
  const lines = wire.slice(0, -5).split('\r\n');
  expect(Math.max(...lines.map((line) => line.replace(/^\./, '').length))).toBeLessThanOrEqual(998);
  expect(lines.filter((line) => /^\.(?!\.)/.test(line))).toEqual([]);

  const names = listFields(message.bytes).map(([name]) => name.toLowerCase());
  expect(names[0]).toBe('dkim-signature');
  expect(new Set(names).size, 'no field twice').toBe(names.length);
  expect(names.filter((name) => !OWN_FIELDS.has(name) && !customFields.includes(name))).toEqual([]);

  const [stored] = await stage.query<MessageColumns & { envelope: string[] }>(
    `select ${MESSAGE_COLUMNS}, array(select address from recipient where workspace_id = e.workspace_id and email_id = e.id) as envelope
     from email e join raw_message m on m.id = e.raw_id where e.id = $1`,
    [response.body.id],
  );
  const composed = message.bytes.toString('latin1').replace(/^DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*/, '');
  expect(
    composed === (stored && readStoredMessage(stored).toString('latin1')),
    'the octets are those that were stored',
  ).toBe(true);
  expect(message.recipients.toSorted()).toEqual(stored?.envelope.toSorted());
  expect(message.recipients.every((address) => address.endsWith('@hostile-peer.test'))).toBe(true);
  expect(message.from).toMatch(/^bounce\+[^@]+@(mail\.)?shared\d+\.test$/);
  expect((await stage.verify(message)).dkim.map(({ result }) => result)).toEqual(['pass']);

  await stage.awaitStatus(response.body.id, 'delivered');
  expect(stage.sink.offered.filter((each) => each.bytes.includes(response.body.message_id))).toHaveLength(1);
  expect(stage.sink.messages.flatMap(({ recipients }) => recipients).filter((each) => each.includes('@evil'))).toEqual(
    [],
  );
  expect(evil.asked()).toEqual([]);
  expect(canary.visits).toEqual([]);
  expect(wire).not.toContain(CANARY);
  return { message, parsed: await simpleParser(message.bytes, { skipTextToHtml: true }) };
}

describe('our listener refuses to relay', () => {
  const tricks: [string, (own: string) => { from?: string; to: string }][] = [
    ['a foreign domain', () => ({ to: 'who@hostile-peer.test' })],
    ['a foreign domain from an own address', (own) => ({ from: `hello@${own}`, to: 'who@hostile-peer.test' })],
    ['a foreign domain from nobody', () => ({ from: '', to: 'who@hostile-peer.test' })],
    ['a percent hack', (own) => ({ to: `who%hostile-peer.test@${own}` })],
    ['a bang path', (own) => ({ to: `hostile-peer.test!who@${own}` })],
    ['a source route', (own) => ({ to: `@${own}:who@hostile-peer.test` })],
    ['a quoted address', (own) => ({ to: `"who@hostile-peer.test"@${own}` })],
    ['two at signs', (own) => ({ to: `who@hostile-peer.test@${own}` })],
    ['an address literal', () => ({ to: 'who@[127.0.0.1]' })],
    ['a forged return address', (own) => ({ from: '', to: `bounce+${'a'.repeat(40)}@mail.${own}` })],
    ['no domain', () => ({ to: 'who' })],
  ];

  test.each(tricks)('%s is refused permanently', async (_, trick) => {
    const own = stage.account.domain;
    await stage.createAddress('taken').catch(() => undefined);
    const before = stage.sink.connections.length;
    const { from = 'sender@client.test', to } = trick(own);
    const client = await SmtpClient.greet(stage.service.smtpPort);
    try {
      expect((await client.say(`MAIL FROM:<${from}>`)).code).toBe(250);
      expect((await client.say(`RCPT TO:<${to}>`)).code).toBeGreaterThanOrEqual(500);
      expect((await client.say('DATA')).code).toBeGreaterThanOrEqual(500);
    } finally {
      client.destroy();
    }
    expect(stage.sink.connections.length).toBe(before);
  });

  test('AUTH is not offered without TLS, and refused', async () => {
    const client = await SmtpClient.connect(stage.service.smtpPort);
    try {
      await client.reply();
      const hello = await client.say('EHLO client.test');
      expect(hello.lines.filter((line) => /^AUTH/i.test(line))).toEqual([]);
      expect(
        (await client.say(`AUTH PLAIN ${Buffer.from('\0inbound\0x').toString('base64')}`)).code,
      ).toBeGreaterThanOrEqual(500);
    } finally {
      client.destroy();
    }
  });
});
