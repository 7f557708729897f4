import { setImmediate as nextRound } from 'node:timers/promises';
import type { Steps } from '../../core/shared/steps.ts';
import { createTurns, type Turns } from '../../core/shared/turns.ts';

/** All payloads of the process: however many are built, only one that takes long goes on at a time. */
const turns = createTurns();

/** Returns a payload of an account that is built step by step, while other requests go on. Rejects once `gone` is aborted. */
export function buildInTurns<Payload>(
  workspaceId: string,
  steps: Steps<Payload>,
  gone?: AbortSignal,
): Promise<Payload> {
  return finishInTurns(turns, workspaceId, steps, gone === undefined ? undefined : { gone });
}

/** Mail for payloads from so many bytes on is loaded in turns. */
export const LARGE_BYTES = 1_000_000;
const largeTurns = createTurns();

/**
 * Runs work that loads mail of an account for a payload and builds it, after the work of others: for a moment each takes several times the
 * size of its mail.
 */
export function loadInTurns<Result>(workspaceId: string, work: () => Promise<Result>): Promise<Result> {
  return largeTurns.run(workspaceId, work);
}

/** Time that work may use before other requests go on; milliseconds. */
const TURN_MS = 5;

/**
 * Returns the result of work that lets other requests go on between its steps. What takes longer than a few milliseconds waits for its turn
 * before it goes on, so that few results are half done. `owner` is the account it is for. Rejects with the reason of the caller's `gone` once that is
 * aborted, and leaves the rest of the work; work that ends at once does not ask for it, since it is made when it is asked for.
 */
export async function finishInTurns<Result>(
  turns: Turns,
  owner: string,
  steps: Steps<Result>,
  caller?: { readonly gone: AbortSignal } | null,
): Promise<Result> {
  const begun = advance(steps);
  if (begun.done === true) return begun.value;
  const gone = caller?.gone;
  try {
    const end = await turns.enter(owner, 1, gone);
    try {
      for (;;) {
        await nextRound();
        gone?.throwIfAborted();
        const { done, value } = advance(steps);
        if (done === true) return value;
      }
    } finally {
      end();
    }
  } catch (error) {
    // What the steps hold is given back.
    steps.return(undefined as Result);
    throw error;
  }
}

function advance<Result>(steps: Steps<Result>): IteratorResult<void, Result> {
  const endAt = performance.now() + TURN_MS;
  for (;;) {
    const result = steps.next();
    if (result.done === true || performance.now() >= endAt) return result;
  }
}
