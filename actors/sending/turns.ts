/** Lets work begin in the order it was asked for, as long as what goes on is not too large together. */
export interface Turns {
  /** Answers as the work does, which begins when there is room for its size, or when nothing else goes on. */
  during<T>(size: number, work: () => Promise<T>): Promise<T>;
}

export function createTurns(most: number): Turns {
  const waiting: { size: number; begin: () => void }[] = [];
  let taken = 0;
  let count = 0;

  const next = () => {
    for (;;) {
      const [first] = waiting;
      if (first === undefined || (count > 0 && taken + first.size > most)) return;
      waiting.shift();
      taken += first.size;
      count++;
      first.begin();
    }
  };

  return {
    async during(size, work) {
      await new Promise<void>((begin) => {
        waiting.push({ size, begin });
        next();
      });
      try {
        return await work();
      } finally {
        taken -= size;
        count--;
        next();
      }
    },
  };
}
