import { returnedEvent, wakeThreads } from '../../db/queries/threads/thread-snooze.ts';
import type { ActorContext } from '../actor.ts';
import { endDue } from './end-due.ts';

export interface WakeOptions {
  /** called at the points where fault tests kill the process */
  fault?: (point: 'snoozes.woken' | 'snoozes.before-commit' | 'snoozes.after-commit') => void;
}

/** Threads that come back at once. */
export const SNOOZES_BATCH = 100;

/** Brings back threads whose snooze is over or to which no reply came. Returns how many came back. */
export function wakeDueThreads(context: ActorContext, { fault }: WakeOptions): Promise<number> {
  return endDue(context, {
    take: (client) => wakeThreads(client, SNOOZES_BATCH),
    toEvent: returnedEvent,
    fault,
    points: ['snoozes.woken', 'snoozes.before-commit', 'snoozes.after-commit'],
  });
}
