import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;
/** For how long a link serves without a key, from the making of the delivery that carries it; milliseconds. */
export const DOWNLOAD_LINK_LIFE_MS = 7 * 24 * 3_600_000;
/** Seconds since the epoch up to the year 5138; with more digits it is none of ours. */
const EXPIRES = /^\d{1,11}$/;
/** base64url of 32 bytes */
const SIGNATURE = /^[A-Za-z0-9_-]{43}$/;

/** What a link leads to: an attachment by its place, or the whole message. */
export interface DownloadTarget {
  userId: string;
  emailId: string;
  part: number | 'raw';
}

/** The query of a link as it came in; absent keys are undefined, repeated ones arrays. */
export type DownloadQuery = Readonly<Record<'user' | 'expires' | 'signature', unknown>>;

/** Derives from SECRET_KEY the key that download links are signed with (RFC 5869); done once, used for all of them. */
export function deriveDownloadLinkKey(secretKey: Uint8Array): Uint8Array {
  if (secretKey.length !== KEY_BYTES) throw new RangeError(`SECRET_KEY has ${KEY_BYTES} bytes`);
  return new Uint8Array(hkdfSync('sha256', secretKey, new Uint8Array(0), 'postroom download-link', KEY_BYTES));
}

/**
 * Path and query of a download. It is the ordinary address of the bytes, which serves the owner's API key for ever, with a signature
 * (RFC 2104) that serves without a key until `expiresAt`. Equal arguments give equal text.
 */
export function makeDownloadLink(key: Uint8Array, target: DownloadTarget, expiresAt: Date): string {
  const expires = String(Math.floor(expiresAt.getTime() / 1_000));
  const signature = sign(key, target, expires).toString('base64url');
  return `${downloadPath(target)}?user=${queryValue(target.userId)}&expires=${expires}&signature=${signature}`;
}

/** application/x-www-form-urlencoded; ids of ours need no escape. */
function queryValue(text: string): string {
  return /^[\w*.-]*$/.test(text) ? text : new URLSearchParams({ '': text }).toString().slice(1);
}

/** The path of a download, without a slash at its end. */
export function downloadPath({ emailId, part }: Pick<DownloadTarget, 'emailId' | 'part'>): string {
  return part === 'raw' ? `/api/e2/emails/${emailId}/raw` : `/api/e2/attachments/${emailId}/parts/${part}`;
}

/** The user in whose name a request with this query may read the part of the email; null when it proves nothing, or no longer. */
export function readDownloadLink(
  key: Uint8Array,
  { emailId, part }: { emailId: string; part: number | 'raw' },
  { user, expires, signature }: DownloadQuery,
  now: Date,
): string | null {
  if (typeof user !== 'string' || typeof expires !== 'string' || typeof signature !== 'string') return null;
  if (!EXPIRES.test(expires) || !SIGNATURE.test(signature)) return null;
  const expected = sign(key, { userId: user, emailId, part }, expires);
  // Decoded, several texts have one meaning in their last two bits: what was made is compared as text.
  const isSigned = timingSafeEqual(Buffer.from(expected.toString('base64url')), Buffer.from(signature));
  return isSigned && Number(expires) * 1_000 > now.getTime() ? user : null;
}

/** Made once for each key: making one costs more than signing with it. */
const keyObjects = new WeakMap<Uint8Array, KeyObject>();

function keyObjectOf(key: Uint8Array): KeyObject {
  const known = keyObjects.get(key);
  if (known !== undefined) return known;
  const made = createSecretKey(key);
  keyObjects.set(key, made);
  return made;
}

/** As JSON, so that no value can pass for its neighbour. */
function sign(key: Uint8Array, { userId, emailId, part }: DownloadTarget, expires: string): Buffer {
  return createHmac('sha256', keyObjectOf(key))
    .update(JSON.stringify([userId, emailId, part, expires]))
    .digest();
}
