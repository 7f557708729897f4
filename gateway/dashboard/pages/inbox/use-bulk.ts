import { useRef, useState } from 'react';
import { useClient } from 'urql';
import { DAY_MS } from '../../../../core/shared/durations.ts';
import { graphql } from '../../graphql.ts';
import { LAST_CHANGE } from '../../parts/browser-storage.ts';
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
/** `skipped`: threads that were deleted meanwhile. */
type Changed = { changed: string[]; undoIds: string[]; skipped: number };

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
  /** the last change of this tab, also from before it was loaded again; null: none can be undone */
  lastChange: () => LastChange | null;
  undoLast: () => void;
}

/**
 * `done` is called when a change has run, to the end or not. `remember` sets what the undo key does.
 */
export function useBulk(wanted: ThreadsWanted, done: () => void, remember: ThreadActs['remember']): Bulk {
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

  /** Runs `step` over batches of these until one meets a problem or the user cancels, and then shows what the list is now. */
  const runBatches = async <Item>(
    items: readonly Item[],
    size: number,
    step: (batch: Item[]) => Promise<Problem | null>,
  ): Promise<void> => {
    isCancelled.current = false;
    let problem: Problem | null = null;
    for (let at = 0; at < items.length && problem === null; at += size) {
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- the user may cancel between two batches
      if (isCancelled.current) break;
      setProgress({ done: at, total: items.length });
      problem = await step(items.slice(at, at + size));
    }
    setProgress(null);
    done();
    if (problem !== null) notify({ title: 'The action stopped', message: problem.message, color: 'red' });
  };
  /** Changes threads, batch by batch. Of a batch of which something was deleted meanwhile, the others are changed one by one. */
  const changeAll = async (threadIds: readonly string[], send: Send): Promise<Changed> => {
    const all: Changed = { changed: [], undoIds: [], skipped: 0 };
    const change = async (ids: string[]): Promise<Problem | null> => {
      const { payload, problem } = await send(ids);
      if (problem === null) {
        all.changed.push(...ids);
        if (payload.undoId != null) all.undoIds.push(payload.undoId);
        return null;
      }
      if (!ofOneThread(problem)) return problem;
      if (ids.length === 1) all.skipped += 1;
      else
        for (const id of ids) {
          const single = await change([id]);
          if (single !== null) return single;
        }
      return null;
    };
    await runBatches(threadIds, AT_ONCE, change);
    setChosen(null);
    return all;
  };
  const offerUndo = (text: string, undo: () => void) => {
    const step = remember(undo);
    step.hide = showNotice(text, { undo: step.run, staysMs: UNDO_STAYS_MS });
  };
  const runOver = async (change: BulkChange, ids: readonly string[]) => {
    const { changed, undoIds, skipped } = await changeAll(ids, (threadIds) => {
      if (change.kind === 'trash') return trash({ threadIds });
      return change.kind === 'restore' ? restore({ threadIds }) : update({ threadIds, ...toInput(change) });
    });
    const left = ids.length - changed.length - skipped;
    const text = [
      `${counted(changed.length, 'conversation')} ${WORDS[change.kind](change)}${left > 0 ? `, ${formatCount(left)} left as they were` : ''}.`,
      skipped > 0
        ? `${counted(skipped, 'conversation')} changed meanwhile and ${skipped === 1 ? 'was' : 'were'} skipped.`
        : '',
    ]
      .join(' ')
      .trim();
    if (undoIds.length === 0) return void showNotice(text);
    keepLastChange({ text, undoIds, ownMarks: null });
    offerUndo(text, () => void undoAll(undoIds));
  };
  const markAll = ({ threadIds, isRead }: OwnMarks) =>
    changeAll(threadIds, (batch) => markOwn({ threadIds: batch, isRead }));
  /** Marks those of the threads by the person that are not so yet. */
  const runOwnMarks = async (isRead: boolean, ids: readonly string[]) => {
    const filter = { ...wanted.filter, isUnreadByMe: true };
    const { data, error } = await client
      .query(SELECTION, { ...wanted, filter }, { requestPolicy: 'network-only' })
      .toPromise();
    if (error !== undefined || data === undefined)
      return notify({ title: 'The conversations could not be marked', message: 'Try again.', color: 'red' });
    const unread = new Set(data.inboxSelection.threadIds);
    const threadIds = ids.filter((id) => unread.has(id) === isRead);
    const { changed: marked } = await markAll({ threadIds, isRead });
    const text = `${counted(marked.length, 'conversation')} marked as ${isRead ? 'read' : 'unread'}.`;
    if (marked.length === 0) return void showNotice(text);
    const ownMarks = { threadIds: marked, isRead };
    keepLastChange({ text, undoIds: [], ownMarks });
    offerUndo(text, () => void undoOwnMarks(ownMarks));
  };
  const undoOwnMarks = async ({ threadIds, isRead }: OwnMarks) => {
    keepLastChange(null);
    const { changed } = await markAll({ threadIds, isRead: !isRead });
    showNotice(`Undone for ${counted(changed.length, 'conversation')}.`);
  };
  /** Undoes a change batch by batch, the last one first. */
  const undoAll = async (undoIds: readonly string[]) => {
    keepLastChange(null);
    let [restored, skipped] = [0, 0];
    await runBatches(undoIds.toReversed(), 1, async ([undoId = '']) => {
      const { payload, problem } = await takeBack({ undoId });
      restored += payload?.threads.length ?? 0;
      skipped += payload?.skippedCount ?? 0;
      // Another tab has undone it.
      return problem?.type === 'NotFound' ? null : problem;
    });
    const left = skipped > 0 ? ` ${counted(skipped, 'conversation')} changed since and were left alone.` : '';
    showNotice(`Undone for ${counted(restored, 'conversation')}.${left}`);
  };

  return {
    chosen,
    progress,
    isChoosing,
    async choose() {
      setChoosing(true);
      const { data, error } = await client.query(SELECTION, wanted, { requestPolicy: 'network-only' }).toPromise();
      setChoosing(false);
      if (error !== undefined || data === undefined)
        return notify({ title: 'The conversations could not be selected', message: 'Try again.', color: 'red' });
      const { threadIds, isComplete } = data.inboxSelection;
      setChosen({ ids: new Set(threadIds), extent: isComplete ? 'all' : 'newest' });
    },
    toggle(id) {
      if (chosen === null) return;
      const ids = new Set(chosen.ids);
      if (!ids.delete(id)) ids.add(id);
      setChosen(ids.size === 0 ? null : { ids, extent: 'some' });
    },
    clear: () => setChosen(null),
    run: (change) =>
      change.kind === 'read' && isInTeam
        ? runOwnMarks(change.isRead, [...(chosen?.ids ?? [])])
        : runOver(change, [...(chosen?.ids ?? [])]),
    cancel: () => {
      isCancelled.current = true;
    },
    lastChange: readLastChange,
    undoLast() {
      const change = readLastChange();
      void (change?.ownMarks == null ? undoAll(change?.undoIds ?? []) : undoOwnMarks(change.ownMarks));
    },
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

/** Keeps the change in this tab, also when it is loaded again. Null forgets it. */
function keepLastChange(change: LastChange | null): void {
  if (change === null) window.sessionStorage.removeItem(LAST_CHANGE);
  else window.sessionStorage.setItem(LAST_CHANGE, JSON.stringify({ ...change, at: Date.now() }));
}

/** Returns the change that was kept last, unless a day is over. */
function readLastChange(): LastChange | null {
  try {
    const kept: unknown = JSON.parse(window.sessionStorage.getItem(LAST_CHANGE) ?? 'null');
    if (typeof kept !== 'object' || kept === null || !('at' in kept) || !('text' in kept) || !('undoIds' in kept))
      return null;
    const { at, text, undoIds } = kept;
    if (typeof at !== 'number' || Date.now() - at > DAY_MS || typeof text !== 'string' || !Array.isArray(undoIds))
      return null;
    return { text, undoIds: stringsIn(undoIds), ownMarks: 'ownMarks' in kept ? readOwnMarks(kept.ownMarks) : null };
  } catch {
    return null;
  }
}

function readOwnMarks(kept: unknown): OwnMarks | null {
  if (typeof kept !== 'object' || kept === null || !('threadIds' in kept) || !('isRead' in kept)) return null;
  const { threadIds, isRead } = kept;
  return Array.isArray(threadIds) ? { threadIds: stringsIn(threadIds), isRead: isRead === true } : null;
}

function stringsIn(list: readonly unknown[]): string[] {
  return list.filter((one) => typeof one === 'string');
}
