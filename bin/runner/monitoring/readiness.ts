import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../db/connection/database.ts';
import type { Bus } from '../../../schema/messages.ts';
import { processMetrics } from '../../../schema/metrics.ts';

/** Whether a process accepts work. */
export interface Readiness {
  /** names of what is missing: 'draining' while the process is stopping, 'postgresql', 'bus' */
  missing: () => Promise<string[]>;
  /** Reports the process as draining, and waits until load balancers had time to notice it. */
  leave(delaySeconds: number): Promise<void>;
  isLeaving: () => boolean;
}

/** What the process needs in order to work; absent if it does not use it. */
export interface Needs {
  database?: Database;
  bus?: Pick<Bus, 'isConnected'>;
  /** other missing parts */
  more?: () => Promise<string[]>;
}

/** PostgreSQL counts as unreachable if it does not respond within this time. Milliseconds. */
const PROBE_TIMEOUT_MS = 2_000;

export function createReadiness({ database, bus, more }: Needs): Readiness {
  let isLeaving = false;
  return {
    async missing() {
      const away = isLeaving ? ['draining'] : [];
      if (database !== undefined && !(await isReachable(database))) away.push('postgresql');
      if (bus !== undefined && !bus.isConnected()) away.push('bus');
      if (more !== undefined) away.push(...(await more()));
      return away;
    },
    async leave(delaySeconds) {
      isLeaving = true;
      processMetrics.isDraining.set(1);
      await sleep(delaySeconds * 1_000);
    },
    isLeaving: () => isLeaving,
  };
}

/** Returns whether PostgreSQL responds to this pool in time. Never rejects. */
export async function isReachable(database: Database): Promise<boolean> {
  const probe = database.pool.query({ text: 'select 1', query_timeout: PROBE_TIMEOUT_MS }).then(
    () => true,
    () => false,
  );
  // The pool may wait for a connection longer than a probe should.
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, PROBE_TIMEOUT_MS, false).unref());
  return Promise.race([probe, late]);
}
