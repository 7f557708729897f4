import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { totpCode } from '../../../core/accounts/totp.ts';
import { resetSecondFactor } from '../../../db/queries/accounts/second-factor.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type BrowserSession, openBrowser } from '../../support/stages/browser-session.ts';

const ORIGIN = 'http://postroom.test';
const PASSWORD = 'correct horse battery';
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openTestGateway();
});
afterAll(() => gateway.close());

async function signUp(email: string): Promise<BrowserSession> {
  const browser = openBrowser(gateway.app);
  await browser.auth('POST', '/sign-up/email', { name: 'Ada', email, password: PASSWORD });
  return browser;
}

/** CBOR (RFC 8949) of what a response of an authenticator has. */
function cbor(value: unknown): Buffer {
  const head = (major: number, length: number) =>
    length < 24
      ? Buffer.from([(major << 5) | length])
      : length < 256
        ? Buffer.from([(major << 5) | 24, length])
        : Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  const entries = [...(value as Map<unknown, unknown>)];
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, each]) => [cbor(key), cbor(each)])]);
}

/** Registers a passkey of an authenticator that sets these flags. */
async function register(browser: BrowserSession, flags: number) {
  const { challenge } = (await browser.auth('GET', '/passkey/generate-register-options')).json() as {
    challenge: string;
  };
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const key = new Map<number, unknown>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ]);
  const id = randomBytes(32);
  const authData = Buffer.concat([
    createHash('sha256').update(new URL(ORIGIN).hostname).digest(),
    Buffer.from([flags | HAS_CREDENTIAL, 0, 0, 0, 0]),
    Buffer.alloc(16),
    Buffer.from([0, id.length]),
    id,
    cbor(key),
  ]);
  const attestation = new Map<string, unknown>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ]);
  const clientData = { type: 'webauthn.create', challenge, origin: ORIGIN, crossOrigin: false };
  return browser.auth('POST', '/passkey/verify-registration', {
    name: 'Key',
    response: {
      id: id.toString('base64url'),
      rawId: id.toString('base64url'),
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: Buffer.from(JSON.stringify(clientData)).toString('base64url'),
        attestationObject: cbor(attestation).toString('base64url'),
        transports: ['internal'],
      },
    },
  });
}

test('a passkey is added only if its device checked the user', async () => {
  const browser = await signUp('verified@example.com');
  const unverified = await register(browser, USER_PRESENT);
  expect([unverified.statusCode, unverified.json().code]).toEqual([400, 'USER_NOT_VERIFIED']);
  expect((await browser.auth('GET', '/passkey/list-user-passkeys')).json()).toEqual([]);
  const verified = await register(browser, USER_PRESENT | USER_VERIFIED);
  expect(verified.statusCode, verified.body).toBe(200);
  expect((await browser.auth('GET', '/passkey/list-user-passkeys')).json()).toHaveLength(1);
});

test('the operator removes a lost second factor, which ends all sessions and is in the audit log', async () => {
  const email = 'lost@example.com';
  expect(await resetSecondFactor(gateway.owner, email)).toBe('no account');
  const browser = await signUp(email);
  expect(await resetSecondFactor(gateway.owner, email)).toBe('none');
  const { url } = (await browser.auth('POST', '/second-factor/set-up', {})).json() as { url: string };
  const secret = decode(new URL(url).searchParams.get('secret') ?? '');
  const on = await browser.auth('POST', '/second-factor/turn-on', { code: await totpCode(secret, new Date()) });
  expect(on.statusCode, on.body).toBe(200);
  expect(await resetSecondFactor(gateway.owner, email)).toBe('reset');
  const sessions = await gateway.owner.pool.query(
    'select from auth_session s join person u on u.id = s.person_id where u.email = $1',
    [email],
  );
  expect(sessions.rowCount).toBe(0);
  const again = openBrowser(gateway.app);
  const signedIn = await again.auth('POST', '/sign-in/email', { email, password: PASSWORD });
  expect(signedIn.json()).toMatchObject({ user: { email } });
  const { rows } = await gateway.owner.pool.query(
    `select actor_kind from audit_entry where action = 'second_factor.deleted' and workspace_id = (select id from person where email = $1)`,
    [email],
  );
  expect(rows).toEqual([{ actor_kind: 'system' }]);
});

/** Base32 (RFC 4648) to the text that it spells. */
function decode(base32: string): string {
  let bits = '';
  for (const letter of base32) bits += 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))).toString();
}
