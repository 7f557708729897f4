import { useRef } from 'react';
import { timeZone } from '../../composer/draft.ts';
import { graphql, mutation } from '../../graphql.ts';
import { showNotice } from '../../parts/notify.tsx';
import { type Outcome, useAct } from '../../parts/use-act.ts';
import { counted } from '../../parts/words.ts';
import { useIsInTeam, useRight } from '../../shell/viewer.ts';
import { THREAD_ROW, type ThreadRow } from './inbox-documents.ts';
import { type ReadState, SET_READ_BY_ME } from './own-reads.ts';
import { type Assignee, nameAssignee } from './people.ts';
import { shortTime } from './row-time.ts';
import { heldRows } from './thread-pages.ts';
import type { ThreadList } from './use-thread-list.ts';

export const UPDATE = mutation('updateThreads', 'undoId threads { id unreadCount isArchived labels }');
const ASSIGN = mutation('assignThread', 'thread { id assignee { id name email image } }');
const SNOOZE = mutation('snoozeThread', 'undoId snoozedUntil thread { id snoozedUntil returnedBy }');
const REMIND = mutation('remindOfThread', 'undoId remindAt thread { id remindAt }');
const MERGE = mutation('mergeThreads', 'thread { ...ThreadRow }', [THREAD_ROW]);

export const TRASH = mutation('trashThreads', 'undoId threads { id trashedAt }');

export const RESTORE = mutation('restoreThreads', 'undoId threads { id trashedAt }');

export const UNDO = mutation('undoThreadChange', 'skippedCount threads { id unreadCount isArchived labels trashedAt }');

const DELETE_FOREVER = graphql(`
  mutation InboxDeleteForever($input: DeleteThreadsForeverInput!) {
    deleteThreadsForever(input: $input) { __typename ... on DeleteForeverPayload { deletedEmailCount keptEmailCount } }
  }
`);

/** The threads that an action has changed, without any that met a problem. */
export type ChangedIds = Promise<readonly string[]>;

/** Actions on threads of the list or on the open one. */
export interface ThreadActs {
  archive: (ids: readonly string[], isArchived: boolean) => ChangedIds;
  /** Marks threads as read or unread: in a team by the person, else in the workspace. */
  markRead: (ids: readonly string[], isRead: boolean) => ChangedIds;
  /** Marks an open thread as read in the workspace, and in a team by the person up to a message. Reports nothing. */
  markShown: (thread: ReadState & { id: string }, lastEmailId: string) => Promise<void>;
  label: (ids: readonly string[], add: readonly string[], remove: readonly string[]) => ChangedIds;
  /** Assigns threads to a member, or with null to none. */
  assign: (ids: readonly string[], to: Assignee | null) => ChangedIds;
  /** Takes threads out of the inbox until a time in words, or with null back into it. */
  snooze: (ids: readonly string[], until: string | null) => ChangedIds;
  /** Brings a thread back at a time in words unless a reply comes before; with null no more. */
  remind: (id: string, at: string | null) => Promise<void>;
  /** Moves threads to the trash. */
  trash: (ids: readonly string[]) => ChangedIds;
  /** Moves threads back from the trash. */
  restore: (ids: readonly string[]) => ChangedIds;
  deleteForever: (ids: readonly string[]) => ChangedIds;
  /** Returns the merged thread, or null on failure. */
  merge: (ids: readonly string[]) => Promise<ThreadRow | null>;
  /** Undoes the last action. Returns false if there is none. */
  undo: () => boolean;
  /** Sets what `undo` does next, once. Returns it as `run`, and `hide` is called then. */
  remember: (undo: () => void) => { run: () => void; hide: () => void };
}

/**
 * Changes threads: the list shows a change immediately, and the previous state if the service refuses it. `leaves` returns whether an
 * archived or unarchived thread no longer belongs to this list, `leavesOnSnooze` the same for one that is snoozed or woken.
 */
export function useThreadActs(
  list: ThreadList,
  leaves: (isArchived: boolean) => boolean,
  leavesOnSnooze: (isSnoozed: boolean) => boolean,
): ThreadActs {
  const { act: update } = useAct(UPDATE);
  const { act: give } = useAct(ASSIGN);
  const { act: delay } = useAct(SNOOZE);
  const { act: setReminder } = useAct(REMIND);
  const { act: join } = useAct(MERGE);
  const { act: moveToTrash } = useAct(TRASH);
  const { act: moveBack } = useAct(RESTORE);
  const { act: takeBackChange } = useAct(UNDO);
  const { act: destroy } = useAct(DELETE_FOREVER);
  const last = useRef<(() => void) | null>(null);
  const { act: markOwn } = useAct(SET_READ_BY_ME);
  const { act: markOwnQuietly } = useAct(SET_READ_BY_ME, { quiet: true });
  const isInTeam = useIsInTeam();
  const mayOrganize = useRight('organize');
  const mayMarkOwn = useRight('notes') && isInTeam;

  /** Sets what the undo key does next, once. */
  const remember = (undo: () => void) => {
    const step = {
      isDone: false,
      /** hides the notice that offers it */
      hide: () => undefined as void,
      run: () => {
        if (step.isDone) return;
        step.isDone = true;
        step.hide();
        if (last.current === step.run) last.current = null;
        undo();
      },
    };
    last.current = step.run;
    return step;
  };
  /**
   * Reports a completed action. `done` resolves to a function that undoes it, or to null on failure. The user can undo before the service
   * has responded. A function says what was done once that is known. Returns `ids`, or none on failure.
   */
  const tell = async (text: string | (() => string), done: Promise<(() => void) | null>, ids: readonly string[]) => {
    const step = remember(() => void done.then((undo) => undo?.()));
    if ((await done) === null) return [];
    if (!step.isDone) step.hide = showNotice(typeof text === 'string' ? text : text(), { undo: step.run });
    return ids;
  };

  /** Has the service undo what it stored of a change; null: it changed nothing. */
  const takeBack = (undoId: string | null) => {
    if (undoId !== null) void takeBackChange({ undoId });
  };

  /** Shows a change at once, and what was shown before when the service refuses it or the user undoes it: `show` returns what does that. */
  const change = async (
    show: () => () => void,
    sent: () => Promise<Outcome<{ undoId: string | null }>>,
  ): Promise<(() => void) | null> => {
    const back = show();
    const { payload } = await sent();
    if (payload !== null)
      return () => {
        back();
        takeBack(payload.undoId);
      };
    back();
    return null;
  };
  /** Takes rows out of the list as it is now, not as it was when it was drawn. */
  const takeOut = (ids: readonly string[]) => {
    const gone = list.takeOut(new Set(ids));
    return () => list.putBack(gone);
  };
  const setArchived = (ids: readonly string[], isArchived: boolean) => {
    const mark = (is: boolean) => list.patch(new Set(ids), (thread) => ({ ...thread, isArchived: is }));
    const show = () => {
      mark(isArchived);
      return () => mark(!isArchived);
    };
    const sent = () => update({ threadIds: [...ids], isArchived });
    return change(() => (leaves(isArchived) ? takeOut(ids) : show()), sent);
  };
  /** The list loses the threads whichever way they go: to the trash, or back. */
  const setTrashed = (ids: readonly string[], isTrashed: boolean) => {
    const move = isTrashed ? moveToTrash : moveBack;
    return change(
      () => takeOut(ids),
      () => move({ threadIds: [...ids] }),
    );
  };
  const readRows = (touched: ReadonlySet<string>) => heldRows(list.pages).filter(({ node }) => touched.has(node.id));
  const setRead = (ids: readonly string[], isRead: boolean) => {
    const touched = new Set(ids);
    const counts = new Map(readRows(touched).map(({ node }) => [node.id, node.unreadCount]));
    const show = (count: (thread: ThreadRow) => number) =>
      list.patch(touched, (thread) => ({ ...thread, unreadCount: count(thread) }));
    return change(
      () => {
        show(({ unreadCount }) => (isRead ? 0 : Math.max(1, unreadCount)));
        return () => show(({ id, unreadCount }) => counts.get(id) ?? unreadCount);
      },
      () => update({ threadIds: [...ids], isRead }),
    );
  };
  /** Marks threads by the person. Undo restores what the list showed before. */
  const setReadByMe = async (ids: readonly string[], isRead: boolean): Promise<(() => void) | null> => {
    const shown = readRows(new Set(ids)).map(({ node }) => node);
    const same = new Set(shown.flatMap(({ id, isReadByMe }) => (isReadByMe === isRead ? [id] : [])));
    const changed = ids.filter((id) => !same.has(id));
    if (changed.length === 0) return null;
    const show = (isReadByMe: boolean) => list.patch(new Set(changed), (thread) => ({ ...thread, isReadByMe }));
    show(isRead);
    const { problem } = await markOwn({ threadIds: changed, isRead });
    if (problem !== null) {
      show(!isRead);
      return null;
    }
    return () => {
      show(!isRead);
      void markOwn({ threadIds: changed, isRead: !isRead });
    };
  };
  const markRead = async (ids: readonly string[], isRead: boolean) => {
    const done = mayMarkOwn ? setReadByMe(ids, isRead) : setRead(ids, isRead);
    return tell(`${conversations(ids.length)} marked as ${isRead ? 'read' : 'unread'}`, done, ids);
  };
  const markShown = async (thread: ReadState & { id: string }, lastEmailId: string) => {
    const { id } = thread;
    if (mayMarkOwn && thread.isReadByMe === false) {
      list.patch(new Set([id]), (row) => ({ ...row, isReadByMe: true }));
      await markOwnQuietly({ threadIds: [id], isRead: true, emailId: lastEmailId });
    }
    if (mayOrganize && thread.unreadCount > 0) await setRead([id], true);
  };
  const undoLast = () => {
    const run = last.current;
    run?.();
    return run !== null;
  };
  if (!mayOrganize) return mayMarkOwn ? { ...NO_ACTS, markRead, markShown, undo: undoLast, remember } : NO_ACTS;

  /** Assigns one after the other, and adds each to `done`: the first refusal ends it. */
  const setAssignee = async (ids: readonly string[], to: Assignee | null, done: string[]) => {
    const before = new Map(heldRows(list.pages).map(({ node }) => [node.id, node.assignee]));
    for (const id of ids) {
      const { payload } = await give({ threadId: id, assignee: to?.id ?? null });
      if (payload === null) break;
      done.push(id);
      list.patch(new Set([id]), (thread) => ({ ...thread, assignee: payload.thread.assignee }));
    }
    if (done.length === 0) return null;
    return () => {
      for (const id of done) {
        const previous = before.get(id) ?? null;
        void give({ threadId: id, assignee: previous?.id ?? null });
        list.patch(new Set([id]), (thread) => ({ ...thread, assignee: previous }));
      }
    };
  };
  /** Snoozes one after the other, and adds each to `done`: the first refusal ends it, and is reported once. */
  const setSnoozed = async (ids: readonly string[], until: string | null, done: string[]) => {
    const before = new Map(heldRows(list.pages).map((row) => [row.node.id, row]));
    const undone: (string | null)[] = [];
    for (const id of ids) {
      const { payload } = await delay({ threadId: id, until, timezone: timeZone });
      if (payload === null) break;
      done.push(id);
      undone.push(payload.undoId);
      const { snoozedUntil, returnedBy } = payload.thread;
      list.patch(new Set([id]), (thread) => ({ ...thread, snoozedUntil, returnedBy }));
      if (leavesOnSnooze(snoozedUntil !== null)) list.takeOut(new Set([id]));
    }
    if (done.length === 0) return null;
    return () => {
      list.putBack(done.flatMap((id) => before.get(id) ?? []));
      for (const undoId of undone) takeBack(undoId);
    };
  };
  const setLabels = async (ids: readonly string[], add: readonly string[], remove: readonly string[]) => {
    const { payload } = await update({ threadIds: [...ids], addLabels: [...add], removeLabels: [...remove] });
    if (payload === null) return null;
    list.patch(new Set(ids), (thread) => ({
      ...thread,
      labels: payload.threads.find(({ id }) => id === thread.id)?.labels ?? thread.labels,
    }));
    return () => takeBack(payload.undoId);
  };

  return {
    async archive(ids, isArchived) {
      const text = `${conversations(ids.length)} ${isArchived ? 'archived' : 'moved to the inbox'}`;
      return tell(text, setArchived(ids, isArchived), ids);
    },
    markRead,
    markShown,
    async label(ids, add, remove) {
      if (add.length + remove.length === 0) return ids;
      const words = add.length > 0 ? `labeled ${add.join(', ')}` : `no longer labeled ${remove.join(', ')}`;
      return tell(`${conversations(ids.length)} ${words}`, setLabels(ids, add, remove), ids);
    },
    async assign(ids, to) {
      const done: string[] = [];
      const name = to === null ? 'no one' : nameAssignee(to);
      const text = () => `${conversations(done.length, ids.length)} assigned to ${name}`;
      return tell(text, setAssignee(ids, to, done), done);
    },
    async snooze(ids, until) {
      const done: string[] = [];
      const what = until === null ? 'moved to the inbox' : 'snoozed';
      const text = () => `${conversations(done.length, ids.length)} ${what}`;
      return tell(text, setSnoozed(ids, until, done), done);
    },
    async remind(id, at) {
      const { payload } = await setReminder({ threadId: id, at, timezone: timeZone });
      if (payload === null) return;
      const undo = () => takeBack(payload.undoId);
      const { remindAt } = payload;
      const text = remindAt === null ? 'Reminder removed' : `Comes back ${shortTime(remindAt)} unless a reply comes`;
      await tell(text, Promise.resolve(undo), [id]);
    },
    async trash(ids) {
      return tell(`${conversations(ids.length)} moved to the trash`, setTrashed(ids, true), ids);
    },
    async restore(ids) {
      return tell(`${conversations(ids.length)} restored`, setTrashed(ids, false), ids);
    },
    async deleteForever(ids) {
      const putBack = takeOut(ids);
      const { payload } = await destroy({ threadIds: [...ids] });
      if (payload === null || payload.keptEmailCount > 0) putBack();
      if (payload === null) return [];
      const kept = `${counted(payload.keptEmailCount, 'message is', 'messages are')} still being processed and stay in the trash. Delete again later.`;
      showNotice(payload.keptEmailCount > 0 ? kept : `${conversations(ids.length)} deleted forever`);
      return payload.keptEmailCount > 0 ? [] : ids;
    },
    async merge(ids) {
      const { payload } = await join({ threadIds: [...ids] });
      if (payload === null) return null;
      list.takeOut(new Set(ids.filter((id) => id !== payload.thread.id)));
      list.patch(new Set(ids), () => payload.thread);
      showNotice(`${conversations(ids.length)} merged into one. To separate them again, split the conversation.`);
      return payload.thread;
    },
    undo: undoLast,
    remember,
  };
}

const nothing = (): ChangedIds => Promise.resolve([]);

/** For members who may change nothing: keys and opening a conversation do nothing. */
const NO_ACTS: ThreadActs = {
  archive: nothing,
  markRead: nothing,
  markShown: () => Promise.resolve(),
  label: nothing,
  assign: nothing,
  snooze: nothing,
  remind: () => Promise.resolve(),
  trash: nothing,
  restore: nothing,
  deleteForever: nothing,
  merge: () => Promise.resolve(null),
  undo: () => false,
  remember: (undo) => ({ run: undo, hide: () => undefined }),
};

function conversations(count: number, of: number = count): string {
  if (of > count) return `${count} of ${counted(of, 'conversation')}`;
  return count === 1 ? 'Conversation' : counted(count, 'conversation');
}
