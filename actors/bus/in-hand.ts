/** Counts the work in hand, so that a stop can await its end. */
export interface InHand {
  /** Counts the work until it settles; its outcome stays the caller's. */
  hold(work: Promise<unknown>): void;
  /** Resolves when nothing is in hand any more. */
  settled(): Promise<void>;
}

export function createInHand(): InHand {
  let count = 0;
  let waiting: (() => void)[] = [];
  const letGo = () => {
    count--;
    if (count > 0) return;
    const resolved = waiting;
    waiting = [];
    for (const resolve of resolved) resolve();
  };
  return {
    hold(work) {
      count++;
      work.then(letGo, letGo);
    },
    settled: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
  };
}
