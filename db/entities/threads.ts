import { defineEntity, p } from '@mikro-orm/core';
import type { GeneratedAlways } from 'kysely';
import { RETURN_REASONS } from '../../core/threads/return-reason.ts';
import { VIEW_FOLDERS } from '../../core/threads/saved-view.ts';

export const ThreadSchema = defineEntity({
  name: 'Thread',
  tableName: 'thread',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    rootMessageId: p.text(),
    normalizedSubject: p.text(),
    participantEmails: p.array(),
    participantNames: p.array(),
    /** lower-case subject and participants, for partial matches */
    searchText: p.text(),
    messageCount: p.integer(),
    receivedCount: p.integer(),
    unreadCount: p.integer(),
    /** received messages that are archived; the thread is archived when this equals received_count and is not 0 */
    archivedCount: p.integer(),
    latestEmailId: p.text(),
    lastMessageAt: p.datetime(3),
    /**
     * labels in the order in which the user added them, each with the form that is used for comparison (core/threads/label.ts)
     */
    labels: p.array().defaultRaw(`'{}'`),
    labelKeys: p.array().defaultRaw(`'{}'`),
    /** when it was moved to the trash: with all its messages, or not at all; null: it is not there */
    trashedAt: p.datetime(3).nullable(),
    /** the thread that its only message left for the trash, and returns to; null: it went as a whole */
    trashedFrom: p.text().nullable(),
    /** the member who works on it; null: none */
    assigneeId: p.text().nullable(),
    /** out of the inbox until then */
    snoozedUntil: p.datetime(3).nullable(),
    /** when it comes back unless a reply comes before */
    remindAt: p.datetime(3).nullable(),
    /** when it came back to the inbox, until it is archived or snoozed again */
    returnedAt: p.datetime(3).nullable(),
    returnedBy: p.enum(RETURN_REASONS).nullable(),
    listedAt: p.datetime(3).$type<GeneratedAlways<Date>>().generated('(greatest(last_message_at, returned_at)) stored'),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [
    {
      name: 'thread_assignee',
      columns: [{ name: 'workspaceId' }, { name: 'assigneeId' }, { name: 'listedAt' }, { name: 'id' }],
      where: 'assignee_id IS NOT NULL',
    },
    {
      name: 'thread_archive',
      columns: [{ name: 'workspaceId' }, { name: 'listedAt' }, { name: 'id' }],
      where:
        '(archived_count = received_count) AND (received_count > 0) AND (returned_at IS NULL) AND (trashed_at IS NULL)',
    },
    {
      name: 'thread_inbox',
      columns: [{ name: 'workspaceId' }, { name: 'listedAt' }, { name: 'id' }],
      where:
        '((archived_count < received_count) OR (returned_at IS NOT NULL)) AND (snoozed_until IS NULL) AND (trashed_at IS NULL)',
    },
    {
      name: 'thread_snoozed',
      columns: [{ name: 'workspaceId' }, { name: 'listedAt' }, { name: 'id' }],
      where: 'snoozed_until IS NOT NULL',
    },
    {
      name: 'thread_wake',
      expression:
        'create index thread_wake on thread (least(snoozed_until, remind_at)) where (least(snoozed_until, remind_at) is not null)',
    },
    {
      name: 'thread_labels',
      expression: `create index thread_labels on thread using gin (workspace_id, label_keys) where (label_keys <> '{}'::text[])`,
    },
    {
      name: 'thread_list',
      columns: [{ name: 'workspaceId' }, { name: 'listedAt' }, { name: 'id' }],
      where: 'trashed_at IS NULL',
    },
    {
      name: 'thread_trash',
      columns: [{ name: 'workspaceId' }, { name: 'listedAt' }, { name: 'id' }],
      where: 'trashed_at IS NOT NULL',
    },
    {
      name: 'thread_participants',
      expression: 'create index thread_participants on thread using gin (workspace_id, participant_emails)',
    },
    {
      name: 'thread_search',
      expression: 'create index thread_search on thread using gin (workspace_id, search_text gin_trgm_ops)',
    },
    {
      name: 'thread_unread',
      columns: [{ name: 'workspaceId' }, { name: 'listedAt' }, { name: 'id' }],
      where: '(unread_count > 0) AND (trashed_at IS NULL)',
    },
  ],
});

/** Ids of threads that were merged into another; thread_id always exists. */
export const ThreadAliasSchema = defineEntity({
  name: 'ThreadAlias',
  tableName: 'thread_alias',
  properties: {
    workspaceId: p.text().primary(),
    aliasId: p.text().primary(),
    threadId: p.text(),
  },
  indexes: [{ name: 'thread_alias_target', properties: ['workspaceId', 'threadId'] }],
});

/** Pairs of threads that the user separated by a split or by moving a message: later mail does not join them. One row for each order. */
export const ThreadApartSchema = defineEntity({
  name: 'ThreadApart',
  tableName: 'thread_apart',
  properties: {
    workspaceId: p.text().primary(),
    threadId: p.text().primary(),
    otherId: p.text().primary(),
  },
});

/** Every msg-id that a message of the thread has or refers to. */
export const ThreadMessageIdSchema = defineEntity({
  name: 'ThreadMessageId',
  tableName: 'thread_message_id',
  properties: {
    workspaceId: p.text().primary(),
    messageId: p.text().primary(),
    threadId: p.text(),
  },
  indexes: [{ name: 'thread_message_id_thread', properties: ['workspaceId', 'threadId'] }],
});

/** Local parts of the Message-IDs that a relay gave to sent mail. */
export const RelayedMessageIdSchema = defineEntity({
  name: 'RelayedMessageId',
  tableName: 'relayed_message_id',
  properties: {
    workspaceId: p.text().primary(),
    localPart: p.text().primary(),
    emailId: p.text(),
  },
  indexes: [{ name: 'relayed_message_id_email', properties: ['workspaceId', 'emailId'] }],
});

/** Messages without a valid reference, one row per participant: candidates for subject edges. */
export const ThreadSubjectSchema = defineEntity({
  name: 'ThreadSubject',
  tableName: 'thread_subject',
  properties: {
    workspaceId: p.text().primary(),
    baseSubjectSha256: p.blob().$type<Buffer>().primary(),
    participant: p.text().primary(),
    isReply: p.boolean().primary(),
    date: p.datetime(3).primary(),
    emailId: p.text().primary(),
    threadId: p.text(),
  },
  indexes: [{ name: 'thread_subject_thread', properties: ['workspaceId', 'threadId'] }],
});

/** What a member writes beside a thread. */
export const ThreadNoteSchema = defineEntity({
  name: 'ThreadNote',
  tableName: 'thread_note',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    threadId: p.text(),
    /** the person who wrote it in a session; null: an API key did */
    authorId: p.text().nullable(),
    authorKeyId: p.text().nullable(),
    authorName: p.text(),
    text: p.text(),
    /** persons whom the text mentions and who could read the thread then */
    mentions: p.array(),
    /** addresses of members whom the text mentions and who could not */
    unreached: p.array(),
    createdAt: p.datetime(3),
    editedAt: p.datetime(3).nullable(),
  },
  indexes: [{ name: 'thread_note_thread', properties: ['workspaceId', 'threadId', 'id'] }],
});

/** Until when a member has read a thread, or with `*` all threads without a later row. */
export const ThreadReadSchema = defineEntity({
  name: 'ThreadRead',
  tableName: 'thread_read',
  properties: {
    workspaceId: p.text().primary(),
    threadId: p.text().primary(),
    personId: p.text().primary(),
    readUntil: p.datetime(3),
    setAt: p.datetime(3),
  },
  indexes: [{ name: 'thread_read_person', properties: ['workspaceId', 'personId', 'setAt'] }],
});

/** A notice of a mention that is not sent yet. */
export const NoteNoticeSchema = defineEntity({
  name: 'NoteNotice',
  tableName: 'note_notice',
  properties: {
    workspaceId: p.text().primary(),
    noteId: p.text().primary(),
    personId: p.text().primary(),
    /** when a gateway takes it, if the one that stored the note did not */
    dueAt: p.datetime(3),
  },
  indexes: [{ name: 'note_notice_due', properties: ['dueAt'] }],
});

/** What threads were before one request changed them; the change can be undone until expires_at. */
export const ThreadUndoSchema = defineEntity({
  name: 'ThreadUndo',
  tableName: 'thread_undo',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    threadCount: p.integer(),
    messageCount: p.integer(),
    state: p.json(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
  },
  indexes: [{ name: 'thread_undo_expiry', properties: ['expiresAt'] }],
});

/** Who answers a thread at the moment; the holder proves it with the token. A row whose time is over is no claim. */
export const ThreadClaimSchema = defineEntity({
  name: 'ThreadClaim',
  tableName: 'thread_claim',
  properties: {
    workspaceId: p.text().primary(),
    threadId: p.text().primary(),
    tokenSha256: p.blob().$type<Buffer>(),
    holder: p.text(),
    claimedAt: p.datetime(3),
    expiresAt: p.datetime(3),
  },
  indexes: [{ name: 'thread_claim_expiry', properties: ['expiresAt'] }],
  uniques: [{ name: 'thread_claim_token', properties: ['workspaceId', 'tokenSha256'] }],
});

/** A search with filters that a person or the workspace keeps under a name. */
export const SavedViewSchema = defineEntity({
  name: 'SavedView',
  tableName: 'saved_view',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    /** null: of the workspace */
    personId: p.text().nullable(),
    name: p.text(),
    folder: p.enum(VIEW_FOLDERS),
    search: p.text(),
    label: p.text().nullable(),
    address: p.text().nullable(),
    /** `me`, `none`, or the ID of a member */
    assigned: p.text().nullable(),
    createdAt: p.datetime(3),
  },
});
