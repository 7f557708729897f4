import { X509Certificate } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../../haraka-plugins/self-made-certificate.ts';
import { readTlsCredentials } from '../../haraka-plugins/tls-context.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { SmtpServer } from './smtp-server.ts';

let server: SmtpServer;

beforeAll(async () => {
  server = await SmtpServer.start();
});
afterAll(() => server.stop());

const message = 'Subject: one\r\n\r\nbody\r\n.\r\n';

test('the session restarts after STARTTLS, is marked as encrypted, and does not offer STARTTLS again', async () => {
  const client = await SmtpClient.greet(server.port);
  const tls = await client.startTls();
  expect(tls.getProtocol()).toBe('TLSv1.3');
  expect((await client.say('MAIL FROM:<a@client.test>')).code).toBe(503);
  expect((await client.say('EHLO client.test')).lines).not.toContain('STARTTLS');
  expect((await client.say('STARTTLS')).code).toBe(503);
  expect((await client.deliver(message)).code).toBe(250);
  const request = server.messages.at(-1)?.request;
  expect(request?.isTls).toBe(true);
  expect(request?.traceFields).toContain(' with ESMTPS id ');
  expect((await client.say('QUIT')).code).toBe(221);
});

test('commands that came in clear text behind STARTTLS are dropped', async () => {
  const client = await SmtpClient.greet(server.port);
  await client.say('MAIL FROM:<a@client.test>');
  client.send('STARTTLS\r\nRCPT TO:<injected@inbox.test>\r\n');
  expect((await client.reply()).code).toBe(220);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(server.recipients).not.toContain('injected@inbox.test');
  client.destroy();
  const other = await SmtpClient.greet(server.port);
  expect((await other.say('STARTTLS now')).code).toBe(501);
  await other.startTls();
  await other.say('EHLO client.test');
  expect((await other.say('RCPT TO:<hello@inbox.test>')).code).toBe(503);
  other.destroy();
});

test('a handshake that fails ends its session only', async () => {
  const client = await SmtpClient.greet(server.port);
  expect((await client.say('STARTTLS')).code).toBe(220);
  client.send('this is no handshake\r\n');
  await client.closed;
  const other = await SmtpClient.greet(server.port);
  expect((await other.deliver(message)).code).toBe(250);
  other.destroy();
});

test('our own certificate is created once, names the host and is readable by us only', async () => {
  const files = (await readdir(server.directory)).filter((name) => name.endsWith('.pem'));
  expect(files).toEqual(['smtp-tls-mx.postroom.test.pem']);
  const file = path.join(server.directory, files[0] ?? '');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const pem = await readFile(file, 'utf8');
  const certificate = new X509Certificate(pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')));
  expect(certificate.subjectAltName).toMatch(/^DNS:mx\.postroom\.test, DNS:localhost, /);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  const settings = { tls: null, dataDirectory: server.directory, mailHostname: 'other.postroom.test' };
  const [one, two] = await Promise.all([readTlsCredentials(settings), readTlsCredentials(settings)]);
  expect(two).toEqual(one);
  expect(await readTlsCredentials(settings)).toEqual(one);
});

test('a certificate of the operator is used instead', async () => {
  const { key, cert } = makeCertificate('operator.test', new Date('2049-06-01T00:00:00Z'));
  expect(new X509Certificate(cert).validTo).toContain('2069');
  const { writeFile } = await import('node:fs/promises');
  const [keyFile, certFile] = [path.join(server.directory, 'key'), path.join(server.directory, 'cert')];
  const own = makeCertificate('operator.test', new Date());
  await writeFile(keyFile, own.key);
  await writeFile(certFile, own.cert);
  expect(key).not.toBe(own.key);
  const operated = await SmtpServer.start({ SMTP_TLS_KEY_FILE: keyFile, SMTP_TLS_CERT_FILE: certFile });
  const client = await SmtpClient.greet(operated.port);
  const tls = await client.startTls();
  expect(tls.getPeerCertificate().subject.CN).toBe('operator.test');
  client.destroy();
  await operated.stop();
});
