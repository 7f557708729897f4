import { findCharset } from '../shared/charset-name.ts';
import { storableText } from '../shared/text.ts';
import type { TransferEncoding } from './attachment.ts';
import { endOfHeaderSection } from './header-fields.ts';
import { detectTypeByName, readFilename } from './part-fields.ts';
import { type PartBody, type PartNode, readPartBodies } from './part-reader.ts';

/** A part without child parts (RFC 2046), and the position of its body in the raw bytes. */
export interface Leaf {
  /** lower case, without parameters */
  contentType: string;
  charset: string | null;
  transferEncoding: TransferEncoding;
  /** format=flowed (RFC 3676), with or without DelSp=yes; null when not flowed */
  flowed: 'keep-space' | 'delete-space' | null;
  /** decoded, as given by the sender; null when missing */
  filename: string | null;
  /** null when missing; unknown values mean attachment (RFC 2183 §2.8) */
  disposition: 'attachment' | 'inline' | null;
  contentId: string | null;
  /** the parameter `method` of a calendar (RFC 6047 §2.4); null when missing */
  method: string | null;
  /** whether it is listed: it has a name, is marked as an attachment, or is not text */
  isAttachment: boolean;
  /** whether its text belongs to the text or HTML body */
  isBody: boolean;
  /** whether it is inside a multipart/alternative */
  isAlternative: boolean;
  /** offset of its header section */
  headStart: number;
  /** offset of the encoded body */
  start: number;
  /** bytes of the encoded body */
  length: number;
}

/** The leaves of a message in order. */
interface Parts {
  leaves: Leaf[];
  /** of the text, for fields whose bytes are neither ASCII nor UTF-8; null when it is unknown */
  bodyCharset: string | null;
  /** whether there were more parts than are read; the rest is only in the raw bytes */
  isTruncated: boolean;
}

/** Splits a message into its leaves. Rejects when that is impossible. */
export async function readParts(bytes: Buffer): Promise<Parts> {
  const { bodies, isTruncated } = await readPartBodies(bytes);
  const bodyCharset = findBodyCharset(bodies);
  const leaves = bodies.map((body) => toLeaf(body, bodyCharset));
  chooseBody(leaves);
  return { leaves, bodyCharset, isTruncated };
}

function findBodyCharset(bodies: readonly PartBody[]): string | null {
  const labeled = bodies.find(({ node: { fields } }) => fields.charset !== null && !isAsciiOrUtf8(fields.charset));
  return labeled?.node.fields.charset ?? null;
}

function isAsciiOrUtf8(charset: string): boolean {
  const name = findCharset(charset);
  return name === null || name === 'ascii' || name === 'utf8';
}

function toLeaf({ node, headStart, start, end }: PartBody, bodyCharset: string | null): Leaf {
  const { fields } = node;
  const filename = readFilename(fields, bodyCharset);
  const contentType = storableText(contentTypeOf(node, filename));
  const { disposition } = fields;
  const isText = isShownType(contentType);
  const isAlternative = isWithinAlternative(node);
  const isAttachment = filename !== null || disposition === 'attachment' || !isText;
  return {
    contentType,
    charset: fields.charset,
    transferEncoding: fields.transferEncoding,
    flowed: fields.flowed,
    filename,
    disposition,
    contentId: fields.contentId,
    method: fields.method,
    isAttachment,
    // The only part of a message is its text even if it has a name.
    isBody: isText && (!isAttachment || (node.root && disposition !== 'attachment')),
    isAlternative,
    headStart,
    start,
    length: end - start,
  };
}

/** Types whose content is the text of a message (RFC 8621 §4.1.4); reports and their quoted headers are read by people, too. */
function isShownType(contentType: string): boolean {
  return (
    contentType === 'text/plain' ||
    contentType === 'text/html' ||
    contentType === 'text/rfc822-headers' ||
    contentType === 'message/delivery-status'
  );
}

/** Types that are files for other programs even if nothing else is there to read. */
const FILE_TYPES =
  /^text\/(?:calendar|x-calendar|x-vcalendar|vcard|x-vcard|directory|csv|tab-separated-values|xml|css|javascript)$/;

/** Without another text, text of another kind is the body: rich text, Markdown, source code. */
function chooseBody(leaves: readonly Leaf[]): void {
  if (leaves.some((leaf) => leaf.isBody)) return;
  for (const leaf of leaves) {
    const isOther = leaf.contentType.startsWith('text/') && !isShownType(leaf.contentType);
    if (!isOther || leaf.filename !== null || leaf.disposition === 'attachment' || FILE_TYPES.test(leaf.contentType))
      continue;
    leaf.isBody = true;
    leaf.isAttachment = false;
    return;
  }
}

function contentTypeOf(node: PartNode, filename: string | null): string {
  const { contentType, names, disposition } = node.fields;
  if (contentType !== null) return contentType;
  // RFC 2046 §5.1.5: in a digest a part is a message unless it says otherwise.
  const isStated = names.contentType.value !== '';
  if (!isStated && node.parentNode !== false && node.parentNode.multipart === 'digest') return 'message/rfc822';
  return detectTypeByName(filename) ?? (disposition === 'attachment' ? 'application/octet-stream' : 'text/plain');
}

function isWithinAlternative(node: PartNode): boolean {
  for (let at = node.parentNode; at !== false; at = at.parentNode) {
    if (at.multipart === 'alternative') return true;
  }
  return false;
}

/**
 * Returns the message without its attachments, otherwise byte for byte; images that its HTML shows (inline, with a Content-ID) stay. A
 * message that consists only of attachments becomes empty. Rejects when the message cannot be split into parts.
 */
export async function withoutAttachments(bytes: Buffer): Promise<Buffer> {
  const { leaves } = await readParts(bytes);
  const removed = leaves.filter(isRemoved);
  if (removed.length === 0) return bytes;
  if (removed.length === leaves.length) return emptied(bytes);
  const pieces: Buffer[] = [];
  let at = 0;
  for (const leaf of removed) {
    const { from, to } = placeOf(bytes, leaf);
    if (from < at) continue;
    pieces.push(bytes.subarray(at, from));
    at = to;
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]);
}

function isRemoved(leaf: Leaf): boolean {
  const isShown = leaf.disposition !== 'attachment' && leaf.contentId !== null && leaf.contentType.startsWith('image/');
  return leaf.isAttachment && !leaf.isBody && !isShown;
}

/** Returns the range from the delimiter before the part to the one after it (RFC 2046 §5.1.1). */
function placeOf(bytes: Buffer, { headStart, start, length }: Leaf): { from: number; to: number } {
  const from = headStart < 2 ? 0 : bytes.lastIndexOf('\n', headStart - 2) + 1;
  const end = start + length;
  const lineEnd = bytes[end] === 0x0d && bytes[end + 1] === 0x0a ? 2 : bytes[end] === 0x0a ? 1 : 0;
  return { from, to: end + lineEnd };
}

function emptied(bytes: Buffer): Buffer {
  const header = bytes.toString('latin1', 0, endOfHeaderSection(bytes));
  const kept = header
    .replace(/\r\n$/, '')
    .split(/\r\n(?![ \t])/)
    .filter((field) => field !== '' && !/^content-/i.test(field));
  return Buffer.from([...kept, '', ''].join('\r\n'), 'latin1');
}
