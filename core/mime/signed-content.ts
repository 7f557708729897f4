import { decodeAttachment } from './attachment.ts';
import { type Leaf, readParts } from './message-parts.ts';

/** A part that is shown as the text of a message, and the bytes that it is a part of. */
export interface ShownPart {
  bytes: Buffer;
  leaf: Leaf;
}

/**
 * Returns the parts that are the text of a message. Of a message that is only a file of S/MIME which is signed and not encrypted (RFC 8551 §3.5.2),
 * these are the parts of what is signed, as mail programs show it, no matter who signed it. Files within it stay within it.
 */
export async function readShownParts(bytes: Buffer, leaves: readonly Leaf[]): Promise<ShownPart[]> {
  const shown = leaves.filter((leaf) => leaf.isBody).map((leaf) => ({ bytes, leaf }));
  const signed = shown.length > 0 ? undefined : leaves.find(isSigned);
  if (signed === undefined) return shown;
  const encoded = bytes.subarray(signed.start, signed.start + signed.length);
  const content = readSignedContent(Buffer.from(decodeAttachment(encoded, signed.transferEncoding)));
  const inner = content === null ? null : await readParts(content).catch(() => null);
  if (content === null || inner === null) return [];
  return inner.leaves.filter((leaf) => leaf.isBody).map((leaf) => ({ bytes: content, leaf }));
}

function isSigned({ contentType, filename }: Leaf): boolean {
  if (contentType === 'application/octet-stream') return /^smime\.p7m$/i.test(filename ?? '');
  return /^application\/(?:x-)?pkcs7-mime$/.test(contentType);
}

const SEQUENCE = 0x30;
const OCTET_STRING = 0x04;
const OCTETS_IN_PIECES = 0x24;
const EXPLICIT = 0xa0;
/** 1.2.840.113549.1.7.2 */
const SIGNED_DATA = Buffer.from('06092a864886f70d010702', 'hex');
/** Elements within elements, and pieces of the content, that are read. */
const MAX_DEPTH = 12;
const MAX_PIECES = 100_000;

/** Returns the content of SignedData (RFC 5652 §5.1) in DER or BER; null when it is something else, is cut off, or has its content elsewhere. */
export function readSignedContent(bytes: Buffer): Buffer | null {
  const info = readElement(bytes, 0, 0);
  if (info?.tag !== SEQUENCE || !bytes.subarray(info.start).subarray(0, SIGNED_DATA.length).equals(SIGNED_DATA))
    return null;
  const outer = readElement(bytes, info.start + SIGNED_DATA.length, 0);
  const data = outer?.tag === EXPLICIT ? readElement(bytes, outer.start, 0) : null;
  const version = data?.tag === SEQUENCE ? readElement(bytes, data.start, 0) : null;
  const digests = version === null ? null : readElement(bytes, version.next, 0);
  const content = digests === null ? null : readElement(bytes, digests.next, 0);
  const type = content?.tag === SEQUENCE ? readElement(bytes, content.start, 0) : null;
  if (content === null || type === null || type.next >= content.end) return null;
  const wrapped = readElement(bytes, type.next, 0);
  const text = wrapped?.tag === EXPLICIT ? readElement(bytes, wrapped.start, 0) : null;
  return text === null ? null : joinOctets(bytes, text);
}

/** An element (X.690 §8.1): its tag, its content, and where the next one begins. */
interface Element {
  tag: number;
  start: number;
  end: number;
  next: number;
}

/** Reads the element at an offset; null when it is cut off or too deep. One of indefinite length ends behind its last child. */
function readElement(bytes: Buffer, at: number, depth: number): Element | null {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined || depth > MAX_DEPTH) return null;
  const lengthBytes = first & 0x7f;
  if (first === 0x80) {
    const start = at + 2;
    let end = start;
    while (bytes[end] !== 0 || bytes[end + 1] !== 0) {
      const child = readElement(bytes, end, depth + 1);
      if (child === null) return null;
      end = child.next;
    }
    return { tag, start, end, next: end + 2 };
  }
  if (first > 0x80 && lengthBytes > 4) return null;
  const start = at + 2 + (first > 0x80 ? lengthBytes : 0);
  if (start > bytes.length) return null;
  const end = start + (first > 0x80 ? bytes.readUIntBE(at + 2, lengthBytes) : first);
  return end > bytes.length ? null : { tag, start, end, next: end };
}

function joinOctets(bytes: Buffer, { tag, start, end }: Element): Buffer | null {
  if (tag === OCTET_STRING) return bytes.subarray(start, end);
  if (tag !== OCTETS_IN_PIECES) return null;
  const pieces: Buffer[] = [];
  for (let at = start; at < end && pieces.length < MAX_PIECES; ) {
    const piece = readElement(bytes, at, 0);
    if (piece?.tag !== OCTET_STRING) return null;
    pieces.push(bytes.subarray(piece.start, piece.end));
    at = piece.next;
  }
  return Buffer.concat(pieces);
}
