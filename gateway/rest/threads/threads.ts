import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DEFAULT_THREAD_PAGE_SIZE } from '../../../core/shared/page.ts';
import { RETURN_REASONS } from '../../../core/threads/return-reason.ts';
import {
  LIST_SEARCH,
  operatorSearch,
  searchLanguage,
  searchOrder,
} from '../../../operations/capability/field-shapes.ts';
import type { OperationContext } from '../../../operations/context.ts';
import type { Email } from '../../../operations/emails/emails.ts';
import { loadReadByMe } from '../../../operations/threads/read-state.ts';
import * as threads from '../../../operations/threads/threads.ts';
import { access } from '../../admission/access.ts';
import { jsonChunks, streamChunks } from '../../http/json-stream.ts';
import { threadMessageBody, threadMessageOf } from '../emails/email-wire.ts';
import {
  errorBody,
  idInPath,
  instant,
  limit,
  queryBoolean,
  type RestOptions,
  text,
  trashedAt,
  wireInstant,
} from '../shapes.ts';

const listQuery = z.object({
  limit: limit(DEFAULT_THREAD_PAGE_SIZE),
  cursor: z.string().optional().meta({ description: '`next_cursor` of the previous page.' }),
  search: operatorSearch
    .optional()
    .meta({ description: `${LIST_SEARCH} A thread is found if one of its messages matches.` }),
  order_by: searchOrder,
  language: searchLanguage,
  unread: queryBoolean.default(false).meta({ description: 'Returns threads with unread messages only.' }),
  unread_by_me: queryBoolean.default(false).meta({
    description: 'Returns threads with messages that you have not read yourself. For requests of a person.',
  }),
  claimed: queryBoolean
    .optional()
    .meta({ description: '`false` returns threads that no one has claimed, `true` the others.' }),
  assigned: text.optional().meta({ description: 'Who works on it: `me`, `none`, or the ID or address of a member.' }),
  trashed: queryBoolean
    .default(false)
    .meta({ description: 'Returns the threads in the trash, which are left out otherwise.' }),
  domain: text.optional().meta({ description: 'ID or name of a domain in the thread.' }),
  address: text.optional().meta({ description: 'ID of an address in the thread, or the address itself.' }),
});

const claim = z
  .object({ holder: z.string(), claimed_at: instant, expires_at: instant })
  .nullable()
  .meta({ description: 'Who answers the thread at the moment; null if no one has claimed it.' });

const assigneeId = z.string().nullable().meta({ description: 'ID of the member who works on the thread; null: none.' });

const snoozeFields = {
  snoozed_until: instant.nullable().meta({ description: 'Out of the inbox until then, or a reply; null: it is not.' }),
  remind_at: instant.nullable().meta({ description: 'When it comes back without a reply; null: no reminder.' }),
  returned_at: instant.nullable().meta({ description: 'When it came back; null: not, or archived or snoozed since.' }),
  returned_by: z.enum(RETURN_REASONS).nullable().meta({ description: 'Why it came back; null if it did not.' }),
};
const isReadByMe = z.boolean().nullable().meta({
  description: 'Whether you have read all received messages yourself. Null for requests without a person.',
});

export const threadListItem = z
  .object({
    id: z.string(),
    root_message_id: z.string(),
    normalized_subject: z.string(),
    participant_emails: z.array(z.string()),
    participant_names: z.array(z.string()),
    message_count: z.number().int(),
    last_message_at: instant,
    created_at: instant,
    has_unread: z.boolean(),
    unread_count: z.number().int(),
    is_archived: z.boolean(),
    claim,
    assignee_id: assigneeId,
    ...snoozeFields,
    is_read_by_me: isReadByMe,
    latest_message: z.object({
      id: z.string(),
      type: z.enum(['inbound', 'outbound']),
      subject: z.string(),
      from_text: z.string(),
      text_preview: z.string(),
      is_read: z.boolean(),
      has_attachments: z.boolean(),
      date: instant,
    }),
  })
  .meta({ id: 'ThreadListItem' });

const listAnswer = z.object({
  threads: z.array(threadListItem),
  pagination: z.object({ limit: z.number().int(), has_more: z.boolean(), next_cursor: z.string().nullable() }),
  filters: z.object({
    search: z.string().optional(),
    unread_only: z.boolean(),
    claimed: z.boolean().optional(),
    assigned: z.string().optional(),
    domain: z.string().optional(),
    address: z.string().optional(),
  }),
});

/** Converts a thread with its messages. */
export const threadAnswer = z.object({
  thread: z
    .object({
      id: z.string(),
      root_message_id: z.string(),
      normalized_subject: z.string(),
      participant_emails: z.array(z.string()),
      participant_names: z.array(z.string()),
      message_count: z.number().int(),
      last_message_at: instant,
      created_at: instant,
      updated_at: instant,
      trashed_at: trashedAt,
      claim,
      assignee_id: assigneeId,
      ...snoozeFields,
    })
    .meta({ id: 'Thread' }),
  messages: z.array(threadMessageBody),
  total_count: z.number().int(),
});

export const threadRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/mail/threads',
    {
      config: { access: access.read },
      schema: {
        operationId: 'listThreads',
        summary: 'List threads',
        description: 'Returns threads, newest message first unless `order_by` says otherwise. Paged by cursor.',
        tags: ['Threads'],
        querystring: listQuery,
        response: { 200: listAnswer, default: errorBody },
      },
    },
    async (request) => {
      const { limit: size, cursor, unread: isUnread, claimed: isClaimed, trashed: isTrashed } = request.query;
      const { search, language, domain, address, assigned, order_by: order } = request.query;
      const { unread_by_me: isUnreadByMe } = request.query;
      const context = contextOf(request);
      const list = order === 'relevance' ? threads.listThreadsByRelevance : threads.listThreads;
      const found = await list(
        context,
        { isUnread, isUnreadByMe, isClaimed, assigned, isTrashed, search, language, domain, address },
        { limit: size, cursor: cursor ?? null },
      );
      const areRead = await loadReadByMe(
        context,
        found.threads.map(({ id }) => id),
      );
      return {
        threads: found.threads.map((thread, at) => threadListItemOf(thread, areRead[at] ?? null)),
        pagination: { limit: size, has_more: found.nextCursor !== null, next_cursor: found.nextCursor },
        filters: { search, unread_only: isUnread, claimed: isClaimed, assigned, domain, address },
      };
    },
  );

  app.get(
    '/mail/threads/:id',
    {
      config: { access: access.read },
      schema: {
        operationId: 'getThread',
        summary: 'Retrieve a thread',
        description:
          'Returns the thread with all messages, oldest first. The ID of a merged thread returns the thread it was merged into.',
        tags: ['Threads'],
        params: idInPath,
        response: { 200: threadAnswer, default: errorBody },
      },
    },
    (request, reply) => sendThread(contextOf(request), request.params.id, reply),
  );
};

/** Sends a thread with its messages: a large one as a stream, a page of messages at a time. Throws not_found, and what ResponseRoom.take throws. */
export async function sendThread(context: OperationContext, threadId: string, reply: FastifyReply) {
  const { thread, messages } = await threads.openThread(context, threadId);
  const { publicUrl } = context.settings;
  if (Array.isArray(messages)) return threadAnswerOf({ thread, messages }, publicUrl);
  const { thread: head } = threadAnswerOf({ thread, messages: [] }, publicUrl);
  const chunks = threadChunks(head, messages, (message) => threadMessageOf(message, publicUrl));
  return reply.type('application/json; charset=utf-8').send(streamChunks(chunks, context.userId));
}

/** Yields the JSON of threadAnswer. */
async function* threadChunks(
  head: z.infer<typeof threadAnswer>['thread'],
  pages: AsyncIterable<Email[]>,
  bodyOf: (message: Email) => z.infer<typeof threadMessageBody>,
): AsyncGenerator<string, void> {
  yield `{"thread":${JSON.stringify(z.encode(threadAnswer.shape.thread, head))},"messages":[`;
  let count = 0;
  for await (const page of pages)
    for (const message of page) {
      if (count++ > 0) yield ',';
      yield* jsonChunks(z.encode(threadMessageBody, bodyOf(message)));
    }
  yield `],"total_count":${count}}`;
}

/** `publicUrl` is the base URL of download links. */
export function threadAnswerOf(
  { thread, messages }: { thread: threads.Thread; messages: Email[] },
  publicUrl: string,
): z.infer<typeof threadAnswer> {
  return {
    thread: {
      ...commonFieldsOf(thread),
      updated_at: wireInstant(thread.updatedAt),
      trashed_at: wireInstant(thread.trashedAt),
    },
    messages: messages.map((message) => threadMessageOf(message, publicUrl)),
    total_count: messages.length,
  };
}

/** `isReadByMe`: whether the person of the request has read it; null: there is none. */
export function threadListItemOf(
  thread: threads.ListedThread,
  isReadByMe: boolean | null,
): z.infer<typeof threadListItem> {
  const { latest } = thread;
  return {
    ...commonFieldsOf(thread),
    has_unread: thread.unreadCount > 0,
    unread_count: thread.unreadCount,
    is_archived: thread.isArchived,
    is_read_by_me: isReadByMe,
    latest_message: {
      id: latest.id,
      type: latest.type === 'received' ? 'inbound' : 'outbound',
      subject: latest.subject,
      from_text: latest.fromText,
      text_preview: latest.preview,
      is_read: latest.type !== 'received' || latest.isRead,
      has_attachments: latest.hasAttachments,
      date: wireInstant(latest.date),
    },
  };
}

export function commonFieldsOf(thread: threads.Thread) {
  return {
    id: thread.id,
    root_message_id: thread.rootMessageId,
    normalized_subject: thread.normalizedSubject,
    participant_emails: thread.participantEmails,
    participant_names: thread.participantNames,
    message_count: thread.messageCount,
    last_message_at: wireInstant(thread.lastMessageAt),
    created_at: wireInstant(thread.createdAt),
    claim: claimOf(thread),
    assignee_id: thread.assigneeId,
    snoozed_until: wireInstant(thread.snoozedUntil),
    remind_at: wireInstant(thread.remindAt),
    returned_at: wireInstant(thread.returnedAt),
    returned_by: thread.returnedBy,
  };
}

function claimOf({ claim: held }: threads.Thread): z.infer<typeof claim> {
  if (held === null) return null;
  return { holder: held.holder, claimed_at: wireInstant(held.claimedAt), expires_at: wireInstant(held.expiresAt) };
}
