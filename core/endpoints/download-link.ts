import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { DAY_MS } from '../shared/durations.ts';
import { hmacKey } from '../shared/hmac-key.ts';
import { acceptedKeys, deriveKeys } from '../shared/previous-key.ts';

const KEY_BYTES = 32;
/** How long a link is valid without a key, from the creation of its delivery; milliseconds. */
export const DOWNLOAD_LINK_LIFE_MS = 7 * DAY_MS;
/** Seconds since the epoch, until the year 5138; a longer number is invalid. */
const EXPIRES = /^\d{1,11}$/;
/** base64url of 32 bytes */
const SIGNATURE = /^[A-Za-z0-9_-]{43}$/;

/** What a link downloads: an attachment by position, or the whole message. */
export interface DownloadTarget {
  workspaceId: string;
  emailId: string;
  part: number | 'raw';
  /** ID of the API key, person or endpoint that the link was made for: it works while that may read the email */
  holder: string;
}

/** The query of a received link; missing keys are undefined, repeated ones arrays. */
export type DownloadQuery = Readonly<Record<'user' | 'for' | 'expires' | 'signature', unknown>>;

/** Whose link it is, and in which workspace. */
export type LinkHolder = Pick<DownloadTarget, 'workspaceId' | 'holder'>;

/** Derives the key that signs download links from SECRET_KEY (RFC 5869); call it once. */
export function deriveDownloadLinkKey(secretKey: Uint8Array): Uint8Array {
  if (secretKey.length !== KEY_BYTES) throw new RangeError(`SECRET_KEY has ${KEY_BYTES} bytes`);
  return deriveKeys(
    secretKey,
    (each) => new Uint8Array(hkdfSync('sha256', each, new Uint8Array(0), 'postroom download-link', KEY_BYTES)),
  );
}

/**
 * Returns path and query of a download. The path also works with the owner's API key at any time; the signature (RFC 2104) makes it work
 * without a key until `expiresAt`, while its holder may read the email. Equal arguments give equal text.
 */
export function makeDownloadLink(key: Uint8Array, target: DownloadTarget, expiresAt: Date): string {
  const expires = String(Math.floor(expiresAt.getTime() / 1_000));
  const signature = sign(key, target, expires).toString('base64url');
  const owner = `user=${queryValue(target.workspaceId)}&for=${queryValue(target.holder)}`;
  return `${downloadPath(target)}?${owner}&expires=${expires}&signature=${signature}`;
}

/** application/x-www-form-urlencoded; our ids need no escaping. */
function queryValue(text: string): string {
  return /^[\w*.-]*$/.test(text) ? text : new URLSearchParams({ '': text }).toString().slice(1);
}

/** Returns the path of a download, without a trailing slash. */
export function downloadPath({ emailId, part }: Pick<DownloadTarget, 'emailId' | 'part'>): string {
  return part === 'raw' ? `/api/e2/emails/${emailId}/raw` : `/api/e2/attachments/${emailId}/parts/${part}`;
}

/** Returns for whom a request with this query reads that part of the email; null when the signature is invalid or expired. */
export function readDownloadLink(
  key: Uint8Array,
  { emailId, part }: { emailId: string; part: number | 'raw' },
  { user, for: holder, expires, signature }: DownloadQuery,
  now: Date,
): LinkHolder | null {
  if (typeof user !== 'string' || typeof holder !== 'string') return null;
  if (typeof expires !== 'string' || typeof signature !== 'string') return null;
  if (!EXPIRES.test(expires) || !SIGNATURE.test(signature)) return null;
  const target = { workspaceId: user, emailId, part, holder };
  // Several base64 texts decode to the same bytes because of their last two bits, so the texts are compared.
  const isSigned = acceptedKeys(key).some((each) =>
    timingSafeEqual(Buffer.from(sign(each, target, expires).toString('base64url')), Buffer.from(signature)),
  );
  return isSigned && Number(expires) * 1_000 > now.getTime() ? { workspaceId: user, holder } : null;
}

/** Signs JSON, so that adjacent values cannot be confused. */
function sign(key: Uint8Array, { workspaceId, emailId, part, holder }: DownloadTarget, expires: string): Buffer {
  return createHmac('sha256', hmacKey(key))
    .update(JSON.stringify([workspaceId, emailId, part, holder, expires]))
    .digest();
}
