import { collectGarbage } from './collect-garbage.ts';

/** How often a thread looks whether it is idle. Milliseconds. */
const LOOK_MS = 2_500;
/**
 * An idle thread uses at most this part of the time of one core. One that has nothing to do uses a fourth of it; the gateway process uses more
 * while another one receives 20 messages a second.
 */
const IDLE_UTILIZATION = 0.005;
/** Looks in a row that find a thread idle before it collects: what comes after a shorter pause finds its compiled code. */
const IDLE_LOOKS = 2;
/** Bytes by which the memory of a thread must have grown to be worth a collection, which takes about 0.1 s. */
const LEAST_GROWTH_BYTES = 12 * 1024 * 1024;

/**
 * Returns memory to the system when the calling thread becomes idle, after its start or after a burst: V8 collects garbage when it needs room,
 * so an idle thread would keep the garbage and the empty pages of its busiest moment. Each thread has memory of its own, so each must call
 * this. Collects when its memory has grown by `leastGrowthBytes` since the last time, and then calls `release`, for memory of others that the
 * thread holds. Does not keep the thread from ending.
 */
export function releaseMemoryWhenIdle({
  leastGrowthBytes = LEAST_GROWTH_BYTES,
  release = () => undefined,
}: {
  leastGrowthBytes?: number;
  release?: () => void;
} = {}): void {
  // Not the utilization of the event loop, which other processes raise on a busy machine.
  let usage = process.threadCpuUsage();
  let lookedAt = performance.now();
  // The first time is after the start.
  let bytesAfter = -leastGrowthBytes;
  let idleLooks = 0;
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(usage);
    const utilization = (user + system) / 1_000 / (performance.now() - lookedAt);
    usage = process.threadCpuUsage();
    lookedAt = performance.now();
    idleLooks = utilization <= IDLE_UTILIZATION ? idleLooks + 1 : 0;
    if (!isWorthCollecting(idleLooks, threadBytes() - bytesAfter, leastGrowthBytes)) return;
    release();
    collectGarbage('last-resort');
    bytesAfter = threadBytes();
  }, LOOK_MS).unref();
}

/** Whether a thread should collect garbage: so many looks in a row found it idle, and its memory has grown so much since the last collection. */
export function isWorthCollecting(idleLooks: number, growthBytes: number, leastGrowthBytes: number): boolean {
  return idleLooks >= IDLE_LOOKS && growthBytes >= leastGrowthBytes;
}

/** Returns the bytes of the heap of this thread, and of what objects in it hold outside of it, such as buffers with mail. */
export function threadBytes(): number {
  // `external` includes `arrayBuffers`.
  const { heapTotal, external } = process.memoryUsage();
  return heapTotal + external;
}
