import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { measureProcess, takeSnapshot } from '../../../bin/runner/monitoring/process-metrics.ts';

const BLOCKED_MS = 200;

async function longestTurnSeconds(): Promise<number> {
  const metric = (await takeSnapshot()).find(({ name }) => name === 'nodejs_eventloop_lag_max_seconds');
  return metric?.values[0]?.value ?? Number.NaN;
}

test('a scrape reports the longest turn of the event loop since the last one', async () => {
  measureProcess('test');
  await longestTurnSeconds();
  setImmediate(() => {
    const end = performance.now() + BLOCKED_MS;
    while (performance.now() < end);
  });
  await sleep(1);
  await sleep(1);
  expect(await longestTurnSeconds()).toBeGreaterThanOrEqual(BLOCKED_MS / 1_000);
});
