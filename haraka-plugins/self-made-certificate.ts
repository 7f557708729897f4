import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A self-signed key and certificate for one host name, PEM. */
export interface SelfMadeCertificate {
  key: string;
  cert: string;
}

/** A self-signed certificate proves nothing, so its expiration does not matter. */
const LIFETIME_YEARS = 20;

/**
 * Creates an X.509 v3 certificate (RFC 5280 §4.1) over a new P-256 key, also for this machine by its own names, so that programs on it can
 * trust the certificate. Node's crypto can parse certificates but not create them.
 */
export function makeCertificate(hostname: string, now: Date): SelfMadeCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(hostname.slice(0, 64))))));
  const end = new Date(now);
  end.setUTCFullYear(end.getUTCFullYear() + LIFETIME_YEARS);
  const signatureAlgorithm = sequence(oid(ECDSA_WITH_SHA256));
  const names = [...new Set([hostname, 'localhost'])].map((each) => der(0x82, Buffer.from(each)));
  const addresses = [LOOPBACK_4, LOOPBACK_6].map((bytes) => der(0x87, Buffer.from(bytes)));
  const alternativeName = sequence(...names, ...addresses);
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // Positive and without leading zeros (RFC 5280 §4.1.2.2).
    der(0x02, Buffer.concat([Buffer.from([0x4d]), randomBytes(15)])),
    signatureAlgorithm,
    name,
    sequence(time(now), time(end)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid(SUBJECT_ALTERNATIVE_NAME), der(0x04, alternativeName)))),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const certificate = sequence(toBeSigned, signatureAlgorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem('CERTIFICATE', certificate),
  };
}

const LOOPBACK_4 = [127, 0, 0, 1];
const LOOPBACK_6 = [...Array<number>(15).fill(0), 1];

/** Object identifiers, DER contents: 2.5.4.3, 2.5.29.17, 1.2.840.10045.4.3.2. */
const COMMON_NAME = [0x55, 0x04, 0x03];
const SUBJECT_ALTERNATIVE_NAME = [0x55, 0x1d, 0x11];
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];

function der(tag: number, contents: Buffer): Buffer {
  const { length } = contents;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), contents]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), contents]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function set(...parts: Buffer[]): Buffer {
  return der(0x31, Buffer.concat(parts));
}

function oid(contents: number[]): Buffer {
  return der(0x06, Buffer.from(contents));
}

/** UTCTime up to 2049, GeneralizedTime after (RFC 5280 §4.1.2.5). */
function time(instant: Date): Buffer {
  const digits = `${instant.toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
  return instant.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

function pem(label: string, contents: Buffer): string {
  const lines = contents.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
