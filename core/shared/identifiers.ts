import { snakeCase } from './word-case.ts';

/** Prefix of each kind of identifier; opaque to clients. */
const prefixes = {
  email: 'em',
  thread: 'th',
  threadChange: 'chg',
  threadNote: 'note',
  savedView: 'view',
  snippet: 'snp',
  domain: 'dom',
  emailAddress: 'addr',
  replyAddress: 'rpl',
  endpoint: 'ep',
  delivery: 'dlv',
  guardRule: 'grd',
  apiKey: 'key',
  apiRequest: 'req',
  auditEntry: 'aud',
  refusal: 'rfs',
  user: 'usr',
  workspace: 'wsp',
  invitation: 'inv',
  dnsRecord: 'dns',
  batch: 'bat',
  draft: 'drf',
  suppression: 'sup',
  event: 'evt',
  attachment: 'att',
  raw: 'raw',
  recipient: 'rcp',
  dmarcReport: 'dmr',
  session: 'ses',
  credential: 'crd',
  verification: 'ver',
  passkey: 'psk',
  wordSegment: 'seg',
  scimToken: 'sct',
  scimUser: 'scu',
  scimGroup: 'scg',
} as const;

export type IdentifierKind = keyof typeof prefixes;

export const IDENTIFIER_KINDS = Object.keys(prefixes) as readonly IdentifierKind[];

/** Returns the text that an identifier of this kind begins with, before the underscore. */
export function identifierPrefix(kind: IdentifierKind): string {
  return prefixes[kind];
}

/** Returns what an identifier of this kind is of, such as `reply address`. */
export function identifierNoun(kind: IdentifierKind): string {
  return snakeCase(kind).replaceAll('_', ' ');
}

/** Random bytes in an identifier. */
export const IDENTIFIER_RANDOM_BYTES = 10;

/**
 * Returns an identifier: prefix, underscore, UUIDv7 (RFC 9562 §5.7) in hex without dashes. Sorts by time of creation. `random` has at
 * least IDENTIFIER_RANDOM_BYTES bytes from a cryptographic source.
 */
export function makeIdentifier(kind: IdentifierKind, now: Date, random: Uint8Array): string {
  const bytes = new Uint8Array(16);
  let milliseconds = now.getTime();
  for (let at = 5; at >= 0; at--) {
    bytes[at] = milliseconds % 256;
    milliseconds = Math.floor(milliseconds / 256);
  }
  bytes.set(random.subarray(0, IDENTIFIER_RANDOM_BYTES), 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return `${prefixes[kind]}_${Buffer.from(bytes).toString('hex')}`;
}

/** Where identifiers come from: the context of an operation or an actor. */
interface IdentifierSource {
  now: () => Date;
  random: (count: number) => Uint8Array;
}

/** Returns a new identifier, of this moment or of `at`. */
export function newIdentifier({ now, random }: IdentifierSource, kind: IdentifierKind, at = now()): string {
  return makeIdentifier(kind, at, random(IDENTIFIER_RANDOM_BYTES));
}

/** Returns whether the text has the form of an identifier of this kind; it may not exist. */
export function isIdentifier(kind: IdentifierKind, text: string): boolean {
  return new RegExp(`^${prefixes[kind]}_[0-9a-f]{32}$`).test(text);
}
