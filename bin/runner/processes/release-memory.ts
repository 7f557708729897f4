import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often a process looks whether it is idle. Milliseconds. */
const LOOK_MS = 15_000;
/** The event loop of an idle process works for at most this part of the time. */
const IDLE_UTILIZATION = 0.02;
/** Bytes by which the heap must have grown to be worth a collection, which takes about 0.1 s. */
const LEAST_GROWTH_BYTES = 32 * 1024 * 1024;

/**
 * Returns memory to the system when the process becomes idle, after its start or after a burst: V8 collects garbage when it needs room, so an
 * idle process would keep the garbage and the empty pages of its busiest moment. Does not keep the process from ending.
 */
export function releaseMemoryWhenIdle(): void {
  let usage = performance.eventLoopUtilization();
  let bytesAfter = 0;
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(usage);
    usage = performance.eventLoopUtilization();
    if (!isWorthCollecting(utilization, heapBytes(), bytesAfter)) return;
    collectGarbage();
    bytesAfter = heapBytes();
  }, LOOK_MS).unref();
}

/** Whether a process should collect garbage: it is idle, and its heap has grown since it had `bytesAfter` after the last collection. */
export function isWorthCollecting(utilization: number, bytes: number, bytesAfter: number): boolean {
  return utilization <= IDLE_UTILIZATION && bytes - bytesAfter >= LEAST_GROWTH_BYTES;
}

function heapBytes(): number {
  return process.memoryUsage().heapTotal;
}

let collect: (() => void) | null = null;

/** Collects all garbage, and returns free pages to the system. */
export function collectGarbage(): void {
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
