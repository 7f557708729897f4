import { setImmediate as nextRound } from 'node:timers/promises';
import type { Turns } from './turns.ts';

/** Work in steps of a few milliseconds: a generator that yields after each, and returns the result. */
export type Steps<Result> = Generator<void, Result, void>;

/** UTF-16 code units of a text that are handled in one step. */
const PIECE_LENGTH = 65_536;

/** Yields a text in pieces of a step each, without splitting a surrogate pair. */
export function* textPieces(text: string): Generator<string, void> {
  for (let at = 0; at < text.length; ) {
    const isSplit = /[\ud800-\udbff]/.test(text[at + PIECE_LENGTH - 1] ?? '');
    const end = at + PIECE_LENGTH + (isSplit ? 1 : 0);
    yield text.slice(at, end);
    at = end;
  }
}

/** Time that work may use before other requests go on; milliseconds. */
const TURN_MS = 5;

/** Returns the result of work that is done at once. */
export function finishSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * Returns the result of work that lets other requests go on between its steps. What takes longer than a few milliseconds waits for its turn
 * before it goes on, so that few results are half done. `owner` is the account it is for.
 */
export async function finishInTurns<Result>(turns: Turns, owner: string, steps: Steps<Result>): Promise<Result> {
  const begun = advance(steps);
  if (begun.done === true) return begun.value;
  return turns.run(owner, async () => {
    for (;;) {
      await nextRound();
      const { done, value } = advance(steps);
      if (done === true) return value;
    }
  });
}

function advance<Result>(steps: Steps<Result>): IteratorResult<void, Result> {
  const endAt = performance.now() + TURN_MS;
  for (;;) {
    const result = steps.next();
    if (result.done === true || performance.now() >= endAt) return result;
  }
}
