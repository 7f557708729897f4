import type { WantedWord } from '../wanted-word.ts';
import type { WordQuery, WordTerm } from '../word-query.ts';
import { DocumentSet } from './document-set.ts';
import { addPostings } from './postings.ts';
import { findBlocks, findInBlock } from './segment.ts';

/** A segment of which the needed blocks are at hand. */
export interface OpenSegment {
  count: number;
  firstWords: readonly string[];
  /** Returns an opened block of words. */
  block: (number: number) => Buffer;
}

/** The emails of a segment that match a search. */
export interface SegmentMatches {
  found: DocumentSet;
  /** those of them of which only the text tells whether they match; null: none */
  unsure: DocumentSet | null;
}

/** Returns the numbers of the blocks that matchSegment reads. */
export function neededBlocks(firstWords: readonly string[], { wanted, unwanted }: WordQuery): Set<number> {
  const needed = new Set<number>();
  for (const term of [...wanted, ...unwanted])
    for (const word of term.words) {
      const [from, to] = findBlocks(firstWords, word);
      for (let number = from; number < to; number++) needed.add(number);
    }
  return needed;
}

/** Blocks that are read between two pauses: in about as many milliseconds. */
const BLOCKS_AT_ONCE = 16;

/** Finds the emails of a segment that match, in steps: a prefix of one letter reads many blocks. Throws DamagedSegment. */
export function* matchSegment(segment: OpenSegment, { wanted, unwanted }: WordQuery): Generator<void, SegmentMatches> {
  const found = new DocumentSet(segment.count);
  found.fill();
  let unsure: DocumentSet | null = null;
  for (const term of wanted) {
    found.keepOnly(yield* candidates(segment, term));
    if (found.isEmpty) return { found, unsure: null };
  }
  for (const term of unwanted) {
    const having = yield* candidates(segment, term);
    if (term.words.length === 1) found.deleteAll(having);
    else if (unsure === null) unsure = having;
    else unsure.addAll(having);
  }
  if (wanted.some((term) => term.words.length > 1)) return { found, unsure: found };
  unsure?.keepOnly(found);
  return { found, unsure: unsure === null || unsure.isEmpty ? null : unsure };
}

/** The emails that have all words of the term in one of its places; whether they are next to each other is not known. */
function* candidates(segment: OpenSegment, term: WordTerm): Generator<void, DocumentSet> {
  const having = new DocumentSet(segment.count);
  having.fill();
  for (const word of term.words) {
    having.keepOnly(yield* emailsWith(segment, term, word));
    if (having.isEmpty) break;
  }
  return having;
}

function* emailsWith(
  { count, firstWords, block }: OpenSegment,
  term: WordTerm,
  word: WantedWord,
): Generator<void, DocumentSet> {
  const set = new DocumentSet(count);
  const [from, to] = findBlocks(firstWords, word);
  for (let number = from; number < to; number++) {
    if ((number - from) % BLOCKS_AT_ONCE === BLOCKS_AT_ONCE - 1) yield;
    for (const found of findInBlock(block(number), word))
      for (const [place, postings] of found.entries())
        if (postings !== null && ((term.places >>> place) & 1) === 1) addPostings(set, postings);
  }
  return set;
}
