import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedClusterOptions, resumeEmbeddedCluster } from './embedded-cluster.ts';
import { readPostmaster } from './postmaster.ts';

/** Keeps the server of a cluster running until it is stopped. */
export interface ClusterSupervision {
  /** Starts the server no more. Resolves when no start is under way; the server itself is left as it is. */
  stop(): Promise<void>;
}

/** What the supervision reports. */
export interface ClusterReports {
  /** The server has ended, and is started again. */
  ended(): void;
  /** It accepts connections again. */
  restarted(): void;
  /** It did not start, or ended again within moments, so many times in a row; the next start comes after the pause. */
  failed(failure: { error: Error; failures: number; pauseMs: number }): void;
}

/** Milliseconds. */
const LOOK_MS = 250;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** A server that ran this long did not end because of its start: the pauses begin again with the shortest. */
const STEADY_MS = 10_000;

/**
 * Starts the server again whenever it has ended, whoever ended it. It looks at the process and at nothing else: a server that is slow,
 * stopped or in recovery runs, and one whose processes crashed restarts them by itself.
 *
 *     running -> ended -> pause (doubles from 0.25 s to 5 s) -> start -> running
 *                           ^------------ did not start ---------'
 *
 * The options are those of the running server: clients find it where it was.
 */
export function superviseCluster(
  options: Omit<EmbeddedClusterOptions, 'signal'>,
  reports: ClusterReports,
): ClusterSupervision {
  const ending = new AbortController();
  const { signal } = ending;
  const pause = (ms: number) => sleep(ms, undefined, { signal });

  async function supervise(): Promise<void> {
    let failures = 0;
    let runsSince = Number.NEGATIVE_INFINITY;
    for (;;) {
      while ((await readPostmaster(options.directory)) !== null) await pause(LOOK_MS);
      reports.ended();
      if (performance.now() - runsSince > STEADY_MS) failures = 0;
      else fail(new Error('PostgreSQL ended soon after its start'));
      // Whoever restarts the server by hand has it running before we look again.
      await pause(pauseAfter(failures));
      for (let isUp = false; !isUp; ) {
        isUp = await resumeEmbeddedCluster({ ...options, signal }).then(
          () => true,
          (error: Error) => {
            signal.throwIfAborted();
            fail(error);
            return false;
          },
        );
        if (!isUp) await pause(pauseAfter(failures));
      }
      runsSince = performance.now();
      reports.restarted();
    }

    function fail(error: Error): void {
      failures++;
      reports.failed({ error, failures, pauseMs: pauseAfter(failures) });
    }
  }

  const done = supervise().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    async stop() {
      ending.abort();
      await done;
    },
  };
}

function pauseAfter(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
}
