import { findCharset } from '../shared/charset-name.ts';
import { decodeCharset, decodeRawText, storableText } from '../shared/text.ts';
import { decodeAttachment, type TransferEncoding } from './attachment.ts';
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
  const leaves = bodies.map((body) => toLeaf(bytes, body, bodyCharset));
  chooseRichText(bytes, bodies, leaves);
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

function toLeaf(bytes: Buffer, { node, headStart, start, end }: PartBody, bodyCharset: string | null): Leaf {
  const { fields } = node;
  const content = bytes.subarray(start, end);
  const filename =
    readFilename(fields, bodyCharset) ?? (fields.transferEncoding === 'uuencode' ? readUuencodedName(content) : null);
  const contentType = storableText(readContentType(node, filename));
  const { disposition } = fields;
  const isAlternative = isWithinAlternative(node);
  const isText = isShownType(contentType) || (!isAlternative && isOtherText(contentType));
  const isAttachment = filename !== null || disposition === 'attachment' || !isText;
  const transferEncoding = fields.statesEncoding
    ? fields.transferEncoding
    : inheritEncoding(node, content, isAttachment);
  return {
    contentType,
    charset: fields.charset,
    transferEncoding,
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

/** Bytes of a part that prove its encoding. */
const MAX_PROOF_BYTES = 65_536;
/**
 * Quoted-printable: ASCII whose equals signs are soft line ends or escapes that programs write: of bytes beyond ASCII, the equals sign, white space
 * at the end of a line, a line end, and a dot, `From` or a dash at the start of one. `id=12345` and `Total=10` are none.
 */
const QUOTED_PRINTABLE =
  /^[^=\x80-\xff]*(?:=(?:3D|[89A-F][0-9A-F]|(?:20|09)(?==?\r?\n|$)|0D(?:=0A|\r?\n)|0A|[ \t]*\r?\n|[0-9A-F]?$|(?<![^\n]=)(?:2E|46|2D))[^=\x80-\xff]*)+$/;
/** What only quoted-printable has: its own sign escaped, neighbors beyond ASCII, or the soft end of a long line. */
const QUOTED_PRINTABLE_SIGN = /=3D|(?:=[89A-F][0-9A-F]){2}|=\r?\n(?<=[^\r\n]{50}=\r?\n)/;
/** Full lines of base64, and a shorter last one. */
const BASE64_LINES = /^\s*(?:[A-Za-z0-9+/]{60,76}\r?\n)+(?:[A-Za-z0-9+/]{0,76}={0,2}\s*)?$/;

/**
 * Returns the encoding that the multipart around a part states, if the part states none and its bytes prove it: RFC 2045 §6.4 forbids it
 * there, and some programs state it for all parts. Files stay as they are, unless they can only be base64.
 */
function inheritEncoding(node: PartNode, content: Buffer, isAttachment: boolean): TransferEncoding {
  let stated: TransferEncoding = '7bit';
  for (let at = node.parentNode; at !== false && stated === '7bit'; at = at.parentNode)
    stated = at.fields.transferEncoding;
  if (stated !== 'base64' && (stated !== 'quoted-printable' || isAttachment)) return '7bit';
  return provesEncoding(content.toString('latin1', 0, MAX_PROOF_BYTES), stated) ? stated : '7bit';
}

/** Returns whether text, each character a byte, can only be meant as encoded so. Linear. */
export function provesEncoding(text: string, encoding: 'quoted-printable' | 'base64'): boolean {
  if (encoding === 'base64') return BASE64_LINES.test(text);
  return QUOTED_PRINTABLE_SIGN.test(text) && QUOTED_PRINTABLE.test(text);
}

/** Returns the name behind `begin 644`; null when it is missing. */
function readUuencodedName(content: Buffer): string | null {
  const name = /^begin [0-7]{3,4} ([^\r\n]{1,500})/m.exec(content.toString('latin1', 0, MAX_NAME_BYTES))?.[1]?.trim();
  return name === undefined || name === '' ? null : storableText(decodeRawText(name));
}

const MAX_NAME_BYTES = 2_000;

/** Types that all mail programs show; reports and their quoted headers are read by people, too. */
function isShownType(contentType: string): boolean {
  return (
    contentType === 'text/plain' ||
    contentType === 'text/html' ||
    contentType === 'text/rfc822-headers' ||
    contentType === 'message/delivery-status'
  );
}

/** Text that people read, such as text/enriched, text/markdown and source code. */
function isOtherText(contentType: string): boolean {
  return contentType.startsWith('text/') && !isShownType(contentType) && !FILE_TYPES.test(contentType);
}

/** Types of text that their standards define for programs (IANA "Media Types", text), and those of a vendor. */
const FILE_TYPES =
  /^text\/(?:(?:x-)?v?calendar|(?:x-)?vcard|(?:x-)?csv|(?:x-)?css|(?:x-)?(?:java|ecma)script|(?:x-)?json|x-amp-html|directory|tab-separated-values|xml|xml-external-parsed-entity|rtf|sgml|parameters|uri-list|cache-manifest|vtt|turtle|n3|hl7v2|gff3|vnd\..*|prs\..*)$/;

/** Alternatives that repeat the text of the message with its format. */
const RENDITIONS = /^text\/(?:enriched|richtext|watch-html)$/;
/** Alternatives that are compared with the body; further ones are attachments. */
const MAX_COMPARED = 10;
/** Bytes of an alternative and of a body that are compared. */
const MAX_COMPARED_BYTES = 65_536;
/** The share of an alternative's different words that the body has, too. */
const MIN_SHARED_WORDS = 0.5;

/**
 * Decides about alternatives of other text. Beside plain text or HTML they are attachments, unless they are a rendition that repeats the
 * text; without them, they are the body.
 */
function chooseRichText(bytes: Buffer, bodies: readonly PartBody[], leaves: readonly Leaf[]): void {
  const isUndecided = ({ isAlternative, contentType, filename, disposition }: Leaf) =>
    isAlternative && filename === null && disposition !== 'attachment' && isOtherText(contentType);
  if (!leaves.some(isUndecided)) return;
  const shown = new Map<PartNode | null, Leaf>();
  for (const [at, leaf] of leaves.entries()) if (leaf.isBody) shown.set(outerAlternative(bodies[at]), leaf);
  let compared = 0;
  for (const [at, leaf] of leaves.entries()) {
    if (!isUndecided(leaf)) continue;
    const beside = shown.get(outerAlternative(bodies[at]));
    const isRendition =
      beside !== undefined &&
      RENDITIONS.test(leaf.contentType) &&
      compared++ < MAX_COMPARED &&
      repeats(bytes, leaf, beside);
    leaf.isBody = beside === undefined;
    leaf.isAttachment = beside !== undefined && !isRendition;
  }
}

function outerAlternative(body: PartBody | undefined): PartNode | null {
  let outer: PartNode | null = null;
  for (let at = body?.node.parentNode ?? false; at !== false; at = at.parentNode)
    if (at.multipart === 'alternative') outer = at;
  return outer;
}

function repeats(bytes: Buffer, leaf: Leaf, shown: Leaf): boolean {
  const words = wordsIn(bytes, leaf);
  const others = wordsIn(bytes, shown);
  let shared = 0;
  for (const word of words) if (others.has(word)) shared++;
  return shared >= words.size * MIN_SHARED_WORDS;
}

function wordsIn(bytes: Buffer, leaf: Leaf): ReadonlySet<string> {
  const encoded = bytes.subarray(leaf.start, leaf.start + Math.min(leaf.length, MAX_COMPARED_BYTES));
  const content = Buffer.from(decodeAttachment(encoded, leaf.transferEncoding));
  const text = decodeCharset(content, leaf.charset).replace(/<[^<>]*>/g, ' ');
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}

function readContentType(node: PartNode, filename: string | null): string {
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
    const { from, to } = findRange(bytes, leaf);
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
function findRange(bytes: Buffer, { headStart, start, length }: Leaf): { from: number; to: number } {
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
