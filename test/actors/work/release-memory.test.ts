import { expect, test } from 'vitest';
import { collectGarbage } from '../../../actors/work/collect-garbage.ts';
import { isWorthCollecting, threadBytes } from '../../../actors/work/release-memory.ts';

const MIB = 1024 * 1024;

test('an idle process collects garbage once its heap has grown by 32 MiB', () => {
  expect(isWorthCollecting(2, 32 * MIB, 32 * MIB)).toBe(true);
  expect(isWorthCollecting(2, 31 * MIB, 32 * MIB)).toBe(false);
  expect(isWorthCollecting(2, -10 * MIB, 32 * MIB)).toBe(false);
});

test('a process that was idle for one look leaves its heap and its compiled code alone', () => {
  expect(isWorthCollecting(1, 500 * MIB, 32 * MIB)).toBe(false);
});

test('a collection makes the heap smaller than its garbage was', () => {
  let garbage: unknown[] | null = Array.from({ length: 1_000_000 }, (_, n) => ({ n }));
  const before = process.memoryUsage().heapUsed;
  expect(garbage).toHaveLength(1_000_000);
  garbage = null;
  collectGarbage('last-resort');
  expect(before - process.memoryUsage().heapUsed).toBeGreaterThan(16 * MIB);
});

test('buffers outside the heap count once as memory of a thread until they are collected', () => {
  collectGarbage('regular');
  const before = threadBytes();
  let buffers: Buffer[] | null = Array.from({ length: 64 }, () => Buffer.allocUnsafeSlow(MIB));
  const growth = threadBytes() - before;
  expect(isWorthCollecting(2, growth, 32 * MIB)).toBe(true);
  expect(growth).toBeGreaterThan(60 * MIB);
  expect(growth).toBeLessThan(96 * MIB);
  expect(buffers).toHaveLength(64);
  buffers = null;
  collectGarbage('last-resort');
  expect(threadBytes() - before).toBeLessThan(32 * MIB);
});
