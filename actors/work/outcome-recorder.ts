import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isTransient } from '../../db/errors.ts';
import { createGroupCommit } from './group-commit.ts';

export interface OutcomeRecorderOptions<Outcome> {
  log: Logger;
  /** of the actor, in logs */
  actor: string;
  /** what logs show of an outcome: the id of its row, and how it ended */
  describe: (outcome: Outcome) => object;
  /**
   * Writes outcomes in one transaction, each fenced with `claimed_by`, and returns for each whether its claim still held. An outcome whose
   * claim was lost changes nothing.
   */
  write: (outcomes: readonly Outcome[]) => Promise<readonly boolean[]>;
  /** The outcome without text that a remote server sent, which PostgreSQL may refuse. */
  withoutRemoteText: (outcome: Outcome) => Outcome;
  /** Sets the row of an outcome aside that PostgreSQL refuses. `retrySeconds` is null when the row is dead: its outcome is given up. */
  setAside: (outcome: Outcome, error: unknown) => Promise<{ retrySeconds: number | null }>;
  /** outcomes in one transaction */
  groupSize: number;
  /** how long an outcome waits for others: no client waits for it, and a group costs little more than one. Milliseconds. */
  gatherMs: (outcome: Outcome) => number;
}

/** Records the outcomes of claimed rows, in groups. */
export interface OutcomeRecorder<Outcome> {
  /**
   * Resolves when the outcome is committed, was given up, or its claim turned out to be lost. Its job stays in hand until then, because
   * otherwise finished work would be repeated. Never rejects.
   */
  record(outcome: Outcome): Promise<void>;
  /** From now on, an outcome that cannot be recorded is retried once and then given up. */
  stop(): void;
}

/** Pause between attempts while PostgreSQL is unreachable; milliseconds. */
const RETRY_MS = 500;

export function createOutcomeRecorder<Outcome>(options: OutcomeRecorderOptions<Outcome>): OutcomeRecorder<Outcome> {
  const { log, actor, describe } = options;
  const ending = new AbortController();

  const write = async (outcomes: readonly Outcome[]): Promise<readonly boolean[]> => {
    const isHeld = await options.write(outcomes);
    for (const [at, outcome] of outcomes.entries())
      if (isHeld[at] !== true)
        log.warn(describe(outcome), `${actor}: the claim was lost before its outcome was recorded`);
    return isHeld;
  };

  const commit = createGroupCommit<Outcome, boolean>({
    limits: { items: options.groupSize },
    gatherMs: options.gatherMs,
    async write(outcomes) {
      for (;;) {
        try {
          return await write(outcomes);
        } catch (error) {
          if (!isTransient(error)) throw error;
          log.warn({ err: error, count: outcomes.length }, `${actor}: outcomes wait for PostgreSQL`);
          await pause(RETRY_MS);
        }
      }
    },
  });

  /**
   * Retries an outcome that PostgreSQL refuses: if it were forgotten, its work would be repeated as soon as the lease expires. Its row is
   * set aside, so that this holds even when this process ends.
   */
  const retry = async (outcome: Outcome): Promise<void> => {
    const { signal } = ending;
    // At least once: an outcome that is recorded while the actor stops gets no other chance.
    for (let pauseMs = 0, isLast = false; !isLast; ) {
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      try {
        await write([outcome]);
        return;
      } catch (error) {
        pauseMs = RETRY_MS;
        isLast = signal.aborted;
        if (isTransient(error)) continue;
        const { retrySeconds } = await options.setAside(outcome, error);
        if (retrySeconds === null) return;
        pauseMs = retrySeconds * 1_000;
      }
    }
    log.error(describe(outcome), `${actor}: an outcome is lost with the stop`);
  };

  return {
    async record(outcome) {
      try {
        await commit.add(outcome);
      } catch (error) {
        log.error({ err: error, ...describe(outcome) }, `${actor}: an outcome could not be recorded`);
        await retry(options.withoutRemoteText(outcome));
      }
    },
    stop: () => ending.abort(),
  };
}
