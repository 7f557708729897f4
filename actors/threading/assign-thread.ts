import type pg from 'pg';
import { DAY_MS } from '../../core/shared/durations.ts';
import { inTransactionFrom } from '../../db/connection/transaction.ts';
import { retryContention } from '../../db/errors.ts';
import {
  type ClaimedEmails,
  type ClaimRow,
  claimedEmails,
  lockAndClaimSql,
} from '../../db/queries/threads/thread-claim.ts';
import { joinThreads } from '../../operations/threads/join-threads.ts';
import { actorMetrics, threadingMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { noteStage } from '../mail-spans.ts';

export interface ThreadingOptions {
  /** called at the points where fault tests kill the process */
  fault?: (point: 'threading.claimed' | 'threading.before-commit' | 'threading.after-commit') => void;
}

export interface ThreadingContext extends ActorContext, ThreadingOptions {}

/** Milliseconds; older mail was not delayed, but imported. */
const MAX_DELAY_MS = DAY_MS;
/** Attempts for a batch that fails with a deadlock, a serialization failure or a lock timeout. */
const MAX_TRIES = 6;
const FIRST_PAUSE_MS = 20;

/**
 * Assigns each of the emails to a thread, in one transaction that locks out others of this user, then wakes the router and announces the
 * events. Emails that have a thread already, or that another process holds, are skipped. Returns how many were threaded.
 */
export async function assignThreads(
  context: ThreadingContext,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<number> {
  const startedTick = performance.now();
  const done = await timed(() =>
    retryContention(
      () =>
        inTransactionFrom<ClaimRow, ThreadedBatch | null>(
          context.database,
          lockAndClaimSql(workspaceId, emailIds),
          (client, [row]) => threadBatch(context, client, workspaceId, claimedEmails(row)),
        ),
      {
        maxTries: MAX_TRIES,
        firstPauseMs: FIRST_PAUSE_MS,
        onRetry: () => actorMetrics.retries.inc({ queue: 'assign' }),
      },
    ),
  );
  if (done === null) return 0;
  context.fault?.('threading.after-commit');
  count(done);
  const threaded = done.emailIds.map((emailId) => ({ workspaceId, emailId }));
  noteStage(context.database, threaded, { name: 'thread', startedTick });
  if (done.receivedIds.length > 0) context.bus.wake('delivery.route.wake', { workspaceId, emailIds: done.receivedIds });
  context.bus.publish('event.appended', { workspaceId, lastSeq: done.lastSeq });
  return done.count;
}

interface ThreadedBatch {
  count: number;
  emailIds: string[];
  /** sent mail is not routed */
  receivedIds: string[];
  /** when SMTP accepted these emails */
  acceptedAt: Date[];
  lastSeq: number;
}

async function threadBatch(
  context: ThreadingContext,
  client: pg.ClientBase,
  workspaceId: string,
  claimed: ClaimedEmails,
): Promise<ThreadedBatch | null> {
  const { emails } = claimed;
  if (emails.length === 0) return null;
  context.fault?.('threading.claimed');

  const lastSeq = await joinThreads(context, client, workspaceId, claimed);
  context.fault?.('threading.before-commit');
  const received = emails.filter((email) => email.type === 'received');
  return {
    count: emails.length,
    emailIds: emails.map((email) => email.emailId),
    receivedIds: received.map((email) => email.emailId),
    acceptedAt: received.map((email) => email.createdAt),
    lastSeq: lastSeq ?? 0,
  };
}

async function timed(work: () => Promise<ThreadedBatch | null>): Promise<ThreadedBatch | null> {
  const end = threadingMetrics.batchSeconds.startTimer();
  try {
    const done = await work();
    end({ outcome: done === null ? 'nothing' : 'threaded' });
    return done;
  } catch (error) {
    end({ outcome: 'failed' });
    throw error;
  }
}

function count(done: ThreadedBatch): void {
  threadingMetrics.emails.inc(done.count);
  const now = Date.now();
  // Imported mail is as old as its date.
  for (const at of done.acceptedAt.filter((accepted) => now - accepted.getTime() < MAX_DELAY_MS))
    actorMetrics.sinceAcceptSeconds.observe({ stage: 'threaded' }, Math.max(0, now - at.getTime()) / 1_000);
}
