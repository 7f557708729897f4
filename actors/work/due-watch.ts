import type { Logger } from 'pino';
import type { Database } from '../../db/connection/database.ts';
import { isTransient } from '../../db/errors.ts';
import { type DueStep, findDueWork } from '../../db/queries/upkeep/due-work.ts';

/** Starts the sweeps of the steps that have due rows. The actors of one process have one. */
export interface DueWatch {
  /** Calls `start` whenever that step has a row to claim, until the returned function is called. */
  add(step: DueStep, start: () => void): () => void;
}

/** Pause between two checks: how long a row waits at most when its wake was lost or the process that claimed it died. Milliseconds. */
export const DUE_CHECK_MS = 2_000;

const watches = new WeakMap<Database, DueWatch>();

/** Returns the watch of the actors that share this database. */
export function makeDueWatch(database: Database, log: Logger): DueWatch {
  const known = watches.get(database);
  if (known !== undefined) return known;
  const watch = createDueWatch(database, log);
  watches.set(database, watch);
  return watch;
}

/**
 * Asks PostgreSQL every 2 s with one statement which steps have due rows. On a quiet day this replaces a claim of each step that finds
 * nothing. A row that falls due before the next check starts its step at that time. While PostgreSQL does not respond, all steps are started:
 * each reports that it waits.
 */
export function createDueWatch(database: Database, log: Logger, pauseMs = DUE_CHECK_MS): DueWatch {
  const starts = new Map<DueStep, Set<() => void>>();
  const timers = new Map<DueStep, NodeJS.Timeout>();
  let next: NodeJS.Timeout | undefined;
  let isChecking = false;

  const start = (step: DueStep) => {
    for (const each of starts.get(step) ?? []) each();
  };

  const startIn = (step: DueStep, ms: number) => {
    clearTimeout(timers.get(step));
    timers.set(
      step,
      setTimeout(() => {
        timers.delete(step);
        start(step);
      }, ms),
    );
  };

  const check = async () => {
    isChecking = true;
    try {
      for (const { step, seconds } of await findDueWork(database, [...starts.keys()])) {
        if (seconds === null) continue;
        const ms = Math.ceil(seconds * 1_000);
        if (ms <= 0) start(step);
        else if (ms < pauseMs) startIn(step, ms);
      }
    } catch (error) {
      if (!isTransient(error)) log.error({ err: error }, 'actor: due work cannot be found');
      for (const step of starts.keys()) start(step);
    } finally {
      isChecking = false;
      schedule(pauseMs);
    }
  };

  const schedule = (ms: number) => {
    clearTimeout(next);
    if (starts.size > 0 && !isChecking) next = setTimeout(() => void check(), ms);
  };

  return {
    add(step, startStep) {
      const isFirst = starts.size === 0;
      const ofStep = starts.get(step) ?? new Set();
      starts.set(step, ofStep.add(startStep));
      // At once, but after the other steps were added.
      if (isFirst) schedule(0);
      return () => {
        ofStep.delete(startStep);
        if (ofStep.size > 0) return;
        starts.delete(step);
        clearTimeout(timers.get(step));
        timers.delete(step);
        if (starts.size === 0) clearTimeout(next);
      };
    },
  };
}
