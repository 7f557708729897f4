/** Where programs that take long say how far they are. */
export interface Progress {
  /** one line, at once */
  say: (line: string) => void;
  /** how much is done of how much; at most one line a second, and one for the end */
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

/** Such as 3.4 GB; in powers of 1000, as disks are sold. */
export function sizeInWords(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const at = Math.min(Math.max(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), 0), units.length - 1);
  const value = bytes / 1000 ** at;
  return `${at === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${units[at]}`;
}
