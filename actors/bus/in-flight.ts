/** Counts the work in flight, so that a stop can wait for it. */
export interface InFlight {
  /** Counts the work until it settles; the caller handles its outcome. */
  track(work: Promise<unknown>): void;
  /** Resolves when nothing is in flight. */
  settled(): Promise<void>;
}

export function createInFlight(): InFlight {
  let count = 0;
  let waiting: (() => void)[] = [];
  const end = () => {
    count--;
    if (count > 0) return;
    const resolved = waiting;
    waiting = [];
    for (const resolve of resolved) resolve();
  };
  return {
    track(work) {
      count++;
      work.then(end, end);
    },
    settled: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
  };
}
