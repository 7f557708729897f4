import { setFlagsFromString } from 'node:v8';
import { collectGarbage } from '../../actors/work/collect-garbage.ts';

/**
 * By how much of what lives in it the heap grows before V8 collects, while large responses are in progress. Its own choice is three times, and
 * streams of JSON leave 80 MB of old garbage in a second.
 */
const TIGHT_PERCENT = 25;
/** How long after the last call the heap stays tight. Milliseconds. */
const TIGHT_MS = 5_000;
const FLAG = '--heap-growing-percent';

/** What the process was started with; 0: V8's own choice. */
const usualPercent = process.execArgv.find((flag) => flag.startsWith(`${FLAG}=`))?.slice(FLAG.length + 1) ?? '0';
let relaxing: NodeJS.Timeout | null = null;

/** Keeps the heap of this process small for some seconds. Call it whenever responses take room while they have much. */
export function tightenHeap(): void {
  if (relaxing !== null) {
    relaxing.refresh();
    return;
  }
  relaxing = setTimeout(() => {
    relaxing = null;
    setFlagsFromString(`${FLAG}=${usualPercent}`);
  }, TIGHT_MS).unref();
  setFlagsFromString(`${FLAG}=${TIGHT_PERCENT}`);
  // V8 chooses how far the heap may grow at the end of a collection.
  collectGarbage('regular');
}
