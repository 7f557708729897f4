import { defineEntity, p } from '@mikro-orm/core';

/** Lower-case subject, sender and recipients for partial matches, and the keys of the other party (core/search/email-parties.ts). */
export const EmailSearchSchema = defineEntity({
  name: 'EmailSearch',
  tableName: 'email_search',
  properties: {
    workspaceId: p.text().primary(),
    emailId: p.text().primary(),
    createdAt: p.datetime(3),
    text: p.text(),
    parties: p.array().defaultRaw(`'{}'`),
  },
  indexes: [
    {
      name: 'email_search_text',
      expression: `create index email_search_text on email_search using gin (workspace_id, text gin_trgm_ops, parties) with (gin_pending_list_limit='32768')`,
    },
  ],
});

/** Words of many emails of one account; its bytes never change (core/search/segment/segment.ts). */
export const WordSegmentSchema = defineEntity({
  name: 'WordSegment',
  tableName: 'word_segment',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    emailCount: p.integer(),
    sizeBytes: p.integer(),
    firstAt: p.datetime(3),
    lastAt: p.datetime(3),
    head: p.blob().$type<Buffer>(),
    builtAt: p.datetime(3).defaultRaw('now()'),
    retiredAt: p.datetime(3).nullable(),
  },
  indexes: [
    {
      name: 'word_segment_retired',
      expression: 'create index word_segment_retired on word_segment (retired_at) where retired_at is not null',
    },
  ],
});

/** A part of a segment: from 0 on blocks of words, -1 the ids of its emails, -2 their table. */
export const WordBlockSchema = defineEntity({
  name: 'WordBlock',
  tableName: 'word_block',
  properties: {
    workspaceId: p.text().primary(),
    segmentId: p.text().primary(),
    number: p.integer().primary(),
    bytes: p.blob().$type<Buffer>(),
  },
});

/** An email of which no segment has the present words: new, or what segments have of it is void. */
export const UnindexedEmailSchema = defineEntity({
  name: 'UnindexedEmail',
  tableName: 'unindexed_email',
  properties: {
    workspaceId: p.text().primary(),
    emailId: p.text().primary(),
    state: p.enum(['new', 'changed', 'gone']),
    changes: p.integer().default(0),
    createdAt: p.datetime(3),
    notedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** An account whose segments are being built. */
export const WordBuildSchema = defineEntity({
  name: 'WordBuild',
  tableName: 'word_build',
  properties: {
    workspaceId: p.text().primary(),
    claimedBy: p.text().nullable(),
    claimedUntil: p.datetime(3).nullable(),
  },
});

/** Mail in the trash, with its row of email_search, which has none of it meanwhile. */
export const TrashedEmailSchema = defineEntity({
  name: 'TrashedEmail',
  tableName: 'trashed_email',
  properties: {
    workspaceId: p.text().primary(),
    emailId: p.text().primary(),
    trashedAt: p.datetime(3),
    createdAt: p.datetime(3),
    text: p.text().nullable(),
    parties: p.array().nullable(),
  },
  indexes: [{ name: 'trashed_email_age', properties: ['trashedAt'] }],
});
