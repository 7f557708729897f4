/**
 * Gives out turns to work that may not all go on at once. Owners (accounts) take turns, so that the work of one does not delay that of another by
 * more than what goes on already.
 */
export interface Turns {
  /** Runs work when its turn comes. Other requests go on before the next turn begins. */
  run<T>(owner: string, work: () => T | Promise<T>): Promise<T>;
  /**
   * Resolves when the turn of this weight comes, with a function that ends it and may be called more than once. Rejects with the reason of
   * `gone` once that is aborted.
   */
  enter(owner: string, weight: number, gone?: AbortSignal): Promise<() => void>;
}

interface Waiting {
  weight: number;
  begin: () => void;
}

/** `capacity` is the weight of all turns at the same time. What weighs more has its turn alone. */
export function createTurns(capacity = 1): Turns {
  const queues = new Map<string, Waiting[]>();
  let taken = 0;
  let isPassing = false;

  /** Begins the turns for which there is room, in rounds of the owners. The first that does not fit waits, and the others behind it. */
  function passOn(): void {
    isPassing = false;
    for (;;) {
      const first = queues.entries().next().value;
      if (first === undefined) return;
      const [owner, queue] = first;
      const next = queue[0];
      if (next !== undefined && taken > 0 && taken + next.weight > capacity) return;
      queue.shift();
      queues.delete(owner);
      // To the end of the round.
      if (queue.length > 0) queues.set(owner, queue);
      if (next === undefined) continue;
      taken += next.weight;
      next.begin();
    }
  }

  function leave(weight: number): void {
    taken -= weight;
    if (isPassing) return;
    isPassing = true;
    setImmediate(passOn);
  }

  function ending(weight: number): () => void {
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      leave(weight);
    };
  }

  function wait(owner: string, weight: number, gone?: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const entry: Waiting = {
        weight,
        begin() {
          gone?.removeEventListener('abort', giveUp);
          resolve(ending(weight));
        },
      };
      const queue = queues.get(owner) ?? [];
      queue.push(entry);
      queues.set(owner, queue);
      function giveUp(): void {
        const at = queue.indexOf(entry);
        if (at !== -1) queue.splice(at, 1);
        if (queue.length === 0 && queues.get(owner) === queue) queues.delete(owner);
        // The next one may fit where this one did not.
        leave(0);
        reject(gone?.reason as Error);
      }
      gone?.addEventListener('abort', giveUp, { once: true });
    });
  }

  async function enter(owner: string, weight: number, gone?: AbortSignal): Promise<() => void> {
    gone?.throwIfAborted();
    const mustWait = queues.size > 0 || (taken > 0 && taken + weight > capacity);
    if (mustWait) return wait(owner, weight, gone);
    taken += weight;
    return ending(weight);
  }

  return {
    enter,
    async run(owner, work) {
      const end = await enter(owner, 1);
      try {
        return await work();
      } finally {
        end();
      }
    },
  };
}
