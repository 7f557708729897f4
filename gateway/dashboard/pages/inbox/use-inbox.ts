import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useClient } from 'urql';
import { useLive } from '../../live/live-context.tsx';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { formatCount } from '../../parts/words.ts';
import { SELECTION, useShortcuts } from '../../shell/keys.ts';
import { useIsInTeam, useRight, useViewer } from '../../shell/viewer.ts';
import { INBOX_FRAME, type ThreadRow } from './inbox-documents.ts';
import { readWantedThreads, useInboxView } from './inbox-view.ts';
import { isShownUnread } from './own-reads.ts';
import { forgetEarly, readBodyEarly, readThreadEarly } from './read-early.ts';
import type { OpenThread } from './thread-documents.ts';
import type { RowActions, ThreadListHandle } from './thread-list.tsx';
import { heldRows, indexOfThread, rowAt, type ThreadPages } from './thread-pages.ts';
import { type BulkChange, describeChange, useBulk } from './use-bulk.ts';
import { type ChangedIds, type ThreadActs, useThreadActs } from './use-thread-acts.ts';
import { useThreadList } from './use-thread-list.ts';

/** State shared by the panes of the inbox. */
export type Inbox = ReturnType<typeof useInbox>;

/** What keys know of the open thread. */
interface OpenedThread {
  /** the id in the URL; that of the thread differs if it was merged */
  threadId: string;
  /** null: not found */
  thread: OpenThread | null;
  /** the message that r and f reply to and forward */
  repliedId: string | null;
}

/** A thread as far as keys act on it. */
type ActedOn = Pick<ThreadRow, 'id' | 'isArchived' | 'trashedAt' | 'unreadCount' | 'isReadByMe' | 'assignee'>;

/** Connects the parts of the inbox: the view in the URL, the list, the selection, and the keys. */
export function useInbox() {
  const { view: asked, pathOf, go } = useInboxView();
  const maySend = useRight('send');
  const view = useMemo(() => (maySend ? asked : { ...asked, compose: null }), [asked, maySend]);
  const { threadId, folder, search } = view;
  const { person } = useViewer();
  const mayOrganize = useRight('organize');
  const isInTeam = useIsInTeam();
  const { data: frame } = useLiveQuery({
    query: INBOX_FRAME,
    kinds: ['THREAD_LABELLED', 'DOMAIN_VERIFIED'],
    types: ['Label', 'Domain', 'EmailAddress'],
  });
  const names = frame?.domains.edges.map(({ node }) => node.name).join(' ') ?? '';
  const ownDomains = useMemo(() => new Set(names.split(' ')), [names]);
  // Results of a search stay until it runs again, even if they no longer match.
  const isPlain = search === '' && folder !== 'sent' && folder !== 'snoozed';
  const leavesOnSnooze = (isSnoozed: boolean) =>
    folder === 'snoozed'
      ? !isSnoozed
      : isSnoozed && isPlain && view.label === null && (folder === 'inbox' || folder === 'unread');
  const leaves = (isArchived: boolean) =>
    isPlain && folder !== 'trash' && (folder === 'archived' ? !isArchived : isArchived);
  const isTrash = folder === 'trash';
  const wanted = readWantedThreads(view, isInTeam);
  const list = useThreadList(wanted, ({ isArchived, trashedAt, snoozedUntil }) =>
    isTrash
      ? trashedAt !== null
      : (trashedAt === null || asksTrash(search)) && !leaves(isArchived) && !leavesOnSnooze(snoozedUntil !== null),
  );
  const actsAtOnce = useThreadActs(list, leaves, leavesOnSnooze);
  const large = useLargeChange();
  const acts = askingFirst(actsAtOnce, large.ask);
  const selection = useSelection(list.pages);
  const [activeId, setActive] = useState<string | null>(threadId);
  const [isLabelling, setLabelling] = useState(false);
  const [isSnoozing, setSnoozing] = useState(false);
  const [isMerging, setMerging] = useState(false);
  const bulk = useBulk(wanted, { reload: list.reload, clearTicks: selection.clear, remember: actsAtOnce.remember });
  const handle = useRef<ThreadListHandle | null>(null);
  const searchField = useRef<HTMLInputElement | null>(null);
  const openedNow = useRef<OpenedThread | null>(null);
  // A key that was pressed before the open thread was loaded.
  const [waiting, setWaiting] = useState<{ threadId: string; run: () => void; opensField: boolean } | null>(null);
  const opened = () => (openedNow.current?.threadId === threadId ? openedNow.current : null);

  const selected = heldRows(list.pages).flatMap(({ node }) => (selection.ids.has(node.id) ? [node] : []));
  const active = () => {
    const index = activeId === null ? -1 : indexOfThread(list.pages, activeId);
    return rowAt(list.pages, index)?.node ?? null;
  };
  /** Returns the threads that keys act on: the selected ones, or else the open one, or else the focused one. */
  const meant = (): ActedOn[] => {
    if (selected.length > 0) return selected;
    const index = threadId === null ? -1 : indexOfThread(list.pages, threadId);
    const one = rowAt(list.pages, index)?.node ?? (threadId === null ? active() : opened()?.thread);
    return one == null ? [] : [one];
  };
  /** Runs a key's action at once, or when the open thread is loaded. */
  const whenLoaded = (run: () => void, opensField = false) => {
    const isLoaded = threadId === null || selected.length > 0 || opened() !== null;
    if (isLoaded) run();
    else setWaiting({ threadId, run, opensField });
  };
  const client = useClient();
  useLive('all', forgetEarly);
  const prefetch = (id: string) => readThreadEarly(client, id);
  /** Reads the text of its last message as well, which is unfolded. */
  const prefetchText = (id: string) => {
    const latest = rowAt(list.pages, indexOfThread(list.pages, id))?.node.latestMessage;
    prefetch(id);
    if (latest != null) readBodyEarly(client, latest.id);
  };
  const open = (id: string) => {
    prefetchText(id);
    setActive(id);
    go({ threadId: id });
  };
  const back = () => {
    const index = activeId === null ? -1 : indexOfThread(list.pages, activeId);
    go({ threadId: null });
    // The list may be hidden until it is rendered again.
    if (index !== -1) requestAnimationFrame(() => handle.current?.focus(index));
  };
  const step = (by: 1 | -1) => {
    const index = activeId === null ? -1 : indexOfThread(list.pages, activeId);
    const next = rowAt(list.pages, Math.max(0, index + by));
    if (next === null) return;
    handle.current?.focus(indexOfThread(list.pages, next.node.id));
    if (threadId !== null) open(next.node.id);
  };
  /** Moves the focus to the row that replaces the removed ones, or else to the one before them. */
  const afterwards = (isLeaving: boolean, ids: readonly string[]) => {
    selection.clear();
    if (threadId !== null && ids.includes(threadId)) go({ threadId: null });
    if (!isLeaving) return;
    const gone = new Set(ids);
    const at = Math.min(...ids.map((id) => indexOfThread(list.pages, id)).filter((index) => index !== -1));
    const rows = Array.from({ length: list.pages.size }, (_, index) => index).slice(
      Math.max(0, at),
      at + ids.length + 1,
    );
    const after = rows
      .map((index) => rowAt(list.pages, index)?.node.id)
      .find((id) => id !== undefined && !gone.has(id));
    const next = after ?? rowAt(list.pages, at - 1)?.node.id ?? null;
    setActive(next);
    const place = after === undefined ? at - 1 : at;
    if (next !== null) requestAnimationFrame(() => handle.current?.focus(Number.isFinite(at) ? place : 0));
  };
  const archive = () => {
    const threads = meant();
    if (threads.length === 0) return;
    const ids = threads.map(({ id }) => id);
    const isArchived = !threads.every((thread) => thread.isArchived);
    large.ask(describeChange({ kind: 'archive', isArchived }), ids.length, () => {
      afterwards(leaves(isArchived), ids);
      void actsAtOnce.archive(ids, isArchived);
    });
  };
  const remove = () => {
    const ids = meant().flatMap(({ id, trashedAt }) => (trashedAt === null ? [id] : []));
    if (ids.length === 0) return;
    large.ask(describeChange({ kind: 'trash' }), ids.length, () => {
      afterwards(true, ids);
      void actsAtOnce.trash(ids);
    });
  };
  const unread = () => {
    const threads = meant();
    const areRead = !threads.some((thread) => isShownUnread(thread, isInTeam));
    void acts.markRead(
      threads.map(({ id }) => id),
      threadId !== null && selected.length === 0 ? false : !areRead,
    );
    if (threadId !== null && selected.length === 0) back();
  };
  const askMerge = () =>
    person?.isLimited !== true && mayOrganize && setMerging(selected.length > 1 && selected.length <= MAX_MERGED);
  const merge = () => {
    const ids = selected.map(({ id }) => id);
    setMerging(false);
    if (ids.length < 2) return;
    void acts.merge(ids).then((thread) => {
      if (thread === null) return;
      selection.clear();
      open(thread.id);
    });
  };
  const startReply = (mode: 'reply' | 'reply-all' | 'forward') => () => {
    if (threadId === null || !maySend) return;
    whenLoaded(() => {
      const emailId = opened()?.repliedId;
      if (emailId != null) go({ compose: { mode, emailId } });
    }, true);
  };
  const select = (id: string, isSpan: boolean) =>
    bulk.chosen === null ? selection.toggle(id, isSpan) : bulk.toggle(id);
  const tick = () => {
    if (activeId !== null) select(activeId, false);
  };
  /** Changes all conversations while they are selected. Those in the trash can only be restored. */
  const orAll = (one: () => void, change: BulkChange) => () => {
    if (!mayOrganize && !(isInTeam && change.kind === 'read')) return;
    if (bulk.chosen === null) whenLoaded(one);
    else if (!isTrash) runBulk(change);
  };
  const runBulk = (change: BulkChange) =>
    large.ask(describeChange(change), bulk.chosen?.ids.size ?? 0, () => void bulk.run(change));
  const undo = () => {
    const lastChange = bulk.lastChange();
    if (acts.undo() || lastChange === null) return;
    large.askToUndo(lastChange.text, () => void bulk.undo(lastChange));
  };
  /** Opens a menu for the threads that keys act on. */
  const openMenu = (setOpen: (isOpen: boolean) => void) => () => {
    if (selected.length === 0 && threadId === null && activeId !== null) selection.set([activeId]);
    setOpen(meant().length > 0);
  };
  const assignToMe = () => {
    const threads = meant();
    if (person === null || !mayOrganize || threads.length === 0) return;
    const isMine = threads.every(({ assignee }) => assignee?.id === person.id);
    const ids = threads.map(({ id }) => id);
    void acts.assign(
      ids,
      isMine ? null : { id: person.id, name: person.name, email: person.email, image: person.image },
    );
  };
  useShortcuts({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => threadId === null && step(1),
    ArrowUp: () => threadId === null && step(-1),
    o: () => activeId !== null && open(activeId),
    x: tick,
    e: orAll(archive, { kind: 'archive', isArchived: folder !== 'archived' }),
    '#': orAll(remove, { kind: 'trash' }),
    u: orAll(unread, { kind: 'read', isRead: false }),
    l: () => mayOrganize && (bulk.chosen === null ? whenLoaded(openMenu(setLabelling), true) : setLabelling(true)),
    b: () => mayOrganize && bulk.chosen === null && whenLoaded(openMenu(setSnoozing), true),
    i: () => whenLoaded(assignToMe),
    m: () => bulk.chosen === null && askMerge(),
    r: startReply('reply'),
    a: startReply('reply-all'),
    f: startReply('forward'),
    c: () => maySend && go({ compose: { mode: 'new' } }),
    z: undo,
    ...((selection.ids.size > 0 || bulk.chosen !== null) && { [SELECTION]: () => undefined }),
    '/': () => searchField.current?.focus(),
    Escape() {
      if (bulk.chosen !== null) bulk.clear();
      else if (selection.ids.size > 0) selection.clear();
      else if (view.compose !== null) go({ compose: null });
      else if (threadId !== null) back();
    },
  });
  // The keyboard starts at a thread that was opened by its URL.
  const follow = useEffectEvent(() => {
    if (threadId !== null) setActive(threadId);
  });
  useEffect(() => follow(), [threadId]);
  const forget = useEffectEvent(() => {
    selection.clear();
    bulk.clear();
  });
  useEffect(() => forget(), [folder, search, view.label, view.address, view.assigned]);

  const latest = useRef({ open, select, prefetch, prefetchText });
  latest.current = { open, select, prefetch, prefetchText };
  // Stable functions, so that only changed rows are rendered again.
  const rowActions = useMemo<RowActions>(
    () => ({
      open: (id) => latest.current.open(id),
      focus: setActive,
      rest: (id) => latest.current.prefetch(id),
      press: (id) => latest.current.prefetchText(id),
      select: (id, isSpan) => latest.current.select(id, isSpan),
    }),
    [setActive],
  );
  return {
    view,
    pathOf,
    go,
    frame,
    ownDomains,
    list,
    acts,
    selection,
    selected,
    activeId,
    rowActions,
    handle,
    searchField,
    isLabelling,
    setLabelling,
    isSnoozing,
    setSnoozing,
    closeMenus: () => {
      setLabelling(false);
      setSnoozing(false);
    },
    back,
    askMerge,
    isMerging: isMerging && selected.length > 1,
    stopMerging: () => setMerging(false),
    merge,
    bulk,
    runBulk,
    large,
    /** Called by the reading pane when the open thread is loaded or has changed. */
    reportOpened(now: OpenedThread) {
      openedNow.current = now;
      if (waiting === null || waiting.threadId !== now.threadId) return;
      setWaiting(null);
      waiting.run();
    },
    /** whether a key waits for the open thread, and shows a field then */
    isFieldComing: waiting !== null && waiting.opensField && waiting.threadId === threadId,
    /** Drops the key that waits. */
    cancelWaiting: () => setWaiting(null),
  };
}

/** Returns the actions with a question before each that changes many threads. What is cancelled never ends. */
function askingFirst(acts: ThreadActs, ask: LargeChange['ask']): ThreadActs {
  const asked = (action: string, ids: readonly string[], run: () => ChangedIds): ChangedIds =>
    new Promise((resolve) => ids.length > 0 && ask(action, ids.length, () => void run().then(resolve)));
  const change = (kind: BulkChange, ids: readonly string[], run: () => ChangedIds) =>
    asked(describeChange(kind), ids, run);
  return {
    ...acts,
    archive: (ids, isArchived) => change({ kind: 'archive', isArchived }, ids, () => acts.archive(ids, isArchived)),
    markRead: (ids, isRead) => change({ kind: 'read', isRead }, ids, () => acts.markRead(ids, isRead)),
    label: (ids, add, remove) => change({ kind: 'label', add, remove }, ids, () => acts.label(ids, add, remove)),
    trash: (ids) => change({ kind: 'trash' }, ids, () => acts.trash(ids)),
    restore: (ids) => change({ kind: 'restore' }, ids, () => acts.restore(ids)),
    assign: (ids, to) => asked('Assign #', ids, () => acts.assign(ids, to)),
    snooze: (ids, until) =>
      asked(until === null ? 'Move # to the inbox' : 'Snooze #', ids, () => acts.snooze(ids, until)),
  };
}

/** Whether a search is of the trash. */
function asksTrash(search: string): boolean {
  return /(^|\s)in:trash(\s|$)/i.test(search);
}

/** Maximum number of threads that can be merged at once. */
export const MAX_MERGED = 20;

/** Maximum number of threads of one action. */
export const MAX_SELECTED = 100;

/** The selected threads. */
interface Selection {
  ids: ReadonlySet<string>;
  /** Selects or deselects a thread, or with `isSpan` all threads since the last one. */
  toggle: (id: string, isSpan: boolean) => void;
  set: (ids: Iterable<string>) => void;
  /** Deselects these threads. */
  leave: (ids: readonly string[]) => void;
  clear: () => void;
}

/** Returns the selection of a list, with at most 100 threads. */
function useSelection(pages: ThreadPages): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<string | null>(null);
  const put = (next: Iterable<string>) => setIds(new Set([...next].slice(0, MAX_SELECTED)));
  return {
    ids,
    toggle(id, isSpan) {
      setLast(id);
      if (isSpan && last !== null) return put([...ids, ...between(pages, last, id)]);
      put(ids.has(id) ? [...ids].filter((other) => other !== id) : [...ids, id]);
    },
    set: put,
    leave: (gone) => setIds((now) => new Set([...now].filter((id) => !gone.includes(id)))),
    clear: () => setIds(new Set()),
  };
}

/** Returns the loaded threads from one to the other, inclusive. */
function between(pages: ThreadPages, one: string, other: string): string[] {
  const indexes = [indexOfThread(pages, one), indexOfThread(pages, other)].sort((a, b) => a - b);
  const [from = -1, to = -1] = indexes;
  if (from === -1) return [other];
  return Array.from({ length: to - from + 1 }, (_, n) => rowAt(pages, from + n)?.node.id).filter(
    (id) => id !== undefined,
  );
}

/** A change of more conversations than this asks first. */
const ASK_ABOVE = 50;

/** A change of many conversations that waits for the user. */
export type LargeQuestion = { title: string; about: string; confirm: string; run: () => void };

/** Asks before changes of many conversations, with their number. */
interface LargeChange {
  /** Runs a change at once, or asks whether to. `action`: such as `Mark # as read`, where # is replaced by the conversations. */
  ask: (action: string, count: number, run: () => void) => void;
  /** Asks whether to undo a change from before the page was loaded again, which the user may not have meant. */
  askToUndo: (text: string, run: () => void) => void;
  question: LargeQuestion | null;
  close: () => void;
}

function useLargeChange(): LargeChange {
  const [question, setQuestion] = useState<LargeQuestion | null>(null);
  return {
    ask(action, count, run) {
      const confirm = action.replace('#', `${formatCount(count)} conversations`);
      if (count > ASK_ABOVE) setQuestion({ title: `${confirm}?`, about: 'You can undo this for a day.', confirm, run });
      else run();
    },
    askToUndo: (text, run) =>
      setQuestion({ title: 'Undo the last change?', about: `It was: ${text}`, confirm: 'Undo', run }),
    question,
    close: () => setQuestion(null),
  };
}
