import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import type { BrowserSession } from './browser-session.ts';

/** Flags of authenticator data (WebAuthn Level 3 §6.1). */
export const USER_PRESENT = 0x01;
export const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

const ORIGIN = 'http://postroom.test';

/** What a response of the authenticator says, if it differs from the truth. */
interface Forged {
  challenge?: string;
  origin?: string;
  /** of the site that the credential is for */
  host?: string;
  /** how often the authenticator was used */
  counter?: number;
  /** ID of the passkey, in base64url */
  id?: string;
}

/** An authenticator in software, with one passkey. */
interface SoftwareAuthenticator {
  /** of the passkey, in base64url */
  id: string;
  /** Returns the body of a registration with a challenge that the browser got. */
  attest: (browser: BrowserSession, flags: number, forged?: Forged) => Promise<object>;
  /** Adds the passkey to the account of a session. */
  register: (browser: BrowserSession, flags: number, forged?: Forged) => Promise<LightMyRequestResponse>;
  /** Returns the body of a sign-in with a challenge that the browser got. */
  assert: (browser: BrowserSession, flags: number, forged?: Forged) => Promise<object>;
  /** Signs in. */
  signIn: (browser: BrowserSession, flags: number, forged?: Forged) => Promise<LightMyRequestResponse>;
}

export function createAuthenticator(): SoftwareAuthenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ownId = randomBytes(32);
  let uses = 0;

  const authenticatorData = (flags: number, host: string, count = uses++, more: Buffer = Buffer.alloc(0)) => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(count);
    return Buffer.concat([createHash('sha256').update(host).digest(), Buffer.from([flags]), counter, more]);
  };
  const clientData = (type: string, challenge: string, origin = ORIGIN) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const credential = (id: Buffer, response: object) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });
  const readChallenge = async (browser: BrowserSession, path: string) =>
    ((await browser.auth('GET', path)).json() as { challenge: string }).challenge;

  const authenticator: SoftwareAuthenticator = {
    id: ownId.toString('base64url'),
    async attest(browser, flags, forged = {}) {
      const challenge = forged.challenge ?? (await readChallenge(browser, '/passkey/generate-register-options'));
      const id = forged.id === undefined ? ownId : Buffer.from(forged.id, 'base64url');
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const key = new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]);
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, encodeCbor(key)]);
      const attestation = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authenticatorData(flags | HAS_CREDENTIAL, new URL(ORIGIN).hostname, forged.counter, attested)],
      ]);
      return {
        name: 'Key',
        response: credential(id, {
          clientDataJSON: clientData('webauthn.create', challenge).toString('base64url'),
          attestationObject: encodeCbor(attestation).toString('base64url'),
          transports: ['internal'],
        }),
      };
    },
    register: async (browser, flags, forged) =>
      browser.auth('POST', '/passkey/verify-registration', await authenticator.attest(browser, flags, forged)),
    async assert(browser, flags, { challenge, origin, counter, host = new URL(ORIGIN).hostname } = {}) {
      const given = challenge ?? (await readChallenge(browser, '/passkey/generate-authenticate-options'));
      const [data, client] = [authenticatorData(flags, host, counter), clientData('webauthn.get', given, origin)];
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      return {
        response: credential(ownId, {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: sign('sha256', signed, privateKey).toString('base64url'),
        }),
      };
    },
    signIn: async (browser, flags, forged) =>
      browser.auth('POST', '/passkey/verify-authentication', await authenticator.assert(browser, flags, forged)),
  };
  return authenticator;
}

/** Encodes what a response of an authenticator has, as CBOR (RFC 8949). */
function encodeCbor(value: unknown): Buffer {
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
  return Buffer.concat([
    head(5, entries.length),
    ...entries.flatMap(([key, each]) => [encodeCbor(key), encodeCbor(each)]),
  ]);
}
