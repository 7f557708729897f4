import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { canonicalAddress, canonicalDomainName } from '../domains/domain-name.ts';
import { base32Length, fromBase32, toBase32 } from '../shared/base32.ts';
import { hmacKey } from '../shared/hmac-key.ts';
import { isIdentifier } from '../shared/identifiers.ts';
import { acceptedKeys, deriveKeys } from '../shared/previous-key.ts';

const KEY_BYTES = 32;
const IDENTIFIER_BYTES = 16;
/** Milliseconds since 1970; 0: it does not expire. */
const EXPIRY_BYTES = 6;
/** 112 bits: cannot be guessed by sending mail. With the rest, the local-part has 64 bytes (RFC 5321 §4.5.3.1.1). */
const SIGNATURE_BYTES = 14;
const SIGNED_BYTES = IDENTIFIER_BYTES + EXPIRY_BYTES;
const TOKEN_LENGTH = base32Length(SIGNED_BYTES + SIGNATURE_BYTES);
/** Local-part of the own address of mail to a reply address, unless it names another one. */
const REPLY_LOCAL_PART = 'reply';
const REPLY_ADDRESS = new RegExp(`^${REPLY_LOCAL_PART}\\+([a-z2-7]{${TOKEN_LENGTH}})@([^@\\s]{1,254})$`, 'i');

/** What a reply address says by itself; the rest is in its row (docs/decisions/0077-reply-addresses.md). */
export interface ReplyToken {
  /** `rpl_…` */
  id: string;
  /** null: it does not expire */
  expiresAt: Date | null;
}

/** Derives the key that signs reply addresses from SECRET_KEY (RFC 5869); call it once. */
export function deriveReplyAddressKey(secretKey: Uint8Array): Uint8Array {
  if (secretKey.length !== KEY_BYTES) throw new RangeError(`SECRET_KEY has ${KEY_BYTES} bytes`);
  return deriveKeys(
    secretKey,
    (each) => new Uint8Array(hkdfSync('sha256', each, new Uint8Array(0), 'postroom reply-address', KEY_BYTES)),
  );
}

/**
 * Returns `reply+TOKEN@DOMAIN`. The token contains the identifier, the expiry time, and a signature over both and the domain. Throws
 * RangeError when the identifier is not that of a reply address, or the domain is invalid.
 */
export function makeReplyAddress(key: Uint8Array, { id, expiresAt }: ReplyToken, domain: string): string {
  const name = canonicalDomainName(domain);
  if (name === null || !isIdentifier('replyAddress', id))
    throw new RangeError('a reply address needs its identifier and a domain');
  const content = Buffer.alloc(SIGNED_BYTES);
  content.write(id.slice(-2 * IDENTIFIER_BYTES), 'hex');
  content.writeUIntBE(expiresAt?.getTime() ?? 0, IDENTIFIER_BYTES, EXPIRY_BYTES);
  return `${REPLY_LOCAL_PART}+${toBase32(signed(key, content, name))}@${name}`;
}

/** Returns whether an address has the form of a reply address, whatever its signature. */
export function looksLikeReplyAddress(address: string): boolean {
  return REPLY_ADDRESS.test(address);
}

/** Returns the content of a reply address; null when it is not one of ours. Case does not matter. */
export function readReplyAddress(key: Uint8Array, address: string): ReplyToken | null {
  const match = REPLY_ADDRESS.exec(address);
  const token = match?.[1]?.toLowerCase();
  if (token === undefined) return null;
  const domain = canonicalDomainName(match?.[2] ?? '');
  if (domain === null) return null;
  const content = fromBase32(token).subarray(0, SIGNED_BYTES);
  // Compared as text, which also covers unused bits of the encoding.
  const isOwn = acceptedKeys(key).some((each) =>
    timingSafeEqual(Buffer.from(toBase32(signed(each, content, domain))), Buffer.from(token)),
  );
  if (!isOwn) return null;
  const expiry = content.readUIntBE(IDENTIFIER_BYTES, EXPIRY_BYTES);
  return {
    id: `rpl_${content.toString('hex', 0, IDENTIFIER_BYTES)}`,
    expiresAt: expiry === 0 ? null : new Date(expiry),
  };
}

function signed(key: Uint8Array, content: Buffer, domain: string): Buffer {
  const signature = createHmac('sha256', hmacKey(key)).update(content).update(domain).digest();
  return Buffer.concat([content, signature.subarray(0, SIGNATURE_BYTES)]);
}

/** Returns an allowed sender as it is stored, an address or a domain in lower case; null when the text is neither. */
export function canonicalSender(text: string): string | null {
  return text.includes('@') ? (canonicalAddress(text)?.address ?? null) : canonicalDomainName(text);
}

/** Returns whether one of the addresses or domains allows the sender. An empty list allows every sender; a domain excludes its subdomains. */
export function isSenderAllowed(senders: readonly string[], address: string): boolean {
  if (senders.length === 0) return true;
  const sender = canonicalAddress(address);
  return sender !== null && (senders.includes(sender.address) || senders.includes(sender.domain));
}

/**
 * Returns the key of table thread_message_id that leads mail to a reply address to its thread. Without `@`, no Message-ID is equal to it
 * (core/threads/threading.ts).
 */
export function replyThreadKey(replyAddressId: string): string {
  return `reply-address:${replyAddressId}`;
}
