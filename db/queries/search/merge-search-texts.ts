import type { Database } from '../../connection/database.ts';

/** Emails whose texts are merged into the index together. */
const MERGED_TOGETHER = 500;

/**
 * Moves the texts of new emails from the pending list of the index of email_search, which every search by a text reads, into the index, once
 * there are many: a page of the index is then written once for all of them. Returns how many pages the list had; cheap when nothing is to do.
 */
export async function mergeSearchTexts(database: Database, least = MERGED_TOGETHER): Promise<number> {
  const { rows } = await database.pool.query<{ pages: string }>({
    name: 'merge-search-texts',
    text: 'select merge_search_texts($1) as pages',
    values: [least],
  });
  return Number(rows[0]?.pages ?? 0);
}
