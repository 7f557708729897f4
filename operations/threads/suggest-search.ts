import { typedWords } from '../../core/search/near-words.ts';
import { splitWords } from '../../core/search/search-words.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { findNearWords } from '../../db/queries/search/near-words.ts';
import type { OperationContext } from '../context.ts';
import { type InboxQuery, pageInbox } from './threads.ts';

/** Words of a search that are corrected. @limit */
const MAX_CORRECTED = 3;
/** Words that are tried for one. @limit */
const MAX_TRIED = 3;

/**
 * Returns the search with words of the user's mail in place of words that no mail has, if that finds something; null: no such search. What
 * the request may not see is not suggested: each suggestion was searched for with the rights of the request. Throws validation.
 */
export async function suggestSearch(context: OperationContext, query: InboxQuery): Promise<string | null> {
  const { database, workspaceId } = context;
  const { search = '' } = query;
  const typed = typedWords(search).slice(0, MAX_CORRECTED);
  const near = await asWorkspace(database, workspaceId, async (transaction) => {
    const found = [];
    for (const place of typed) {
      const [word, ...others] = splitWords(search.slice(place.from, place.to));
      const words =
        word === undefined || others.length > 0 ? [] : await findNearWords(transaction, workspaceId, word, MAX_TRIED);
      if (words.length > 0) found.push({ ...place, words });
    }
    return found;
  });
  if (near.length === 0) return null;
  const page = { after: null, before: null, isInverted: false, limit: 1 };
  for (let rank = 0; rank < MAX_TRIED; rank++) {
    const words = near.map((one) => ({ ...one, word: one.words[rank] ?? one.words[0] ?? '' }));
    if (rank > 0 && !near.some((one) => one.words[rank] !== undefined)) return null;
    const put = (of: (word: string) => string) =>
      words.toReversed().reduce((text, { from, to, word }) => text.slice(0, from) + of(word) + text.slice(to), search);
    // As whole words: a word that begins with the suggested one does not show that mail has it.
    const found = await pageInbox(context, { ...query, search: put((word) => `"${word}"`) }, page);
    if (found.length > 0) return put((word) => word);
  }
  return null;
}
