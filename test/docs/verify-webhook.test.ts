import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeSigningSecret, type SigningFacts, webhookHeaders } from '../../core/endpoints/webhook-signature.ts';

const guide = readFileSync(path.resolve(import.meta.dirname, '../../docs/endpoints.md'), 'utf8');
const code = /```js\n([\s\S]*?)```/.exec(guide)?.[1] ?? '';

type Verify = (secret: string, headers: Record<string, string>, body: Buffer | string, now?: number) => boolean;
const { verifyWebhook } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
  verifyWebhook: Verify;
};

const secret = makeSigningSecret(Buffer.alloc(32, 1));
const former = makeSigningSecret(Buffer.alloc(32, 2));
const body = Buffer.from('{"event":"email.received","subject":"Où?"}');
const sentAt = new Date('2026-11-22T12:00:00Z');
const facts: SigningFacts = {
  event: 'email.received',
  id: 'dlv_1',
  endpointId: 'ep_1',
  email: { id: 'em_1', messageId: '<1@a.test>' },
  body,
  sentAt,
  verificationToken: 'token',
  signatureScheme: 'token',
  secrets: [
    { secret, validUntil: null },
    { secret: former, validUntil: new Date('2026-11-23T00:00:00Z') },
  ],
  customHeaders: {},
  isTest: false,
};

/** The header fields of a webhook as programs see them: by lower-case name. */
function sent(): Record<string, string> {
  const list = webhookHeaders(facts);
  const pairs = list.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), list[at + 1] ?? '']] : []));
  return Object.fromEntries(pairs) as Record<string, string>;
}
const at = (seconds: number) => sentAt.getTime() + seconds * 1_000;

test("the guide's example accepts signatures of the current and the previous secret", () => {
  for (const each of [secret, former]) {
    expect(verifyWebhook(each, sent(), body, at(1))).toBe(true);
    expect(verifyWebhook(each, sent(), body.toString(), at(1))).toBe(true);
  }
});

test("the guide's example refuses old, altered and foreign signatures", () => {
  expect(verifyWebhook(secret, sent(), body, at(299))).toBe(true);
  expect(verifyWebhook(secret, sent(), body, at(301))).toBe(false);
  expect(verifyWebhook(secret, sent(), body, at(-301))).toBe(false);
  expect(verifyWebhook(secret, sent(), `${body.toString()} `, at(1))).toBe(false);
  expect(verifyWebhook(makeSigningSecret(Buffer.alloc(32, 3)), sent(), body, at(1))).toBe(false);
  // A recorded body and its time are bound together.
  expect(verifyWebhook(secret, { ...sent(), 'webhook-timestamp': String(at(600) / 1_000) }, body, at(600))).toBe(false);
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const { [name]: _gone, ...others } = sent();
    expect(verifyWebhook(secret, others, body, at(1))).toBe(false);
  }
});

test('the guide warns of headers without a time', () => {
  expect(guide).toMatch(/`X-Webhook-Signature` and `X-Inbound-Signature`[^.]*HMAC of the body only/);
});
