import { readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';

/** Returns the number of the thread that calls it, by which its processor time is found; 0 where the system has none. */
export function readThreadNumber(): number {
  try {
    // PID/task/NUMBER (proc(5))
    return Number(path.basename(readlinkSync('/proc/thread-self')));
  } catch {
    return 0;
  }
}

/** Returns the processor time of a thread of this process, whatever it does, in milliseconds; null when the system does not tell. */
export function readThreadMs(threadNumber: number): number | null {
  if (threadNumber === 0) return null;
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${threadNumber}/schedstat`, 'latin1').split(' ');
    return Number(nanoseconds) / 1_000_000;
  } catch {
    return null;
  }
}
