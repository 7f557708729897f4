import { MailParser } from 'mailparser';
import { decodeRawText, storableText } from '../shared/text.ts';
import { type TransferEncoding, toTransferEncoding } from './attachment.ts';
import { decodeEncodedWords, endOfHeaderSection } from './header-fields.ts';

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
  /** whether there were more parts than are read; the rest is only in the raw bytes */
  isTruncated: boolean;
}

const MAX_CONTENT_ID_LENGTH = 998;

/** Splits a message into its leaves. Rejects when that is impossible. */
export async function readParts(bytes: Buffer): Promise<Parts> {
  const { bodies, isTruncated } = await readPartBodies(bytes);
  return { leaves: bodies.map(toLeaf), isTruncated };
}

function toLeaf({ node, headStart, start, end }: PartBody): Leaf {
  const contentType = contentTypeOf(node);
  const filename = node.filename === false ? null : decodeRawText(node.filename);
  const disposition = toDisposition(node.disposition);
  const isText = contentType.startsWith('text/') || contentType === 'message/delivery-status';
  const isAlternative = isWithinAlternative(node);
  const isAttachment = filename !== null || disposition === 'attachment' || !isText;
  return {
    contentType: storableText(contentType),
    charset: node.charset === false ? null : node.charset,
    transferEncoding: toTransferEncoding(node.encoding === false ? '' : node.encoding),
    flowed: node.flowed ? (node.delSp ? 'delete-space' : 'keep-space') : null,
    filename: filename === null ? null : storableText(decodeEncodedWords(filename)),
    disposition,
    contentId: toContentId(node.headers === false ? '' : node.headers.getFirst('Content-ID')),
    isAttachment,
    isBody:
      isText &&
      // The only part of a message is its text even if it has a name.
      (!isAttachment || (node.root && disposition !== 'attachment')) &&
      // Next to plain text and HTML, an alternative of another kind (calendar, AMP, rich text) repeats the content.
      (!isAlternative || contentType === 'text/plain' || contentType === 'text/html'),
    isAlternative,
    headStart,
    start,
    length: end - start,
  };
}

function contentTypeOf(node: PartNode): string {
  const isStated = node.headers !== false && node.headers.getFirst('Content-Type') !== '';
  // RFC 2046 §5.1.5: in a digest a part is a message unless it says otherwise.
  if (!isStated && node.parentNode !== false && node.parentNode.multipart === 'digest') return 'message/rfc822';
  return node.contentType === false ? 'text/plain' : node.contentType;
}

/** Returns `<...>` whether or not the field has the brackets; many ids here have no `@`, and `cid:` links still refer to them. */
function toContentId(value: string): string | null {
  const id = storableText(value.replace(/[<>\s]/g, ''));
  return id === '' ? null : `<${id.slice(0, MAX_CONTENT_ID_LENGTH).toWellFormed()}>`;
}

function toDisposition(value: string | false): Leaf['disposition'] {
  if (value === false) return null;
  return value === 'inline' ? 'inline' : 'attachment';
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

/** Maximum parts read per message, including multiparts: twice the maximum of listed attachments. */
const MAX_PARTS = 2_000;
/** Maximum levels of multiparts that are opened; deeper ones are opaque attachments. */
const MAX_DEPTH = 100;
/** Maximum bytes of a part's header section. The message's own is limited when it is accepted. */
const MAX_PART_HEADER_BYTES = 15_000_000;

/** A part without child parts, and the position of its encoded body. */
export interface PartBody {
  node: PartNode;
  /** offset of its header section, or of its body if it has none */
  headStart: number;
  start: number;
  end: number;
}

/** Splits a message into its parts and returns those without child parts. Rejects when that is impossible. */
export async function readPartBodies(bytes: Buffer): Promise<{ bodies: PartBody[]; isTruncated: boolean }> {
  const reader = new PartReader();
  await new Promise<void>((resolve, reject) => {
    reader.on('error', reject);
    reader.on('end', resolve);
    reader.resume();
    reader.end(bytes);
  });
  return { bodies: reader.bodies(), isTruncated: reader.isTruncated };
}

/** The fields of a mailsplit part that are used here. */
interface PartNode {
  type: 'node';
  root: boolean;
  parentNode: PartNode | false;
  contentType: string | false;
  multipart: string | false;
  charset: string | false;
  disposition: string | false;
  filename: string | false;
  encoding: string | false;
  flowed: boolean;
  delSp: boolean;
  headers: { getFirst(name: string): string } | false;
  parseHeaders(): void;
  /** delimiter of its children */
  _boundary: Buffer | false;
  /** its parent multipart */
  _parentBoundaryOwner: PartNode | false;
  /** views of its header lines, including the empty line at the end */
  _headersLines: Buffer[];
}

type Chunk = PartNode | { type: 'data' | 'body'; node: PartNode; value: Buffer };

interface Splitter {
  node: PartNode;
  /** whether its children have ended */
  inEpilogue: boolean;
  newNode(parent?: PartNode | false): void;
  /** Classifies a delimiter line: 1 first child, 2 end of the last child, 3 sibling, 4 end of the parent. */
  checkBoundary(line: Buffer): 1 | 2 | 3 | 4 | false;
  _transform(chunk: Buffer, encoding: string, callback: () => void): void;
}

/**
 * mailparser without its parsing of fields and bodies: it receives the parts in order and records their positions. A message written in
 * one piece is passed on as views of that buffer, which give the position. (Adding up lengths fails, because mailsplit drops parts that
 * end within their header section.)
 */
class PartReader extends MailParser {
  declare readonly splitter: Splitter;
  isTruncated = false;
  readonly #bodies: PartBody[] = [];
  #whole: Buffer | null = null;

  constructor() {
    super(SPLITTER_OPTIONS);
    const { splitter } = this;
    const newNode = splitter.newNode.bind(splitter);
    const checkBoundary = splitter.checkBoundary.bind(splitter);
    const transform = splitter._transform.bind(splitter);
    splitter._transform = (chunk, encoding, callback) => {
      this.#whole ??= chunk;
      transform(chunk, encoding, callback);
    };
    let parts = 0;
    splitter.newNode = (parent) => {
      newNode(parent);
      parts++;
      const { node } = splitter;
      if (depthOf(node) >= MAX_DEPTH) makeOpaque(node);
    };
    splitter.checkBoundary = (line) => {
      const boundary = checkBoundary(line) || checkOuterBoundaries(splitter, checkBoundary, line);
      // mailsplit's own limit would end parsing with an error that discards the parts read so far.
      if (boundary !== false && parts >= MAX_PARTS) this.isTruncated = true;
      return this.isTruncated ? false : boundary;
    };
  }

  /** Called by mailparser for every chunk. Must not throw: the exception would be uncaught. */
  processChunk(chunk: Chunk, done: () => void): void {
    if (chunk.type === 'node') {
      if (chunk.multipart === false) {
        const lines = chunk._headersLines.filter((line) => line.length > 0);
        const [firstLine, lastLine] = [lines[0], lines.at(-1)];
        const start = (lastLine === undefined ? null : this.#endOf(lastLine)) ?? 0;
        const firstEnd = firstLine === undefined ? null : this.#endOf(firstLine);
        const headStart = firstLine === undefined || firstEnd === null ? start : firstEnd - firstLine.length;
        this.#bodies.push({ node: chunk, headStart, start, end: start });
      }
    } else if (chunk.type === 'body') {
      const body = this.#bodies.at(-1);
      if (body?.node === chunk.node) {
        body.end = this.#endOf(chunk.value) ?? body.end + chunk.value.length;
      }
    }
    done();
  }

  /** Returns the end of a view in the message; null when it is a copy, which mailsplit makes of the last byte of an endless line. */
  #endOf(view: Buffer): number | null {
    if (this.#whole === null || view.buffer !== this.#whole.buffer) return null;
    return view.byteOffset + view.length - this.#whole.byteOffset;
  }

  /** Called by mailparser at the end to assemble the texts. */
  getTextContent(): object {
    return {};
  }

  /** Returns the bodies so far. If there were too many parts, the last one contains all later ones and is dropped. */
  bodies(): PartBody[] {
    return this.isTruncated ? this.#bodies.slice(0, -1) : this.#bodies;
  }
}

/**
 * mailsplit checks only the delimiters of a part and its parent. A line that delimits an outer part ends all parts within it (RFC 2046
 * §5.1.2): some mail programs do not close nested parts, and later parts would be lost.
 */
function checkOuterBoundaries(
  splitter: Splitter,
  check: Splitter['checkBoundary'],
  line: Buffer,
): ReturnType<typeof check> {
  const { node, inEpilogue } = splitter;
  if (!isDelimiterLike(line)) return false;
  splitter.inEpilogue = true;
  for (let outer = node._parentBoundaryOwner; outer !== false; outer = outer._parentBoundaryOwner) {
    splitter.node = outer;
    const boundary = check(line);
    if (boundary !== false) return boundary;
  }
  splitter.node = node;
  splitter.inEpilogue = inEpilogue;
  return false;
}

function isDelimiterLike(line: Buffer): boolean {
  let at = 0;
  while (line[at] === 0x0d || line[at] === 0x0a) at++;
  return line[at] === 0x2d && line[at + 1] === 0x2d;
}

/** Options that mailparser passes to mailsplit, missing from its types. Messages in messages are attachments, not parts. */
const SPLITTER_OPTIONS: object = {
  ignoreEmbedded: true,
  maxChildNodes: Number.POSITIVE_INFINITY,
  maxHeadSize: MAX_PART_HEADER_BYTES,
};

const depths = new WeakMap<PartNode, number>();

function depthOf(node: PartNode): number {
  const depth = node.parentNode === false ? 0 : (depths.get(node.parentNode) ?? 0) + 1;
  depths.set(node, depth);
  return depth;
}

/** Keeps a multipart from being opened: without a boundary it ends at its parent's delimiter. */
function makeOpaque(node: PartNode): void {
  const parseHeaders = node.parseHeaders.bind(node);
  node.parseHeaders = () => {
    parseHeaders();
    node._boundary = false;
    node.multipart = false;
  };
}
