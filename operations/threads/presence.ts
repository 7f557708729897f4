import { UserError } from '../../core/shared/errors.ts';
import type { PresenceState } from '../../core/threads/presence.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { findRequester } from '../../db/queries/accounts/member-name.ts';
import { withFullAccess } from '../accounts/key-reach.ts';
import { whileAllowed } from '../caller.ts';
import type { OperationContext } from '../context.ts';
import type { Present } from './presence-hub.ts';
import { threadNotFound } from './thread-transaction.ts';
import { loadThreads } from './threads.ts';

/** A member who has a thread open, for another one. */
export interface ShownPresence extends Present {
  /** whether this is the person of the request */
  isYou: boolean;
}

/**
 * Says that the person of the request reads a thread, replies to it, or has left it, for a minute. Returns who has it open as far as this
 * gateway knows. Throws forbidden for API keys, not_found.
 */
export async function setPresence(
  context: OperationContext,
  threadId: string,
  state: PresenceState,
): Promise<{ threadId: string; present: ShownPresence[] }> {
  const { caller, rights, workspaceId, presence } = context;
  const living = await findLiving(context, threadId);
  const { personId } = rights;
  if (caller.via !== 'session' || personId === null)
    throw new UserError('forbidden', 'Only persons are shown as present. An API key can claim the thread.');
  const { database } = withFullAccess(context);
  const name = await asWorkspace(database, workspaceId, (transaction) =>
    findRequester(transaction, workspaceId, { personId, keyId: null }),
  );
  presence.announce(workspaceId, living, { personId, name: name ?? '', state });
  return { threadId: living, present: show(context, presence.list(workspaceId, living)) };
}

/**
 * Yields who has a thread open, at once and after each change. Ends when the request may not read any more. Throws not_found, and what
 * PresenceHub.follow throws.
 */
export async function followPresence(
  context: OperationContext,
  threadId: string,
): Promise<AsyncIterable<ShownPresence[]>> {
  const { workspaceId, caller, presence } = context;
  const living = await findLiving(context, threadId);
  const followed = whileAllowed(caller, (signal) => presence.follow(workspaceId, living, signal));
  async function* read(): AsyncGenerator<ShownPresence[], void> {
    for await (const present of followed) yield show(context, present);
  }
  return read();
}

async function findLiving(context: OperationContext, threadId: string): Promise<string> {
  const [thread = null] = await loadThreads(context, [threadId]);
  if (thread === null) throw threadNotFound();
  return thread.id;
}

function show({ rights }: OperationContext, present: readonly Present[]): ShownPresence[] {
  return present.map((each) => ({ ...each, isYou: each.personId === rights.personId }));
}
