import { asWorkspace } from '../../db/connection/transaction.ts';
import { findMemberNames, findRequester, type MemberName } from '../../db/queries/accounts/member-name.ts';
import * as assignees from '../../db/queries/threads/thread-assignee.ts';
import { withFullAccess } from '../accounts/key-reach.ts';
import { invalid, type OperationContext } from '../context.ts';
import { findAssignee } from '../search/prepare-search.ts';
import { changeReachedThread, threadNotFound } from './thread-transaction.ts';
import { loadThreads } from './threads.ts';

export type { MemberName } from '../../db/queries/accounts/member-name.ts';

/** Who works on a thread. */
export interface Assignment {
  threadId: string;
  /** null: none */
  assignee: MemberName | null;
}

/**
 * Assigns a thread to a member, given as `me`, by the ID or the address, or with null to none. The member must be able to read the thread.
 * Repeating it changes nothing. Throws not_found, validation, conflict.
 */
export async function assignThread(
  context: OperationContext,
  threadId: string,
  given: string | null,
): Promise<Assignment> {
  const [thread = null] = await loadThreads(context, [threadId]);
  if (thread === null) throw threadNotFound();
  const named = given === null ? 'none' : await findAssignee(context, given, 'assignee');
  const personId = named === 'none' ? null : named;
  const { database, workspaceId, rights } = withFullAccess(context);
  const { assignee, by } = await asWorkspace(database, workspaceId, async (transaction) => ({
    assignee: personId === null ? null : (await findMemberNames(transaction, workspaceId, [personId])).get(personId),
    by: await findRequester(transaction, workspaceId, rights),
  }));
  if (assignee === undefined) throw notMember();
  return changeReachedThread(context, threadId, async (client, living) => {
    switch (await assignees.assignThread(client, workspaceId, living, personId)) {
      case 'no member':
        throw notMember();
      case 'out of reach':
        throw invalid(
          `${assignee?.email ?? 'The member'} cannot read this thread, because the member is limited to other domains or addresses. Choose a member who can.`,
          'assignee',
        );
      case 'unchanged':
        return { result: { threadId: living, assignee }, events: [] };
      case 'assigned':
        return { result: { threadId: living, assignee }, events: [assignees.assignedEvent(living, assignee, by)] };
    }
  });
}

/** Returns for each person the member, null for those who left the workspace. */
export async function loadMemberNames(
  context: OperationContext,
  personIds: readonly string[],
): Promise<(MemberName | null)[]> {
  const { database, workspaceId } = withFullAccess(context);
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    findMemberNames(transaction, workspaceId, personIds),
  );
  return personIds.map((id) => found.get(id) ?? null);
}

function notMember() {
  return invalid(
    '`assignee` is not a member of this workspace. Use `me`, the ID or address of a member, or null for none.',
    'assignee',
  );
}
