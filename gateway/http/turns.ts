/**
 * Gives out turns, one at a time, in which a request works on a large response. Accounts take turns, so that the responses of one do not
 * delay those of another by more than one turn.
 */
export interface Turns {
  /** Runs work when its turn comes. Other requests go on before the next turn begins. */
  run<T>(owner: string, work: () => T | Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const waiting = new Map<string, (() => void)[]>();
  let isTaken = false;

  function passOn(): void {
    for (const [owner, queue] of waiting) {
      const next = queue.shift();
      waiting.delete(owner);
      // To the end of the round.
      if (queue.length > 0) waiting.set(owner, queue);
      if (next !== undefined) return next();
    }
    isTaken = false;
  }

  return {
    async run(owner, work) {
      if (isTaken)
        await new Promise<void>((resolve) => {
          const queue = waiting.get(owner);
          if (queue === undefined) waiting.set(owner, [resolve]);
          else queue.push(resolve);
        });
      isTaken = true;
      try {
        return await work();
      } finally {
        setImmediate(passOn);
      }
    },
  };
}
