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
  const reader = new PartReader(bytes);
  while (reader.readLines(LINES_AT_ONCE)) await new Promise<void>((resolve) => void setImmediate(resolve));
  return { bodies: reader.bodies(), isTruncated: reader.isTruncated };
}

/** Lines that are classified before other work has its turn. */
const LINES_AT_ONCE = 4_096;

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
  /** 1 within a header section, 2 within a body */
  state: 1 | 2;
  /** whether its children have ended */
  inEpilogue: boolean;
  newNode(parent?: PartNode | false): void;
  /** Classifies a delimiter line: 1 first child, 2 end of the last child, 3 sibling, 4 end of the parent. */
  checkBoundary(line: Buffer): 1 | 2 | 3 | 4 | false;
  /** Classifies a line and calls back before it returns; `isFlush`: a new part begins after it. */
  processLine(
    line: Buffer | false,
    isFinal: boolean,
    next: (error?: Error | null, chunk?: Chunk | false, isFlush?: boolean) => void,
  ): void;
  /** Called with a part that consists of a header section only. */
  push(chunk: Chunk): boolean;
}

/** Options that mailparser passes to mailsplit, missing from its types. Messages in messages are attachments, not parts. */
const SPLITTER_OPTIONS: object = {
  ignoreEmbedded: true,
  maxChildNodes: Number.POSITIVE_INFINITY,
  maxHeadSize: MAX_PART_HEADER_BYTES,
};

/** The class of mailparser's splitter, which is not exported; a whole MailParser for each message would take as long as its lines. */
const MailSplitter = (new MailParser() as unknown as { splitter: Splitter }).splitter.constructor as new (
  options: object,
) => Splitter;

const IN_BODY = 2;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * The splitter of mailparser, which decides what a line is, without its streams, and without the parsing of fields and bodies: it is given
 * lines and records the positions of the parts. Only a line that begins with `--`, or with a carriage return and `--`, can delimit parts, so
 * the other lines of a body are skipped: that is most of a message.
 */
class PartReader {
  isTruncated = false;
  readonly #whole: Buffer;
  readonly #splitter: Splitter;
  readonly #bodies: PartBody[] = [];
  readonly #nextDash: (from: number) => number;
  readonly #nextReturnDash: (from: number) => number;
  /** start of the next line */
  #at = 0;
  /** the body that the last line belongs to */
  #open: PartBody | null = null;

  constructor(whole: Buffer) {
    const splitter = new MailSplitter(SPLITTER_OPTIONS);
    const newNode = splitter.newNode.bind(splitter);
    const checkBoundary = splitter.checkBoundary.bind(splitter);
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
    splitter.push = (chunk) => {
      this.#take(chunk, false);
      return true;
    };
    this.#whole = whole;
    this.#splitter = splitter;
    this.#nextDash = finderOf(whole, '\n--');
    this.#nextReturnDash = finderOf(whole, '\n\r--');
  }

  /** Reads about that many lines; returns whether there are more. Throws when the message cannot be split into parts. */
  readLines(count: number): boolean {
    const whole = this.#whole;
    for (let left = count; left > 0; left--) {
      if (this.#splitter.state === IN_BODY) this.#skipTo(this.#nextDelimiterLike());
      const lineFeed = whole.indexOf(LINE_FEED, this.#at);
      const isFinal = lineFeed === -1;
      const line = whole.subarray(this.#at, isFinal ? whole.length : lineFeed + 1);
      this.#at += line.length;
      this.#splitter.processLine(line.length === 0 ? false : line, isFinal, (error, chunk, isFlush) => {
        if (error) throw error;
        if (chunk) this.#take(chunk, isFlush === true);
      });
      if (isFinal) return false;
    }
    return true;
  }

  /** Returns the start of the next line that may delimit parts; the end of the message when there is none. */
  #nextDelimiterLike(): number {
    const from = this.#at - 1;
    return Math.min(this.#nextDash(from), this.#nextReturnDash(from), this.#whole.length - 1) + 1;
  }

  #skipTo(at: number): void {
    if (at === this.#at) return;
    this.#at = at;
    const { node } = this.#splitter;
    if (node.multipart === false) this.#extend(node);
  }

  /** The lines so far belong to the body of the part. */
  #extend(node: PartNode): void {
    const body = this.#bodies.at(-1);
    if (body?.node !== node) return;
    body.end = this.#at;
    this.#open = body;
  }

  #take(chunk: Chunk, isFlush: boolean): void {
    if (chunk.type === 'body') return this.#extend(chunk.node);
    this.#close(isFlush);
    if (chunk.type !== 'node' || chunk.multipart !== false) return;
    const lines = chunk._headersLines.filter((line) => line.length > 0);
    const [firstLine, lastLine] = [lines[0], lines.at(-1)];
    const start = lastLine === undefined ? 0 : this.#endOf(lastLine);
    const headStart = firstLine === undefined ? start : this.#endOf(firstLine) - firstLine.length;
    this.#bodies.push({ node: chunk, headStart, start, end: start });
  }

  /** The line end before a delimiter belongs to the delimiter, unless it is all that there is of a part with a sibling after it. */
  #close(isFlush: boolean): void {
    const body = this.#open;
    this.#open = null;
    if (body === null || body.node.parentNode === false || this.#whole[body.end - 1] !== LINE_FEED) return;
    const hasReturn = body.end - 2 >= body.start && this.#whole[body.end - 2] === CARRIAGE_RETURN;
    const end = body.end - (hasReturn ? 2 : 1);
    if (end > body.start || !isFlush) body.end = end;
  }

  /** Returns the end of a line in the message. */
  #endOf(view: Buffer): number {
    return view.byteOffset + view.length - this.#whole.byteOffset;
  }

  /** Returns the bodies so far. If there were too many parts, the last one contains all later ones and is dropped. */
  bodies(): PartBody[] {
    return this.isTruncated ? this.#bodies.slice(0, -1) : this.#bodies;
  }
}

/** Returns a function that finds the needle at or after a position, which never decreases; infinity when there is none. */
function finderOf(whole: Buffer, needle: string): (from: number) => number {
  let found = Number.NEGATIVE_INFINITY;
  return (from) => {
    if (found < from) {
      const at = whole.indexOf(needle, Math.max(0, from), 'latin1');
      found = at === -1 ? Number.POSITIVE_INFINITY : at;
    }
    return found;
  };
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
