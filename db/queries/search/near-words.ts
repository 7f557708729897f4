import type { Transaction } from 'kysely';
import { allowedErrors, countErrors, nearPrefixes } from '../../../core/search/near-words.ts';
import type { Tables } from '../../entities/tables.ts';
import { runStatements } from './mail-matches.ts';
import { SegmentReader } from './segment-reader.ts';
import { SEGMENTS_SQL, SegmentDamage, type SegmentRow, segmentRow } from './word-segment.ts';

/** Blocks that are looked through for a word: of 16 KiB each, which takes a quarter of a millisecond each. @limit */
const MAX_BLOCKS = 16;
/** Segments that are looked through, those of the most mail. @limit */
const MAX_SEGMENTS = 8;

/**
 * Returns words of the account's mail that are like this one, the likeliest first: with the fewest typing errors, then those of most emails.
 * None if mail has the word itself, or words that begin with it. Looks through the largest segments only, and not through unindexed mail. What
 * a limited member may not see is not left out.
 */
export async function findNearWords(
  transaction: Transaction<Tables>,
  workspaceId: string,
  word: string,
  limit: number,
): Promise<string[]> {
  const most = allowedErrors(word);
  if (most === 0) return [];
  const run = runStatements(transaction);
  const [state] = await run<{ segments: Parameters<typeof segmentRow>[0][] }>(`select (${SEGMENTS_SQL}) as segments`, [
    workspaceId,
  ]);
  const rows: SegmentRow[] = (state?.segments ?? [])
    .map(segmentRow)
    .toSorted((one, other) => other.emailCount - one.emailCount)
    .slice(0, MAX_SEGMENTS);
  const reader = new SegmentReader(run, workspaceId, { wanted: [], unwanted: [] }, 0);
  const errorsOf = new Map<string, number>();
  const accepts = (other: string) => {
    const errors = other.startsWith(word) ? 0 : countErrors(word, other, most);
    // Marks of domains and attachments are no words.
    if (errors === null || !/^[\p{L}\p{N}]+$/u.test(other)) return false;
    errorsOf.set(other, errors);
    return true;
  };
  try {
    const counts = await reader.countWords(rows, nearPrefixes(word), { accepts, maxBlocks: MAX_BLOCKS });
    if ([...errorsOf.values()].includes(0)) return [];
    return [...counts]
      .toSorted(
        ([one, many], [other, more]) =>
          (errorsOf.get(one) ?? 0) - (errorsOf.get(other) ?? 0) || more - many || (one < other ? -1 : 1),
      )
      .slice(0, limit)
      .map(([near]) => near);
  } catch (error) {
    // Searches note a damaged segment.
    if (error instanceof SegmentDamage) return [];
    throw error;
  }
}
