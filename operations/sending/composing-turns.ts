import { collectGarbage } from '../../actors/work/collect-garbage.ts';
import { UserError } from '../../core/shared/errors.ts';
import { createTurns } from '../../core/shared/turns.ts';
import type { Caller } from '../caller.ts';

/**
 * Bytes of stored mail from which emails are made at the same time, in the whole process. While it is read, quoted, composed, packed and
 * stored, each takes up to eight times as much.
 */
export const COMPOSED_AT_ONCE = 10_000_000;
/** Emails that take less from the store wait for nothing. Bytes. */
const LARGE_EMAIL = 1_000_000;
/** What is left of the request's time when a turn begins, for the work itself; milliseconds. */
const WORK_MS = 4_000;
const LONGEST_WAIT_MS = 30_000;
/** Seconds. */
const RETRY_AFTER_SECONDS = 5;

/**
 * A process with more memory collects garbage before a turn: V8 otherwise keeps the pages that an earlier burst of requests has left, and what
 * the turn takes comes on top. Bytes.
 */
const CROWDED_MEMORY = 420_000_000;
/** Such collections stop the process for 0.1 to 0.4 s, and begin at most this often; milliseconds. */
const COLLECTION_MS = 5_000;
let nextCollectionAt = 0;

const turns = createTurns(COMPOSED_AT_ONCE);

/** Who waits for a turn. */
interface Composer {
  workspaceId: string;
  /** as in OperationContext; infinity: it waits until its turn comes */
  respondBy: number;
  /** who has left gets no turn any more */
  caller: Pick<Caller, 'gone'>;
}

/**
 * Runs work that makes an email from so many stored bytes, and loads them, when its turn comes: a small request can ask for megabytes, and
 * many can at once. Accounts take turns. Do not call it within a turn. Throws what `work` throws, unavailable when the turn does not come in time,
 * and the reason of `gone`.
 */
export async function inComposingTurn<T>(
  { workspaceId, respondBy, caller }: Composer,
  bytes: number,
  work: () => Promise<T>,
): Promise<T> {
  if (bytes < LARGE_EMAIL) return work();
  const late = new AbortController();
  const waitMs = Math.max(0, Math.min(respondBy - performance.now() - WORK_MS, LONGEST_WAIT_MS));
  const timer = respondBy === Number.POSITIVE_INFINITY ? null : setTimeout(() => late.abort(composedTooLate()), waitMs);
  const left = AbortSignal.any([caller.gone, late.signal]);
  const end = await turns.enter(workspaceId, bytes, left).finally(() => timer !== null && clearTimeout(timer));
  try {
    makeRoom();
    return await work();
  } finally {
    end();
  }
}

function makeRoom(): void {
  const now = performance.now();
  if (now < nextCollectionAt || process.memoryUsage.rss() < CROWDED_MEMORY) return;
  nextCollectionAt = now + COLLECTION_MS;
  collectGarbage('last-resort');
}

function composedTooLate(): UserError {
  return new UserError('unavailable', 'Too many large emails are being composed. Please try again later.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    reason: 'EMAILS_IN_PROGRESS',
  });
}
