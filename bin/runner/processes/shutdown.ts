import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/**
 * A second signal within this time is the same Ctrl-C: a terminal sends it to this process and to npm, and npm forwards it. Milliseconds.
 */
const SAME_SIGNAL_MS = 1_500;

/** Resolves at the first SIGTERM or SIGINT. A later one exits immediately with status 1. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let since: number | null = null;
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (since !== null && performance.now() - since > SAME_SIGNAL_MS) process.exit(1);
        since ??= performance.now();
        resolve(signal);
      });
  });
}

/** The parts that have been started, which stop in the opposite order. */
export interface Closers {
  /** `limitMs` limits the wait, not the work */
  add(name: string, close: () => Promise<void>, limitMs?: number): void;
  /** Stops every part once. A part that fails or takes too long is logged and skipped. */
  closeAll(): Promise<void>;
}

export function createClosers(log: Logger): Closers {
  const entries: { name: string; close: () => Promise<void>; limitMs: number }[] = [];
  return {
    add(name, close, limitMs = 5_000) {
      entries.push({ name, close, limitMs });
    },
    async closeAll() {
      for (let entry = entries.pop(); entry !== undefined; entry = entries.pop()) {
        const { name, close, limitMs } = entry;
        const isDone = await Promise.race([
          close().then(
            () => true,
            (error: unknown) => {
              log.error({ err: error, part: name }, 'stop: part did not end cleanly');
              return true;
            },
          ),
          sleep(limitMs, false, { ref: false }),
        ]);
        if (!isDone) log.error({ part: name, limitMs }, 'stop: part took too long, continuing without it');
      }
    },
  };
}
