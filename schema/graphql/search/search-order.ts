import type { SEARCH_ORDERS } from '../../../core/search/relevance.ts';
import { builder, enumValues } from '../builder.ts';

export const SearchOrder = builder.enumType('SearchOrder', {
  description: 'Order of search results.',
  values: enumValues<(typeof SEARCH_ORDERS)[number]>({
    newest: 'By time, newest first.',
    relevance: 'Best matches of the words first.',
  }),
});

/** Describes the argument `orderBy` of a search. */
export const SEARCH_ORDER =
  'Order of the list. RELEVANCE needs a search with a word or phrase to find, and ranks the newest 5,000 emails that match. A cursor is valid in its order only.';
