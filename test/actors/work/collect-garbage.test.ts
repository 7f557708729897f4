import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { collectGarbageSoon } from '../../../actors/work/collect-garbage.ts';

test('garbage is collected after what runs now, and once when two seconds ask for it often', async () => {
  let count = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { kind, flags } = (entry as unknown as { detail: { kind: number; flags: number } }).detail;
      const isForced = (flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
      if (kind === constants.NODE_PERFORMANCE_GC_MAJOR && isForced) count++;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  for (let n = 0; n < 20; n++) collectGarbageSoon();
  await vi.waitFor(() => expect(count).toBe(1));
  for (let n = 0; n < 20; n++) {
    collectGarbageSoon();
    await sleep(20);
  }
  expect(count).toBe(1);
  observer.disconnect();
});
