import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedClusterOptions, resumeEmbeddedCluster } from './embedded-cluster.ts';
import { isPostmasterAlive, readPostmaster } from './postmaster.ts';

/** Restarts the server of a cluster until the supervision is stopped. */
export interface ClusterSupervision {
  /** Stops restarting the server. Resolves when no start is in progress; the server itself keeps running. */
  stop(): Promise<void>;
}

/** Reports of the supervision. */
export interface ClusterReports {
  /** The server ended and is being restarted. */
  ended(): void;
  /** It accepts connections again. */
  restarted(): void;
  /** It failed to start, or ended soon after, this many times in a row; the next start follows after the pause. */
  failed(failure: { error: Error; failures: number; pauseMs: number }): void;
}

/** Milliseconds. */
const LOOK_MS = 500;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** After running this long, the pauses start again with the shortest. */
const STEADY_MS = 10_000;

/**
 * Restarts the server whenever its process has ended. It checks only the process: a slow, suspended or recovering server counts as running,
 * and a server whose child processes crashed restarts them itself.
 *
 *     running -> ended -> pause (doubles from 0.25 s to 5 s) -> start -> running
 *                           ^------------ did not start ---------'
 *
 * The options are those of the running server, so that clients find it at the same address.
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
      for (let server = await readPostmaster(options.directory); server !== null; ) {
        while (isPostmasterAlive(server, options.directory)) await pause(LOOK_MS);
        // It may have been replaced.
        server = await readPostmaster(options.directory);
      }
      reports.ended();
      if (performance.now() - runsSince > STEADY_MS) failures = 0;
      else fail(new Error('PostgreSQL ended soon after its start'));
      // It may have been restarted by hand before the next check.
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
