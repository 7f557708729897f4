import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../core/shared/errors.ts';
import { isReturnAddress } from '../../core/smtp/return-address.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { findPendingReceptions } from '../../db/queries/emails/pending-email.ts';
import { isValidId, type OperationContext } from '../context.ts';

/** How long a request waits for parsing, and the polling interval; milliseconds. */
const PARSING_WAIT_MS = 10_000;
const PARSING_LOOK_MS = 100;
/** What is left of the request's time for the work itself; milliseconds. */
const WORK_MS = 1_000;
/** How long a read waits for an email that was accepted a moment ago, and the polling interval; milliseconds. */
const READING_WAIT_MS = 1_000;
const READING_LOOK_MS = 50;

/**
 * Returns what `look` finds. An email exists for readers from when it is parsed and has its thread; the reply to DATA names its id before.
 * So while one of the emails is still being parsed, `look` runs again, for a second at most: then the emails are missing. `look` returns the
 * ids that it did not find.
 */
export async function waitForArrival<T>(
  context: OperationContext,
  look: () => Promise<{ found: T; missingIds: readonly string[] }>,
): Promise<T> {
  for (const deadline = performance.now() + READING_WAIT_MS; ; await sleep(READING_LOOK_MS)) {
    const { found, missingIds } = await look();
    if (missingIds.length === 0 || performance.now() > deadline) return found;
    // Not pending means parsed in the meantime or unknown: the next look decides.
    if (!(await isPending(context, missingIds))) return (await look()).found;
  }
}

/**
 * Runs work that needs parsed emails. When it throws not_found while one of the emails is still being parsed, waits for
 * the parser and runs the work again. Throws what `work` throws, and unavailable when parsing takes longer than 10 s, or than the client waits:
 * no work begins that it would not hear of.
 */
export async function waitUntilParsed<T>(
  context: OperationContext,
  emailIds: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const asked = emailIds.filter(isValidId);
  const deadline = Math.min(performance.now() + PARSING_WAIT_MS, context.respondBy - WORK_MS);
  for (; ; await sleep(PARSING_LOOK_MS)) {
    try {
      return await work();
    } catch (error) {
      const isUnknown = error instanceof UserError && error.code === 'not_found';
      if (!isUnknown || asked.length === 0) throw error;
    }
    const isParsed = !(await isPending(context, asked));
    if (performance.now() > deadline)
      throw new UserError('unavailable', 'The email is still being parsed. Try again in a moment.', {
        retryAfterSeconds: 1,
      });
    if (isParsed) return work();
  }
}

/**
 * Returns whether one of the emails was accepted and is not parsed yet. Mail to a return address is left out: most of it are delivery reports,
 * which become no email.
 */
async function isPending({ database, workspaceId }: OperationContext, emailIds: readonly string[]): Promise<boolean> {
  const receptions = await asWorkspace(database, workspaceId, (transaction) =>
    findPendingReceptions(transaction, workspaceId, emailIds),
  );
  return receptions.some(({ recipient }) => !isReturnAddress(recipient));
}
