import { createHmac, timingSafeEqual } from 'node:crypto';

/** Cookies of ours are shorter; a longer one is none and is not looked at. Characters. */
const MAX_COOKIE_LENGTH = 512;

/** The name of the session's cookie. Over TLS browsers hold it to Secure, Path=/ and no Domain (RFC 6265bis §4.1.3.2). */
export function sessionCookieName(publicUrl: string): string {
  return `${publicUrl.startsWith('https:') ? '__Host-' : ''}postroom.session_token`;
}

/** The value of a cookie in a Cookie field (RFC 6265 §4.2), as it stands there; null when there is none. */
export function findCookie(field: string | undefined, name: string): string | null {
  for (const pair of field?.split(';') ?? []) {
    const mark = pair.indexOf('=');
    if (mark !== -1 && pair.slice(0, mark).trim() === name) return pair.slice(mark + 1).trim();
  }
  return null;
}

/** The token of a cookie as better-auth signs it: `token.signature`, percent-encoded. Null when it is none of ours. */
export function readSessionToken(value: string, secret: string): string | null {
  if (value.length > MAX_COOKIE_LENGTH) return null;
  const [, token, signature] = /^([A-Za-z0-9]+)\.([A-Za-z0-9+/]{43}=)$/.exec(decoded(value)) ?? [];
  if (token === undefined || signature === undefined) return null;
  const expected = createHmac('sha256', secret).update(token).digest();
  return timingSafeEqual(Buffer.from(signature, 'base64'), expected) ? token : null;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return '';
  }
}
