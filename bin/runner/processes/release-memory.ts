import { collectGarbage } from '../../../actors/work/collect-garbage.ts';

/** How often a process looks whether it is idle. Milliseconds. */
const LOOK_MS = 10_000;
/**
 * An idle process uses at most this part of the time of one core, all its threads together. One that has nothing to do uses a fourth of it; the
 * gateway process uses more while another one receives 20 messages a second.
 */
const IDLE_UTILIZATION = 0.005;
/** Looks in a row that find a process idle before it collects: what comes after a shorter pause finds its compiled code. */
const IDLE_LOOKS = 2;
/** Bytes by which the heap must have grown to be worth a collection, which takes about 0.1 s. */
const LEAST_GROWTH_BYTES = 32 * 1024 * 1024;

/**
 * Returns memory to the system when the process becomes idle, after its start or after a burst: V8 collects garbage when it needs room, so an
 * idle process would keep the garbage and the empty pages of its busiest moment. Does not keep the process from ending.
 */
export function releaseMemoryWhenIdle(): void {
  // Not the utilization of the event loop, which other processes raise on a busy machine.
  let usage = process.cpuUsage();
  let lookedAt = performance.now();
  // The first time is after the start.
  let bytesAfter = -LEAST_GROWTH_BYTES;
  let idleLooks = 0;
  setInterval(() => {
    const { user, system } = process.cpuUsage(usage);
    const utilization = (user + system) / 1_000 / (performance.now() - lookedAt);
    usage = process.cpuUsage();
    lookedAt = performance.now();
    idleLooks = utilization <= IDLE_UTILIZATION ? idleLooks + 1 : 0;
    if (!isWorthCollecting(idleLooks, heapBytes(), bytesAfter)) return;
    collectGarbage('last-resort');
    bytesAfter = heapBytes();
  }, LOOK_MS).unref();
}

/**
 * Whether a process should collect garbage: so many looks in a row found it idle, and its heap has grown since it had `bytesAfter` after the
 * last collection.
 */
export function isWorthCollecting(idleLooks: number, bytes: number, bytesAfter: number): boolean {
  return idleLooks >= IDLE_LOOKS && bytes - bytesAfter >= LEAST_GROWTH_BYTES;
}

function heapBytes(): number {
  return process.memoryUsage().heapTotal;
}
