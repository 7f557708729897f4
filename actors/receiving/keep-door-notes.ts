import { makeNetworkTriplet, makeTriplet } from '../../core/screening/door/greylist.ts';
import type { Database } from '../../db/connection/database.ts';
import { noteGreylist } from '../../db/queries/screening/greylist.ts';
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

/** Notes an attempt, and returns whether it passes the greylist. Committed before it returns: a client that gets no reply has waited, too. */
export function checkGreylist(
  database: Database,
  { userId, network, sender, recipient, waitSeconds }: Request<'receiving.greylist.check'>,
): Promise<Reply<'receiving.greylist.check'>> {
  const id = makeTriplet(network, sender, recipient);
  return noteGreylist(database, { userId, id, networkId: makeNetworkTriplet(network), network, waitSeconds });
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
