import { PLACE_COUNT } from '../email-terms.ts';
import type { WantedWord } from '../wanted-word.ts';
import { openBlock, sealBlock } from './block.ts';
import { ByteReader, ByteWriter, DamagedSegment } from './bytes.ts';
import { encodeIds, encodeTable, type SegmentDocument } from './documents.ts';
import {
  type FoundPostings,
  type Postings,
  passPostings,
  readPostings,
  skipPostings,
  writePostings,
} from './postings.ts';

/*
 * A segment holds the words of up to MAX_SEGMENT_DOCUMENTS emails of one account and never changes. Its parts:
 * - the ids of the emails, and the table of their ages and lengths, by number (documents.ts);
 * - blocks of words in ascending order: each word without what it has in common with the one before, the places in which it occurs, and for
 *   each place the emails that have it there (postings.ts);
 * - the head: the sizes, and the first word of each block.
 * The table, the blocks and the head are compressed and have a checksum each (block.ts); the ids have theirs in the head.
 */

export const MAX_SEGMENT_DOCUMENTS = 65_536;
/** Size at which a block of words ends; a word is never split. Bytes before compression. */
const BLOCK_BYTES = 16_384;
const FORMAT = 1;

/**
 * A word with its postings in each place, null where it does not occur; the places in the order of their bits. The next word may reuse
 * their arrays.
 */
export interface WordEntry {
  word: string;
  postings: readonly (Postings | null)[];
}

export interface EncodedSegment {
  count: number;
  /** ages of the first and the last email; milliseconds since 1970 */
  firstAt: number;
  lastAt: number;
  head: Buffer;
  ids: Buffer;
  table: Buffer;
  blocks: Buffer[];
}

export interface SegmentHead {
  count: number;
  idWidth: number;
  idChecksum: number;
  /** first word of each block */
  firstWords: string[];
}

/**
 * Encodes a segment in steps, so that the caller can do other work in between. Documents and words are in ascending order. Each word is
 * written before the next one is asked for, so one object may serve for all.
 */
export function* encodeSegment(
  documents: readonly SegmentDocument[],
  words: Iterable<WordEntry>,
): Generator<void, EncodedSegment> {
  const [first] = documents;
  const last = documents.at(-1);
  if (first === undefined || last === undefined || documents.length > MAX_SEGMENT_DOCUMENTS)
    throw new RangeError(`A segment of ${documents.length} documents`);
  const blocks: Buffer[] = [];
  const firstWords: string[] = [];
  const writer = new ByteWriter();
  let before = '';
  for (const entry of words) {
    const { word } = entry;
    if (writer.length >= BLOCK_BYTES) {
      blocks.push(sealBlock(writer.take()));
      yield;
    }
    if (writer.length === 0) {
      firstWords.push(word);
      before = '';
    }
    writeEntry(writer, before, entry, documents.length);
    before = word;
  }
  if (writer.length > 0) blocks.push(sealBlock(writer.take()));
  const { ids, width, checksum } = encodeIds(documents);
  return {
    count: documents.length,
    firstAt: first.at,
    lastAt: last.at,
    head: sealBlock(encodeHead({ count: documents.length, idWidth: width, idChecksum: checksum, firstWords })),
    ids,
    table: sealBlock(encodeTable(documents)),
    blocks,
  };
}

function writeEntry(writer: ByteWriter, before: string, { word, postings }: WordEntry, size: number): void {
  const shared = sharedLength(before, word);
  writer.integer(shared);
  writer.text(word, shared);
  let places = 0;
  // By number: an iterator makes an array for each.
  for (let place = 0; place < postings.length; place++) if (postings[place] != null) places |= 1 << place;
  writer.integer(places);
  for (let place = 0; place < postings.length; place++) {
    const list = postings[place] ?? null;
    if (list !== null) writePostings(writer, list, size);
  }
}

/** Does not split a surrogate pair: what remains must be valid UTF-8. */
function sharedLength(before: string, word: string): number {
  const most = Math.min(before.length, word.length);
  let length = 0;
  while (length < most && before.charCodeAt(length) === word.charCodeAt(length)) length++;
  return length > 0 && (word.charCodeAt(length - 1) & 0xfc00) === 0xd800 ? length - 1 : length;
}

function encodeHead({ count, idWidth, idChecksum, firstWords }: SegmentHead): Buffer {
  const writer = new ByteWriter();
  for (const value of [FORMAT, count, idWidth, idChecksum, firstWords.length]) writer.integer(value);
  for (const word of firstWords) writer.text(word);
  return writer.take();
}

/** Throws DamagedSegment. */
export function decodeHead(sealed: Uint8Array): SegmentHead {
  const reader = new ByteReader(openBlock(sealed));
  if (reader.integer() !== FORMAT) throw new DamagedSegment('the head has another format');
  const count = reader.integer();
  const idWidth = reader.integer();
  const idChecksum = reader.integer();
  const firstWords = Array.from({ length: reader.integer() }, () => reader.text());
  return { count, idWidth, idChecksum, firstWords };
}

/** A word of a block. */
export interface FoundWord {
  word: string;
  /** by place, null where it does not occur */
  postings: (FoundPostings | null)[];
}

/** Returns the words of a block that was opened, in ascending order. Throws DamagedSegment. */
export function* readBlock(block: Buffer): Generator<FoundWord> {
  const reader = new ByteReader(block);
  let word = '';
  while (!reader.isAtEnd) {
    const shared = reader.integer();
    word = word.slice(0, shared) + reader.text();
    yield { word, postings: readPlaces(reader) };
  }
}

/**
 * Returns the postings of the wanted words of a block that was opened. Decodes only the few words that begin as the wanted one does: what a
 * word shares with the one before says of the others where they are. Throws DamagedSegment.
 */
export function* findInBlock(
  block: Buffer,
  { start, isPrefix, accepts }: WantedWord,
): Generator<FoundWord['postings']> {
  const reader = new ByteReader(block);
  // What the word before has in common with `start`; it comes first, or begins with it.
  let common = 0;
  let word: string | null = null;
  while (!reader.isAtEnd) {
    const shared = reader.integer();
    if (word === null && shared > common) {
      reader.skip(reader.integer());
      skipPlaces(reader);
      continue;
    }
    const rest = reader.text();
    if (word === null || shared < start.length) {
      const rests = start.slice(shared);
      const isFound = isPrefix ? rest.startsWith(rests) : rest === rests;
      if (!isFound && rest > rests) return;
      word = isFound ? start.slice(0, shared) + rest : null;
      if (!isFound) common = shared + sharedLength(rest, rests);
    } else word = word.slice(0, shared) + rest;
    if (word !== null && (accepts === null || accepts(word))) yield readPlaces(reader);
    else skipPlaces(reader);
    if (word !== null && !isPrefix) return;
  }
}

/**
 * Returns the words of a block that was opened which are accepted, with the number of emails that have each, about:
 * one that has it in several places counts for each. Throws DamagedSegment.
 */
export function* countInBlock(
  block: Buffer,
  accepts: (word: string) => boolean,
): Generator<{ word: string; count: number }> {
  const reader = new ByteReader(block);
  let word = '';
  while (!reader.isAtEnd) {
    const shared = reader.integer();
    word = word.slice(0, shared) + reader.text();
    if (accepts(word)) {
      const count = readPlaces(reader).reduce((sum, postings) => sum + (postings?.count ?? 0), 0);
      yield { word, count };
    } else skipPlaces(reader);
  }
}

/** The words of blocks in ascending order, one at a time, without the objects that readBlock makes for each. Throws DamagedSegment. */
export class WordCursor {
  readonly #blocks: readonly Uint8Array[];
  #nextBlock = 0;
  #reader = new ByteReader(Buffer.alloc(0));
  /** null after the last one */
  word: string | null = null;

  /** @param blocks as they are stored */
  constructor(blocks: readonly Uint8Array[]) {
    this.#blocks = blocks;
    this.#next();
  }

  /** Passes the postings of the word to the lists of their places, and goes to the next word. */
  pass(size: number, lists: readonly { add(document: number, frequency: number): void }[]): void {
    const places = this.#reader.integer();
    for (let place = 0; place < PLACE_COUNT; place++) {
      const list = lists[place];
      if (((places >>> place) & 1) === 1 && list !== undefined) passPostings(this.#reader, size, list);
    }
    this.#next();
  }

  #next(): void {
    let before = this.word ?? '';
    while (this.#reader.isAtEnd) {
      const block = this.#blocks[this.#nextBlock++];
      if (block === undefined) {
        this.word = null;
        return;
      }
      this.#reader = new ByteReader(openBlock(block));
      before = '';
    }
    const shared = this.#reader.integer();
    const rest = this.#reader.text();
    this.word = shared === 0 ? rest : before.slice(0, shared) + rest;
  }
}

function readPlaces(reader: ByteReader): FoundWord['postings'] {
  const places = reader.integer();
  const postings: FoundWord['postings'] = [];
  for (let place = 0; place < PLACE_COUNT; place++)
    postings.push(((places >>> place) & 1) === 1 ? readPostings(reader) : null);
  return postings;
}

function skipPlaces(reader: ByteReader): void {
  for (let places = reader.integer(); places !== 0; places &= places - 1) skipPostings(reader);
}

/** Returns the numbers of the blocks that can hold what is wanted: from the first to before the second. */
export function findBlocks(firstWords: readonly string[], { start, isPrefix }: WantedWord): [from: number, to: number] {
  let low = 0;
  let high = firstWords.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((firstWords[middle] ?? '') <= start) low = middle + 1;
    else high = middle;
  }
  const from = Math.max(0, low - 1);
  if (isPrefix) while (low < firstWords.length && firstWords[low]?.startsWith(start) === true) low++;
  return [low === 0 ? 0 : from, low];
}
