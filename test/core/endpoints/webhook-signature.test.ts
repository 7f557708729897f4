import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  decodeSigningSecrets,
  encodeSigningSecrets,
  isSameSignature,
  makeSigningSecret,
  rotateSigningSecrets,
  SECRET_OVERLAP_MS,
  type SigningFacts,
  signStandardWebhook,
  webhookHeaders,
} from '../../../core/endpoints/webhook-signature.ts';

const sentAt = new Date('2026-11-20T12:00:00.250Z');
const facts: SigningFacts = {
  event: 'email.received',
  id: 'dlv_1',
  endpointId: 'ep_1',
  email: { id: 'em_1', messageId: '<a@b.test>' },
  body: Buffer.from('{"a":1}'),
  sentAt,
  verificationToken: 'token',
  signatureScheme: 'token',
  secrets: [],
  customHeaders: {},
  isTest: false,
};

function makeHeaders(changes: Partial<SigningFacts> = {}): Map<string, string> {
  const list = webhookHeaders({ ...facts, ...changes });
  return new Map(Array.from({ length: list.length / 2 }, (_, n) => [list[2 * n] ?? '', list[2 * n + 1] ?? '']));
}

test('X-Service-Signature is the token, or if configured the HMAC of the body', () => {
  const hmac = createHmac('sha256', 'token').update('{"a":1}').digest('hex');
  expect(makeHeaders().get('X-Service-Signature')).toBe('token');
  expect(makeHeaders({ signatureScheme: 'hmac' }).get('X-Service-Signature')).toBe(hmac);
  expect(makeHeaders().get('X-Service-Timestamp')).toBe(String(sentAt.getTime()));
  expect(makeHeaders().get('X-Webhook-Signature')).toBe(`sha256=${hmac}`);
});

test('the signature matches the published example of Standard Webhooks', () => {
  const body = Buffer.from('{"test": 2432232314}');
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  expect(signStandardWebhook(secret, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, body)).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('one more byte or another time changes the signature', () => {
  const secret = makeSigningSecret(Buffer.alloc(32, 1));
  const sign = (id: string, at: number, body: string) => signStandardWebhook(secret, id, at, Buffer.from(body));
  const signature = sign('dlv_1', 1, '{"a":1}');
  expect(sign('dlv_1', 1, '{"a":1}')).toBe(signature);
  for (const other of [sign('dlv_1', 1, '{"a":2}'), sign('dlv_1', 2, '{"a":1}'), sign('dlv_2', 1, '{"a":1}')])
    expect(isSameSignature(other, signature)).toBe(false);
  expect(isSameSignature(signature.slice(0, -1), signature)).toBe(false);
  expect(isSameSignature(signature, signature)).toBe(true);
});

test('after a rotation both secrets sign for 24 h, then only the new one', () => {
  const [old, fresh] = [makeSigningSecret(Buffer.alloc(32, 1)), makeSigningSecret(Buffer.alloc(32, 2))];
  const rotated = rotateSigningSecrets([{ secret: old, validUntil: null }], fresh, sentAt);
  const stored = decodeSigningSecrets(encodeSigningSecrets(rotated));
  const signed = (at: number) => makeHeaders({ secrets: stored, sentAt: new Date(at) }).get('webhook-signature');
  const seconds = Math.floor(sentAt.getTime() / 1_000);
  expect(signed(sentAt.getTime())).toBe(
    [fresh, old].map((secret) => signStandardWebhook(secret, 'dlv_1', seconds, facts.body)).join(' '),
  );
  expect(SECRET_OVERLAP_MS).toBe(24 * 60 * 60 * 1_000);
  expect(signed(sentAt.getTime() + SECRET_OVERLAP_MS - 1)?.split(' ')).toHaveLength(2);
  expect(signed(sentAt.getTime() + SECRET_OVERLAP_MS)?.split(' ')).toHaveLength(1);
});

test('custom headers are added, and may replace Content-Type and User-Agent', () => {
  const headers = makeHeaders({ customHeaders: { 'content-type': 'text/x', 'X-Mine': 'yes' } });
  expect(headers.get('Content-Type')).toBe('text/x');
  expect(headers.get('X-Mine')).toBe('yes');
  expect([...headers.keys()].filter((name) => name.toLowerCase() === 'content-type')).toHaveLength(1);
});

test('a Message-ID cannot break the header section', () => {
  expect(makeHeaders({ email: { id: 'em_1', messageId: '<a\r\nX: y\0\u2028@b>' } }).get('X-Message-ID')).toBe(
    '<aX: y@b>',
  );
});
