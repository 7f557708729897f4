import { expect, test } from 'vitest';
import { showProgress } from '../../../bin/cli/import.ts';

/** Shows progress on a stream whose clock the test sets. */
function progressOn(isTTY: boolean) {
  const clock = { ms: 0 };
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  const progress = showProgress({ isTTY, write }, 1_000, () => clock.ms);
  return { clock, written, progress };
}

test('a terminal gets one bar that is redrawn, with rate and time left, and ends full', () => {
  const { clock, written, progress } = progressOn(true);
  clock.ms = 100;
  progress.step(10, 100);
  expect(written).toEqual([]);
  clock.ms = 2_000;
  progress.step(100, 250);
  expect(written).toEqual(['\r[######------------------] 25 %  100 messages, 50/s, 0:06 left\u001b[K']);
  // A batch that was stored later than the ones behind it does not move the bar back.
  clock.ms = 3_000;
  progress.step(150, 200);
  expect(written.at(-1)).toContain('25 %  150 messages');
  progress.step(400, 1_000);
  expect(written.at(-1)).toBe(`\r[${'#'.repeat(24)}] 100 %  400 messages, 133/s, 0:00 left\u001b[K`);
  progress.end();
  expect(written.at(-1)).toBe('\n');
});

test('a file or pipe gets a line every five seconds, and no bar', () => {
  const { clock, written, progress } = progressOn(false);
  for (clock.ms = 1_000; clock.ms <= 10_000; clock.ms += 1_000) progress.step(clock.ms / 100, clock.ms / 20);
  progress.end();
  expect(written).toEqual(['25 %  50 messages, 10/s, 0:15 left\n', '50 %  100 messages, 10/s, 0:10 left\n']);
});
