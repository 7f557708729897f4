import { afterEach, expect, test, vi } from 'vitest';
import { createQuestionsInFlight } from '../../../actors/bus/questions-in-flight.ts';
import { MAX_MESSAGE_BYTES } from '../../../core/smtp/smtp-limits.ts';
import { defaultSmtpLimits } from '../../../haraka-plugins/settings.ts';
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

test('a small message is asked about while as many large ones as have their turn are on the way', async () => {
  const { offeredBytes } = defaultSmtpLimits;
  expect(offeredBytes).toBeGreaterThan(MAX_MESSAGE_BYTES);
  const inFlight = createQuestionsInFlight();
  const sent: string[] = [];
  const ask = (name: string, sizeBytes: number) =>
    inFlight.ask('receiving.message.accept', 60_000, sizeBytes, () => void sent.push(name)).catch(() => undefined);
  for (let bytes = 0; bytes + 1_000_000 <= offeredBytes; bytes += 1_000_000) void ask('large', 1_000_000);
  void ask('small', 500_000);
  expect(sent.at(-1)).toBe('small');
  inFlight.failAll('the test ends');
});
