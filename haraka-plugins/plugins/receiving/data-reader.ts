import {
  MAX_HEADER_BYTES,
  MAX_HEADER_LINES,
  MAX_LINE_BYTES,
  MAX_MESSAGE_BYTES,
  MAX_RECEIVED_FIELDS,
} from '../../../core/smtp/smtp-limits.ts';
import { close, type Decision, reply } from './smtp-reply.ts';
import type { Spool, SpoolSpace } from './spool.ts';

/** Total bytes of messages that one process holds in memory; shared by its readers. */
export interface HeldBytes {
  sum: number;
  readonly limit: number;
  /** null: all stay in memory */
  readonly spools: SpoolSpace | null;
}

const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;
const FIRST_SIZE_BYTES = 8 * 1024;
/** From this size on, a message goes to the disk while it arrives. It is more than what is parsed before the commit. @limit */
export const SPOOLED_FROM_BYTES = 540_672;
/** The same, while much of the memory for messages is taken. */
const SPOOLED_EARLY_BYTES = 65_536;
/** Part of the memory for messages from which on it counts as much. */
const MUCH = 0.25;
/** Bytes that are written at once. */
const PIECE_BYTES = 262_144;
/** What a socket gives at once, and some more. */
const MAX_CHUNK_BYTES = 131_072;

export const tooBig = reply(552, '5.3.4 Message size exceeds the limit');
const headerTooBig = reply(552, '5.3.4 Header section exceeds the limit');
const lineTooLong = reply(554, '5.6.0 A line is too long');
const loop = reply(554, '5.4.0 Too many hops');
export const noRoom = reply(452, '4.3.1 Insufficient system storage');
/** There is room for small messages. */
export const tooManyLarge = reply(452, '4.3.1 Too many large messages in progress, please try again later');
/** Ends the connection, because we and the sender may disagree on where the message ends (SMTP smuggling). */
const bareLineFeed = close(550, '5.5.2 Bare line feed received');

/**
 * Reads the DATA phase (RFC 5321 §4.1.1.4): finds the end of data, removes dot-stuffing and keeps the message as it was sent, byte for
 * byte. Only CRLF ends a line. A message with a bare LF is refused, and anything that some server might take for its end closes the
 * session. Once refused, no more of the message is kept. Of a large message, memory holds only the part that is not on the disk yet.
 */
export class DataReader {
  readonly #held: HeldBytes;
  #buffer: Buffer = Buffer.alloc(0);
  /** what comes before the buffer; null: nothing */
  #spool: Spool | null = null;
  /** finished lines, without stuffing, are [0, kept) of the buffer */
  #kept = 0;
  /** the unfinished line is [lineAt, end) */
  #lineAt = 0;
  #end = 0;
  #headerLines = 0;
  #receivedFields = 0;
  #isInHeader = true;
  #refusal: Decision | null = null;
  #loopingTo: string | null = null;
  readonly #ownAddresses: ReadonlySet<string>;
  receivedBytes = 0;

  /** ownAddresses: lower case; a Delivered-To field with one of them means that the message already came through here. */
  constructor(held: HeldBytes, ownAddresses: ReadonlySet<string>) {
    this.#held = held;
    this.#ownAddresses = ownAddresses;
  }

  /** Reads a chunk. Returns what follows the end of data, or null before the end. */
  take(chunk: Buffer): Buffer | null {
    this.receivedBytes += chunk.length;
    let scanAt = this.#end;
    this.#append(chunk);
    const bytes = this.#buffer.subarray(0, this.#end);
    for (;;) {
      const lf = bytes.indexOf(LF, scanAt);
      if (lf === -1) break;
      const isBare = lf === this.#lineAt || bytes[lf - 1] !== CR;
      if (isBare) this.#refuse(bareLineFeed);
      const length = lf + 1 - this.#lineAt;
      const isStuffed = bytes[this.#lineAt] === DOT;
      if (isStuffed && length === (isBare ? 2 : 3)) {
        const behind = Buffer.from(bytes.subarray(lf + 1));
        // A message that waits for its turn takes no memory.
        if (this.#spool !== null) this.#write(this.#spool);
        return behind;
      }
      this.#keepLine(bytes, isStuffed ? this.#lineAt + 1 : this.#lineAt, lf + 1);
      this.#lineAt = lf + 1;
      scanAt = lf + 1;
    }
    this.#closeGap();
    this.#moveToDisk();
    return null;
  }

  /** After the end of data: the reason why the message is refused, or null. */
  get refusal(): Decision | null {
    if (this.#refusal !== null) return this.#refusal;
    if (this.#spool?.failure != null) return noRoom;
    if (this.#loopingTo !== null) return reply(554, '5.4.6 This message was delivered here before');
    return null;
  }

  /** After the end of data and without refusal: the size of the message. */
  get sizeBytes(): number {
    return (this.#spool?.sizeBytes ?? 0) + this.#kept;
  }

  /** After the end of data and without refusal: the message as sent, with CRLF line ends, valid until `release`; null: see `load`. */
  get bytes(): Buffer | null {
    return this.#spool === null ? this.#buffer.subarray(0, this.#kept) : null;
  }

  /** Returns the same of a message that is on the disk, in memory that nothing else uses. Rejects when the disk failed. */
  async load(): Promise<Buffer> {
    const rest = this.#buffer.subarray(0, this.#kept);
    return this.#spool === null ? Buffer.from(rest) : this.#spool.load(rest);
  }

  /** Whether the disk is slower than the client, which then waits. */
  get isBehind(): boolean {
    return this.#spool?.isBehind === true;
  }

  /** Calls back once it is no longer behind. */
  whenReady(callBack: () => void): void {
    if (this.#spool === null) callBack();
    else this.#spool.whenQuiet(callBack);
  }

  /** Releases the memory; the reader cannot be used afterwards. */
  release(): void {
    this.#spool?.close();
    this.#spool = null;
    this.#held.sum -= this.#buffer.length;
    this.#buffer = Buffer.alloc(0);
    this.#kept = 0;
    this.#lineAt = 0;
    this.#end = 0;
  }

  #append(chunk: Buffer): void {
    const needed = this.#end + chunk.length;
    if (needed > this.#buffer.length) {
      const ample = Math.min(needed * 2, MAX_MESSAGE_BYTES + MAX_LINE_BYTES);
      const size = Math.max(needed, ample, FIRST_SIZE_BYTES);
      const grown = Buffer.allocUnsafe(size);
      this.#buffer.copy(grown, 0, 0, this.#end);
      this.#held.sum += size - this.#buffer.length;
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.#end);
    this.#end = needed;
    if (this.#held.sum > this.#held.limit) this.#refuse(noRoom);
  }

  #keepLine(bytes: Buffer, from: number, to: number): void {
    if (to - from > MAX_LINE_BYTES) this.#refuse(lineTooLong);
    if (this.#refusal !== null) return;
    if (this.#isInHeader) this.#countHeaderLine(bytes, from, to);
    if (from !== this.#kept) bytes.copyWithin(this.#kept, from, to);
    this.#kept += to - from;
    if (this.sizeBytes > MAX_MESSAGE_BYTES) this.#refuse(tooBig);
    else if (this.#isInHeader && this.sizeBytes > MAX_HEADER_BYTES) this.#refuse(headerTooBig);
  }

  /** The header section ends at the first empty line, as in every parser. A message without one is all header section. */
  #countHeaderLine(bytes: Buffer, from: number, to: number): void {
    if (to - from === 2) {
      this.#isInHeader = false;
      return;
    }
    this.#headerLines += 1;
    if (this.#headerLines > MAX_HEADER_LINES) return this.#refuse(headerTooBig);
    const first = bytes[from];
    // R or r; D or d
    if (first === 0x52 || first === 0x72) {
      if (fieldName(bytes, from, to) !== 'received') return;
      this.#receivedFields += 1;
      if (this.#receivedFields > MAX_RECEIVED_FIELDS) this.#refuse(loop);
    } else if ((first === 0x44 || first === 0x64) && fieldName(bytes, from, to) === 'delivered-to') {
      const value = bytes.toString('latin1', bytes.indexOf(0x3a, from) + 1, to);
      const address = value
        .trim()
        .replace(/^<(.*)>$/, '$1')
        .toLowerCase();
      if (this.#ownAddresses.has(address)) this.#loopingTo = address;
    }
  }

  /** The first reason counts; what was kept is dropped. */
  #refuse(decision: Decision): void {
    // A bare LF overrides every other reason, because it must close the session.
    if (this.#refusal === null || decision === bareLineFeed) this.#refusal = decision;
    this.#kept = 0;
    this.#spool?.close();
    this.#spool = null;
  }

  /** Moves the unfinished line behind the kept ones. Of a line that is refused anyway, keeps only what shows its end. */
  #closeGap(): void {
    const unfinished = this.#end - this.#lineAt;
    if (unfinished > MAX_LINE_BYTES) this.#refuse(lineTooLong);
    else if (this.sizeBytes + unfinished > MAX_MESSAGE_BYTES + 3) this.#refuse(tooBig);
    if (this.#refusal !== null && this.#buffer.length > FIRST_SIZE_BYTES) return this.#shrink(unfinished);
    if (this.#kept === this.#lineAt) return;
    this.#buffer.copyWithin(this.#kept, this.#lineAt, this.#end);
    this.#lineAt = this.#kept;
    this.#end = this.#kept + unfinished;
  }

  /** Gives the finished lines of a large message to its spool, in pieces, which are small while much of the memory is taken. */
  #moveToDisk(): void {
    const { spools, sum, limit } = this.#held;
    if (this.#refusal !== null || spools === null) return;
    const isEarly = sum > MUCH * limit;
    if (this.#spool === null) {
      if (this.#kept < (isEarly ? SPOOLED_EARLY_BYTES : SPOOLED_FROM_BYTES)) return;
      this.#spool = spools.open();
    } else if (this.#kept < (isEarly ? SPOOLED_EARLY_BYTES : PIECE_BYTES)) return;
    const rest = this.#buffer.subarray(this.#lineAt, this.#end);
    const room = isEarly ? 2 * SPOOLED_EARLY_BYTES : PIECE_BYTES + MAX_CHUNK_BYTES;
    const next = Buffer.allocUnsafeSlow(Math.max(room, 2 * rest.length));
    rest.copy(next);
    if (!this.#write(this.#spool)) return;
    this.#held.sum += next.length;
    this.#buffer = next;
    this.#end = rest.length;
  }

  /** Gives the finished lines to the spool together with the buffer, which is empty afterwards. Refuses the message without room: false. */
  #write(spool: Spool): boolean {
    const { spools } = this.#held;
    if (spools?.hasRoom(this.#kept) === false) {
      this.#refuse(tooManyLarge);
      return false;
    }
    const writtenBytes = this.#buffer.length;
    spool.write(this.#buffer.subarray(0, this.#kept), () => {
      this.#held.sum -= writtenBytes;
    });
    this.#buffer = Buffer.alloc(0);
    this.#kept = 0;
    this.#lineAt = 0;
    this.#end = 0;
    return true;
  }

  #shrink(unfinished: number): void {
    const small = Buffer.allocUnsafe(FIRST_SIZE_BYTES);
    // Four bytes or more can no longer be the end of data: three that do not matter, and the last, which may be the CR before LF.
    if (unfinished > 3) {
      small.fill(0x78, 0, 3);
      small[3] = this.#buffer[this.#end - 1] ?? 0;
    } else this.#buffer.copy(small, 0, this.#lineAt, this.#end);
    this.#held.sum += small.length - this.#buffer.length;
    this.#buffer = small;
    this.#lineAt = 0;
    this.#end = Math.min(unfinished, 4);
  }
}

/** Returns the lower-case field name of a header line (RFC 5322 §3.6.8), or null when it has no colon. */
function fieldName(bytes: Buffer, from: number, to: number): string | null {
  const colon = bytes.indexOf(0x3a, from);
  if (colon === -1 || colon >= to) return null;
  return bytes.toString('latin1', from, colon).trimEnd().toLowerCase();
}
