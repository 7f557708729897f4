import type pg from 'pg';
import { UserError } from '../../core/shared/errors.ts';
import { MAX_LABEL_LENGTH, MAX_LABELS, mergeLabels, normalizeLabel, subtractLabels } from '../../core/threads/label.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import type { EmailFlags } from '../../db/queries/emails/email-flags.ts';
import {
  FLAGGED_AT_ONCE,
  lockUnflagged,
  setThreadFlags,
  type ThreadFlags,
} from '../../db/queries/threads/thread-flags.ts';
import * as labelQueries from '../../db/queries/threads/thread-labels.ts';
import { changeSnooze, snoozedEvent } from '../../db/queries/threads/thread-snooze.ts';
import { withFullAccess } from '../accounts/key-reach.ts';
import { invalid, type OperationContext } from '../context.ts';
import { type Changed, changeThreads, resolveReachedThreads } from './thread-transaction.ts';
import { type ChangedThreads, type ChangeRecord, createChangeRecord } from './undo-change.ts';

export type Label = labelQueries.Label;

/** Maximum threads per call. */
export const MAX_THREADS = 100;
/**
 * Maximum messages that one call changes in several threads; more would exceed the time limit of a request. A single thread has no limit.
 */
const MAX_MESSAGES = 20_000;
/** Milliseconds before the end of the request in which no further messages are changed. */
const SPARE_MS = 2_000;
/** Maximum labels in the list of labels. */
const MAX_LISTED_LABELS = 1_000;

/** Changes of threads; omitted fields stay. Flags are set on all received messages. */
export interface ThreadChange extends EmailFlags {
  /** replaces the current labels */
  labels?: readonly string[] | undefined;
  addLabels?: readonly string[] | undefined;
  removeLabels?: readonly string[] | undefined;
}

/** Like updateThreads, for one thread. */
export async function updateThread(
  context: OperationContext,
  threadId: string,
  change: ThreadChange,
): Promise<{ threadId: string }> {
  const { threadIds } = await updateThreads(context, [threadId], change);
  return { threadId: threadIds[0] ?? threadId };
}

/**
 * Changes all of the threads or none, and returns the ids of the existing threads. Later messages arrive unread and not archived,
 * whatever their thread was. Throws not_found, validation, and conflict when another change blocks this one.
 */
export async function updateThreads(
  context: OperationContext,
  threadIds: readonly string[],
  change: ThreadChange,
): Promise<ChangedThreads> {
  if (threadIds.length === 0 || threadIds.length > MAX_THREADS)
    throw invalid(`Between 1 and ${MAX_THREADS} threads can be changed at once`, 'threadIds');
  const labelling = findLabelling(change);
  const { isRead, isArchived } = change;
  if (labelling === null && isRead === undefined && isArchived === undefined)
    throw invalid('Give at least one of: isRead, isArchived, labels, addLabels, removeLabels', 'isRead');
  return changeThreads(withFullAccess(context), async (client) => {
    const { workspaceId } = context;
    const living = [...new Set(await resolveReachedThreads(client, context, threadIds))];
    const record = createChangeRecord();
    const flagged = await setFlags(client, context, { threadIds: living, isRead, isArchived }, record);
    const woken = isArchived === undefined ? [] : await wake(client, workspaceId, living, isArchived, record);
    const labelled = labelling === null ? [] : await setLabels(client, workspaceId, living, labelling, record);
    const undoId = await record.store(client, context);
    return { result: { threadIds: living, undoId }, events: [...flagged, ...woken, ...labelled] };
  });
}

/** Adds a label to a thread, within a transaction that holds lockThreads. Returns the events; none when the thread has the label. */
export function labelThread(
  client: pg.ClientBase,
  workspaceId: string,
  threadId: string,
  label: string,
): Promise<Events> {
  return setLabels(client, workspaceId, [threadId], (present) => mergeLabels(present, checkLabels([label], 'name')));
}

/** Returns all labels of the user's threads by name; if there are more than 1,000, those with the most threads. */
export function listLabels({ database, workspaceId }: OperationContext): Promise<Label[]> {
  return asWorkspace(database, workspaceId, (transaction) =>
    labelQueries.listLabels(transaction, workspaceId, MAX_LISTED_LABELS),
  );
}

type Events = Changed<unknown>['events'];

async function setFlags(
  client: pg.ClientBase,
  { workspaceId, respondBy }: OperationContext,
  flags: ThreadFlags,
  record: ChangeRecord,
): Promise<Events> {
  if (flags.isRead === undefined && flags.isArchived === undefined) return [];
  const unflagged = await lockUnflagged(client, workspaceId, flags);
  const count = unflagged.reduce((sum, thread) => sum + thread.count, 0);
  if (count > MAX_MESSAGES && flags.threadIds.length > 1)
    throw invalid(
      `${count} messages would change; at most ${MAX_MESSAGES} can change at once. Give fewer threads.`,
      'threadIds',
    );
  const read = new Set<string>();
  const archived = new Set<string>();
  for (let left = count; left > 0; left -= FLAGGED_AT_ONCE) {
    if (performance.now() > respondBy - SPARE_MS)
      throw new UserError('unavailable', 'Too many messages to change in one request');
    for (const { threadId, readChanges, archiveChanges } of await setThreadFlags(client, workspaceId, flags)) {
      if (readChanges > 0) read.add(threadId);
      if (archiveChanges > 0) archived.add(threadId);
    }
  }
  for (const { threadId, read: emails, archived: emailIds } of unflagged)
    record.add(threadId, {
      ...(emails.length > 0 ? { read: { to: flags.isRead === true, emails } } : {}),
      ...(emailIds.length > 0 ? { archived: { to: flags.isArchived === true, emailIds } } : {}),
    });
  const events = (threadIds: ReadonlySet<string>, kind: string): Events =>
    [...threadIds].map((threadId) => ({ kind, threadId, data: {} }));
  return [
    ...events(read, flags.isRead === true ? 'thread.read' : 'thread.unread'),
    ...events(archived, flags.isArchived === true ? 'thread.archived' : 'thread.unarchived'),
  ];
}

/** Archived threads are not snoozed and have not come back any more; what returns to the inbox is not snoozed. */
async function wake(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
  isArchived: boolean,
  record: ChangeRecord,
): Promise<Events> {
  const change = { snoozedUntil: null, ...(isArchived ? { returnedAt: null, returnedBy: null } : {}) };
  const changed = await changeSnooze(client, workspaceId, threadIds, change);
  for (const { threadId, before } of changed) record.add(threadId, { snooze: before });
  return changed.map(({ threadId, before }) => snoozedEvent(threadId, { ...before, ...change }));
}

/** Returns the new labels of a thread from its current ones. */
type Labelling = (present: readonly string[]) => string[];

async function setLabels(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: string[],
  labelling: Labelling,
  record?: ChangeRecord,
) {
  const present = await labelQueries.readLabels(client, workspaceId, threadIds);
  const changed = new Map<string, string[]>();
  for (const [threadId, before] of present) {
    const after = labelling(before);
    if (after.length > MAX_LABELS && after.length > before.length)
      throw invalid(`A thread can have at most ${MAX_LABELS} labels`, 'addLabels');
    if (after.length === before.length && after.every((label, at) => label === before[at])) continue;
    changed.set(threadId, after);
    record?.add(threadId, { labels: { before, after } });
  }
  await labelQueries.writeLabels(client, workspaceId, changed);
  return [...changed].map(([threadId, labels]) => ({ kind: 'thread.labelled', threadId, data: { labels } }));
}

/** Returns null when labels do not change. Throws validation. */
function findLabelling({ labels, addLabels, removeLabels }: ThreadChange): Labelling | null {
  if (labels !== undefined) {
    if (addLabels !== undefined || removeLabels !== undefined)
      throw invalid('Give either labels, or addLabels and removeLabels', 'labels');
    const given = mergeLabels(checkLabels(labels, 'labels'), []);
    return () => given;
  }
  if (addLabels === undefined && removeLabels === undefined) return null;
  const added = checkLabels(addLabels ?? [], 'addLabels');
  const removed = checkLabels(removeLabels ?? [], 'removeLabels');
  if (subtractLabels(added, removed).length < added.length)
    throw invalid('A label cannot be both added and removed', 'removeLabels');
  return (present) => subtractLabels(mergeLabels(present, added), removed);
}

function checkLabels(texts: readonly string[], field: string): string[] {
  if (texts.length > MAX_LABELS) throw invalid(`At most ${MAX_LABELS} labels can be given`, field);
  return texts.map((text, at) => {
    const label = normalizeLabel(text);
    if (label === null)
      throw invalid(
        `A label must have 1 to ${MAX_LABEL_LENGTH} characters and no control characters`,
        `${field}.${at}`,
      );
    return label;
  });
}
