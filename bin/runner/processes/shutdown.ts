import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/** A second signal within this time is the same Ctrl-C once more: a terminal sends it to us and to npm, and npm sends it on. */
const SAME_SIGNAL_MS = 1_500;

/** Resolves at the first SIGTERM or SIGINT. A later one ends the process at once, with status 1. */
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

/** What has been started, in order; it ends in the opposite one. */
export interface Closers {
  /** `limitMs` bounds the waiting, not the work */
  add(name: string, close: () => Promise<void>, limitMs?: number): void;
  /** Ends everything once; what fails or takes too long is logged and left. */
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
        if (!isDone) log.error({ part: name, limitMs }, 'stop: part took too long, going on without it');
      }
    },
  };
}
