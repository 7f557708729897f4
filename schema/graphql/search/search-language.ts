import type { StemLanguage } from '../../../core/search/word-stem.ts';
import { builder, enumValues } from '../builder.ts';

export const SearchLanguage = builder.enumType('SearchLanguage', {
  description: 'Language of a search.',
  values: enumValues<StemLanguage>({
    danish: 'Danish.',
    dutch: 'Dutch.',
    english: 'English.',
    finnish: 'Finnish.',
    french: 'French.',
    german: 'German.',
    hungarian: 'Hungarian.',
    italian: 'Italian.',
    norwegian: 'Norwegian.',
    portuguese: 'Portuguese.',
    romanian: 'Romanian.',
    russian: 'Russian.',
    spanish: 'Spanish.',
    swedish: 'Swedish.',
  }),
});

/** Describes the argument `language` of a search. */
export const SEARCH_LANGUAGE =
  'Also finds other forms of each word, such as `invoices` for `invoicing` with ENGLISH. Words in quotes and names are found as they are. Omit to search without forms.';
