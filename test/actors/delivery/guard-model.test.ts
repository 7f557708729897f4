import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGuardModel, type GuardModel } from '../../../actors/delivery/guard-model.ts';
import type { GuardFacts } from '../../../core/routing/guard-rule.ts';
import { type GuardModelServer, startGuardModel } from '../../support/servers/guard-model.ts';

const facts: GuardFacts = {
  subject: 'x'.repeat(5_000),
  from: Array.from({ length: 50 }, () => ({ name: 'n'.repeat(2_000), address: 'a@b.test' })),
  to: Array.from({ length: 1_000 }, () => 'hello@own.test'),
  text: 'word '.repeat(100_000),
  attachments: Array.from({ length: 100 }, () => ({ filename: 'f'.repeat(255), contentType: 'a/b' })),
  authentication: null,
  injection: null,
  spam: { verdict: 'not_checked', score: null },
};
let server: GuardModelServer;
let model: GuardModel;
let script: (response: ServerResponse) => void;

beforeEach(async () => {
  server = await startGuardModel(() => script);
  model = modelWith(60_000);
});
afterEach(async () => {
  await model.destroy();
  await server.stop();
});

const modelWith = (limitMs: number) => createGuardModel({ url: `${server.url}/`, key: null, name: 'm', limitMs });
const ask = (signal = new AbortController().signal) => model.ask('Spam?', facts, signal);
const late = { kind: 'failed', reason: 'the model did not respond within 0.3 s' };

test('a model that hangs or drips fails at its time limit', async () => {
  await model.destroy();
  model = modelWith(300);
  script = () => undefined;
  expect(await ask()).toEqual(late);
  script = (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  };
  expect(await ask()).toEqual(late);
});

test('a question that is aborted rejects instead of returning a reply', async () => {
  const controller = new AbortController();
  script = () => controller.abort();
  await expect(ask(controller.signal)).rejects.toThrow();
});

test('a response body that never ends is cut after 64 KB', async () => {
  script = (response) => {
    response.writeHead(200);
    const more = () => {
      while (response.write('x'.repeat(16_384)));
    };
    response.on('drain', more);
    response.on('error', () => undefined);
    more();
  };
  expect(await ask()).toEqual({ kind: 'failed', reason: 'the response of the model is too long' });
});

test('the prompt has the beginning of a large mail, and no Authorization is sent without a key', async () => {
  script = (response) =>
    void response.end(JSON.stringify({ choices: [{ message: { content: '{"match":false,"reason":"r"}' } }] }));
  expect(await ask()).toEqual({ kind: 'answered', isMatch: false, reason: 'r' });
  const [request] = server.requests;
  expect(request?.path).toBe('/v1/chat/completions');
  expect(request?.headers.authorization).toBeUndefined();
  expect(JSON.stringify(request?.body).length).toBeLessThan(25_000);
  expect(request?.body.messages[1]?.content).toContain(`"text":"${'word '.repeat(1_600)}"`);
});

test('an unreachable model fails', async () => {
  await server.stop();
  expect(await ask()).toEqual({ kind: 'failed', reason: 'the model could not be reached' });
});
