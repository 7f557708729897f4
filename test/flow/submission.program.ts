import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { repository } from '../support/runner.ts';
import { until } from '../support/servers/service.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { readField, SendingStage, type StageAccount } from '../support/stages/sending-stage.ts';

let stage: SendingStage;
let ports: { submission: number; submissions: number };
let sender: string;
const TO = 'ann@elsewhere.test';

// Split, so that the SMTP process and the gateway can be killed one by one, and talk over NATS with their permissions.
beforeAll(async () => {
  ports = { submission: await freePort(), submissions: await freePort() };
  stage = await SendingStage.start('split', {
    SUBMISSION_PORT: String(ports.submission),
    SUBMISSIONS_PORT: String(ports.submissions),
  });
  sender = `hello@${stage.account.domain}`;
}, 300_000);
afterAll(() => stage?.stop());

const auth = (key = stage.account.apiKey) => `AUTH PLAIN ${Buffer.from(`\0user\0${key}`).toString('base64')}`;

async function open(): Promise<SmtpClient> {
  const client = await SmtpClient.greet(ports.submission);
  await client.startTls();
  await client.say('EHLO client.test');
  return client;
}

async function authenticated(key?: string): Promise<SmtpClient> {
  const client = await open();
  expect((await client.say(auth(key))).text).toMatch(/^235 2\.7\.0 /);
  return client;
}

let lastId = 0;
const newId = () => `<submitted-${++lastId}-${process.pid}@client.test>`;

/** A message without its end of data; `id` null: without Message-ID. */
function makeMessage(id: string | null, { from = sender, extra = '' } = {}): string {
  const ownId = id === null ? '' : `Message-ID: ${id}\r\n`;
  return `From: Hello <${from}>\r\nTo: ${TO}\r\n${ownId}Subject: Submitted\r\n${extra}\r\nThe body\r\n`;
}

interface Sent {
  to?: string[];
  envelope?: string;
  key?: string;
}

/** Submits a message in a session of its own; returns the reply. */
async function submit(message: string, { to = [TO], envelope = sender, key }: Sent = {}) {
  const client = await authenticated(key);
  await client.begin(to, envelope);
  client.send(`${message}.\r\n`);
  const reply = await client.reply();
  client.destroy();
  return reply;
}

const readId = (text: string) => /as (em_\w+)/.exec(text)?.[1] ?? '';

describe('the examples of docs/submission.md', () => {
  const page = readFileSync(path.join(repository, 'docs/submission.md'), 'utf8');
  const examples = [...page.matchAll(/## (\S+)\n[^#]*?```(\w+) run\n([^]*?)```/g)].map(
    ([, name = '', language = '', code = '']) => ({ name, language, code }),
  );
  const programs = { sh: 'sh', python: 'python3', js: process.execPath } as const;
  /** Shell commands that succeed where an example can run. */
  const needs: Record<string, string> = {
    swaks: 'command -v swaks && perl -MNet::SSLeay -e 1',
    msmtp: 'command -v msmtp',
    Python: 'command -v python3',
  };

  test('are four in number', () =>
    expect(examples.map(({ name }) => name)).toEqual(['swaks', 'msmtp', 'Python', 'nodemailer']));

  test.for(examples)('$name: its mail is signed and delivered', async ({ name, language, code }, { skip }) => {
    if (spawnSync('sh', ['-c', needs[name] ?? 'true']).status !== 0) skip(`${name} is missing`);
    // Beside the packages, so that the example finds nodemailer.
    const folder = await mkdtemp(path.join(repository, 'node_modules/.cache/submission-'));
    const file = path.join(folder, `example.${{ sh: 'sh', python: 'py', js: 'mjs' }[language]}`);
    await writeFile(file, code);
    const data = path.join(stage.service.directory, 'data');
    const certificate = readdirSync(data).find((name) => name.endsWith('.crt')) ?? '';
    const program = programs[language as keyof typeof programs];
    const child = spawn(program, [file], {
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        KEY: stage.account.apiKey,
        FROM: sender,
        TO,
        SERVER: 'localhost',
        CERT: path.join(data, certificate),
        SUBMISSION_PORT: String(ports.submission),
        SUBMISSIONS_PORT: String(ports.submissions),
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => void (output += String(chunk)));
    const status = await new Promise((resolve) => child.once('close', resolve));
    await rm(folder, { recursive: true });
    expect(status, output.replaceAll(stage.account.apiKey, 'KEY')).toBe(0);
    const subject = /By \w+/.exec(code)?.[0] ?? '';
    await stage.sink.until(({ messages }) => messages.some(({ bytes }) => readField(bytes, 'Subject') === subject));
    const message = stage.sink.messages.find(({ bytes }) => readField(bytes, 'Subject') === subject);
    if (message === undefined) throw new Error('unreachable');
    expect(await stage.verify(message)).toMatchObject({ dkim: [{ result: 'pass', domain: stage.account.domain }] });
    expect(readField(message.bytes, 'Message-ID')).toMatch(/^<.+@.+>$/);
    expect(readField(message.bytes, 'Date')).not.toBeNull();
    expect(readField(message.bytes, 'Received')).toBeNull();
  });
});

describe('a session', () => {
  test('offers AUTH only under TLS, and neither AUTH nor relaying on the port of reception', async () => {
    const plain = await SmtpClient.connect(ports.submission);
    await plain.reply();
    expect((await plain.say('EHLO client.test')).lines.join('\n')).not.toMatch(/AUTH|SMTPUTF8/);
    expect((await plain.say(auth())).text).toMatch(/^538 5\.7\.11 /);
    expect((await plain.say(`MAIL FROM:<${sender}>`)).text).toMatch(/^530 5\.7\.0 .*STARTTLS/);
    plain.destroy();
    const secure = await open();
    expect((await secure.say('EHLO client.test')).lines).toContain('AUTH PLAIN LOGIN');
    expect((await secure.say(`MAIL FROM:<${sender}>`)).text).toMatch(/^530 5\.7\.0 Authentication required/);
    secure.destroy();
    const reception = await SmtpClient.greet(stage.service.smtpPort);
    await reception.startTls();
    expect((await reception.say('EHLO client.test')).lines.join('\n')).not.toContain('AUTH');
    expect((await reception.say(auth())).code).toBe(500);
    expect((await reception.say(`MAIL FROM:<${sender}>`)).code).toBe(250);
    expect((await reception.say(`RCPT TO:<${TO}>`)).code).toBe(550);
    reception.destroy();
  });

  test('authenticates by PLAIN and LOGIN, with and without initial responses', async () => {
    const { apiKey } = stage.account;
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const dialogues: [line: string, code: number][][] = [
      [
        ['AUTH PLAIN', 334],
        [base64(`\0\0${apiKey}`), 235],
      ],
      [
        ['AUTH LOGIN', 334],
        [base64('any'), 334],
        [base64(apiKey), 235],
      ],
      [
        [`auth login ${base64('any')}`, 334],
        [base64(apiKey), 235],
      ],
      [
        ['AUTH LOGIN', 334],
        ['*', 501],
        [auth(), 235],
      ],
      [
        ['AUTH PLAIN', 334],
        ['QUIT', 501],
        [auth(), 235],
      ],
      [
        ['AUTH PLAIN not-base64', 501],
        ['AUTH PLAIN AGE=', 501],
        ['AUTH CRAM-MD5', 504],
        [auth(), 235],
        [auth(), 503],
      ],
    ];
    for (const dialogue of dialogues) {
      const client = await open();
      const codes = [];
      for (const [line] of dialogue) codes.push((await client.say(line)).code);
      expect(codes, JSON.stringify(dialogue.map(([, code]) => code))).toEqual(dialogue.map(([, code]) => code));
      client.destroy();
    }
  });

  test('works with TLS from the start', async () => {
    const socket = connectTls({ port: ports.submissions, host: '127.0.0.1', rejectUnauthorized: false });
    const client = new SmtpClient(socket);
    expect((await client.reply()).code).toBe(220);
    expect((await client.say('EHLO client.test')).lines).toContain('AUTH PLAIN LOGIN');
    expect((await client.say('STARTTLS')).code).toBe(503);
    expect((await client.say(auth())).code).toBe(235);
    client.destroy();
  });
});

describe('a submitted message', () => {
  test('is stored and sent as it was written: recipients of the envelope, no Bcc, state per recipient', async () => {
    const id = newId();
    const extra = `Bcc: hidden@elsewhere.test,\r\n\tother@elsewhere.test\r\nX-Odd:   kept  as \r\n  it is\r\nDate: Mon, 01 Jun 2026 10:00:00 +0200\r\n`;
    const body = `..dots\r\nna\xefve\r\n`;
    const client = await authenticated();
    expect((await client.say(`MAIL FROM:<${sender}> BODY=8BITMIME`)).code).toBe(250);
    for (const to of [TO, 'hidden@elsewhere.test']) expect((await client.say(`RCPT TO:<${to}>`)).code).toBe(250);
    expect((await client.say('DATA')).code).toBe(354);
    client.send(`${makeMessage(id, { extra })}${body.replaceAll(/^\./gm, '..')}.\r\n`);
    const { text } = await client.reply();
    client.destroy();
    expect(text).toMatch(/^250 2\.0\.0 Ok: queued as em_\w{32}$/);
    const email = await stage.awaitStatus(readId(text), 'delivered');
    expect(email).toMatchObject({ type: 'sent', subject: 'Submitted', message_id: id, to: [TO] });
    expect(email['recipients'].map(({ address }: { address: string }) => address).toSorted()).toEqual([
      TO,
      'hidden@elsewhere.test',
    ]);
    const { bytes } = await stage.awaitMessage(id);
    const written = makeMessage(id, { extra: extra.replace(/Bcc: .*\r\n\t.*\r\n/, '') }) + body;
    const signed = bytes.toString('latin1');
    expect(signed.slice(signed.indexOf('From: Hello'))).toBe(written);
    expect(signed.slice(0, signed.indexOf('From: Hello'))).toMatch(/^DKIM-Signature: [^]*\r\n$/);
  });

  test('joins the thread of its original', async () => {
    const first = newId();
    const { body } = await stage.account.call('GET', `/emails/${readId((await submit(makeMessage(first))).text)}`);
    const reply = await submit(makeMessage(newId(), { extra: `In-Reply-To: ${first}\r\n` }));
    const replied = (await stage.account.call('GET', `/emails/${readId(reply.text)}`)).body;
    await expect
      .poll(async () => (await stage.account.call('GET', `/emails/${body.id}`)).body.thread_id)
      .toBe(replied.thread_id);
  });

  test('with the same Message-ID, key and recipients is sent once', async () => {
    const id = newId();
    const replies = [await submit(makeMessage(id))];
    replies.push(...(await Promise.all([submit(makeMessage(id)), submit(makeMessage(id, { extra: 'X-Try: 2\r\n' }))])));
    expect(replies.map(({ text }) => text.replace(/em_\w+/, 'ID'))).toEqual([
      '250 2.0.0 Ok: queued as ID',
      '250 2.0.0 Ok: accepted before as ID',
      '250 2.0.0 Ok: accepted before as ID',
    ]);
    expect(new Set(replies.map(({ text }) => readId(text))).size).toBe(1);
    const other = await submit(makeMessage(id), { to: ['bob@elsewhere.test'] });
    expect(other.text, 'to another recipient').toContain('queued as');
    await stage.awaitStatus(readId(other.text), 'delivered');
    await stage.awaitStatus(readId(replies[0]?.text ?? ''), 'delivered');
    expect(stage.sink.messages.filter(({ bytes }) => readField(bytes, 'Message-ID') === id)).toHaveLength(2);
  });
});

test('the reply to a message that needs approval says until when it waits, also when it is repeated', async () => {
  const made = await stage.account.call('POST', '/api-keys', { name: 'writer', policy: { approval: 'always' } });
  const id = newId();
  const replies = [
    await submit(makeMessage(id), { key: made.body.token }),
    await submit(makeMessage(id), { key: made.body.token }),
  ];
  const emailId = readId(replies[0]?.text ?? '');
  const { approval } = (await stage.account.call('GET', `/emails/${emailId}`)).body;
  expect(approval.status).toBe('awaiting_approval');
  const waits = `waits for approval until ${approval.expires_at} as ${emailId}`;
  expect(replies.map(({ text }) => text)).toEqual([
    `250 2.0.0 Ok: ${waits}`,
    `250 2.0.0 Ok: accepted before, ${waits}`,
  ]);
});

describe('a refused session', () => {
  let other: StageAccount;
  beforeAll(async () => {
    other = await stage.service.createAccount();
  });

  test('gets 535 for wrong or revoked keys and those without the scope send; three end the session', async () => {
    const create = async (scopes: string[]) => {
      const made = await stage.account.graphql(
        'mutation Make($input: CreateApiKeyInput!) { createApiKey(input: $input) { ... on CreateApiKeyPayload { secret apiKey { id } } } }',
        { input: { name: 'k', scopes } },
      );
      return made.body.data.createApiKey;
    };
    const readOnly = await create(['READ']);
    const revoked = await create(['SEND']);
    const sending = await authenticated(revoked.secret);
    await stage.account.graphql('mutation End($id: ID!) { revokeApiKey(input: { id: $id }) { __typename } }', {
      id: revoked.apiKey.id,
    });
    await sending.begin([TO], sender);
    sending.send(`${makeMessage(newId())}.\r\n`);
    expect((await sending.reply()).text).toMatch(/^550 5\.7\.1 .*no longer valid/);
    sending.destroy();
    const client = await open();
    const replies = [];
    for (const key of ['wrong', readOnly.secret, revoked.secret]) replies.push((await client.say(auth(key))).text);
    expect(replies[0]).toMatch(/^535 5\.7\.8 /);
    expect(replies[1]).toMatch(/^535 5\.7\.8 .*scope send/);
    expect(replies[2]).toMatch(/^421 4\.7\.0 /);
    await client.closed;
    expect(stage.service.output).not.toContain(readOnly.secret);
  });

  test('gets 454 after many wrong keys of a client, but a right one is accepted', async () => {
    const codes = new Set<number>();
    for (let n = 0; n < 6 && !codes.has(454); n++) {
      const client = await open();
      for (const key of ['a', 'b']) codes.add((await client.say(auth(key))).code);
      client.destroy();
    }
    expect(codes).toContain(454);
    (await authenticated()).destroy();
  });

  test('gets 550 for foreign senders, in the envelope or in From, and for suppressed recipients', async () => {
    const theirs = `hello@${other.domain}`;
    const cases: [text: RegExp, message: string, sent?: Sent][] = [
      [/^550 5\.7\.1 .*don't have permission/, makeMessage(newId(), { from: theirs })],
      [/^550 5\.7\.1 .*don't have permission/, makeMessage(newId()), { envelope: theirs }],
      [/^550 5\.6\.0 .*exactly one address/, makeMessage(newId()).replace(/^From:.*\r\n/, '')],
      [
        /^550 5\.6\.0 .*exactly one address/,
        makeMessage(newId()).replace(/^From:.*\r\n/, `From: ${sender}, ${sender}\r\n`),
      ],
      [/^550 5\.6\.0 .*998 bytes/, makeMessage(newId(), { extra: `X-Long: ${'x'.repeat(999)}\r\n` })],
    ];
    await stage.account.call('POST', '/suppressions', { address: 'blocked@elsewhere.test' });
    cases.push([/^550 5\.7\.1 .*blocked/, makeMessage(newId()), { to: ['blocked@elsewhere.test'] }]);
    for (const [text, message, sent] of cases) expect((await submit(message, sent)).text).toMatch(text);
    const client = await authenticated();
    expect((await client.say('MAIL FROM:<>')).code).toBe(550);
    expect((await client.say(`MAIL FROM:<${sender}> SIZE=15000001`)).text).toMatch(/^552 5\.3\.4 /);
    expect((await client.say(`MAIL FROM:<${sender}>`)).code).toBe(250);
    expect((await client.say('RCPT TO:<"odd name"@elsewhere.test>')).code).toBe(550);
    const codes = [];
    for (let n = 0; n <= 100; n++) codes.push((await client.say(`RCPT TO:<r${n}@elsewhere.test>`)).code);
    expect(codes).toEqual([...Array.from({ length: 100 }, () => 250), 452]);
    client.destroy();
  });
});

describe('nothing is lost or sent twice', () => {
  test.each([
    ['smtp', 'submission.before-ask', 0],
    ['smtp', 'submission.after-reply', 1],
    ['gateway', 'submission.after-commit', 1],
  ])('when %s is killed at %s and the client tries again', async (name, point, storedBefore) => {
    await stage.service.end(name, 'SIGTERM');
    const killed = stage.service.startProcess(name, { FAULT: point });
    const exited = new Promise((resolve) => killed.once('exit', resolve));
    await untilReady();
    const id = newId();
    const send = async (socketTimeout: number) => {
      const transport = createTransport({
        host: '127.0.0.1',
        port: ports.submissions,
        secure: true,
        auth: { user: 'any', pass: stage.account.apiKey },
        tls: { rejectUnauthorized: false },
        socketTimeout,
      });
      const mail = { from: sender, to: TO, subject: 'Once', text: 'Hello', messageId: id };
      return (await transport.sendMail(mail)).response;
    };
    // The client gives up before the SMTP process does, which waits for the gateway.
    await expect(send(3_000)).rejects.toThrow();
    expect(await exited).toBe(137);
    const count = async () => (await stage.query('select id from email where message_id = $1', [id])).length;
    expect(await count()).toBe(storedBefore);
    stage.service.startProcess(name);
    await untilReady();
    const response = await send(60_000);
    expect(response).toMatch(storedBefore === 1 ? /^250 2\.0\.0 Ok: accepted before/ : /^250 2\.0\.0 Ok: queued/);
    expect(await count()).toBe(1);
    await stage.awaitStatus(readId(response), 'delivered');
    expect(stage.sink.messages.filter(({ bytes }) => readField(bytes, 'Message-ID') === id)).toHaveLength(1);
  });

  test('while no gateway runs, clients are asked to retry', async () => {
    const client = await authenticated();
    await stage.service.end('gateway', 'SIGTERM');
    await client.begin([TO], sender);
    client.send(`${makeMessage(newId())}.\r\n`);
    expect((await client.reply()).text).toMatch(/^451 4\.3\.0 /);
    client.destroy();
    const fresh = await open();
    expect((await fresh.say(auth())).code).toBe(454);
    fresh.destroy();
    stage.service.startProcess('gateway');
    await untilReady();
  });

  async function untilReady(): Promise<void> {
    await until(
      'a client can authenticate',
      () => stage.service.output.slice(-2_000),
      async () => {
        const client = await open();
        const { code } = await client.say(auth());
        client.destroy();
        return code === 235;
      },
    );
  }
});
