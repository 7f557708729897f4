import { setImmediate } from 'node:timers/promises';

/** How long evaluating guard rules may take, in milliseconds. 0 means that any work reaches the limit, Infinity that none does. */
export interface JudgingLimits {
  /** after which the rest of a batch is left to the next transaction */
  batchMs: number;
  /** after which the mail of a user is set aside in favor of others' mail */
  workspaceMs: number;
  /** for which a user set aside stays so */
  asideMs: number;
  /** after this, the event loop gets a turn */
  turnMs: number;
}

/**
 * The rules of one account may take a second for one message. PostgreSQL ends a transaction that is idle for 15 s, and the same batch
 * would then be retried forever.
 */
export const JUDGING_LIMITS: JudgingLimits = { batchMs: 2_000, workspaceMs: 500, asideMs: 5_000, turnMs: 20 };

/** Returns the results of the first item, and of as many others as the limit of the batch allows, in order. */
export async function workInTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result,
  { batchMs, turnMs }: Pick<JudgingLimits, 'batchMs' | 'turnMs'>,
): Promise<Result[]> {
  const startedAt = performance.now();
  let turnAt = startedAt;
  const results: Result[] = [];
  for (const item of items) {
    const now = performance.now();
    if (results.length > 0 && now - startedAt >= batchMs) break;
    if (now - turnAt >= turnMs) {
      await setImmediate();
      turnAt = performance.now();
    }
    results.push(work(item));
  }
  return results;
}
