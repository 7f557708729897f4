import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Fastify from 'fastify';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { keepLogs } from './keep-logs.ts';
import { KEPT_LOGS, keepLog, keepSecrets, LOGS, makeKeptLogs } from './kept-logs.ts';
import { EXPECTED, findLeaks, reportLeaks } from './leaks.ts';
import { BodyCollector, bodyLines, secretsGiven, secretsIn } from './printed-secrets.ts';
import { startSinkMta } from './servers/sink-mta.ts';
import { SmtpClient } from './servers/smtp-client.ts';

const isKeptAlready = process.env[KEPT_LOGS] !== undefined;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'postroom-kept-'));
  makeKeptLogs(folder);
  vi.stubEnv(KEPT_LOGS, folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** Kinds that one command or the other comes to know. */
const KINDS = [...new Set(Object.values(EXPECTED).flat())];

let count = 0;
const word = () => `Fm3-${process.pid}-${count++}-zQ9x~w`;

describe('a line with a secret is found:', () => {
  const around = (text: string) => Buffer.from(text).toString('base64');
  const written: [string, (secret: string) => string][] = [
    ['plain', (secret) => secret],
    ['percent-encoded', encodeURIComponent],
    ['in Base64', (secret) => around(secret)],
    ['in Base64 behind an octet', (secret) => around(`a${secret}b`)],
    ['in Base64 behind two', (secret) => around(`ab${secret}`)],
  ];
  test.each(written)('%s has every kind', async (_name, write) => {
    const secrets = KINDS.map((kind) => ({ kind, value: word() }));
    keepSecrets(secrets);
    keepLog('gateway-1', '{"level":30,"msg":"ready"}\n');
    for (const { value } of secrets) keepLog('gateway-1', `{"level":30,"about":"${write(value)}","msg":"x"}\n`);
    const { leaks, lineCount, logCount } = await findLeaks(folder);
    expect(leaks.map(({ kind }) => kind)).toEqual(KINDS);
    expect({ lineCount, logCount }).toEqual({ lineCount: 11, logCount: 1 });
    for (const { line } of leaks)
      expect(line).toMatch(/^\{"level":30,"about":"[\w=]{0,4}\*{12,}[\w=]{0,4}","msg":"x"\}$/);
  });

  test.each(['-----BEGIN PRIVATE KEY-----', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC'])(
    'that looks like a private key: %s',
    async (key) => {
      keepLog('sending-1', `key ${key}\n`);
      expect((await findLeaks(folder)).leaks.map(({ kind }) => kind)).toEqual(['private key']);
    },
  );

  test('the log has no line ends, beyond the first megabytes, and each line counts once', async () => {
    const value = word();
    keepSecrets([{ kind: 'password', value }]);
    const log = path.join(folder, LOGS, 'gateway-1.log');
    await writeFile(log, `${'a quiet line\n'.repeat(800_000)}${value} and ${value}\n`);
    await appendFile(log, `${'x'.repeat(9_000_000)}${value}`);
    const { leaks, lineCount } = await findLeaks(folder);
    expect(leaks).toHaveLength(2);
    expect(lineCount).toBe(800_001);
  });
});

test('secrets that a first start and the account command print on purpose are allowed, and nowhere else', async () => {
  const [key, token] = [word(), 'tokenOfALink0123456789'];
  keepSecrets(secretsIn(`authorization: Bearer ${key}`.replaceAll('~', '_')));
  const lines = [
    `  Dashboard http://localhost:3000/sign-in/link#${token}`,
    `  API key   ${key.replaceAll('~', '_')}   (shown only once)`,
  ].join('\n');
  keepSecrets(secretsIn(lines));
  for (const name of ['start-1', 'gateway-1']) keepLog(name, `${lines}\n`);
  const { leaks } = await findLeaks(folder);
  expect(leaks.map(({ log, kind }) => `${kind} in ${log}`)).toEqual([
    'one-time link in gateway-1.log',
    'API key in gateway-1.log',
  ]);
});

test('a run of all tests that collects no secret or keeps no log fails', async () => {
  expect((await reportLeaks(folder, [])).failureCount).toBe(0);
  for (const expected of Object.values(EXPECTED))
    expect((await reportLeaks(folder, expected)).failureCount).toBe(expected.length + 1);
});

test('secrets are collected from a program’s environment and output, and nothing else of them', () => {
  const environment = [
    'SECRET_KEY=0123456789abcdef',
    'DATABASE_URL=postgresql://postroom:p%40ssword-of-it@127.0.0.1/x',
    'HOME_TOKEN=not-the-products-own',
  ];
  const given = secretsGiven(environment, ['bin/account.ts', 'create', 'a@b.test', '--password', 'correct horse']);
  expect(given.map(({ value }) => value).filter((value) => value !== '')).toEqual([
    '0123456789abcdef',
    'p%40ssword-of-it',
    'p@ssword-of-it',
    'correct horse',
  ]);
});

test('lines of a body are collected that occur nowhere by chance', () => {
  const body =
    'Hi,\r\n\r\nthe plan for the old harbour is "here".\r\n--frontier\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>the plan for the new harbour</p>\r\n';
  expect(bodyLines(body).map(({ value }) => value)).toEqual([
    'the plan for the old harbour is',
    'the plan for the new harbour',
  ]);
});

test('the body of a mail is collected from its transaction in any pieces, and nothing of a report is', () => {
  const text = 'Subject: x\r\n\r\nthe plan for the old harbour\r\n.\r\n';
  const collected = (header: string, cut: number) => {
    const collector = new BodyCollector();
    const bytes = `${header}${text}`;
    return [
      'RCPT TO:<a@b.test>\r\nDATA\r\n',
      bytes.slice(0, cut),
      bytes.slice(cut),
      'the words behind the end of it\r\n',
    ]
      .flatMap((chunk) => collector.take(chunk))
      .map(({ value }) => value);
  };
  for (const cut of [0, 5, 14]) expect(collected('', cut)).toEqual(['the plan for the old harbour']);
  expect(collected('Content-Type: multipart/report; boundary=b\r\n', 0)).toEqual([]);
});

test('secrets in processes, connections and requests are collected', async () => {
  if (!isKeptAlready) keepLogs();
  const [secretKey, key, injected, password, harbour] = [word(), word(), word(), word(), word()];
  const program = path.join(folder, 'bin', 'leaking.ts');
  await mkdir(path.dirname(program));
  // By its name a program of the product.
  await writeFile(program, `echo "started with $SECRET_KEY" >&2`);
  await once(spawn('sh', [program], { env: { SECRET_KEY: secretKey }, stdio: 'pipe' }), 'close');
  // Through a shell, of which only what looks like a log is one.
  const line = JSON.stringify({ level: 30, secretKey });
  await once(spawn('sh', ['-c', `echo '${line}'; echo '${secretKey}'`], { stdio: 'pipe' }), 'close');

  const server = createServer((_request, response) => response.end(JSON.stringify({ verificationToken: password })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).text();
  server.close();
  const app = Fastify();
  app.post('/', () => ({}));
  await app.inject({
    method: 'POST',
    url: '/',
    headers: { authorization: `Bearer ${injected}` },
    payload: { password },
  });

  const sink = await startSinkMta();
  const client = await SmtpClient.greet(sink.port);
  await client.deliver(`Subject: x\r\n\r\nThe ship ${harbour} leaves at five o'clock.\r\n.\r\n`);
  client.destroy();
  await sink.stop();

  const log = pino({}, { write: () => undefined });
  for (const secret of [key, injected, password, `the ship ${harbour} leaves at five o'clock.`.replace('the', 'The')])
    log.info({ secret }, 'it leaks');
  const { leaks } = await findLeaks(folder);
  const found = leaks.map((leak) => `${leak.kind} in ${leak.log.replace(/-\d+\.log$/, '')}`).sort();
  expect(found).toEqual([
    'API key in within',
    'API key in within',
    'SECRET_KEY in leaking',
    'SECRET_KEY in sh',
    'mail body in within',
    'verification token in within',
  ]);
});
