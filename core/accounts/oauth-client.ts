import { createHash } from 'node:crypto';
import { z } from 'zod';

/** A client as the consent page shows it. */
export interface OauthClient {
  id: string;
  name: string;
  redirectUris: readonly string[];
  /** the host that its metadata document is from (client ID metadata documents); null: anyone may have registered it */
  verifiedHost: string | null;
}

/** The command line, which signs in as a device. */
export const COMMAND_LINE_CLIENT: OauthClient = {
  id: 'postroom-cli',
  name: 'Postroom command line',
  redirectUris: [],
  verifiedHost: null,
};

const MAX_REDIRECT_URIS = 20;
export const MAX_URI_LENGTH = 2_048;
const MAX_NAME_LENGTH = 100;
/** Schemes of pages and files that a browser would open itself. */
const REFUSED_SCHEMES = new Set([
  'javascript:',
  'data:',
  'vbscript:',
  'file:',
  'blob:',
  'about:',
  'view-source:',
  'filesystem:',
  'ws:',
  'wss:',
  'ftp:',
  'mailto:',
  'tel:',
]);
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Returns why a redirect URI cannot be registered, as the end of a sentence; null when it can. */
function redirectUriFlaw(uri: string): string | null {
  if (uri.length > MAX_URI_LENGTH) return `must have ${MAX_URI_LENGTH} characters at most`;
  if (/[\p{Cc}\s\\]/u.test(uri)) return 'must not contain spaces, control characters or backslashes';
  const url = URL.parse(uri);
  if (url === null) return 'must be an absolute URI';
  if (uri.includes('#')) return 'must not have a fragment';
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password';
  if (REFUSED_SCHEMES.has(url.protocol)) return `must not have the scheme ${url.protocol.slice(0, -1)}`;
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname)) return 'must use https, except for this machine';
  return null;
}

/**
 * Returns whether a redirect URI is one of those registered: the same characters, or for programs on the person's machine the same with any
 * port (RFC 8252 §7.3).
 */
export function isRegisteredRedirect(registered: readonly string[], given: string): boolean {
  if (redirectUriFlaw(given) !== null) return false;
  return registered.some((uri) => uri === given || (isLoopbackUri(uri) && withoutPort(uri) === withoutPort(given)));
}

function isLoopbackUri(uri: string): boolean {
  const url = URL.parse(uri);
  return url?.protocol === 'http:' && LOOPBACK.has(url.hostname);
}

function withoutPort(uri: string): string {
  return uri.replace(/^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?]|$)/, '$1');
}

/** Returns what the consent page says a redirect leads to: a host, this computer, or a program with its scheme. */
export function redirectHost(uri: string): string {
  const url = new URL(uri);
  if (isLoopbackUri(uri)) return 'a program on this computer';
  return url.protocol === 'https:' ? url.host : `the program for ${url.protocol.slice(0, -1)} links`;
}

/** Returns a client's name without what could make a page show something else; null when nothing is left. */
export function plainName(name: string): string | null {
  const text = name
    .normalize('NFC')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return text === '' ? null : Array.from(text).slice(0, MAX_NAME_LENGTH).join('');
}

/** What clients say of themselves (RFC 7591 §2). Unknown fields are ignored; logos and links are never shown, so they are not read. */
const clientMetadata = z.object({
  redirect_uris: z
    .array(
      z.string().superRefine((uri, context) => {
        const flaw = redirectUriFlaw(uri);
        if (flaw !== null) context.addIssue({ code: 'custom', message: flaw });
      }),
    )
    .min(1, 'needs at least one URI')
    .max(MAX_REDIRECT_URIS, `must have ${MAX_REDIRECT_URIS} URIs at most`),
  client_name: z.string().max(1_000).optional(),
  grant_types: z.array(z.string()).max(20).optional(),
  response_types: z.array(z.string()).max(20).optional(),
  token_endpoint_auth_method: z.string().optional(),
});
type ClientMetadata = z.output<typeof clientMetadata>;

export type ReadMetadata = { metadata: ClientMetadata } | { flaw: string; isRedirect: boolean };

/** Reads the metadata of a client. */
export function readClientMetadata(given: unknown): ReadMetadata {
  const { data, error } = clientMetadata.safeParse(given);
  const [issue] = error?.issues ?? [];
  if (data === undefined) {
    const path = issue?.path.join('.') ?? '';
    return {
      flaw: `${path === '' ? 'the metadata' : path} ${issue?.message ?? 'is not valid'}`,
      isRedirect: path.startsWith('redirect_uris'),
    };
  }
  return { metadata: data };
}

/** Reads a client ID metadata document, which must name the URL that it was fetched from; otherwise returns why it cannot be used. */
export function readClientDocument(clientId: string, text: string): OauthClient | { flaw: string } {
  const document = parseJson(text);
  if (typeof document !== 'object' || document === null) return { flaw: 'is not JSON' };
  if ((document as { client_id?: unknown }).client_id !== clientId) return { flaw: 'names another client_id' };
  const read = readClientMetadata(document);
  if ('flaw' in read) return { flaw: `is not valid: ${read.flaw}` };
  const { host } = new URL(clientId);
  const { redirect_uris: redirectUris, client_name: name = host } = read.metadata;
  return { id: clientId, name: plainName(name) ?? host, redirectUris, verifiedHost: host };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns whether a client ID is the URL of a metadata document: https, with a path, and nothing that could hide the host. */
export function isDocumentId(clientId: string): boolean {
  const url = clientId.length > MAX_URI_LENGTH ? null : URL.parse(clientId);
  return (
    url?.protocol === 'https:' &&
    url.pathname !== '/' &&
    url.username === '' &&
    url.password === '' &&
    url.hash === '' &&
    url.href === clientId
  );
}

/** Returns the challenge of a verifier (RFC 7636 §4.6, S256); null when the verifier has another form. */
export function challengeOfVerifier(verifier: string): string | null {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return null;
  return createHash('sha256').update(verifier).digest('base64url');
}

/** The form of a challenge by S256. */
export const CHALLENGE_FORM = /^[A-Za-z0-9_-]{43}$/;

/** Kinds of secrets that OAuth makes, by the beginning of each. API keys have no such beginning, and another length. */
const SECRETS = { code: 'pr_code_', device: 'pr_device_', access: 'pr_access_', refresh: 'pr_refresh_' } as const;
export type OauthSecret = keyof typeof SECRETS;

/** Returns a secret from 32 random bytes. */
export function makeOauthSecret(kind: OauthSecret, random: Uint8Array): string {
  return SECRETS[kind] + Buffer.from(random).toString('base64url');
}

/** Returns whether a text has the form of a secret of this kind. */
export function isOauthSecret(kind: OauthSecret, text: string): boolean {
  return text.startsWith(SECRETS[kind]) && /^[A-Za-z0-9_-]{43}$/.test(text.slice(SECRETS[kind].length));
}

export function hashOauthSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Letters of user codes: no vowels, so that no words appear, and none that look like another (RFC 8628 §6.1). */
const CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const CODE_LENGTH = 8;

/** Returns a user code such as BCDF-GHJK from at least 16 random bytes. */
export function makeUserCode(random: Uint8Array): string {
  // The remainder of 16 bits is even enough: 65,536 is 3,276 times 20, and 16.
  const letters = Array.from({ length: CODE_LENGTH }, (_, at) => {
    const value = (random[2 * at] ?? 0) * 256 + (random[2 * at + 1] ?? 0);
    return CODE_LETTERS[value % CODE_LETTERS.length];
  }).join('');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** Returns a user code in the form in which it is stored; null when the text is none. */
export function readUserCode(text: string): string | null {
  const letters = text.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return letters.length === CODE_LENGTH ? `${letters.slice(0, 4)}-${letters.slice(4)}` : null;
}
