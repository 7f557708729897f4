import { afterEach, expect, test, vi } from 'vitest';
import { createQuestionsInFlight } from '../../../actors/bus/questions-in-flight.ts';
import { BusTimeout } from '../../../schema/messages.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a timer that fires early does not end a question', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const inFlight = createQuestionsInFlight();
  const asked = inFlight.ask('receiving.message.accept', 60_000, 0, () => undefined);
  vi.advanceTimersByTime(60_000);
  inFlight.resolve(1, 'answer');
  expect(await asked).toBe('answer');
});

test('a question ends when its time limit has passed on the monotonic clock', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] });
  const inFlight = createQuestionsInFlight();
  const asked = inFlight.ask('receiving.message.accept', 60_000, 0, () => undefined).catch((error: unknown) => error);
  vi.advanceTimersByTime(59_999);
  expect(inFlight.isAwaited(1)).toBe(true);
  vi.advanceTimersByTime(1);
  expect(await asked).toBeInstanceOf(BusTimeout);
});
