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

/** Collections of `collectGarbageSoon` begin at most this often; milliseconds. */
const COLLECTION_MS = 2_000;
let nextCollectionAt = 0;
let collection: NodeJS.Timeout | null = null;

/** Collects garbage after what runs now, at most once in two seconds however often it is called. Never throws. */
export function collectGarbageSoon(): void {
  const delay = Math.max(0, nextCollectionAt - performance.now());
  collection ??= setTimeout(() => {
    collection = null;
    nextCollectionAt = performance.now() + COLLECTION_MS;
    try {
      collectGarbage('regular');
    } catch {
      // Without it, the process takes more memory, and works.
    }
  }, delay).unref();
}
