/** Reports the progress of a long program. */
export interface Progress {
  /** prints one line immediately */
  say: (line: string) => void;
  /** reports how much of the total is done: at most one line per second, and one at the end */
  step: (what: string, doneBytes: number, allBytes: number) => void;
}

const STEP_INTERVAL_MS = 1_000;

export function tellProgress(stream: { write(text: string): unknown }): Progress {
  let toldAt = 0;
  const say = (line: string) => void stream.write(`${line}\n`);
  return {
    say,
    step(what, done, all) {
      const now = performance.now();
      if (done < all && now - toldAt < STEP_INTERVAL_MS) return;
      toldAt = now;
      const share = all === 0 ? 100 : Math.floor((100 * done) / all);
      say(`${what}: ${share} % of ${sizeInWords(all)}`);
    },
  };
}

/** Returns a size such as 3.4 GB, in powers of 1000 like disk sizes. */
export function sizeInWords(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const at = Math.min(Math.max(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), 0), units.length - 1);
  const value = bytes / 1000 ** at;
  return `${at === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${units[at]}`;
}
