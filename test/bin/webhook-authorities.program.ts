import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAuthorities } from '../../bin/runner/processes/read-authorities.ts';
import { type DomainAccount, Service } from '../support/servers/service.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';

let directory: string;
let trusted: WebhookReceiver;
let stranger: WebhookReceiver;
let service: Service;
let account: DomainAccount;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'postroom-authorities-'));
  trusted = await startWebhookReceiver({ tlsName: 'localhost' });
  stranger = await startWebhookReceiver({ tlsName: 'localhost' });
  const file = await write('authorities.pem', `a comment\n${trusted.certificate}`);
  service = await Service.start('single', { environment: { WEBHOOK_CA_FILE: file } });
  account = await service.createAccount();
}, 300_000);

afterAll(async () => {
  await service?.stop();
  await trusted?.stop();
  await stranger?.stop();
  await rm(directory, { recursive: true, force: true });
}, 120_000);

async function write(name: string, text: string): Promise<string> {
  const file = path.join(directory, name);
  await writeFile(file, text);
  return file;
}

async function testEndpoint(receiver: WebhookReceiver) {
  const url = receiver.url.replace('127.0.0.1', 'localhost');
  const made = await account.call('POST', '/endpoints', { name: 'private', type: 'webhook', config: { url } });
  expect(made.status).toBe(201);
  return (await account.call('POST', `/endpoints/${made.body.id}/test`)).body;
}

test('WEBHOOK_CA_FILE allows receivers with a certificate of that private authority, and no others', async () => {
  expect(await testEndpoint(trusted)).toMatchObject({ success: true, statusCode: 200 });
  expect(trusted.requests).toHaveLength(1);
  expect(await testEndpoint(stranger)).toMatchObject({ success: false });
  expect(stranger.requests).toHaveLength(0);
});

test('a missing, empty or damaged file stops the start with one line', async () => {
  const damaged = (trusted.certificate ?? '').replace(/\n[^-\n]{40}/, '\nAAAA');
  const cases: [file: string, reason: string][] = [
    [path.join(directory, 'none.pem'), 'cannot be read (ENOENT)'],
    [await write('empty.pem', '\n'), 'contains no PEM certificate'],
    [await write('damaged.pem', `${trusted.certificate}${damaged}`), 'contains a damaged certificate (number 2)'],
  ];
  for (const [file, reason] of cases)
    await expect(readAuthorities('WEBHOOK_CA_FILE', file)).rejects.toThrow(`WEBHOOK_CA_FILE: ${file} ${reason}`);
});
