import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { until } from '../support/servers/service.ts';
import { SmtpServer } from './smtp-server.ts';

let server: SmtpServer;
let ports: { startTls: number; tls: number };
let certificate: string;

beforeAll(async () => {
  ports = { startTls: await freePort(), tls: await freePort() };
  server = await SmtpServer.start({ SUBMISSION_PORT: String(ports.startTls), SUBMISSIONS_PORT: String(ports.tls) });
  certificate = path.join(server.directory, 'smtp-tls-mx.postroom.test.crt');
});
afterAll(() => server?.stop());

const lines = (event: string) => server.output.split('\n').filter((line) => line.includes(`"event":"${event}"`));

/** Runs a session of Python's smtplib that verifies the certificate by this file, or by those of the system. */
async function verify(kind: 'startTls' | 'tls', file: string | null): Promise<string> {
  const code = `
import smtplib, ssl, sys
context = ssl.create_default_context(cafile=${file === null ? 'None' : JSON.stringify(file)})
context.verify_flags |= ssl.VERIFY_X509_STRICT
try:
    if ${kind === 'tls' ? 'True' : 'False'}:
        server = smtplib.SMTP_SSL("localhost", ${ports.tls}, context=context)
    else:
        server = smtplib.SMTP("localhost", ${ports.startTls})
        server.starttls(context=context)
    print(server.ehlo()[0])
except ssl.SSLCertVerificationError as error:
    print("refused")`;
  return (await promisify(execFile)('python3', ['-c', code])).stdout.trim();
}

test('the certificate that clients trust is a file of its own, without the key, that others may read', async () => {
  const text = await readFile(certificate, 'utf8');
  expect(text).not.toContain('PRIVATE KEY');
  expect((await stat(certificate)).mode & 0o777).toBe(0o600);
  expect(new X509Certificate(text).subjectAltName).toContain(
    'DNS:mx.postroom.test, DNS:localhost, IP Address:127.0.0.1',
  );
});

describe.each(['startTls', 'tls'] as const)('a client of %s', (kind) => {
  test('that has the file verifies the certificate, by the strict rules of RFC 5280, too', async () => {
    expect(await verify(kind, certificate)).toBe('250');
  });

  test('that does not trust the certificate is in the log, in plain words', async () => {
    const before = lines('smtp.certificate-refused').length;
    expect(await verify(kind, null)).toBe('refused');
    await until(
      'the refusal is logged',
      () => server.output,
      async () => lines('smtp.certificate-refused').length > before,
    );
    expect(lines('smtp.certificate-refused').at(-1)).toMatch(
      /a client refused the certificate: it must trust the certificate file/,
    );
  });
});

test('Node verifies the certificate with the file, and a session that ends without signing in is logged', async () => {
  const trusting = connectTls({ port: ports.tls, host: 'localhost', ca: await readFile(certificate) });
  await once(trusting, 'data');
  expect(trusting.authorized).toBe(true);
  const before = lines('smtp.submission-unused').length;
  trusting.destroy();
  await until(
    'the session is logged',
    () => server.output,
    async () => lines('smtp.submission-unused').length > before,
  );
});

test('a refused certificate is logged once per session, and is no error of the server', () => {
  expect(lines('smtp.certificate-refused')).toHaveLength(2);
  expect(lines('smtp.trouble')).toEqual([]);
});
