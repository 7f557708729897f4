import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { DAY_MS } from '../shared/durations.ts';
import { createCountedCache } from '../shared/sized-cache.ts';

/** A Standard Webhooks secret: `whsec_` and base64. After a rotation the previous one also signs until validUntil. */
export interface SigningSecret {
  secret: string;
  /** null: the current secret */
  validUntil: Date | null;
}

/** Inputs of the header fields of a webhook request. */
export interface SigningFacts {
  /** kind of the event */
  event: string;
  /** `webhook-id`: of the delivery; the same for all its attempts */
  id: string;
  endpointId: string;
  /** null: the event is not posted as received mail */
  email: { id: string; messageId: string } | null;
  /** the request body */
  body: Buffer;
  /** time of this attempt */
  sentAt: Date;
  verificationToken: string;
  signatureScheme: 'token' | 'hmac';
  secrets: readonly SigningSecret[];
  customHeaders: Readonly<Record<string, string>>;
  /** a test message created by the user (operations/routing/simulate-inbound.ts) */
  isTest: boolean;
}

const SECRET_PREFIX = 'whsec_';
/** Bytes of a secret before base64 encoding; Standard Webhooks recommends 24 to 64. */
export const SIGNING_SECRET_BYTES = 32;
/** How long the previous secret signs beside the new one; milliseconds. */
export const SECRET_OVERLAP_MS = DAY_MS;
const USER_AGENT = 'Postroom-Webhook/1.0';
/** Maximum length of a header value taken from mail. */
const MAX_VALUE_LENGTH = 998;

/**
 * Returns the header fields of a webhook request as a flat list of names and values, in sending order: our own, including the signature
 * (Standard Webhooks §"Webhook headers"), then the endpoint's custom ones. Custom Content-Type and User-Agent replace ours; other fields
 * of ours cannot be replaced.
 */
export function webhookHeaders(facts: SigningFacts): string[] {
  const { body, sentAt, verificationToken: token } = facts;
  const hmac = createHmac('sha256', makeKey(token, 'utf8')).update(body).digest('hex');
  const seconds = Math.floor(sentAt.getTime() / 1_000);
  const custom = new Map(Object.entries(facts.customHeaders).map(([name, value]) => [name.toLowerCase(), value]));
  const headers = [
    'Content-Type',
    custom.get('content-type') ?? 'application/json',
    'User-Agent',
    custom.get('user-agent') ?? USER_AGENT,
    'X-Webhook-Event',
    facts.event,
    'X-Endpoint-ID',
    facts.endpointId,
    'X-Webhook-Timestamp',
    sentAt.toISOString(),
    ...(facts.email === null ? [] : ['X-Email-ID', facts.email.id, 'X-Message-ID', headerSafe(facts.email.messageId)]),
    'X-Webhook-Verification-Token',
    token,
    'X-Service-Signature',
    facts.signatureScheme === 'hmac' ? hmac : token,
    'X-Service-Timestamp',
    String(sentAt.getTime()),
    'X-Webhook-Signature',
    `sha256=${hmac}`,
    'X-Inbound-Signature',
    `sha256=${hmac}`,
    'webhook-id',
    facts.id,
    'webhook-timestamp',
    String(seconds),
  ];
  const signatures = facts.secrets
    .filter((secret) => secret.validUntil === null || secret.validUntil > sentAt)
    .map((secret) => signStandardWebhook(secret.secret, facts.id, seconds, body));
  if (signatures.length > 0) headers.push('webhook-signature', signatures.join(' '));
  if (facts.isTest) headers.push('X-Postroom-Test', 'true');
  for (const [name, value] of Object.entries(facts.customHeaders)) {
    const lower = name.toLowerCase();
    if (lower !== 'content-type' && lower !== 'user-agent') headers.push(name, value);
  }
  return headers;
}

/** Returns `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` (Standard Webhooks, "Signature scheme"); `timestamp` in seconds. */
export function signStandardWebhook(secret: string, id: string, timestamp: number, body: Buffer): string {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  return `v1,${createHmac('sha256', makeKey(text, 'base64')).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

/** Cached key objects by encoding and text: creating one costs more than signing with it. */
const keys = createCountedCache<KeyObject>(10_000);

function makeKey(text: string, encoding: 'utf8' | 'base64'): KeyObject {
  const name = `${encoding} ${text}`;
  const known = keys.get(name);
  if (known !== undefined) return known;
  const made = createSecretKey(Buffer.from(text, encoding));
  keys.set(name, made);
  return made;
}

/** Returns a secret from random bytes of a cryptographic source. */
export function makeSigningSecret(random: Uint8Array): string {
  if (random.length < 24) throw new RangeError('a signing secret has at least 24 bytes');
  return `${SECRET_PREFIX}${Buffer.from(random).toString('base64')}`;
}

/** Returns the secrets after a rotation: the new one is current, the previous one stays valid for 24 hours, older ones are removed. */
export function rotateSigningSecrets(secrets: readonly SigningSecret[], newSecret: string, now: Date): SigningSecret[] {
  const previous = secrets.find((secret) => secret.validUntil === null);
  const overlap =
    previous === undefined ? [] : [{ ...previous, validUntil: new Date(now.getTime() + SECRET_OVERLAP_MS) }];
  return [{ secret: newSecret, validUntil: null }, ...overlap];
}

/** Returns the plain text of endpoint.secret_ciphertext. */
export function encodeSigningSecrets(secrets: readonly SigningSecret[]): string {
  return JSON.stringify(secrets);
}

/** Parses a result of encodeSigningSecrets. Throws when it is invalid. */
export function decodeSigningSecrets(text: string): SigningSecret[] {
  return storedSecrets.parse(JSON.parse(text));
}

const storedSecrets = z.array(z.object({ secret: z.string(), validUntil: z.coerce.date().nullable() }));

/** Compares two signatures in constant time. */
export function isSameSignature(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Makes a value from mail safe for a header field: visible ASCII and spaces only. */
function headerSafe(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, '').slice(0, MAX_VALUE_LENGTH);
}
