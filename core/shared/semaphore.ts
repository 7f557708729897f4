/** Limits how much work runs at once. Work beyond the limit waits in the order it arrived. */
export interface Semaphore {
  /**
   * Runs the work when there is room for its weight, or when nothing else runs: work heavier than the limit runs alone. The weight is
   * 1 by default. Settles as the work does.
   */
  run<T>(work: () => Promise<T>, weight?: number): Promise<T>;
  /** Starts all waiting work at once, over the limit: for work that ends immediately when it finds that everything is stopping. */
  startWaiting(): void;
}

/** A semaphore whose running work weighs at most `limit`. */
export function createSemaphore(limit: number): Semaphore {
  return makeSemaphore(limit, () => undefined);
}

/** One semaphore for each key, all with the same limit. A key that runs nothing takes no memory. */
export interface KeyedSemaphore {
  /** Runs the work when its key has room. Settles as the work does. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Starts all waiting work of every key at once, over the limit. */
  startWaiting(): void;
}

/** Lets at most `limitPerKey` pieces of work of each key run at once. */
export function createKeyedSemaphore(limitPerKey: number): KeyedSemaphore {
  const semaphores = new Map<string, Semaphore>();
  return {
    run(key, work) {
      const semaphore = semaphores.get(key) ?? makeSemaphore(limitPerKey, () => semaphores.delete(key));
      semaphores.set(key, semaphore);
      return semaphore.run(work);
    },
    startWaiting() {
      for (const semaphore of semaphores.values()) semaphore.startWaiting();
    },
  };
}

function makeSemaphore(limit: number, onIdle: () => void): Semaphore {
  const waiting: { weight: number; start: () => void }[] = [];
  let runningWeight = 0;
  let runningCount = 0;

  const startNext = (isUnlimited: boolean) => {
    for (;;) {
      const [next] = waiting;
      if (next === undefined) break;
      if (!isUnlimited && runningCount > 0 && runningWeight + next.weight > limit) break;
      waiting.shift();
      runningWeight += next.weight;
      runningCount++;
      next.start();
    }
    if (runningCount === 0) onIdle();
  };

  return {
    async run(work, weight = 1) {
      await new Promise<void>((start) => {
        waiting.push({ weight, start });
        startNext(false);
      });
      try {
        return await work();
      } finally {
        runningWeight -= weight;
        runningCount--;
        startNext(false);
      }
    },
    startWaiting: () => startNext(true),
  };
}
