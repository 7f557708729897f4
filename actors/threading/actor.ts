import { mergeSearchTexts } from '../../db/queries/search/merge-search-texts.ts';
import { findUnthreaded } from '../../db/queries/threads/thread-claim.ts';
import { analyzeTables } from '../../db/queries/upkeep/analyze-tables.ts';
import { type Actor, type ActorContext, type Run, runActor } from '../actor.ts';
import type { ThreadingOptions } from './assign-thread.ts';
import { createWorkspaceQueues } from './workspace-queues.ts';

const STATISTICS_EVERY_MS = 2_000;
/**
 * How long after the last mail the tables may still be found to have grown (connections report what they wrote up to 10 s later), and the
 * interval when there is no mail. Milliseconds.
 */
const GROWTH_SEEN_MS = 15_000;
const QUIET_STATISTICS_EVERY_MS = 60_000;
/** Emails per sweep; after a full one, the next sweep follows at once. */
const SWEEP_LIMIT = 500;
/** Users whose mail is threaded in parallel; each needs a PostgreSQL connection. */
const MAX_USERS_AT_ONCE = 3;

/**
 * Assigns stored mail to threads. The steps:
 *
 * 1. `assign`: the mail of each user gets its threads, one user after another (workspace-queues.ts), started by wakes of the receiving actor and by
 *    a sweep for emails without a thread.
 * 2. `statistics`: tables that grow from empty are analyzed, and the texts for searching merged.
 */
export async function startThreadingActor(context: ActorContext, options: ThreadingOptions = {}): Promise<Actor> {
  const queues = createWorkspaceQueues({ ...context, ...options });
  let grownTick = performance.now();
  let analyzedTick = Number.NEGATIVE_INFINITY;
  return runActor({
    context,
    name: 'threading',
    steps: [
      {
        name: 'assign',
        wake: 'threading.assign.wake',
        due: 'assign',
        batchSize: SWEEP_LIMIT,
        concurrency: MAX_USERS_AT_ONCE,
        async work(run: Run<'threading.assign.wake'>) {
          if (run.wakes.length > 0) {
            grownTick = performance.now();
            for (const wake of run.wakes) queues.add(wake.workspaceId, wake.emailIds);
            await queues.drain(() => run.isStopping());
            return 0;
          }
          const found = await findUnthreaded(context.database, SWEEP_LIMIT, queues.lost());
          if (found.length > 0) grownTick = performance.now();
          // What waits in this process gets its turn, so that a burst of one user does not hold up the sweep.
          const due = found.filter((email) => !queues.has(email.workspaceId, email.emailId));
          for (const [workspaceId, emails] of Map.groupBy(due, (email) => email.workspaceId)) {
            if (run.isStopping()) return 0;
            await queues.assign(
              workspaceId,
              emails.map((email) => email.emailId),
            );
          }
          return due.length;
        },
      },
      {
        // Threading runs more queries than any other actor; its plans suffer first while tables grow from empty.
        name: 'statistics',
        everyMs: STATISTICS_EVERY_MS,
        async work() {
          const tick = performance.now();
          if (tick - grownTick > GROWTH_SEEN_MS && tick - analyzedTick < QUIET_STATISTICS_EVERY_MS) return;
          analyzedTick = tick;
          await analyzeTables(context.database);
          await mergeSearchTexts(context.database);
        },
      },
    ],
  });
}
