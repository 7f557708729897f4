import { useRef, useState } from 'react';
import { useClient } from 'urql';
import { DAY_MS } from '../../../../core/shared/durations.ts';
import { graphql } from '../../graphql.ts';
import { keepInTab, LAST_CHANGE, readInTab } from '../../parts/browser-storage.ts';
import { notify, showNotice } from '../../parts/notify.tsx';
import { type Outcome, type Problem, useAct } from '../../parts/use-act.ts';
import { counted, formatCount } from '../../parts/words.ts';
import { useIsInTeam } from '../../shell/viewer.ts';
import type { ThreadsWanted } from './inbox-view.ts';
import { SET_READ_BY_ME } from './own-reads.ts';
import { RESTORE, type ThreadActs, TRASH, UNDO, UPDATE } from './use-thread-acts.ts';

const SELECTION = graphql(`
  query InboxSelection($filter: InboxFilter, $search: String) {
    inboxSelection(filter: $filter, search: $search) { threadIds isComplete }
  }
`);

/** Maximum threads that one request changes. */
const AT_ONCE = 100;

/** What all selected threads can be given. */
export type BulkChange =
  | { kind: 'archive'; isArchived: boolean }
  | { kind: 'read'; isRead: boolean }
  | { kind: 'label'; add: readonly string[]; remove: readonly string[] }
  | { kind: 'trash' }
  | { kind: 'restore' };

/** Changes threads of one batch. What only the person sees has no undo of the service. */
type Send = (threadIds: string[]) => Promise<Outcome<{ undoId?: string | null }>>;
/** `skipped`: threads that were deleted meanwhile. `left`: threads that have not been changed yet. */
type Changed = { changed: string[]; undoIds: string[]; skipped: number; left: string[] };

/** All conversations of a list, chosen at one moment, and the change that runs over them. */
interface Bulk {
  /** null: none are chosen */
  chosen: { ids: ReadonlySet<string>; extent: 'all' | 'newest' | 'some' } | null;
  /** null: nothing runs */
  progress: { done: number; total: number } | null;
  isChoosing: boolean;
  choose: () => Promise<void>;
  /** Leaves a conversation out, or takes it back. */
  toggle: (id: string) => void;
  clear: () => void;
  run: (change: BulkChange) => Promise<void>;
  cancel: () => void;
  /** the last change of this tab, also from before it was loaded again; null: none can be undone, or something runs */
  lastChange: () => LastChange | null;
  undo: (change: LastChange) => Promise<void>;
}

/** What a change of many conversations needs of the inbox: `remember` sets what the undo key does. */
type BulkNeeds = Pick<ThreadActs, 'remember'> & { reload: () => void; clearTicks: () => void };

/** Chooses all conversations of a list and changes them. */
export function useBulk(wanted: ThreadsWanted, { reload, clearTicks, remember }: BulkNeeds): Bulk {
  const client = useClient();
  const { act: update } = useAct(UPDATE, { quiet: true });
  const { act: trash } = useAct(TRASH, { quiet: true });
  const { act: restore } = useAct(RESTORE, { quiet: true });
  const { act: takeBack } = useAct(UNDO, { quiet: true });
  const { act: markOwn } = useAct(SET_READ_BY_ME, { quiet: true });
  const isInTeam = useIsInTeam();
  const [chosen, setChosen] = useState<Bulk['chosen']>(null);
  const [isChoosing, setChoosing] = useState(false);
  const [progress, setProgress] = useState<Bulk['progress']>(null);
  const isCancelled = useRef(false);

  /**
   * Runs `step` over batches of these until one meets a problem or the user cancels, and then shows what the list is now. A batch of which
   * something was deleted meanwhile is halved, until `step` is left alone with that and skips it.
   */
  const runBatches = async (ids: readonly string[], size: number, step: (ids: string[]) => Promise<Problem | null>) => {
    isCancelled.current = false;
    let problem: Problem | null = null;
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- the user may cancel between two batches
    for (let [at, most] = [0, size]; at < ids.length && problem === null && !isCancelled.current; ) {
      setProgress({ done: at, total: ids.length });
      const batch = ids.slice(at, at + most);
      problem = await step(batch);
      if (problem !== null && ofOneThread(problem) && batch.length > 1) {
        problem = null;
        most = Math.ceil(batch.length / 2);
      } else if (problem === null) {
        at += batch.length;
        most = Math.min(size, most * 2);
      }
    }
    setProgress(null);
    reload();
    if (problem !== null) notify({ title: 'The action stopped', message: problem.message, color: 'red' });
  };
  /** Changes threads batch by batch, and calls `keep` after each, so that no step is lost with the page. */
  const changeAll = async (threadIds: readonly string[], send: Send, keep: (all: Changed) => void) => {
    const all: Changed = { changed: [], undoIds: [], skipped: 0, left: [...threadIds] };
    await runBatches(threadIds, AT_ONCE, async (ids) => {
      const { payload, problem } = await send(ids);
      const isGone = problem !== null && ids.length === 1 && ofOneThread(problem);
      if (problem !== null && !isGone) return problem;
      if (isGone) all.skipped += 1;
      else all.changed.push(...ids);
      if (payload?.undoId != null) all.undoIds.push(payload.undoId);
      all.left.splice(0, ids.length);
      keep(all);
      return null;
    });
    return all;
  };
  /** Reads the ids of a list. Null: that failed, and a notice says so. */
  const readSelection = async (list: ThreadsWanted, purpose: string) => {
    const { data, error } = await client.query(SELECTION, list, { requestPolicy: 'network-only' }).toPromise();
    if (error === undefined && data !== undefined) return data.inboxSelection;
    notify({ title: `The conversations could not be ${purpose}`, message: 'Try again.', color: 'red' });
    return null;
  };
  const offerUndo = (text: string, undo: () => void) => {
    const step = remember(undo);
    step.hide = showNotice(text, { undo: step.run, staysMs: UNDO_STAYS_MS });
  };
  /** Runs a change, offers its undo, and returns the threads that are left as they were. `describe` says what was changed until now. */
  const runKept = async (ids: readonly string[], send: Send, describe: (now: Changed) => LastChange) => {
    const all = await changeAll(ids, send, (now) => isSome(describe(now)) && keepLastChange(describe(now)));
    const made = describe(all);
    if (isSome(made)) offerUndo(made.text, () => void undo(made));
    else showNotice(made.text);
    return all.left;
  };
  const runOver = (change: BulkChange, ids: readonly string[]) => {
    const send: Send = (threadIds) => {
      if (change.kind === 'trash') return trash({ threadIds });
      return change.kind === 'restore' ? restore({ threadIds }) : update({ threadIds, ...toInput(change) });
    };
    return runKept(ids, send, ({ changed, skipped, left, undoIds }) => {
      const rest = left.length > 0 ? `, ${formatCount(left.length)} left as they were` : '';
      const gone = `${counted(skipped, 'conversation')} changed meanwhile and ${skipped === 1 ? 'was' : 'were'} skipped.`;
      const text = `${counted(changed.length, 'conversation')} ${WORDS[change.kind](change)}${rest}.`;
      return { text: skipped > 0 ? `${text} ${gone}` : text, undoIds: [...undoIds], ownMarks: null };
    });
  };
  /** Marks those of the threads by the person that are not so yet. */
  const runOwnMarks = async (isRead: boolean, ids: readonly string[]) => {
    const unread = await readSelection({ ...wanted, filter: { ...wanted.filter, isUnreadByMe: true } }, 'marked');
    if (unread === null) return ids;
    const isUnread = new Set(unread.threadIds);
    const meant = ids.filter((id) => isUnread.has(id) === isRead);
    return runKept(
      meant,
      (threadIds) => markOwn({ threadIds, isRead }),
      ({ changed }) => ({
        text: `${counted(changed.length, 'conversation')} marked as ${isRead ? 'read' : 'unread'}.`,
        undoIds: [],
        ownMarks: { threadIds: [...changed], isRead },
      }),
    );
  };
  /** Undoes a change batch by batch, the last one first. What is left of it when that stops can be undone later. */
  const undo = async (change: LastChange): Promise<void> => {
    const { undoIds, ownMarks } = change;
    let [restored, skipped, rest] = [0, 0, change];
    const keep = (left: Partial<LastChange>) => {
      rest = { ...change, ...left };
      keepLastChange(isSome(rest) ? rest : null);
    };
    keep(change);
    if (ownMarks !== null) {
      const send: Send = (threadIds) => markOwn({ threadIds, isRead: !ownMarks.isRead });
      await changeAll(ownMarks.threadIds, send, ({ changed, left }) => {
        restored = changed.length;
        keep({ ownMarks: { ...ownMarks, threadIds: [...left] } });
      });
    } else
      await runBatches(undoIds.toReversed(), 1, async ([undoId = '']) => {
        const { payload, problem } = await takeBack({ undoId });
        // Another tab has undone it.
        if (problem !== null && problem.type !== 'NotFound') return problem;
        restored += payload?.threads.length ?? 0;
        skipped += payload?.skippedCount ?? 0;
        keep({ undoIds: undoIds.slice(0, undoIds.indexOf(undoId)) });
        return null;
      });
    const alone = skipped > 0 ? ` ${counted(skipped, 'conversation')} changed since and were left alone.` : '';
    const done = `Undone for ${counted(restored, 'conversation')}.${alone}`;
    if (isSome(rest)) offerUndo(`${done} The others can still be undone.`, () => void undo(rest));
    else showNotice(done);
  };

  return {
    chosen,
    progress,
    isChoosing,
    async choose() {
      setChoosing(true);
      const all = await readSelection(wanted, 'selected');
      setChoosing(false);
      if (all !== null) setChosen({ ids: new Set(all.threadIds), extent: all.isComplete ? 'all' : 'newest' });
    },
    toggle(id) {
      if (chosen === null) return;
      const ids = new Set(chosen.ids);
      if (!ids.delete(id)) ids.add(id);
      setChosen(ids.size === 0 ? null : { ids, extent: 'some' });
    },
    clear: () => setChosen(null),
    async run(change) {
      if (progress !== null) return;
      const ids = [...(chosen?.ids ?? [])];
      const isOwn = change.kind === 'read' && isInTeam;
      const left = new Set(await (isOwn ? runOwnMarks(change.isRead, ids) : runOver(change, ids)));
      setChosen((now) => {
        const rest = new Set([...(now?.ids ?? [])].filter((id) => left.has(id)));
        return rest.size === 0 ? null : { ids: rest, extent: 'some' };
      });
      clearTicks();
    },
    cancel: () => {
      isCancelled.current = true;
    },
    lastChange: () => (progress === null ? readLastChange() : null),
    undo,
  };
}

/** A notice of a change of many conversations stays this long. Milliseconds. */
const UNDO_STAYS_MS = 60_000;

/** Returns what a change does, for its button; # is replaced by the conversations. */
export function describeChange(change: BulkChange): string {
  if (change.kind === 'archive') return change.isArchived ? 'Archive #' : 'Unarchive #';
  if (change.kind === 'read') return change.isRead ? 'Mark # as read' : 'Mark # as unread';
  return { label: 'Label #', trash: 'Delete #', restore: 'Restore #' }[change.kind];
}

const WORDS: { [Kind in BulkChange['kind']]: (change: BulkChange) => string } = {
  archive: (change) => (change.kind === 'archive' && !change.isArchived ? 'moved to the inbox' : 'archived'),
  read: (change) => `marked as ${change.kind === 'read' && !change.isRead ? 'unread' : 'read'}`,
  label: () => 'labeled',
  trash: () => 'moved to the trash',
  restore: () => 'restored',
};

function toInput(change: BulkChange) {
  if (change.kind === 'archive') return { isArchived: change.isArchived };
  if (change.kind === 'read') return { isRead: change.isRead };
  if (change.kind === 'label') return { addLabels: [...change.add], removeLabels: [...change.remove] };
  return {};
}

/** Whether a problem lies with one thread of a batch: it is gone, or in the trash. */
function ofOneThread({ type }: Problem): boolean {
  return type === 'NotFound' || type === 'Conflict';
}

/** A change of many conversations that the service can undo for a day. */
interface LastChange {
  /** such as `8,633 conversations archived.` */
  text: string;
  undoIds: string[];
  /** what the person marked for itself; null: nothing */
  ownMarks: OwnMarks | null;
}

/** Threads that the person marked as read, or as unread, that were not so before. */
type OwnMarks = { threadIds: string[]; isRead: boolean };

/** Whether there is something of the change to undo. */
function isSome({ undoIds, ownMarks }: LastChange): boolean {
  return undoIds.length > 0 || (ownMarks?.threadIds ?? []).length > 0;
}

/** Keeps the change in this tab, also when it is loaded again. Null forgets it. */
function keepLastChange(change: LastChange | null): void {
  keepInTab(LAST_CHANGE, change && { ...change, at: Date.now() });
}

/** Returns the change that this tab kept last, unless a day is over. */
function readLastChange(): LastChange | null {
  const kept = readInTab<LastChange & { at: number }>(LAST_CHANGE);
  return kept === null || Date.now() - kept.at > DAY_MS ? null : kept;
}
