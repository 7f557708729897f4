import { defineEntity, p } from '@mikro-orm/core';

/** Lower-case subject, sender and recipients for partial matches, and the keys of the other party (core/search/email-parties.ts). */
export const EmailSearchSchema = defineEntity({
  name: 'EmailSearch',
  tableName: 'email_search',
  properties: {
    userId: p.text().primary(),
    emailId: p.text().primary(),
    createdAt: p.datetime(3),
    text: p.text(),
    parties: p.array().defaultRaw(`'{}'`),
  },
  indexes: [
    {
      name: 'email_search_text',
      expression: `create index email_search_text on email_search using gin (user_id, text gin_trgm_ops, parties) with (gin_pending_list_limit='32768')`,
    },
  ],
});

/**
 * Words of the whole email, for searches by word. Written when the email gets its thread or is scheduled. Weights: A subject, B sender, C
 * recipients, D bodies (see db/queries/search/email-words.ts, word-vector.ts).
 */
export const EmailWordsSchema = defineEntity({
  name: 'EmailWords',
  tableName: 'email_words',
  properties: {
    userId: p.text().primary(),
    emailId: p.text().primary(),
    createdAt: p.datetime(3),
    words: p.text().columnType('tsvector'),
  },
  indexes: [
    // Every word begins with four characters that identify its user. Every search also reads the pending list of the index.
    {
      name: 'email_words_words',
      expression: `create index email_words_words on email_words using gin (words) with (gin_pending_list_limit='32768')`,
    },
  ],
});

/** Mail in the trash, with its rows of the two tables above, which have none of it meanwhile. */
export const TrashedEmailSchema = defineEntity({
  name: 'TrashedEmail',
  tableName: 'trashed_email',
  properties: {
    userId: p.text().primary(),
    emailId: p.text().primary(),
    trashedAt: p.datetime(3),
    createdAt: p.datetime(3),
    text: p.text().nullable(),
    parties: p.array().nullable(),
    words: p.text().columnType('tsvector').nullable(),
  },
  indexes: [{ name: 'trashed_email_age', properties: ['trashedAt'] }],
});
