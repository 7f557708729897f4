import { MailParser } from 'mailparser';
import { decodeRawText, storableText } from '../shared/text.ts';
import { type TransferEncoding, toTransferEncoding } from './attachment.ts';
import { decodeEncodedWords, endOfHeaderSection } from './header-fields.ts';

/** A part of a message that holds no other parts (RFC 2046), and where its body lies in the raw bytes. */
export interface Leaf {
  /** lower case, without parameters */
  contentType: string;
  charset: string | null;
  transferEncoding: TransferEncoding;
  /** format=flowed (RFC 3676), with DelSp=yes or without; null when it is not flowed */
  flowed: 'keep-space' | 'delete-space' | null;
  /** decoded, as the sender gave it; null when there is none */
  filename: string | null;
  /** null when absent; unknown words mean attachment (RFC 2183 §2.8) */
  disposition: 'attachment' | 'inline' | null;
  contentId: string | null;
  /** whether it is listed: it has a name, is meant as an attachment, or is no text */
  isAttachment: boolean;
  /** whether its text belongs to the text or HTML body */
  isBody: boolean;
  /** whether it stands within a multipart/alternative */
  isAlternative: boolean;
  /** first byte of its header section */
  headStart: number;
  /** first byte of the encoded body */
  start: number;
  /** bytes of the encoded body */
  length: number;
}

/** The leaves of a message in their order. */
interface Parts {
  leaves: Leaf[];
  /** whether there were more parts than are read; what comes after them is in the raw bytes only */
  isTruncated: boolean;
}

const MAX_CONTENT_ID_LENGTH = 998;

/** Splits a message into its leaves. Rejects when that cannot be done. */
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
      // The only part of a message is its text even when it bears a name.
      (!isAttachment || (node.root && disposition !== 'attachment')) &&
      // Beside plain text and HTML an alternative of another kind (calendar, AMP, rich text) says nothing new.
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

/** `<...>` whether the field has the brackets or not; many ids here have no `@`, and `cid:` links name them all the same. */
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
 * The message without its attachments, all else byte for byte; images that its HTML shows (inline, with a Content-ID) stay. A message
 * that is nothing but attachments becomes an empty one. Rejects when the message cannot be split into parts.
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

/** From the delimiter that begins the part to the one that follows it (RFC 2046 §5.1.1). */
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

/** Parts of one message that are read, multiparts included: twice as many as attachments are listed. */
const MAX_PARTS = 2_000;
/** Levels of multiparts that are opened; what lies deeper is one opaque attachment. */
const MAX_DEPTH = 100;
/** Bytes of the header section of one part. The message's own is limited when it is accepted. */
const MAX_PART_HEADER_BYTES = 15_000_000;

/** A part without parts of its own, and where its encoded body lies in the message. */
export interface PartBody {
  node: PartNode;
  /** first byte of its header section; that of its body when it has none */
  headStart: number;
  start: number;
  end: number;
}

/** Splits a message into its parts and answers those without parts of their own. Rejects when that cannot be done. */
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

/** A part as mailsplit hands it out, as far as it is used here. */
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
  /** what delimits its children */
  _boundary: Buffer | false;
  /** the multipart that it is a child of */
  _parentBoundaryOwner: PartNode | false;
  /** views of the lines of its header section, the empty one that ends it included */
  _headersLines: Buffer[];
}

type Chunk = PartNode | { type: 'data' | 'body'; node: PartNode; value: Buffer };

interface Splitter {
  node: PartNode;
  /** whether the children of the node are over */
  inEpilogue: boolean;
  newNode(parent?: PartNode | false): void;
  /** Whether the line delimits parts: 1 first child, 2 last child's end, 3 sibling, 4 parent's end. */
  checkBoundary(line: Buffer): 1 | 2 | 3 | 4 | false;
  _transform(chunk: Buffer, encoding: string, callback: () => void): void;
}

/**
 * mailparser without its reading of fields and bodies: it is told the parts one after the other and notes where they lie. Written in
 * one piece, a message goes through in one piece, and every chunk is a view of it: that tells its position. (Adding up lengths does
 * not: mailsplit drops parts that end within their header section.)
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
      // mailsplit's own limit ends the reading with an error that takes the parts read so far along.
      if (boundary !== false && parts >= MAX_PARTS) this.isTruncated = true;
      return this.isTruncated ? false : boundary;
    };
  }

  /** Called by mailparser for every chunk. Must not throw: nobody would catch it. */
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

  /** Where a view of the message ends in it; null when it is a copy: mailsplit holds back the last byte of an endless line as one. */
  #endOf(view: Buffer): number | null {
    if (this.#whole === null || view.buffer !== this.#whole.buffer) return null;
    return view.byteOffset + view.length - this.#whole.byteOffset;
  }

  /** Called by mailparser at the end, to put the texts together. */
  getTextContent(): object {
    return {};
  }

  /** The bodies so far; the last one of too many has swallowed all that follows it, and is left out. */
  bodies(): PartBody[] {
    return this.isTruncated ? this.#bodies.slice(0, -1) : this.#bodies;
  }
}

/**
 * mailsplit looks for the delimiters of a part and of its parent. A line that delimits parts further out ends all that is open within
 * (RFC 2046 §5.1.2): some mailers forget to close what they nest, and the parts behind it would be lost.
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

/** Options that mailparser passes on to mailsplit; its types do not know them. Messages in messages are attachments, not parts. */
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

/** Keeps a multipart from being opened: with no boundary of its own it ends where its parent says. */
function makeOpaque(node: PartNode): void {
  const parseHeaders = node.parseHeaders.bind(node);
  node.parseHeaders = () => {
    parseHeaders();
    node._boundary = false;
    node.multipart = false;
  };
}
