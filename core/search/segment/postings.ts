import { type ByteReader, type ByteWriter, DamagedSegment } from './bytes.ts';
import type { DocumentSet } from './document-set.ts';

/**
 * The documents that have a word in one place, in ascending order, and how often each has it, up to MAX_FREQUENCY: the part of both arrays
 * from `start` to before `end`, so that the postings of many words share a few large arrays.
 */
export interface Postings {
  documents: ArrayLike<number>;
  frequencies: ArrayLike<number>;
  start: number;
  end: number;
}

export const MAX_FREQUENCY = 255;

/**
 * Writes postings: their number, then the documents as differences or as a bitmap, whichever is shorter, then the frequencies, unless all
 * are 1.
 */
export function writePostings(writer: ByteWriter, postings: Postings, size: number): void {
  const { documents, frequencies, start, end } = postings;
  const count = end - start;
  const bitmapBytes = (size + 7) >>> 3;
  const isBitmap = count > bitmapBytes;
  let isPlain = true;
  for (let at = start; at < end && isPlain; at++) isPlain = frequencies[at] === 1;
  writer.integer(count);
  const length = isBitmap ? bitmapBytes : differencesLength(postings);
  writer.integer(length * 4 + (isBitmap ? 2 : 0) + (isPlain ? 1 : 0));
  if (isBitmap) writer.bytes(bitmap(postings, bitmapBytes));
  else {
    let before = -1;
    for (let at = start; at < end; at++) {
      const document = documents[at] ?? 0;
      writer.integer(document - before - 1);
      before = document;
    }
  }
  if (!isPlain) for (let at = start; at < end; at++) writer.byte(frequencies[at] ?? 1);
}

function bitmap({ documents, start, end }: Postings, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = start; at < end; at++) {
    const document = documents[at] ?? 0;
    bytes[document >>> 3] = (bytes[document >>> 3] ?? 0) | (1 << (document & 7));
  }
  return bytes;
}

/** The bytes of the documents when each is written as its difference from the one before. */
function differencesLength({ documents, start, end }: Postings): number {
  let length = end - start;
  let before = -1;
  for (let at = start; at < end; at++) {
    const document = documents[at] ?? 0;
    for (let rest = (document - before - 1) >>> 7; rest > 0; rest >>>= 7) length++;
    before = document;
  }
  return length;
}

/** Postings that were found but not decoded. */
export interface FoundPostings {
  count: number;
  isBitmap: boolean;
  bytes: Buffer;
  /** null: all are 1 */
  frequencies: Buffer | null;
}

/** Reads past postings and returns them. Throws DamagedSegment. */
export function readPostings(reader: ByteReader): FoundPostings {
  const count = reader.integer();
  const head = reader.integer();
  const bytes = reader.bytes(Math.floor(head / 4));
  return { count, isBitmap: (head & 2) !== 0, bytes, frequencies: (head & 1) !== 0 ? null : reader.bytes(count) };
}

/** Reads past postings. Throws DamagedSegment. */
export function skipPostings(reader: ByteReader): void {
  const count = reader.integer();
  const head = reader.integer();
  reader.skip(Math.floor(head / 4) + ((head & 1) === 0 ? count : 0));
}

/** Adds the documents of the postings to the set. Throws DamagedSegment. */
export function addPostings(set: DocumentSet, postings: FoundPostings): void {
  if (postings.isBitmap) {
    if (postings.bytes.length !== (set.size + 7) >>> 3) throw new DamagedSegment('a bitmap has another length');
    set.addBitmap(postings.bytes);
  } else forEachDifference(postings, set.size, (document) => set.add(document));
}

/** Returns the documents of the postings in ascending order, of a segment with `size` documents. Throws DamagedSegment. */
export function listPostings(postings: FoundPostings, size: number): number[] {
  const documents: number[] = [];
  if (!postings.isBitmap) forEachDifference(postings, size, (document) => documents.push(document));
  else
    for (const [at, byte] of postings.bytes.entries())
      for (let bit = 0; bit < 8; bit++) if (((byte >>> bit) & 1) === 1) documents.push(at * 8 + bit);
  if (documents.length !== postings.count) throw new DamagedSegment('postings have another length');
  return documents;
}

/**
 * Passes the postings of a document each to `use`, in ascending order, and reads past them. Makes nothing, unlike `readPostings`: a merge reads
 * millions of them. Throws DamagedSegment.
 */
export function passPostings(
  reader: ByteReader,
  size: number,
  use: { add(document: number, frequency: number): void },
): void {
  const count = reader.integer();
  const head = reader.integer();
  const length = Math.floor(head / 4);
  const start = reader.skip(length);
  const isPlain = (head & 1) !== 0;
  const frequencies = isPlain ? 0 : reader.skip(count);
  const isBitmap = (head & 2) !== 0;
  let passed = 0;
  let document = -1;
  let rest = 0;
  let shift = 0;
  for (let at = start; at < start + length; at++) {
    const byte = reader.byteAt(at);
    if (isBitmap) {
      for (let bit = 0; bit < 8; bit++)
        if (((byte >>> bit) & 1) === 1) {
          use.add((at - start) * 8 + bit, isPlain ? 1 : reader.byteAt(frequencies + passed));
          passed++;
        }
      continue;
    }
    rest |= (byte & 0x7f) << shift;
    shift += 7;
    if (byte > 0x7f) continue;
    document += rest + 1;
    if (document >= size) throw new DamagedSegment('a document is not in its segment');
    use.add(document, isPlain ? 1 : reader.byteAt(frequencies + passed));
    passed++;
    rest = 0;
    shift = 0;
  }
  if (passed !== count) throw new DamagedSegment('postings have another length');
}

function forEachDifference({ bytes }: FoundPostings, size: number, use: (document: number) => void): void {
  let document = -1;
  let rest = 0;
  let shift = 0;
  // By number: an iterator of bytes takes several times as long.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    rest |= (byte & 0x7f) << shift;
    shift += 7;
    if (byte > 0x7f) continue;
    document += rest + 1;
    if (document >= size) throw new DamagedSegment('a document is not in its segment');
    use(document);
    rest = 0;
    shift = 0;
  }
}
