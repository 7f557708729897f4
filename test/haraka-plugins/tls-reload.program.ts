import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../../haraka-plugins/self-made-certificate.ts';
import { freePort } from '../support/cluster/cluster.ts';
import { until } from '../support/servers/service.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { SmtpServer } from './smtp-server.ts';

const LIMIT_MS = 60_000;
const now = new Date();
const message = 'Subject: one\r\n\r\nbody\r\n.\r\n';
let folder: string;
let server: SmtpServer;
let submissionsPort: number;

/** A folder of a certificate as Kubernetes keeps its secrets: the names lead through a link, which is turned to the next one. */
async function turnTo(version: string, pair: { key: string; cert: string }): Promise<void> {
  await mkdir(path.join(folder, version));
  await writeFile(path.join(folder, version, 'tls.key'), pair.key);
  await writeFile(path.join(folder, version, 'tls.crt'), pair.cert);
  await symlink(version, path.join(folder, 'next'));
  await rename(path.join(folder, 'next'), path.join(folder, 'live'));
}

const lines = (event: string) =>
  server.output
    .split('\n')
    .filter((line) => line.includes(`"event":"${event}"`))
    .map((line) => JSON.parse(line));

async function told(event: string, count: number): Promise<Record<string, unknown>> {
  await until(
    `${count} lines of ${event}`,
    () => server.output,
    async () => lines(event).length >= count,
    LIMIT_MS,
  );
  expect(lines(event)).toHaveLength(count);
  return lines(event).at(-1) ?? {};
}

async function session(): Promise<{ client: SmtpClient; tls: TLSSocket; name: string }> {
  const client = await SmtpClient.greet(server.port);
  const tls = await client.startTls();
  return { client, tls, name: String(tls.getPeerCertificate().subject.CN) };
}

/** The name in the certificate of the port with TLS from the start. */
async function nameFromTheStart(): Promise<string> {
  const tls = connectTls({ port: submissionsPort, host: '127.0.0.1', rejectUnauthorized: false });
  await once(tls, 'secureConnect');
  const name = String(tls.getPeerCertificate().subject.CN);
  tls.destroy();
  return name;
}

async function start(environment: Record<string, string> = {}): Promise<void> {
  folder = await mkdtemp(path.join(tmpdir(), 'postroom-tls-'));
  await turnTo('one', makeCertificate('one.test', now));
  submissionsPort = await freePort();
  server = await SmtpServer.start({
    SUBMISSIONS_PORT: String(submissionsPort),
    SMTP_TLS_KEY_FILE: path.join(folder, 'live', 'tls.key'),
    SMTP_TLS_CERT_FILE: path.join(folder, 'live', 'tls.crt'),
    ...environment,
  });
}

async function stop(): Promise<void> {
  await server.stop();
  await rm(folder, { recursive: true });
}

describe('a certificate that changes', () => {
  beforeAll(() => start());
  afterAll(stop);

  test('is offered to new sessions, and open ones continue with theirs', async () => {
    expect(await told('smtp.tls', 1)).toMatchObject({
      subject: 'CN=one.test',
      names: expect.stringMatching(/^DNS:one.test, DNS:localhost, IP Address:127.0.0.1/),
    });
    const before = await session();
    expect([before.name, await nameFromTheStart()]).toEqual(['one.test', 'one.test']);
    await turnTo('two', makeCertificate('two.test', now));
    expect(await told('smtp.tls', 2)).toMatchObject({
      subject: 'CN=two.test',
      endsAt: expect.stringMatching(/^20\d\d-/),
    });
    const after = await session();
    expect([after.name, await nameFromTheStart()]).toEqual(['two.test', 'two.test']);
    for (const { client } of [before, after]) {
      await client.say('EHLO client.test');
      expect((await client.deliver(message)).code).toBe(250);
      client.destroy();
    }
  });

  test('is refused with one log line when it is invalid, and the previous one is used', {
    timeout: 300_000,
  }, async () => {
    const [key, whole, ended] = [
      makeCertificate('key.test', now),
      makeCertificate('whole.test', now),
      makeCertificate('ended.test', new Date('1990-01-01')),
    ];
    const faults: [string, { key: string; cert: string }, RegExp][] = [
      ['foreign', { key: key.key, cert: whole.cert }, /^the key is not that of the certificate$/],
      ['half', { key: whole.key, cert: whole.cert.slice(0, whole.cert.length / 2) }, /no whole certificate/],
      ['empty', { key: whole.key, cert: '' }, /no whole certificate/],
      ['half-key', { key: whole.key.slice(0, 60), cert: whole.cert }, /the key cannot be read/],
      ['ended', ended, /^the certificate ended 2010-/],
    ];
    for (const [at, [version, pair, reason]] of faults.entries()) {
      await turnTo(version, pair);
      expect((await told('smtp.tls-refused', at + 1))['reason']).toMatch(reason);
      const { client, name } = await session();
      expect(name).toBe('two.test');
      client.destroy();
    }
    await rename(path.join(folder, 'live'), path.join(folder, 'gone'));
    expect((await told('smtp.tls-refused', faults.length + 1))['reason']).toMatch(/ENOENT/);
    await turnTo('three', makeCertificate('three.test', now));
    await told('smtp.tls', 3);
    expect(lines('smtp.tls-refused')).toHaveLength(faults.length + 1);
    const { client, name } = await session();
    expect(name).toBe('three.test');
    client.destroy();
  });
});

describe('with several SMTP processes', () => {
  beforeAll(() => start({ SMTP_PROCESSES: '2' }));
  afterAll(stop);

  test('each process loads the new certificate', async () => {
    await told('smtp.tls', 2);
    await turnTo('two', makeCertificate('two.test', now));
    await told('smtp.tls', 4);
    const names = new Set<string>();
    for (let n = 0; n < 8; n++) {
      const { client, name } = await session();
      names.add(name);
      client.destroy();
    }
    expect([...names]).toEqual(['two.test']);
  });
});
