import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { encodeEventCursor } from '../../../core/events/event-cursor.ts';
import { type GatewayMail, takeMail } from '../../support/rows/gateway-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { until } from '../../support/servers/service.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const guide = readFileSync(path.resolve(import.meta.dirname, '../../../docs/events.md'), 'utf8');
const blocks = (language: string) =>
  [...guide.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text);
/** Each call of curl, without the comments that show what it answers. */
const calls = blocks('sh').flatMap((block) =>
  block
    .replace(/^#.*\n/gm, '')
    .split(/^(?=curl)/m)
    .map((call) => call.trim()),
);

let gateway: TestGateway;
let mail: GatewayMail;
let box: TestMailbox;
let environment: Record<string, string>;
beforeAll(async () => {
  gateway = await openTestGateway();
  mail = await takeMail(gateway);
  box = await gateway.mailbox({ domain: 'inbox.test', address: 'hello@inbox.test' });
  const SINCE = new Date().toISOString();
  const BASE = await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  environment = { BASE, SINCE, KEY: box.apiKey, CURSOR: encodeEventCursor(box.userId, 1) };
  await mail.deliver('From: Shop <a@shop.example>\r\nSubject: Your code\r\n\r\nYour code is 482913.\r\n', box.address);
  await until(
    'it has its thread',
    () => '',
    async () => (await gateway.call(box.apiKey, 'GET', '/events')).json().data.length >= 2,
  );
});
afterAll(async () => {
  await mail.stop();
  await gateway.close();
});

const isStream = (call: string) => call.startsWith('curl -sN');

test('there are the calls', () => expect([calls.length, calls.filter(isStream).length]).toEqual([6, 2]));

test.each(calls.filter((call) => !isStream(call)))('%s', async (call) => {
  const { stdout } = await promisify(execFile)('bash', ['-c', call], { env: { ...process.env, ...environment } });
  const answer = JSON.parse(stdout);
  if (call.includes('/emails/wait')) {
    expect(answer).toMatchObject({ object: 'wait', timed_out: false, email: { subject: 'Your code' } });
    expect(answer.codes[0].code).toBe('482913');
  } else {
    expect(answer.object).toBe('list');
    expect(answer.data.length > 0).toBe(!call.includes('latest'));
  }
});

test.each(calls.filter(isStream))('%s', async (call) => {
  // The shell gives way to curl, so that ending the child ends curl.
  const child = spawn('bash', ['-c', `exec ${call}`], { env: { ...process.env, ...environment } });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await expect.poll(() => text).toContain(`id: ${encodeEventCursor(box.userId, 2)}\ndata: {`);
  expect(text).not.toContain(`id: ${encodeEventCursor(box.userId, 1)}\n`);
  const ended = once(child, 'exit');
  child.kill();
  await ended;
});

test('the queries and the subscription of the guide', async () => {
  const [subscription = '', past = '', wait = ''] = blocks('graphql');
  const events = (await gateway.graphql(box.apiKey, past)).json();
  expect(events.errors).toBeUndefined();
  expect(events.data.events.totalCount).toBeGreaterThanOrEqual(2);
  const found = (await gateway.graphql(box.apiKey, wait, { since: environment['SINCE'] })).json();
  expect(found.data.waitForEmail.extracts.codes[0].code).toBe('482913');
  const hangUp = new AbortController();
  const answer = await fetch(`${environment['BASE']}/graphql`, {
    method: 'POST',
    signal: hangUp.signal,
    headers: {
      authorization: `Bearer ${box.apiKey}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: subscription, variables: { after: environment['CURSOR'] } }),
  });
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('"emailReceived"')) break;
  }
  hangUp.abort();
  expect(text).toContain('"subject":"Your code"');
});
