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

/** Returns the result of work that is done at once. */
export function finishSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
