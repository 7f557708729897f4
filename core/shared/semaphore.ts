/** Lets so many pieces of work run at once; the others wait in the order they came. */
export interface Turns {
  /** Runs the work when it is its turn. Rejects as the work does. */
  take<T>(work: () => Promise<T>): Promise<T>;
}

export function createTurns(count: number): Turns {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    async take(work) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        // The turn passes on, or is free.
        const next = waiting.shift();
        if (next === undefined) free++;
        else next();
      }
    },
  };
}
