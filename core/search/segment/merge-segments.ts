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

interface GrowingPostings {
  documents: number[];
  frequencies: number[];
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
  const open: WordStream[] = streams.map((words) => ({ words, current: nextWord(words) }));
  for (;;) {
    let word: string | undefined;
    for (const { current } of open)
      if (current !== undefined && (word === undefined || current.word < word)) word = current.word;
    if (word === undefined) return;
    const lists = Array.from({ length: PLACE_COUNT }, (): GrowingPostings => ({ documents: [], frequencies: [] }));
    for (const [segment, stream] of open.entries()) {
      if (stream.current?.word !== word) continue;
      for (const [place, found] of stream.current.postings.entries()) {
        if (found === null) continue;
        const numbers = renumbering[segment] ?? new Int32Array();
        for (const [at, number] of listPostings(found, numbers.length).entries()) {
          const document = numbers[number] ?? GONE;
          if (document === GONE) continue;
          lists[place]?.documents.push(document);
          lists[place]?.frequencies.push(found.frequencies?.[at] ?? 1);
        }
      }
      stream.current = nextWord(stream.words);
    }
    const postings = lists.map((list) => (list.documents.length === 0 ? null : inOrder(list)));
    if (postings.some((list) => list !== null)) yield { word, postings };
  }
}

function nextWord(words: Iterator<FoundWord>): FoundWord | undefined {
  const next: IteratorResult<FoundWord, unknown> = words.next();
  return next.done === true ? undefined : next.value;
}

/** Segments of later mail come later, so that the order is often right. */
function inOrder(list: GrowingPostings): Postings {
  const { documents, frequencies } = list;
  if (documents.every((document, at) => at === 0 || document > (documents[at - 1] ?? 0))) return list;
  const order = documents.map((_, at) => at).sort((one, other) => (documents[one] ?? 0) - (documents[other] ?? 0));
  return { documents: order.map((at) => documents[at] ?? 0), frequencies: order.map((at) => frequencies[at] ?? 1) };
}
