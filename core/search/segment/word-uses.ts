import { placeWeight, type RankedWord, type WordUse } from '../relevance.ts';
import { DocumentSet } from './document-set.ts';
import type { OpenSegment } from './match-segment.ts';
import { addPostings, listPostings } from './postings.ts';
import { findBlocks, findInBlock } from './segment.ts';

/**
 * Returns how the emails with these numbers use the words, and how many emails of the segment have each word. `lengths`: of the emails of the
 * segment, by number. Throws DamagedSegment.
 */
export function wordUses(
  segment: OpenSegment,
  words: readonly RankedWord[],
  numbers: readonly number[],
  lengths: readonly number[],
): { uses: WordUse[]; having: number[] } {
  const counted = words.map((word) => countWord(segment, word));
  return {
    uses: numbers.map((number) => ({
      frequencies: counted.map(({ frequencies }) => frequencies[number] ?? 0),
      length: lengths[number] ?? 0,
    })),
    having: counted.map(({ having }) => having),
  };
}

function countWord({ count, firstWords, block }: OpenSegment, ranked: RankedWord) {
  const frequencies = new Float32Array(count);
  const having = new DocumentSet(count);
  const [from, to] = findBlocks(firstWords, ranked.word);
  for (let number = from; number < to; number++)
    for (const found of findInBlock(block(number), ranked.word))
      for (const [place, postings] of found.entries()) {
        const weight = placeWeight(1 << place, ranked);
        if (postings === null || weight === 0) continue;
        addPostings(having, postings);
        for (const [at, document] of listPostings(postings, count).entries())
          frequencies[document] = (frequencies[document] ?? 0) + weight * (postings.frequencies?.[at] ?? 1);
      }
  return { frequencies, having: having.count };
}
