import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../core/shared/errors.ts';
import { isReturnAddress } from '../../core/smtp/return-address.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { findPendingReceptions } from '../../db/queries/emails/pending-email.ts';
import { isValidId, type OperationContext } from '../context.ts';

/** How long a request waits for parsing; milliseconds. */
const PARSING_WAIT_MS = 8_000;
/** The first pause between two looks, and the longest; each is twice the one before. Milliseconds. */
const PAUSE_MS = { first: 25, longest: 400 };
/** Requests of a workspace that wait at once; further ones get unavailable. */
export const MAX_WAITING = 50;
/** by workspace */
const waiting = new Map<string, number>();
/** What is left of the request's time for the work itself; milliseconds. */
const WORK_MS = 1_000;

/**
 * Returns one email per id, as `load` does: null where there is none. An email exists for readers from when it is parsed and has its thread;
 * the reply to DATA names its id before. So an email that is still being parsed is waited for. One that takes longer than 8 s, or than the
 * client waits, is an error unavailable.
 */
export async function loadOnceParsed<T>(
  context: OperationContext,
  emailIds: readonly string[],
  load: (emailIds: readonly string[]) => Promise<readonly (T | null)[]>,
): Promise<(T | UserError | null)[]> {
  const found = new Map<string, T | UserError>();
  const look = async (ids: readonly string[]) => {
    for (const [at, email] of (await load(ids)).entries()) if (email !== null) found.set(ids[at] ?? '', email);
  };
  const deadline = chooseDeadline(context);
  const wait = createWait(context);
  let missingIds = emailIds.filter(isValidId);
  try {
    for (;;) {
      await look(missingIds);
      missingIds = missingIds.filter((id) => !found.has(id));
      if (missingIds.length === 0) break;
      const pending = await findPending(context, missingIds);
      // Not pending means parsed in the meantime or unknown: the last look decides.
      if (pending.size < missingIds.length) await look(missingIds.filter((id) => !pending.has(id)));
      missingIds = [...pending];
      if (pending.size === 0) break;
      if (performance.now() > deadline || !(await wait.pause())) {
        for (const id of pending) found.set(id, stillParsed());
        break;
      }
    }
  } finally {
    wait.end();
  }
  return emailIds.map((id) => found.get(id) ?? null);
}

/**
 * Runs work that needs parsed emails. When it throws not_found while one of the emails is still being parsed, waits for
 * the parser and runs the work again. Throws what `work` throws, and unavailable when parsing takes longer than 8 s, or than the client waits:
 * no work begins that it would not hear of.
 */
export async function waitUntilParsed<T>(
  context: OperationContext,
  emailIds: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const asked = emailIds.filter(isValidId);
  const deadline = chooseDeadline(context);
  const wait = createWait(context);
  try {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const isUnknown = error instanceof UserError && error.code === 'not_found';
        if (!isUnknown || asked.length === 0) throw error;
      }
      const pending = await findPending(context, asked);
      if (performance.now() > deadline) throw stillParsed();
      if (pending.size === 0) return await work();
      if (!(await wait.pause())) throw stillParsed();
    }
  } finally {
    wait.end();
  }
}

/** The wait of one request, which counts for its workspace from its first pause to its end. */
function createWait({ workspaceId }: OperationContext) {
  let pauseMs = PAUSE_MS.first;
  let isCounted = false;
  const count = (by: number) => {
    const sum = (waiting.get(workspaceId) ?? 0) + by;
    if (sum > 0) waiting.set(workspaceId, sum);
    else waiting.delete(workspaceId);
  };
  return {
    /** Returns false at once when as many others of the workspace wait as may. */
    async pause(): Promise<boolean> {
      if (!isCounted && (waiting.get(workspaceId) ?? 0) >= MAX_WAITING) return false;
      if (!isCounted) count(1);
      isCounted = true;
      await sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, PAUSE_MS.longest);
      return true;
    },
    end() {
      if (isCounted) count(-1);
      isCounted = false;
    },
  };
}

function chooseDeadline({ respondBy }: OperationContext): number {
  return Math.min(performance.now() + PARSING_WAIT_MS, respondBy - WORK_MS);
}

function stillParsed(): UserError {
  return new UserError('unavailable', 'The email is still being parsed. Try again in a moment.', {
    reason: 'EMAIL_NOT_PARSED',
    retryAfterSeconds: 1,
  });
}

/**
 * Returns those of the emails that were accepted and are not parsed yet. Mail to a return address is left out: most of it are delivery reports,
 * which become no email.
 */
async function findPending(
  { database, workspaceId }: OperationContext,
  emailIds: readonly string[],
): Promise<Set<string>> {
  const receptions = await asWorkspace(database, workspaceId, (transaction) =>
    findPendingReceptions(transaction, workspaceId, emailIds),
  );
  return new Set(receptions.flatMap(({ emailId, recipient }) => (isReturnAddress(recipient) ? [] : [emailId])));
}
