import { buildWords } from '../../../actors/scheduling/build-words.ts';
import type { Database } from '../../../db/connection/database.ts';
import { testActorContext } from './actor-context.ts';

/** Puts all mail of all accounts into segments, and the words of changed and removed mail out of them. */
export async function buildAllWords(actor: Database): Promise<void> {
  const limits = { newCount: 1, newSeconds: 0, changedCount: 1, goneCount: 1, changedSeconds: 0 };
  while ((await buildWords(testActorContext(actor), { limits }, { isStopping: () => false })) > 0);
}
