import { MailParser } from 'mailparser';
import { type PartFields, readPartFields } from './part-fields.ts';

/** Maximum parts read per message, including multiparts: twice the maximum of listed attachments. */
const MAX_PARTS = 2_000;
/** Maximum levels of multiparts that are opened; deeper ones are opaque attachments. */
const MAX_DEPTH = 100;
/** Maximum bytes of a part's header section. The message's own is limited when it is accepted. */
const MAX_PART_HEADER_BYTES = 15_000_000;
/** Lines within header sections that may delimit parts; each costs as much as the section so far. */
const MAX_HEAD_CHECKS = 100;
/** Lines that are classified before other work has its turn. */
const LINES_AT_ONCE = 4_096;
/** Bytes in which the first delimiter is looked for. */
const MAX_PREAMBLE_BYTES = 65_536;

/** A part without child parts, and the position of its encoded body. */
export interface PartBody {
  node: PartNode;
  /** offset of its header section, or of its body if it has none */
  headStart: number;
  start: number;
  end: number;
}

/** The members of a mailsplit part that are used here. */
export interface PartNode {
  type: 'node';
  root: boolean;
  parentNode: PartNode | false;
  /** set when its header section has ended */
  fields: PartFields;
  /** truthy when its header section has ended */
  headers: object | false;
  /** the subtype of a multipart that is opened */
  multipart: string | false;
  /** called when its header section ends */
  parseHeaders(): void;
  /** delimiter of its children */
  _boundary: Buffer | false;
  /** its parent multipart */
  _parentBoundaryOwner: PartNode | false;
  /** views of its header lines, including the empty line at the end */
  _headersLines: Buffer[];
}

/** Splits a message into its parts and returns those without child parts. Rejects when that is impossible. */
export async function readPartBodies(bytes: Buffer): Promise<{ bodies: PartBody[]; isTruncated: boolean }> {
  const first = await readAll(new PartReader(bytes, null));
  const boundary = first.hasParts ? null : guessBoundary(bytes, first);
  const reader = boundary === null ? first : await readAll(new PartReader(bytes, boundary));
  return { bodies: reader.bodies(), isTruncated: reader.isTruncated };
}

async function readAll(reader: PartReader): Promise<PartReader> {
  while (reader.readLines(LINES_AT_ONCE)) await new Promise<void>((resolve) => void setImmediate(resolve));
  return reader;
}

/** Returns the boundary of a multipart message that states none, or a wrong one: of the first line that looks like a delimiter. */
function guessBoundary(bytes: Buffer, { root }: PartReader): Buffer | null {
  if (root === null || root.node.multipart === false) return null;
  const text = bytes.toString('latin1', root.start, Math.min(root.end, root.start + MAX_PREAMBLE_BYTES));
  const boundary = /(?:^|\n)--(\S{1,200})[ \t]*\r?\ncontent-[a-z-]+:/i.exec(text)?.[1];
  return boundary === undefined ? null : Buffer.from(boundary, 'latin1');
}

type Chunk = PartNode | { type: 'data' | 'body'; node: PartNode; value: Buffer };

interface Splitter {
  node: PartNode;
  /** 1 within a header section, 2 within a body */
  state: 1 | 2;
  newNode(parent?: PartNode | false): void;
  /** Classifies a delimiter line: 1 first child, 2 end of the last child, 3 sibling, 4 end of the parent. */
  checkBoundary(line: Buffer): 1 | 2 | 3 | 4 | false;
  /** Returns whether a line from `startpos` on is a delimiter: 1 before a part, 2 after the last one. */
  compareBoundary(line: Buffer, startpos: number, boundary: Buffer): 1 | 2 | false;
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

const IN_HEAD = 1;
const IN_BODY = 2;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const DASH = 0x2d;
/** Ends a header section that has no empty line. */
const EMPTY_LINE = Buffer.from('\n');

/**
 * The splitter of mailparser, which knows what follows what, without its streams: it is given lines and records the positions of the parts.
 * What fields and delimiters mean is read here (decision 101). Only a line that begins with `--`, or with a carriage return and `--`, can
 * delimit parts, so the other lines of a body are skipped: that is most of a message.
 */
class PartReader {
  isTruncated = false;
  /** the message itself, once its header section has ended */
  root: PartBody | null = null;
  readonly #whole: Buffer;
  readonly #guessedBoundary: Buffer | null;
  readonly #splitter: Splitter;
  /** parts, and multiparts as long as they have none */
  readonly #bodies: PartBody[] = [];
  readonly #nextDash: (from: number) => number;
  readonly #nextReturnDash: (from: number) => number;
  /** starts of bodies whose header section has no empty line */
  readonly #starts = new Map<PartNode, number>();
  #parts = 0;
  #headChecks = 0;
  /** whether the last line was a delimiter */
  #isDelimiter = false;
  /** start of the next line */
  #at = 0;
  /** the body that the last line belongs to */
  #open: PartBody | null = null;

  constructor(whole: Buffer, guessedBoundary: Buffer | null) {
    const splitter = new MailSplitter(SPLITTER_OPTIONS);
    const newNode = splitter.newNode.bind(splitter);
    const checkBoundary = splitter.checkBoundary.bind(splitter);
    const prepareNode = () => {
      const { node } = splitter;
      const isDeep = measureDepth(node) >= MAX_DEPTH;
      node.parseHeaders = () => this.#endHead(node, isDeep);
    };
    prepareNode();
    splitter.newNode = (parent) => {
      newNode(parent);
      this.#parts++;
      prepareNode();
    };
    splitter.compareBoundary = compareDelimiter;
    splitter.checkBoundary = (line) => {
      const boundary = checkBoundary(line);
      // mailsplit's own limit would end parsing with an error that discards the parts read so far.
      if (boundary !== false && this.#parts >= MAX_PARTS) this.isTruncated = true;
      this.#isDelimiter = boundary !== false && !this.isTruncated;
      return this.isTruncated ? false : boundary;
    };
    splitter.push = (chunk) => {
      this.#take(chunk, false);
      return true;
    };
    this.#whole = whole;
    this.#guessedBoundary = guessedBoundary;
    this.#splitter = splitter;
    this.#nextDash = createFinder(whole, '\n--');
    this.#nextReturnDash = createFinder(whole, '\n\r--');
  }

  /** Whether the message has parts besides itself. */
  get hasParts(): boolean {
    return this.#parts > 0;
  }

  /** Reads about that many lines; returns whether there are more. Throws when the message cannot be split into parts. */
  readLines(count: number): boolean {
    const whole = this.#whole;
    const splitter = this.#splitter;
    const process = (line: Buffer | false, isFinal: boolean) =>
      splitter.processLine(line, isFinal, (error, chunk, isFlush) => {
        if (error) throw error;
        if (chunk) this.#take(chunk, isFlush === true);
      });
    for (let left = count; left > 0; left--) {
      if (splitter.state === IN_BODY) this.#skipTo(this.#nextDelimiterLike());
      const lineFeed = whole.indexOf(LINE_FEED, this.#at);
      const isFinal = lineFeed === -1;
      const line = whole.subarray(this.#at, isFinal ? whole.length : lineFeed + 1);
      if (splitter.state === IN_HEAD && isDelimiterLike(line) && this.#endsHead(line)) process(EMPTY_LINE, false);
      this.#at += line.length;
      process(line.length === 0 ? false : line, isFinal);
      if (isFinal) return false;
    }
    return true;
  }

  #endsHead(line: Buffer): boolean {
    return this.#headChecks++ < MAX_HEAD_CHECKS && endsHead(this.#splitter.node, line);
  }

  /** Returns the start of the next line that may delimit parts; the end of the message when there is none. */
  #nextDelimiterLike(): number {
    const from = this.#at - 1;
    return Math.min(this.#nextDash(from), this.#nextReturnDash(from), this.#whole.length - 1) + 1;
  }

  #skipTo(at: number): void {
    if (at === this.#at) return;
    this.#at = at;
    this.#extend(this.#splitter.node);
  }

  /** The lines so far belong to the body of the part. */
  #extend(node: PartNode): void {
    const body = this.#bodies.at(-1);
    if (body?.node !== node) return;
    body.end = this.#at;
    this.#open = body;
  }

  #endHead(node: PartNode, isDeep: boolean): void {
    if (node.headers !== false) return;
    node.headers = {};
    const text = cutHead(node);
    if (text !== null) this.#starts.set(node, this.#findEnd(text) - text.length);
    node.fields = readPartFields(Buffer.concat(node._headersLines));
    const { contentType, boundary } = node.fields;
    // Without a boundary, a multipart that is too deep ends at its parent's delimiter.
    const isMultipart = contentType?.startsWith('multipart/') === true && !isDeep;
    node.multipart = isMultipart ? contentType.slice('multipart/'.length) : false;
    const stated = boundary === null ? null : Buffer.from(boundary, 'latin1');
    node._boundary = (isMultipart && ((node.root ? this.#guessedBoundary : null) ?? stated)) || false;
  }

  #take(chunk: Chunk, isFlush: boolean): void {
    if (chunk.type === 'body' || (chunk.type === 'data' && !this.#isDelimiter)) return this.#extend(chunk.node);
    this.#close(isFlush);
    if (chunk.type !== 'node') return;
    const lines = chunk._headersLines.filter((line) => line.length > 0 && line !== EMPTY_LINE);
    const [firstLine, lastLine] = [lines[0], lines.at(-1)];
    const start = this.#starts.get(chunk) ?? (lastLine === undefined ? 0 : this.#findEnd(lastLine));
    const headStart = firstLine === undefined ? start : this.#findEnd(firstLine) - firstLine.length;
    const body = { node: chunk, headStart, start, end: start };
    if (chunk.root) this.root = body;
    this.#bodies.push(body);
    // Lines that were taken for fields until the header section ended without an empty line.
    if (this.#starts.has(chunk)) this.#extend(chunk);
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
  #findEnd(view: Buffer): number {
    return view.byteOffset + view.length - this.#whole.byteOffset;
  }

  /**
   * Returns the bodies so far: of parts, and of multiparts that have text but no parts. If there were too many parts, the last one contains
   * all later ones and is dropped.
   */
  bodies(): PartBody[] {
    const bodies = this.isTruncated ? this.#bodies.slice(0, -1) : this.#bodies;
    const parents = new Set(bodies.map(({ node }) => node.parentNode));
    for (const body of bodies) this.#recoverText(body);
    return bodies.filter(
      (body) => body.node.multipart === false || (!parents.has(body.node) && this.#becomesText(body)),
    );
  }

  /**
   * The text of a part may be directly below its fields, so that the empty line behind it, or behind the first paragraph of a message, seems to end
   * its header section. The rest of a field that was folded badly is no text.
   */
  #recoverText(body: PartBody): void {
    const { node, headStart, start, end } = body;
    const isMessage = node.parentNode === false;
    if (start - headStart > MAX_PREAMBLE_BYTES || !(isMessage ? isPlain(node) : this.#isBlank(start, end))) return;
    const section = this.#whole.toString('latin1', headStart, start);
    const at = isMessage ? findLetter(section) : findText(section);
    if (at === null) return;
    body.start = headStart + at;
    if (!isMessage) body.end = headStart + section.trimEnd().length;
  }

  #isBlank(start: number, end: number): boolean {
    return end - start < MAX_BLANK_BYTES && this.#whole.toString('latin1', start, end).trim() === '';
  }

  /** Makes a multipart without parts a part of its own, as mail programs show it; returns false when it has no text. */
  #becomesText({ node, start, end }: PartBody): boolean {
    const text = this.#whole.toString('latin1', start, Math.min(end, start + MAX_PREAMBLE_BYTES)).trim();
    node.multipart = false;
    node.fields.contentType = /^<(?:!doctype html|html|head|body)\b/i.test(text) ? 'text/html' : 'text/plain';
    return text !== '';
  }
}

/** Returns whether the line delimits a multipart whose header section has no empty line, or ends the part that it is in. */
function endsHead(node: PartNode, line: Buffer): boolean {
  if (node._headersLines.length === 0) return false;
  for (let outer = node._parentBoundaryOwner; outer !== false; outer = outer._parentBoundaryOwner)
    if (outer._boundary !== false && compareDelimiter(line, 0, outer._boundary) !== false) return true;
  const { boundary } = readPartFields(Buffer.concat(node._headersLines));
  return boundary !== null && compareDelimiter(line, 0, Buffer.from(boundary, 'latin1')) !== false;
}

/** Removes lines of text from a header section that does not end in an empty line, and returns the first of them; null when there is none. */
function cutHead(node: PartNode): Buffer | null {
  const lines = node._headersLines.filter((line) => line.length > 0);
  const last = lines.at(-1);
  if (last === undefined || (last !== EMPTY_LINE && last.toString('latin1', 0, 3).trim() === '')) return null;
  const first = findLine(lines.map((line) => line.toString('latin1', 0, MAX_NAME_LENGTH)));
  if (first === -1) return null;
  node._headersLines.length = first;
  return lines[first] ?? null;
}

/** Returns the index of the first line of a header section that is no field, if no field that is known follows; -1: there is none. */
function findLine(lines: readonly string[]): number {
  const first = lines.findIndex(
    (line, at) => line.trim() !== '' && !FIELD.test(line) && (at === 0 ? !MBOX.test(line) : !FOLDED.test(line)),
  );
  return lines.slice(first).some((line) => KNOWN_FIELD.test(line)) ? -1 : first;
}

/** Returns where a header section goes over into text, below its first field; null when it has none. */
function findText(section: string): number | null {
  const lines = section.split(/(?<=\n)/);
  const first = findLine(lines);
  return first < 1 ? null : lines.slice(0, first).join('').length;
}

/** As findText, of a message that is a single text which is not encoded: null also when the lines may be the rest of a field. */
export function findLetter(section: string): number | null {
  const at = findText(section);
  return at === null || !isLetter(section.slice(at)) ? null : at;
}

/** Returns whether the node is a single text that is not encoded. */
function isPlain({ fields, multipart }: PartNode): boolean {
  const { contentType, transferEncoding } = fields;
  return multipart === false && (contentType ?? 'text/plain') === 'text/plain' && /^[78]bit$/.test(transferEncoding);
}

/** Returns whether lines within a header section are the start of a text: they have a sentence and no fields. */
function isLetter(text: string): boolean {
  return SENTENCE.test(text) && !/^\p{Ll}/u.test(text) && !text.split('\n').some((line) => FIELD.test(line));
}

/** At least four words on a line, and not the rest of a field that lost its name. */
const SENTENCE = /^[^\0-\x08\x0e-\x1f]*?(?:^|\n)(?:[^\s<>=;@]{1,40} ){3}/;
/** Bytes of a body that may be nothing but white space. */
const MAX_BLANK_BYTES = 1_000;
const MAX_NAME_LENGTH = 200;
const FOLDED = /^[ \t]/;
const MBOX = /^From /;
const FIELD = /^[\x21-\x39\x3b-\x7e]+[ \t]*:/;
/** After a stray line there may be more fields. */
const KNOWN_FIELD = /^(?:from|to|cc|subject|date|message-id|mime-version|received|reply-to|content-[a-z-]+)[ \t]*:/i;

/** mailsplit takes delimiters with white space behind them for text, but gateways add and remove it (RFC 2046 §5.1.1). */
function compareDelimiter(line: Buffer, startpos: number, boundary: Buffer): 1 | 2 | false {
  const start = startpos + 2;
  const end = start + boundary.length;
  if (line.length < end || line.compare(boundary, 0, boundary.length, start, end) !== 0) return false;
  if (line[startpos] !== DASH || line[startpos + 1] !== DASH) return false;
  const isClosing = line[end] === DASH && line[end + 1] === DASH;
  for (let at = isClosing ? end + 2 : end; at < line.length; at++) {
    const byte = line[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== CARRIAGE_RETURN && byte !== LINE_FEED) return false;
  }
  return isClosing ? 2 : 1;
}
/** Returns a function that finds the needle at or after a position, which never decreases; infinity when there is none. */
function createFinder(whole: Buffer, needle: string): (from: number) => number {
  let found = Number.NEGATIVE_INFINITY;
  return (from) => {
    if (found < from) {
      const at = whole.indexOf(needle, Math.max(0, from), 'latin1');
      found = at === -1 ? Number.POSITIVE_INFINITY : at;
    }
    return found;
  };
}

function isDelimiterLike(line: Buffer): boolean {
  let at = 0;
  while (line[at] === 0x0d || line[at] === 0x0a) at++;
  return line[at] === 0x2d && line[at + 1] === 0x2d;
}

const depths = new WeakMap<PartNode, number>();

function measureDepth(node: PartNode): number {
  const depth = node.parentNode === false ? 0 : (depths.get(node.parentNode) ?? 0) + 1;
  depths.set(node, depth);
  return depth;
}
