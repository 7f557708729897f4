import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { jsonChunks } from '../../../core/shared/json-chunks.ts';
import { DEFAULT_THREAD_PAGE_SIZE } from '../../../core/shared/page.ts';
import {
  LIST_SEARCH,
  operatorSearch,
  searchLanguage,
  searchOrder,
} from '../../../operations/capability/field-shapes.ts';
import type { OperationContext } from '../../../operations/context.ts';
import type { Email } from '../../../operations/emails/emails.ts';
import { loadReadByMe } from '../../../operations/threads/read-state.ts';
import { listedThreadShape, openedThreadShape } from '../../../operations/threads/thread-shapes.ts';
import * as threads from '../../../operations/threads/threads.ts';
import { access } from '../../admission/access.ts';
import { streamChunks } from '../../http/json-stream.ts';
import { snakeOutput } from '../capability-shapes.ts';
import { makeThreadMessage, threadMessageBody } from '../emails/email-wire.ts';
import { errorBody, idInPath, limit, queryBoolean, type RestOptions, text } from '../shapes.ts';

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

const { body: threadListItem, write: writeListItem } = snakeOutput(listedThreadShape);
const { body: threadBody, write: writeThread } = snakeOutput(openedThreadShape);

export { threadListItem, writeThread };

const listResponse = z.object({
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

/** A thread with its messages. */
export const threadResponse = z.object({
  thread: threadBody,
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
        response: { 200: listResponse, default: errorBody },
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
        threads: found.threads.map((thread, at) => makeThreadListItem(thread, areRead[at] ?? null)),
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
        response: { 200: threadResponse, default: errorBody },
      },
    },
    (request, reply) => sendThread(contextOf(request), request.params.id, reply),
  );
};

/** Sends a thread with its messages: a large one as a stream, a page of messages at a time. Throws not_found, and what ResponseRoom.take throws. */
export async function sendThread(context: OperationContext, threadId: string, reply: FastifyReply) {
  const { thread, messages } = await threads.openThread(context, threadId);
  const { publicUrl } = context.settings;
  if (Array.isArray(messages)) return makeThreadBody({ thread, messages }, publicUrl);
  const { thread: head } = makeThreadBody({ thread, messages: [] }, publicUrl);
  const chunks = threadChunks(head, messages, (message) => makeThreadMessage(message, publicUrl));
  return reply.type('application/json; charset=utf-8').send(streamChunks(chunks, context.workspaceId));
}

/** Yields the JSON of threadResponse. */
async function* threadChunks(
  head: z.infer<typeof threadResponse>['thread'],
  pages: AsyncIterable<Email[]>,
  bodyOf: (message: Email) => z.infer<typeof threadMessageBody>,
): AsyncGenerator<string, void> {
  yield `{"thread":${JSON.stringify(z.encode(threadResponse.shape.thread, head))},"messages":[`;
  let count = 0;
  for await (const page of pages)
    for (const message of page) {
      if (count++ > 0) yield ',';
      yield* jsonChunks(z.encode(threadMessageBody, bodyOf(message)));
    }
  yield `],"total_count":${count}}`;
}

/** `publicUrl` is the base URL of download links. */
export function makeThreadBody(
  { thread, messages }: { thread: threads.Thread; messages: Email[] },
  publicUrl: string,
): z.infer<typeof threadResponse> {
  return {
    thread: writeThread(thread),
    messages: messages.map((message) => makeThreadMessage(message, publicUrl)),
    total_count: messages.length,
  };
}

/** `isReadByMe`: whether the person of the request has read it; null: there is none. */
export function makeThreadListItem(
  thread: threads.ListedThread,
  isReadByMe: boolean | null,
): z.infer<typeof threadListItem> {
  const { latest } = thread;
  const isReceived = latest.type === 'received';
  return writeListItem({
    ...thread,
    hasUnread: thread.unreadCount > 0,
    isReadByMe,
    latestMessage: {
      ...latest,
      type: isReceived ? 'inbound' : 'outbound',
      textPreview: latest.preview,
      isRead: !isReceived || latest.isRead,
    },
  });
}
