import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { CombinedError } from 'urql';
import { freshClient } from '../../client.ts';
import { CHANGES, type LiveKind, useLive } from '../../live/live-context.tsx';
import { takeFirstList } from './first-list.ts';
import { THREADS_BY_ID, THREADS_PAGE, type ThreadRow } from './inbox-documents.ts';
import type { ThreadsWanted } from './inbox-view.ts';
import {
  heldRows,
  indexOfThread,
  type ListedThread,
  missingPages,
  NO_PAGES,
  PAGE_ROWS,
  type ReadPage,
  type ThreadPages,
  withHead,
  withNextPage,
  withoutFarRows,
  withoutThreads,
  withPageRows,
  withRowsBack,
  withThreads,
} from './thread-pages.ts';

/** Events that can add a thread to the list or change the order. */
const ARRIVALS = new Set<LiveKind>([
  ...CHANGES.grouped,
  ...CHANGES.trashed,
  ...CHANGES.snoozed,
  'EMAIL_THREADED',
  'EMAIL_RELEASED',
  'EMAIL_UNARCHIVED',
  'THREAD_UNARCHIVED',
  'THREAD_ASSIGNED',
]);
/** These, and events that change a row but not the list. */
const KINDS: LiveKind[] = [
  ...ARRIVALS,
  ...CHANGES.read,
  ...CHANGES.archived,
  ...CHANGES.held,
  'THREAD_LABELLED',
  'THREAD_DELETED',
];
/** Events that add a thread to a list of unread ones. */
const UNREAD = new Set<LiveKind>(['EMAIL_UNREAD', 'THREAD_UNREAD']);
/** The first event reads the list immediately; events within this time after it cause one more read. Milliseconds. */
const GATHER_MS = 300;
/** Number of rows loaded in advance around the visible ones. */
const AHEAD_ROWS = 25;
/** Number of rows kept around the visible ones. */
const KEPT_ROWS = 4 * PAGE_ROWS;
/** Maximum number of pages of new mail read to reach the known rows. With more new mail, the list starts again. */
const MAX_NEW_PAGES = 5;
/** Maximum number of ids per query. */
const MAX_IDS = 100;

/** The list and its actions. */
export interface ThreadList {
  pages: ThreadPages;
  /** true until there is something to show */
  isLoading: boolean;
  error: CombinedError | undefined;
  /** Sets the visible rows, first and last index, which are then loaded. */
  see: (from: number, to: number) => void;
  reload: () => void;
  /** Changes threads immediately, before the service confirms it. */
  patch: (ids: ReadonlySet<string>, change: (thread: ThreadRow) => ThreadRow) => void;
  /** Removes threads immediately and returns their rows. */
  takeOut: (ids: ReadonlySet<string>) => ListedThread[];
  putBack: (rows: readonly ListedThread[]) => void;
}

/** Reads of the first page: the running one, and the one that starts after it. */
interface FirstPage {
  reading: Promise<ReadPage | null> | null;
  queued: Promise<ReadPage | null> | null;
}

/** Returns a list of threads with pagination and live updates. `belongs` returns whether a changed thread still belongs to this list. */
export function useThreadList(wanted: ThreadsWanted, belongs: (thread: ThreadRow) => boolean): ThreadList {
  const [first] = useState(() => takeFirstList(wanted));
  const [pages, setPages] = useState(() => (first === null ? NO_PAGES : withNextPage(NO_PAGES, first)));
  const [error, setError] = useState<CombinedError>();
  const [isLoading, setLoading] = useState(first === null);
  const current = useRef({
    pages,
    seen: [0, 0] as [number, number],
    reading: new Set<string>(),
    turn: 0,
    // Whether the rows are those of the search before this one, which stay until its first page is there.
    isFormer: false,
  });
  const shownFilter = useRef(first === null ? '' : JSON.stringify(wanted.filter));
  const isFirst = useRef(first !== null);
  const firstPage = useRef<FirstPage>({ reading: null, queued: null });
  const isUnreadOnly = wanted.filter?.isUnread === true || wanted.filter?.isUnreadByMe === true;
  const key = JSON.stringify(wanted);

  const put = (next: ThreadPages) => {
    current.current.pages = next;
    setPages(next);
  };
  /** Reads a page. Returns null if it failed or another list is shown by now. */
  const read = async (after: string | null): Promise<ReadPage | null> => {
    const { turn } = current.current;
    const result = await freshClient.query(THREADS_PAGE, { ...wanted, first: PAGE_ROWS, after }).toPromise();
    if (turn !== current.current.turn) return null;
    setError(result.error);
    return result.data?.inbox ?? null;
  };
  /**
   * Reads the first page with a request that starts after this call. urql gives the response of a running request to later callers too, but
   * that response may be older than the event that they react to.
   */
  const readFirst = (): Promise<ReadPage | null> => {
    const { turn } = current.current;
    const state = firstPage.current;
    state.queued ??= (async () => {
      await state.reading;
      state.queued = null;
      if (turn !== current.current.turn) return null;
      state.reading = read(null);
      return state.reading;
    })();
    return state.queued;
  };
  const readOnce = async (after: string | null, use: (page: ReadPage) => ThreadPages) => {
    const { reading, turn } = current.current;
    const name = String(after);
    if (reading.has(name)) return;
    reading.add(name);
    const page = await read(after);
    reading.delete(name);
    if (page === null || turn !== current.current.turn) return;
    put(use(page));
    readWhatIsSeen();
  };
  const readWhatIsSeen = () => {
    if (current.current.isFormer) return;
    const [from, to] = current.current.seen;
    const { pages: list } = current.current;
    for (const after of missingPages(list, from - AHEAD_ROWS, to + AHEAD_ROWS))
      void readOnce(after, (page) => withPageRows(current.current.pages, after, page));
    if (list.hasMore && list.pages.length > 0 && to + AHEAD_ROWS >= list.size)
      void readOnce(list.endCursor, (page) => withNextPage(current.current.pages, page));
  };
  const see = (from: number, to: number) => {
    current.current.seen = [from, to];
    const kept = withoutFarRows(current.current.pages, from - KEPT_ROWS, to + KEPT_ROWS);
    if (kept !== current.current.pages) put(kept);
    readWhatIsSeen();
  };

  const reload = async () => {
    current.current.turn += 1;
    current.current.reading = new Set();
    // A new object, so that a read of the previous list does not change the state of this one.
    firstPage.current = { reading: firstPage.current.reading, queued: null };
    const page = await readFirst();
    if (page === null) return;
    current.current.isFormer = false;
    put(withNextPage(NO_PAGES, page));
    setLoading(false);
  };
  const readHead = async () => {
    if (current.current.isFormer) return;
    let fresh = await readFirst();
    for (let count = 1; fresh !== null; count += 1) {
      const next = withHead(current.current.pages, fresh);
      if (next !== null) return put(next);
      if (count === MAX_NEW_PAGES) return put(withNextPage(NO_PAGES, fresh));
      const more = await read(fresh.pageInfo.endCursor);
      fresh = more && { edges: [...fresh.edges, ...more.edges], pageInfo: more.pageInfo };
    }
  };
  const readThreads = async (ids: string[]) => {
    const { turn } = current.current;
    const { data } = await freshClient.query(THREADS_BY_ID, { ids }).toPromise();
    if (data === undefined || turn !== current.current.turn) return;
    const now = data.nodes.flatMap((node) => (node !== null && 'messageCount' in node ? [node as ThreadRow] : []));
    const stays = new Set(now.filter(belongs).map(({ id }) => id));
    const gone = new Set(ids.filter((id) => !stays.has(id)));
    put(withoutThreads(withThreads(current.current.pages, now), gone));
  };

  const gathered = useRef({ timer: 0, isHeadWanted: false, ids: new Set<string>() });
  const readGathered = useEffectEvent(async () => {
    const { isHeadWanted, ids } = gathered.current;
    gathered.current.isHeadWanted = false;
    gathered.current.ids = new Set();
    const touched = [...ids].filter((id) => indexOfThread(current.current.pages, id) !== -1);
    const held = touched.slice(0, MAX_IDS);
    // The others follow in the next read.
    for (const id of touched.slice(MAX_IDS)) gathered.current.ids.add(id);
    await Promise.all([isHeadWanted && readHead(), held.length > 0 && readThreads(held)]);
  });
  const gather = (isHeadWanted: boolean, threadId: string | null) => {
    const waiting = gathered.current;
    waiting.isHeadWanted ||= isHeadWanted;
    if (threadId !== null) waiting.ids.add(threadId);
    if (waiting.timer !== 0) return;
    void readGathered();
    const again = () => {
      gathered.current.timer = 0;
      if (gathered.current.isHeadWanted || gathered.current.ids.size > 0) gather(false, null);
    };
    waiting.timer = window.setTimeout(again, GATHER_MS);
  };
  useLive(KINDS, (event) => {
    if (event === null) {
      gather(true, null);
      for (const { node } of heldRows(current.current.pages)) gather(false, node.id);
    } else {
      gather(ARRIVALS.has(event.kind) || (isUnreadOnly && UNREAD.has(event.kind)), event.threadId);
      // A mark of a thread that is not known.
      if (event.kind === 'THREAD_UNREAD' && event.threadId === null)
        for (const { node } of heldRows(current.current.pages)) gather(false, node.id);
    }
  });

  const restart = useEffectEvent(() => {
    // The list that the page opened with is shown already.
    if (isFirst.current) return void (isFirst.current = false);
    current.current.seen = [0, 0];
    setLoading(true);
    setError(undefined);
    const filter = JSON.stringify(wanted.filter);
    current.current.isFormer = filter === shownFilter.current && current.current.pages.size > 0;
    shownFilter.current = filter;
    if (!current.current.isFormer) put(NO_PAGES);
    // A new list does not wait for a page of the previous one.
    firstPage.current.reading = null;
    void reload();
  });
  useEffect(() => {
    restart();
    const waiting = gathered.current;
    return () => {
      window.clearTimeout(waiting.timer);
      waiting.timer = 0;
    };
  }, [key]);

  return {
    pages,
    isLoading: isLoading && error === undefined,
    error,
    see,
    reload: () => void reload(),
    patch: (ids, change) => {
      const changed = heldRows(current.current.pages).filter(({ node }) => ids.has(node.id));
      put(
        withThreads(
          current.current.pages,
          changed.map(({ node }) => change(node)),
        ),
      );
    },
    takeOut: (ids) => {
      const rows = heldRows(current.current.pages).filter(({ node }) => ids.has(node.id));
      put(withoutThreads(current.current.pages, ids));
      return rows;
    },
    putBack: (rows) => put(withRowsBack(current.current.pages, rows)),
  };
}
