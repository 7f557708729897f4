import { setImmediate as pause } from 'node:timers/promises';

/** Returns what a generator returns that works in steps; `next` calls it. Other work of the process runs between the steps. */
export async function finishSteps<T>(next: () => IteratorResult<void, T>): Promise<T> {
  for (;;) {
    const { value, done } = next();
    if (done === true) return value;
    await pause();
  }
}
