import { expect, test } from 'vitest';
import { decideNextStep, parseRetryAfter } from '../../../core/endpoints/retry-policy.ts';

const failed = { kind: 'responded', statusCode: 500, retryAfterSeconds: null } as const;
const MIDDLE = 0.5;

test.each([
  [1, 5],
  [2, 300],
  [3, 1_800],
  [4, 7_200],
  [5, 18_000],
  [6, 36_000],
  [7, 36_000],
  [10, 36_000],
])('after attempt %i the delay is %i s', (attempts, delaySeconds) => {
  expect(decideNextStep(failed, attempts, 11, MIDDLE)).toEqual({ kind: 'deferred', delaySeconds });
  const [shortest, longest] = [decideNextStep(failed, attempts, 11, 0), decideNextStep(failed, attempts, 11, 1)];
  expect(shortest).toEqual({ kind: 'deferred', delaySeconds: expect.closeTo(delaySeconds * 0.8, 6) });
  expect(longest).toEqual({ kind: 'deferred', delaySeconds: expect.closeTo(delaySeconds * 1.2, 6) });
});

test.each([200, 201, 204, 299])('%i succeeds', (statusCode) => {
  expect(decideNextStep({ ...failed, statusCode }, 1, 4, MIDDLE)).toEqual({ kind: 'succeeded' });
});

test.each([301, 302, 307, 308, 400, 404, 429, 500, 503])(
  '%i fails the attempt, and the last one the delivery',
  (statusCode) => {
    expect(decideNextStep({ ...failed, statusCode }, 1, 4, MIDDLE).kind).toBe('deferred');
    expect(decideNextStep({ ...failed, statusCode }, 4, 4, MIDDLE)).toEqual({ kind: 'failed', isEndpointGone: false });
  },
);

test('an attempt without a response fails', () => {
  expect(decideNextStep({ kind: 'unanswered' }, 1, 1, MIDDLE)).toEqual({ kind: 'failed', isEndpointGone: false });
});

test('410 ends the delivery immediately and disables the endpoint', () => {
  expect(decideNextStep({ ...failed, statusCode: 410 }, 1, 4, MIDDLE)).toEqual({
    kind: 'failed',
    isEndpointGone: true,
  });
});

test('an interrupted attempt is released, even the last one', () => {
  expect(decideNextStep({ kind: 'interrupted' }, 4, 4, MIDDLE)).toEqual({ kind: 'released' });
});

test.each([
  [429, 7, 7],
  [429, 3_600, 10],
  [429, 1, 5],
  [503, 8, 8],
  [500, 8, 5],
])('%i with Retry-After %i waits %i s after the first attempt: at most twice the step', (statusCode, asked, waited) => {
  const step = decideNextStep({ kind: 'responded', statusCode, retryAfterSeconds: asked }, 1, 4, MIDDLE);
  expect(step).toEqual({ kind: 'deferred', delaySeconds: waited });
});

test('parses Retry-After as seconds or as an HTTP-date', () => {
  const now = new Date('2026-11-20T12:00:00Z');
  expect(parseRetryAfter('120', now)).toBe(120);
  expect(parseRetryAfter('Fri, 20 Nov 2026 12:00:30 GMT', now)).toBe(30);
  expect(parseRetryAfter('Fri, 20 Nov 2026 11:00:00 GMT', now)).toBe(0);
  for (const value of [undefined, '', 'soon', '-5', '1.5', '2026-11-20'])
    expect(parseRetryAfter(value, now)).toBeNull();
});
