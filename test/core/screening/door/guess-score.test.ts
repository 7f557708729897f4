import { expect, test } from 'vitest';
import {
  addGuesses,
  decayGuesses,
  GUESS_HALF_LIFE_MS,
  judgeGuesses,
} from '../../../../core/screening/door/guess-score.ts';

const limits = { unknownRecipients: 20, freeUnknownRecipients: 5, unknownRecipientDelayMs: 250 };
const judge = (ofSession: number, ofClient: number | null, ofNetwork: number) =>
  judgeGuesses({ ofSession, ofClient, ofNetwork }, limits);

test('half of the guesses are forgotten after each half-life', () => {
  const score = addGuesses(addGuesses(undefined, 8, 0), 4, GUESS_HALF_LIFE_MS);
  expect(score).toEqual({ score: 8, at: GUESS_HALF_LIFE_MS });
  expect(decayGuesses(score, GUESS_HALF_LIFE_MS * 4)).toBe(1);
  expect(decayGuesses(score, 0)).toBe(8);
});

test('the first five cost nothing, later ones wait for twice as long each, and the twentieth ends the session', () => {
  const judged = Array.from({ length: 20 }, (_, at) => judge(at + 1, at + 1, at + 1));
  expect(judged.map(({ delayMs }) => delayMs)).toEqual([
    0,
    0,
    0,
    0,
    0,
    250,
    500,
    1_000,
    2_000,
    ...Array(11).fill(4_000),
  ]);
  expect(judged.map(({ isEnded }) => isEnded)).toEqual([...Array(19).fill(false), true]);
});

test('guesses of earlier sessions count', () => {
  expect(judge(1, 19.4, 19.4)).toEqual({ delayMs: 4_000, isEnded: false });
  expect(judge(1, 19.6, 19.6)).toEqual({ delayMs: 4_000, isEnded: true });
});

test('a client that is counted by session only has no earlier guesses', () => {
  expect(judge(5, null, 0)).toEqual({ delayMs: 0, isEnded: false });
  expect(judge(20, null, 0)).toEqual({ delayMs: 4_000, isEnded: true });
});

test('in a network that guesses, the first guess of a client waits and the second ends its session', () => {
  expect(judge(1, 1, 59)).toEqual({ delayMs: 0, isEnded: false });
  expect(judge(1, 1, 60)).toEqual({ delayMs: 4_000, isEnded: false });
  expect(judge(2, 2, 61)).toEqual({ delayMs: 4_000, isEnded: true });
  // The network cools down after an hour: 600 guesses become 10.
  const cooled = decayGuesses({ score: 600, at: 0 }, 6 * GUESS_HALF_LIFE_MS);
  expect(judge(2, 2, cooled)).toEqual({ delayMs: 0, isEnded: false });
});

test('without a limit, nothing waits and nothing ends', () => {
  expect(
    judgeGuesses({ ofSession: 5_000, ofClient: 5_000, ofNetwork: 5_000 }, { ...limits, unknownRecipients: 0 }),
  ).toEqual({
    delayMs: 0,
    isEnded: false,
  });
});
