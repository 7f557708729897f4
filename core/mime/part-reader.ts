import { MailParser } from 'mailparser';

/** Parts of one message that are read, multiparts included: twice as many as attachments are listed. */
const MAX_PARTS = 2_000;
/** Levels of multiparts that are opened; what lies deeper is one opaque attachment. */
const MAX_DEPTH = 100;
/** Octets of the header section of one part. The message's own is limited when it is accepted. */
const MAX_PART_HEADER_OCTETS = 15_000_000;

/** A part without parts of its own, and where its encoded body lies in the message. */
export interface PartBody {
  node: PartNode;
  /** first octet of its header section; that of its body when it has none */
  headStart: number;
  start: number;
  end: number;
}

/** Splits a message into its parts and answers those without parts of their own. Rejects when that cannot be done. */
export async function readPartBodies(octets: Buffer): Promise<{ bodies: PartBody[]; isTruncated: boolean }> {
  const reader = new PartReader();
  await new Promise<void>((resolve, reject) => {
    reader.on('error', reject);
    reader.on('end', resolve);
    reader.resume();
    reader.end(octets);
  });
  return { bodies: reader.bodies(), isTruncated: reader.isTruncated };
}

/** A part as mailsplit hands it out, as far as it is used here. */
export interface PartNode {
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

  /** Where a view of the message ends in it; null when it is a copy: mailsplit holds back the last octet of an endless line as one. */
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
  maxHeadSize: MAX_PART_HEADER_OCTETS,
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
