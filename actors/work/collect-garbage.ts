import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The function of V8 that `--expose-gc` reveals. */
type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'regular' | 'last-resort' }) => void;

let collect: Collect | null = null;

/**
 * Collects all garbage of this thread, which stops it for 30 to 100 ms. As the last resort before it is out of memory, V8 also moves objects
 * together and drops compiled code that is not running: a process gives back 20 to 35 MiB more after its start, and compiles what it needs
 * again.
 */
export function collectGarbage(flavor: 'regular' | 'last-resort'): void {
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  collect({ type: 'major', execution: 'sync', flavor });
}
