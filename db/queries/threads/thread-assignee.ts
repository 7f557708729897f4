import type pg from 'pg';
import type { MemberName } from '../accounts/member-name.ts';
import type { ThreadEvent } from './thread-events.ts';

/** `out of reach`: the member is limited to mail that the thread is not of. */
export type AssignOutcome = 'assigned' | 'unchanged' | 'no member' | 'out of reach';

/** Assigns a thread to a member, or with null to none. The caller holds lockThreads. */
export async function assignThread(
  client: pg.ClientBase,
  workspaceId: string,
  threadId: string,
  personId: string | null,
): Promise<AssignOutcome> {
  const { rows } = await client.query<{ outcome: AssignOutcome | null }>({
    name: 'thread-assign',
    text: 'select outcome from assign_thread($1, $2, $3)',
    values: [workspaceId, threadId, personId],
  });
  const outcome = rows[0]?.outcome ?? null;
  if (outcome === null) throw new Error('threads are assigned only in the workspace of the transaction');
  return outcome;
}

/** Returns the event of a new assignee; null: none. `by`: who assigned the thread, null if unknown. */
export function assignedEvent(
  threadId: string,
  assignee: MemberName | null,
  by: string | null,
): Omit<ThreadEvent, 'id'> {
  const shown = assignee === null ? null : { id: assignee.id, name: assignee.name, email: assignee.email };
  return { kind: 'thread.assigned', threadId, data: { assignee: shown, by } };
}
