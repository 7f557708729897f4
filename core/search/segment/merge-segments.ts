import { PLACE_COUNT } from '../email-terms.ts';
import { openBlock } from './block.ts';
import { compareDocuments, decodeIds, decodeTable, type SegmentDocument } from './documents.ts';
import type { Postings } from './postings.ts';
import { decodeHead, type EncodedSegment, encodeSegment, WordCursor, type WordEntry } from './segment.ts';

/** The stored parts of a segment. */
export type SegmentParts = Pick<EncodedSegment, 'head' | 'ids' | 'table' | 'blocks'>;

/** The number of a document that is left out. */
const GONE = -1;

/**
 * Makes one segment of several, without the emails that `isGone` names, in steps (encodeSegment). Returns null when no email remains. Throws
 * DamagedSegment.
 */
export function* mergeSegments(
  segments: readonly SegmentParts[],
  isGone: (segment: number, id: string) => boolean,
): Generator<void, EncodedSegment | null> {
  const { documents, renumbering } = mergeDocuments(segments, isGone);
  if (documents.length === 0) return null;
  const words = mergeWords(segments, renumbering);
  return yield* encodeSegment(documents, words);
}

/** Returns the documents of a segment. Throws DamagedSegment. */
export function readDocuments({ head, ids, table }: Pick<SegmentParts, 'head' | 'ids' | 'table'>): SegmentDocument[] {
  const { count, idWidth, idChecksum } = decodeHead(head);
  const { times, lengths } = decodeTable(openBlock(table), count);
  const all = decodeIds(ids, { width: idWidth, checksum: idChecksum, count });
  return all.map((id, number) => ({ id, at: times[number] ?? 0, length: lengths[number] ?? 0 }));
}

function mergeDocuments(segments: readonly SegmentParts[], isGone: (segment: number, id: string) => boolean) {
  const all = segments.flatMap((parts, segment) =>
    readDocuments(parts).map((document, number) => ({ ...document, segment, number })),
  );
  const renumbering = segments.map((_, segment) =>
    new Int32Array(all.filter((document) => document.segment === segment).length).fill(GONE),
  );
  const documents: SegmentDocument[] = [];
  for (const { id, at, length, segment, number } of all.sort(compareDocuments)) {
    if (isGone(segment, id)) continue;
    const numbers = renumbering[segment];
    if (numbers !== undefined) numbers[number] = documents.length;
    documents.push({ id, at, length });
  }
  return { documents, renumbering };
}

/** The postings of a word in one place, collected from several segments, in memory that the next word uses again. */
class GrowingPostings implements Postings {
  documents = new Int32Array(256);
  frequencies = new Uint8Array(256);
  readonly start = 0;
  end = 0;
  /** of the segment that is being read: the new numbers of its documents */
  numbers: Int32Array = new Int32Array();

  add(document: number, frequency: number): void {
    const number = this.numbers[document] ?? GONE;
    if (number !== GONE) this.#push(number, frequency);
  }

  #push(document: number, frequency: number): void {
    if (this.end === this.documents.length) {
      const { documents, frequencies } = this;
      this.documents = new Int32Array(2 * this.end);
      this.documents.set(documents);
      this.frequencies = new Uint8Array(2 * this.end);
      this.frequencies.set(frequencies);
    }
    this.documents[this.end] = document;
    this.frequencies[this.end++] = frequency;
  }

  /** Segments of later mail come later, so that the order is often right. */
  sort(): void {
    const { documents, frequencies, end } = this;
    let at = 1;
    while (at < end && (documents[at] ?? 0) > (documents[at - 1] ?? 0)) at++;
    if (at >= end) return;
    const added = Array.from({ length: end }, (_, place) => [documents[place] ?? 0, frequencies[place] ?? 1] as const);
    this.end = 0;
    for (const [document, frequency] of added.sort(([one], [other]) => one - other)) this.#push(document, frequency);
  }
}

function* mergeWords(segments: readonly SegmentParts[], renumbering: readonly Int32Array[]): Generator<WordEntry> {
  const lists = Array.from({ length: PLACE_COUNT }, () => new GrowingPostings());
  const cursors = segments.map(({ blocks }) => new WordCursor(blocks));
  const entry = { word: '', postings: lists.map((list): Postings | null => list) };
  for (;;) {
    let least: string | null = null;
    for (const { word } of cursors) if (word !== null && (least === null || word < least)) least = word;
    if (least === null) return;
    for (const list of lists) list.end = 0;
    for (let segment = 0; segment < cursors.length; segment++) {
      const cursor = cursors[segment];
      if (cursor?.word !== least) continue;
      const numbers = renumbering[segment] ?? NO_NUMBERS;
      for (const list of lists) list.numbers = numbers;
      cursor.pass(numbers.length, lists);
    }
    let isUsed = false;
    for (let place = 0; place < PLACE_COUNT; place++) {
      const list = lists[place];
      if (list === undefined) continue;
      list.sort();
      entry.postings[place] = list.end === 0 ? null : list;
      isUsed ||= list.end > 0;
    }
    entry.word = least;
    if (isUsed) yield entry;
  }
}

const NO_NUMBERS = new Int32Array();
