import type { Place } from '../../../core/shared/page.ts';
import type { Thread } from '../../../operations/threads/threads.ts';
import { builder } from '../builder.ts';
import type { Connection } from '../connection.ts';
import { ThreadNode } from '../nodes.ts';

export const ThreadConnection = builder.connectionObject<
  typeof ThreadNode,
  Connection<Thread> & { count: () => Promise<number> }
>(
  {
    type: ThreadNode,
    name: 'ThreadConnection',
    description: 'A page of threads.',
    fields: (c) => ({
      totalCount: c.int({
        description: 'Number of threads on all pages. Counted only when requested.',
        resolve: (page) => page.count(),
      }),
    }),
  },
  { name: 'ThreadEdge', description: 'A thread and its cursor.' },
);

/** Lists of threads are ordered by their newest messages. */
export function placeOfThread(thread: Thread): Place {
  return { at: thread.lastMessageAt, id: thread.id };
}
