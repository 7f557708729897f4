import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { ForwardingStage } from '../support/stages/forwarding-stage.ts';
import type { SharedGround } from '../support/stages/sending-stage.ts';

const PEER = 'listen-peer.test';
const root = path.resolve(import.meta.dirname, '../..');

let stage: ForwardingStage<SharedGround>;
/** the webhook, and the server of a developer, which Postroom does not reach */
let [hook, local]: WebhookReceiver[] = [];
let proxy: TcpProxy;
let directory: string;
let address: string;
let endpoint: { id: string; secret: string };
const running = new Set<ChildProcess>();

beforeAll(async () => {
  [hook, local] = [await startWebhookReceiver(), await startWebhookReceiver()];
  stage = await ForwardingStage.share('single', PEER);
  proxy = await startTcpProxy({ host: '127.0.0.1', port: stage.sending.service.httpPort });
  directory = await mkdtemp(path.join(tmpdir(), 'postroom-listen-'));
  const { account } = stage.sending;
  const made = await account.call('POST', '/endpoints', {
    name: 'hook',
    type: 'webhook',
    events: ['email.received', 'thread.claimed'],
    config: { url: hook?.url, headers: { 'X-Mine': 'yes' } },
  });
  endpoint = { id: made.body.id, secret: made.body.signingSecret };
  address = `listen@${account.domain}`;
  const { domainId } = account;
  await account.call('POST', '/email-addresses', { address, domainId, endpointId: endpoint.id });
}, 300_000);
afterEach(async () => {
  for (const child of running) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
afterAll(async () => {
  await Promise.all([hook?.stop(), local?.stop(), proxy?.close(), stage?.stop()]);
  await rm(directory, { recursive: true, force: true });
});

const newest = async () => (await stage.sending.account.call('GET', '/events?after=latest')).body.next_cursor as string;

/** Starts `postroom listen` against the proxy; `line` returns the next line that it prints. */
function listen(...given: string[]) {
  const env = {
    ...process.env,
    POSTROOM_URL: `http://127.0.0.1:${proxy.port}`,
    POSTROOM_KEY: stage.sending.account.apiKey,
    XDG_STATE_HOME: directory,
  };
  const args = ['bin/postroom.ts', 'listen', '--json', '--forward', `${local?.url}/hook`, ...given];
  const child = spawn(process.execPath, args, { cwd: root, env });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let [text, errors] = ['', ''];
  child.stderr.on('data', (chunk: Buffer) => void (errors += chunk.toString()));
  child.stdout.on('data', (chunk: Buffer) => void (text += chunk.toString()));
  const line = async (): Promise<Record<string, unknown>> => {
    for (;;) {
      const end = text.indexOf('\n');
      if (end !== -1) {
        const first = text.slice(0, end);
        text = text.slice(end + 1);
        return JSON.parse(first) as Record<string, unknown>;
      }
      if (child.exitCode !== null) throw new Error(`listen has ended: ${errors}`);
      await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
    }
  };
  const complaint = async () => {
    while (!errors.includes('Next attempt')) await once(child.stderr, 'data');
  };
  return { child, line, complaint };
}

const offer = (subject: string) =>
  stage.offer(
    address,
    [
      `From: Ann <ann@${PEER}>`,
      `To: ${address}`,
      `Subject: ${subject}`,
      `Message-ID: <${subject}@${PEER}>`,
      '',
      'Hi',
      '',
    ].join('\r\n'),
    `ann@${PEER}`,
  );
const ofEmail = (emailId: string) => (request: { headers: Record<string, unknown> }) =>
  request.headers['x-email-id'] === emailId;

const ofKind = (kind: string) => (request: { headers: Record<string, unknown> }) =>
  request.headers['x-webhook-event'] === kind;

/** The header fields that differ between attempts of one delivery, of the connection, and of the links in the body. */
const VOLATILE = [
  'webhook-timestamp',
  'webhook-signature',
  'x-webhook-timestamp',
  'x-service-timestamp',
  'content-length',
  'x-inbound-signature',
  'x-webhook-signature',
  'host',
  'connection',
];
const stable = (headers: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !VOLATILE.includes(name)));

/** Cuts the holder and the signature from the links of a body: the key that listens gets links of its own. */
const withoutHolders = (body: string | undefined) => body?.replace(/(?<=[?&](?:for|signature)=)[\w-]+/g, '');

test('a local server gets the requests of the webhook, equal but for whom links name, and signed with its secret', async () => {
  const { line } = listen('--endpoint', endpoint.id, '--since', await newest());
  expect(await line()).toMatchObject({ endpoint_id: endpoint.id, signing_secret: null });
  const emailId = await offer('same-bytes');
  expect(await line()).toMatchObject({ kind: 'email.received', status: 200, attempt: 1 });
  const { account } = stage.sending;
  const { thread_id: threadId } = (await account.call('GET', `/emails/${emailId}`)).body;
  expect((await account.call('POST', `/mail/threads/${threadId}/claim`, { holder: 'ann' })).status).toBe(200);
  expect(await line()).toMatchObject({ kind: 'thread.claimed', status: 200 });
  for (const isOne of [ofEmail(emailId), ofKind('thread.claimed')]) {
    const real = (await hook?.until((all) => all.some(isOne)))?.find(isOne);
    const pulled = local?.requests.find(isOne);
    expect(withoutHolders(pulled?.body)).toBe(withoutHolders(real?.body));
    expect(stable(pulled?.headers ?? {})).toEqual(stable(real?.headers ?? {}));
    expect(pulled?.headers['x-mine']).toBe('yes');
    const headers = (pulled?.headers ?? {}) as Record<string, string>;
    expect(new Webhook(endpoint.secret).verify(pulled?.body ?? '', headers)).toEqual(JSON.parse(pulled?.body ?? ''));
  }
});

test('a request that fails is signed and posted again, and neither a kill nor an unreachable server loses one', async () => {
  const since = await newest();
  let isRefusing = true;
  local?.respond(() => (isRefusing ? 500 : 200));
  const first = listen('--since', since);
  const { signing_secret: secret } = await first.line();
  const emailIds = [await offer('kept-1'), await offer('kept-2')];
  const failed = await first.line();
  expect(failed).toMatchObject({ status: 500, attempt: 1, retry_in_ms: 500 });
  expect(await first.line()).toMatchObject({ webhook_id: failed['webhook_id'], status: 500, attempt: 2 });
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');

  isRefusing = false;
  const second = listen();
  expect(await second.line()).toMatchObject({ signing_secret: secret });
  expect(await second.line()).toMatchObject({ webhook_id: failed['webhook_id'], status: 200 });
  expect(await second.line()).toMatchObject({ status: 200 });

  proxy.setMode('refuse');
  emailIds.push(await offer('kept-3'));
  await second.complaint();
  proxy.setMode('pass');
  expect(await second.line()).toMatchObject({ status: 200 });
  for (const emailId of emailIds) {
    const taken = local?.requests.filter(ofEmail(emailId)) ?? [];
    expect(new Set(taken.map(({ webhookId }) => webhookId)).size).toBe(1);
    for (const { body, headers } of taken) new Webhook(String(secret)).verify(body, headers as Record<string, string>);
    expect(JSON.parse(taken[0]?.body ?? '')).toMatchObject({ event: 'email.received', email: { id: emailId } });
  }
  second.child.kill('SIGINT');
  expect(await once(second.child, 'exit')).toEqual([0, null]);
});
