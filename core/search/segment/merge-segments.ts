import { PLACE_COUNT } from '../email-terms.ts';
import { openBlock } from './block.ts';
import { compareDocuments, decodeIds, decodeTable, type SegmentDocument } from './documents.ts';
import { listPostings, type Postings } from './postings.ts';
import {
  decodeHead,
  type EncodedSegment,
  encodeSegment,
  type FoundWord,
  readBlock,
  type WordEntry,
} from './segment.ts';

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
  const words = mergeWords(segments.map(readWords), renumbering);
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

  add(document: number, frequency: number): void {
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
    for (const [document, frequency] of added.sort(([one], [other]) => one - other)) this.add(document, frequency);
  }
}

interface WordStream {
  words: Iterator<FoundWord>;
  current: FoundWord | undefined;
}

function* readWords({ blocks }: SegmentParts): Generator<FoundWord> {
  for (const block of blocks) yield* readBlock(openBlock(block));
}

function* mergeWords(
  streams: readonly Iterator<FoundWord>[],
  renumbering: readonly Int32Array[],
): Generator<WordEntry> {
  const lists = Array.from({ length: PLACE_COUNT }, () => new GrowingPostings());
  const open: WordStream[] = streams.map((words) => ({ words, current: nextWord(words) }));
  for (;;) {
    let word: string | undefined;
    for (const { current } of open)
      if (current !== undefined && (word === undefined || current.word < word)) word = current.word;
    if (word === undefined) return;
    for (const list of lists) list.end = 0;
    for (const [segment, stream] of open.entries()) {
      if (stream.current?.word !== word) continue;
      collect(lists, stream.current, renumbering[segment] ?? NO_NUMBERS);
      stream.current = nextWord(stream.words);
    }
    for (const list of lists) list.sort();
    const postings = lists.map((list) => (list.end === 0 ? null : list));
    if (postings.some((list) => list !== null)) yield { word, postings };
  }
}

const NO_NUMBERS = new Int32Array();

/** Adds the postings of a word of a segment to the lists, by place. */
function collect(lists: readonly GrowingPostings[], { postings }: FoundWord, numbers: Int32Array): void {
  for (let place = 0; place < PLACE_COUNT; place++) {
    const found = postings[place] ?? null;
    if (found === null) continue;
    const documents = listPostings(found, numbers.length);
    for (let at = 0; at < documents.length; at++) {
      const document = numbers[documents[at] ?? 0] ?? GONE;
      if (document !== GONE) lists[place]?.add(document, found.frequencies?.[at] ?? 1);
    }
  }
}

function nextWord(words: Iterator<FoundWord>): FoundWord | undefined {
  const next: IteratorResult<FoundWord, unknown> = words.next();
  return next.done === true ? undefined : next.value;
}
