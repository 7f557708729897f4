import type pg from 'pg';
import { UserError } from '../../core/shared/errors.ts';
import { type FormerFlags, setFormerFlags } from '../../db/queries/threads/thread-flags.ts';
import { writeLabels } from '../../db/queries/threads/thread-labels.ts';
import { changeSnooze, type SnoozeState, snoozedEvent } from '../../db/queries/threads/thread-snooze.ts';
import {
  type ChangedThread,
  countMessages,
  readChangeTimes,
  storeUndo,
  type ThreadChanges,
  takeUndo,
} from '../../db/queries/threads/thread-undo.ts';
import { withFullAccess } from '../accounts/key-reach.ts';
import { isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { restoreLocked } from './restore-threads.ts';
import { type Changed, changeThreads, selectReached } from './thread-transaction.ts';
import { trashLocked } from './trash-threads.ts';

/** Maximum flags of messages in a change that can be undone; only a change of a single huge thread has more. */
const MAX_UNDONE = 40_000;

/** Threads that a request changed. */
export interface ChangedThreads {
  /** the existing threads */
  threadIds: string[];
  /** undoes the change for a day; null: it changed nothing, or too many messages of one thread */
  undoId: string | null;
}

/** What one request changes, gathered while it does. */
export interface ChangeRecord {
  add: (threadId: string, change: Omit<ThreadChanges, 'id'>) => void;
  /** Stores it in the transaction of the change, as its last step. Returns the id that undoes it. */
  store: (client: pg.ClientBase, context: OperationContext) => Promise<string | null>;
}

export function createChangeRecord(): ChangeRecord {
  const changes = new Map<string, Omit<ThreadChanges, 'id'>>();
  return {
    add(threadId, change) {
      changes.set(threadId, { ...changes.get(threadId), ...change });
    },
    async store(client, context) {
      const { workspaceId } = context;
      if (changes.size === 0 || countMessages([...changes.values()]) > MAX_UNDONE) return null;
      const id = newIdentifier(context, 'threadChange');
      await storeUndo(
        client,
        workspaceId,
        id,
        [...changes].map(([threadId, change]) => ({ id: threadId, ...change })),
      );
      return id;
    },
  };
}

/** How many threads are as they were before, and how many were left alone because they have changed since. */
export interface UndoneChange {
  threadIds: string[];
  skippedCount: number;
}

/**
 * Undoes a change of threads, once: what it changed is as it was before, except for threads that anything has changed since, such as new mail.
 * Throws not_found when there is no such change, it was undone, or its time is over, and conflict when another change blocks this one.
 */
export async function undoThreadChange(context: OperationContext, undoId: string): Promise<UndoneChange> {
  return changeThreads(withFullAccess(context), async (client) => {
    const { workspaceId } = context;
    const changed = isValidId(undoId) ? await takeUndo(client, workspaceId, undoId) : null;
    const ids = changed?.map(({ id }) => id) ?? [];
    if (changed === null || (await selectReached(client, context, ids)).length < ids.length)
      throw new UserError(
        'not_found',
        'This change cannot be undone. It was undone already, or it is older than a day.',
      );
    const times = await readChangeTimes(client, workspaceId, ids);
    const same = changed.filter(({ id, changedAt }) => times.get(id) === changedAt);
    context.fault?.('undo.taken');
    const events = [
      ...(await setFlagsBack(client, workspaceId, same)),
      ...(await setLabelsBack(client, workspaceId, same)),
      ...(await setSnoozeBack(client, workspaceId, same)),
      ...(await moveBack(client, workspaceId, same)),
    ];
    context.fault?.('undo.before-commit');
    return {
      result: { threadIds: same.map(({ id }) => id), skippedCount: changed.length - same.length },
      events,
    };
  });
}

type Events = Changed<unknown>['events'];

async function setFlagsBack(
  client: pg.ClientBase,
  workspaceId: string,
  threads: readonly ChangedThread[],
): Promise<Events> {
  const previous = new Map<string, FormerFlags>();
  const plain = (id: string) => previous.get(id) ?? { id, is_read: null, read_at: null, is_archived: null };
  for (const { read, archived } of threads) {
    for (const [id, readAt] of read?.emails ?? [])
      previous.set(id, { ...plain(id), is_read: read?.to === false, read_at: readAt });
    for (const id of archived?.emailIds ?? []) previous.set(id, { ...plain(id), is_archived: archived?.to === false });
  }
  if (previous.size === 0) return [];
  const threadIds = threads.map(({ id }) => id);
  const flagged = await setFormerFlags(client, workspaceId, threadIds, [...previous.values()]);
  const read = new Set(flagged.filter(({ readChanges }) => readChanges > 0).map(({ threadId }) => threadId));
  const moved = new Set(flagged.filter(({ archiveChanges }) => archiveChanges > 0).map(({ threadId }) => threadId));
  return threads.flatMap(
    ({ id: threadId, read: flag, archived }): Events => [
      ...(read.has(threadId)
        ? [{ kind: flag?.to === true ? 'thread.unread' : 'thread.read', threadId, data: {} }]
        : []),
      ...(moved.has(threadId)
        ? [{ kind: archived?.to === true ? 'thread.unarchived' : 'thread.archived', threadId, data: {} }]
        : []),
    ],
  );
}

async function setLabelsBack(
  client: pg.ClientBase,
  workspaceId: string,
  threads: readonly ChangedThread[],
): Promise<Events> {
  const before = new Map(threads.flatMap(({ id, labels }) => (labels === undefined ? [] : [[id, labels.before]])));
  await writeLabels(client, workspaceId, before);
  return [...before].map(([threadId, labels]) => ({ kind: 'thread.labelled', threadId, data: { labels } }));
}

async function setSnoozeBack(
  client: pg.ClientBase,
  workspaceId: string,
  threads: readonly ChangedThread[],
): Promise<Events> {
  const states = Map.groupBy(
    threads.filter(({ snooze }) => snooze !== undefined),
    ({ snooze }) => JSON.stringify(snooze),
  );
  const events: Events = [];
  for (const [state, alike] of states) {
    const ids = alike.map(({ id }) => id);
    const changed = await changeSnooze(client, workspaceId, ids, JSON.parse(state) as SnoozeState);
    events.push(...changed.map(({ threadId }) => snoozedEvent(threadId, JSON.parse(state) as SnoozeState)));
  }
  return events;
}

async function moveBack(
  client: pg.ClientBase,
  workspaceId: string,
  threads: readonly ChangedThread[],
): Promise<Events> {
  const ids = (to: boolean) => threads.filter(({ trashed }) => trashed?.to === to).map(({ id }) => id);
  const restored = await restoreLocked(client, workspaceId, ids(true));
  return [...restored.events, ...(await trashLocked(client, workspaceId, ids(false)))];
}
