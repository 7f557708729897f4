import { execFileSync } from 'node:child_process';

/** Whether promtool is installed. `npm test` takes it out of the Debian package prometheus. */
export const hasPromtool: boolean = (() => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** What it writes to stdout; throws with what it complains about. */
export function promtool(words: readonly string[], input?: string): string {
  return execFileSync('promtool', words, { encoding: 'utf8', ...(input === undefined ? {} : { input }) });
}
