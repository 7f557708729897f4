import { asUser } from '../../db/connection/database.ts';
import { findEvents } from '../../db/queries/events/event-list.ts';
import type { OperationContext } from '../context.ts';
import type { EventReader } from './event-reader.ts';

/**
 * A reader that gives of its events those alone that the context's database shows: readers of one feed share their reads, those of keys of
 * one domain too. What is told of is looked up as it is then.
 */
export function limitedReader({ database, userId }: OperationContext, reader: EventReader): EventReader {
  return {
    cursor: () => reader.cursor(),
    close: () => reader.close(),
    async pull(waitMs) {
      const endAt = waitMs === undefined ? null : performance.now() + waitMs;
      for (;;) {
        const pulled = await reader.pull(endAt === null ? undefined : Math.max(0, endAt - performance.now()));
        if (pulled.kind !== 'events') return pulled;
        const seqs = pulled.events.map(({ seq }) => seq);
        const events = await asUser(database, userId, (transaction) => findEvents(transaction, userId, seqs));
        const { cursor } = pulled;
        if (events.length > 0) return { kind: 'events', events: events.toSorted((a, b) => a.seq - b.seq), cursor };
        if (endAt !== null && performance.now() >= endAt) return { kind: 'nothing', cursor };
      }
    },
  };
}
