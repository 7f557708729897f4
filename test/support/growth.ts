import { expect } from 'vitest';

/** How many times as large the second input is. */
const STEP = 4;
/** For work in linear time the costs differ by about STEP, for work in quadratic time by STEP². */
const MAX_GROWTH = 9;
/** Costs below this are noise. Milliseconds of processor time. */
const LEAST_MS = 4;
/** How often two costs are compared until they fit: garbage collection and compilation make single costs higher, never lower. */
const MAX_TRIES = 6;

/**
 * Fails unless the processor time that `work` needs grows about as fast as the size of its input up to `largest`. Compares costs of this
 * process with each other, so that the speed of the machine and its other work do not matter. It begins with small sizes, so that
 * work in exponential time fails and does not hang.
 */
export function expectLinearGrowth(work: (size: number) => unknown, largest: number, what = ''): void {
  const sizes = [largest];
  for (let size = largest / STEP; size >= 64; size /= STEP) sizes.unshift(Math.floor(size));
  const costs = new Map<number, number>();
  const measureCost = (size: number): number => {
    const startedAt = cpuMs();
    work(size);
    const cost = Math.min(cpuMs() - startedAt, costs.get(size) ?? Number.POSITIVE_INFINITY);
    costs.set(size, cost);
    return cost;
  };
  let smaller: number | undefined;
  for (const size of sizes) {
    let growth = Number.POSITIVE_INFINITY;
    for (let tried = 0; tried < MAX_TRIES && growth > MAX_GROWTH; tried++) {
      const before = smaller === undefined ? 0 : measureCost(smaller);
      growth = measureCost(size) / Math.max(before, LEAST_MS);
    }
    if (smaller !== undefined)
      expect(growth, `${what} cost of ${size} compared with ${smaller}, a quarter of it`).toBeLessThan(MAX_GROWTH);
    smaller = size;
  }
}

/**
 * Returns the CPU time of this thread in milliseconds, which depends neither on other work on the machine nor on other threads of the
 * process, such as compilation and what earlier tests left running.
 */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
