import type { ChangedThreads } from '../../../operations/threads/undo-change.ts';
import { builder } from '../builder.ts';
import { ThreadNode } from '../nodes.ts';

/** Returns the payload type of a mutation that changes threads and can be undone. */
export function changedThreadsPayload(name: string) {
  return builder.objectRef<ChangedThreads>(name).implement({
    description: 'The changed threads, and what undoes the change.',
    fields: (t) => ({
      threads: t.field({
        type: [ThreadNode],
        description: 'The existing threads.',
        resolve: ({ threadIds }) => threadIds,
      }),
      undoId: t.exposeID('undoId', {
        nullable: true,
        description: 'Undoes the change for a day, with undoThreadChange. Null if nothing changed.',
      }),
    }),
  });
}
