import type { Database } from '../../db/connection/database.ts';
import { findRecentGuesses, keepRefusals } from '../../db/queries/screening/keep-refusals.ts';
import type { Reply, Request } from '../../schema/messages.ts';

/** Guesses that a starting SMTP process counts on: those of the last minutes, of the clients with the most. */
const RECALLED_MINUTES = 60;
const RECALLED_CLIENTS = 1_000;

/** Stores what SMTP refused. */
export async function keepDoorNotes(
  database: Database,
  { refusals }: Request<'receiving.refusals.keep'>,
): Promise<Reply<'receiving.refusals.keep'>> {
  await keepRefusals(
    database,
    refusals.map(({ at, ...refusal }) => ({ ...refusal, at: new Date(at) })),
  );
  return {};
}

/** Returns the clients that guessed addresses before a restart. */
export async function recallGuesses(database: Database, now: Date): Promise<Reply<'receiving.guesses.recall'>> {
  const guesses = await findRecentGuesses(database, RECALLED_MINUTES, RECALLED_CLIENTS);
  return {
    guesses: guesses.map(({ address, times, at }) => ({
      address,
      times,
      secondsAgo: Math.max(0, (now.getTime() - at.getTime()) / 1_000),
    })),
  };
}
