import { z } from 'zod';
import { MAX_DOMAIN_LENGTH } from '../../core/domains/domain-name.ts';
import { SEARCH_ORDERS } from '../../core/search/relevance.ts';
import { MAX_QUERY_LENGTH } from '../../core/search/search-query.ts';
import { STEM_LANGUAGES } from '../../core/search/word-stem.ts';
import { graphqlText, named, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { MAX_SEARCH_LENGTH } from '../emails/emails.ts';

/** Characters; longer than any valid address (RFC 5321 §4.5.3.1.3). */
export const MAX_ADDRESS_LENGTH = 320;

/** Text that PostgreSQL can store. */
export const text = z.string().refine((value) => !value.includes('\0'), 'must not contain NUL');

/** Characters. */
const MAX_NAME_LENGTH = 255;
const MAX_DESCRIPTION_LENGTH = 1_000;
/** Name and description of what a user sets up. */
export const nameText = text.trim().min(1).max(MAX_NAME_LENGTH);
export const descriptionText = text.max(MAX_DESCRIPTION_LENGTH).nullish();

/** The search text of a list. */
export const searchText = text.max(MAX_SEARCH_LENGTH);

/** The search text of a list that takes operators. */
export const operatorSearch = text.max(MAX_QUERY_LENGTH);

/** What the search of a REST list and of `threads` finds. */
export const LIST_SEARCH =
  'Words of one email, in any place of it, or a part of the subject or of an address, case-insensitive. Operators such as from:ann, has:attachment and -draft work as in the GraphQL field `emails`. Up to 500 characters.';

/** The language of a search. */
export const searchLanguage = graphqlText(
  oneOf(STEM_LANGUAGES, {
    name: 'SearchLanguage',
    description: 'Language of a search.',
    values: {
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
    },
  }).optional(),
  'Also finds other forms of each word, such as `invoices` for `invoicing` with ENGLISH. Words in quotes and names are found as they are. Omit to search without forms.',
).meta({
  description:
    'Also finds other forms of each word of `search`, such as `invoices` for `invoicing` with `english`. Words in quotes and names are found as they are.',
});

/** The order of a list with `search`. */
export const searchOrder = graphqlText(
  oneOf(SEARCH_ORDERS, {
    name: 'SearchOrder',
    description: 'Order of search results.',
    values: { newest: 'By time, newest first.', relevance: 'Best matches of the words first.' },
  }).default('newest'),
  'Order of the list. RELEVANCE needs a search with a word or phrase to find, and ranks the newest 5,000 emails that match. A cursor is valid in its order only.',
).meta({
  description:
    '`relevance` returns the best matches of the words first. It needs a `search` with a word or phrase, ranks the newest 5,000 emails that match, and finds words only, not parts of them.',
});

/** Arguments of a list with a search in GraphQL. */
export const searchArguments = z.object({ orderBy: searchOrder, language: searchLanguage });

/** The name of a domain, as the user enters it. */
export const domainName = text.min(1).max(MAX_DOMAIN_LENGTH);

/** Bytes as JSON: small enough for every webhook payload. */
export const MAX_METADATA_BYTES = 4_096;

/** A JSON object that returns with mail. */
export const metadata = z
  .record(z.string(), z.unknown())
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= MAX_METADATA_BYTES, {
    message: `must not exceed ${MAX_METADATA_BYTES} bytes of JSON`,
  })
  .refine(isStorable, 'must not contain NUL or lone surrogates')
  .nullish();

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorable(inner));
}

/** Returns what deleting an object returns, such as that of a `saved view`. `id` is its name in openapi.json. */
export function deletedShape(id: string, noun: string, shortNoun = noun) {
  return z
    .object({
      success: restLiteral(true),
      message: restOnly(z.string()),
      deletedId: named(z.string(), { graphqlType: 'ID', restName: 'id' }).meta({
        description: `ID of the deleted ${shortNoun}.`,
      }),
    })
    .meta({ id, description: `A ${noun} that was deleted.` });
}

/** The picture of a member, see picturePath in core/accounts/picture.ts. */
export const memberImage = z.string().nullable().meta({
  description:
    'Path of the picture on this service, which needs the right `read`. A new picture has a new path. Null: none.',
});
