import type { ThreadRow } from './inbox-documents.ts';

/** Rows per page of a query. */
export const PAGE_ROWS = 50;
/** Maximum rows of the first page before new mail divides it. */
const MAX_HEAD_ROWS = 2 * PAGE_ROWS;

/** A thread in the list, with its cursor. */
export type ListedThread = { cursor: string; node: ThreadRow };

/**
 * A section of the list. Far from the visible rows, only the cursors and the count are kept: `rows` is null, and they are read again when
 * the user scrolls there.
 */
interface ThreadPage {
  /** cursor before its first row; null for the first page */
  after: string | null;
  rows: ListedThread[] | null;
  count: number;
  /** cursor of its last row when it was read; older rows belong to the next page */
  end: Position;
}

type Position = { at: number; id: string };

/** The known part of the list, newest message first. Immutable. */
export interface ThreadPages {
  pages: readonly ThreadPage[];
  /** whether there are rows after the last page */
  hasMore: boolean;
  /** cursor of the end of the last page */
  endCursor: string | null;
  size: number;
}

/** A list without any known rows. */
export const NO_PAGES: ThreadPages = { pages: [], hasMore: true, endCursor: null, size: 0 };

/** A page as the query returns it. */
export interface ReadPage {
  edges: readonly ListedThread[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/** Appends the page to the list. */
export function withNextPage(list: ThreadPages, { edges, pageInfo }: ReadPage): ThreadPages {
  const known = new Set(list.pages.flatMap(({ rows }) => rows ?? []).map(({ node }) => node.id));
  const rows = edges.filter(({ node }) => !known.has(node.id));
  const last = edges.at(-1);
  const page = last && { after: list.endCursor, rows, count: rows.length, end: toPosition(last) };
  return remade(list, page ? [...list.pages, page] : list.pages, {
    hasMore: pageInfo.hasNextPage,
    endCursor: pageInfo.endCursor ?? list.endCursor,
  });
}

/** Puts rows into a page that had dropped them, or replaces its rows with newer ones. */
export function withPageRows(list: ThreadPages, after: string | null, { edges }: ReadPage): ThreadPages {
  const index = list.pages.findIndex((page) => page.after === after);
  const page = list.pages[index];
  if (page === undefined) return list;
  const elsewhere = new Set(
    list.pages.flatMap(({ rows }, at) => (at === index || rows === null ? [] : rows)).map(({ node }) => node.id),
  );
  const isLast = index === list.pages.length - 1;
  const rows = edges.filter((row) => !elsewhere.has(row.node.id) && (isLast || !isOlder(toPosition(row), page.end)));
  return remade(list, list.pages.with(index, { ...page, rows, count: rows.length }));
}

/**
 * Replaces the start of the list with its current state, `fresh`. Returns null if there is so much new mail that `fresh` does not reach the
 * known rows, so that more must be read first.
 */
export function withHead(list: ThreadPages, fresh: ReadPage): ThreadPages | null {
  const [head, ...others] = list.pages;
  const last = fresh.edges.at(-1);
  if (!fresh.pageInfo.hasNextPage || head === undefined || last === undefined) return withNextPage(NO_PAGES, fresh);
  const lastPosition = toPosition(last);
  const newestKnown = head.rows?.[0];
  if (newestKnown === undefined || isOlder(toPosition(newestKnown), lastPosition)) return null;
  const ids = new Set(fresh.edges.map(({ node }) => node.id));
  const kept = (head.rows ?? []).filter((row) => !ids.has(row.node.id) && isOlder(toPosition(row), lastPosition));
  const rows = [...fresh.edges.filter((row) => others.length === 0 || !isOlder(toPosition(row), head.end)), ...kept];
  const isShort = others.length === 0 && isOlder(lastPosition, head.end);
  const pages = [
    { ...head, rows, count: rows.length, end: isShort ? lastPosition : head.end },
    ...others.map(without(new Set(rows.map(({ node }) => node.id)))),
  ];
  const end = isShort ? { endCursor: fresh.pageInfo.endCursor, hasMore: fresh.pageInfo.hasNextPage } : {};
  return divided(remade(list, pages, end));
}

/** Replaces threads with their current state. Ignores threads that the list does not contain. */
export function withThreads(list: ThreadPages, threads: readonly ThreadRow[]): ThreadPages {
  const byId = new Map(threads.map((thread) => [thread.id, thread]));
  return mapRows(list, (rows) =>
    rows.some(({ node }) => byId.has(node.id))
      ? rows.map((row) => ({ ...row, node: byId.get(row.node.id) ?? row.node }))
      : rows,
  );
}

/** Removes threads. */
export function withoutThreads(list: ThreadPages, ids: ReadonlySet<string>): ThreadPages {
  return mapRows(list, (rows) =>
    rows.some(({ node }) => ids.has(node.id)) ? rows.filter(({ node }) => !ids.has(node.id)) : rows,
  );
}

/** Puts rows back where they were. */
export function withRowsBack(list: ThreadPages, back: readonly ListedThread[]): ThreadPages {
  let result = list;
  for (const row of back) {
    const position = toPosition(row);
    const found = result.pages.findIndex((page) => !isOlder(position, page.end));
    const index = found === -1 ? result.pages.length - 1 : found;
    const page = result.pages[index];
    if (page === undefined || page.rows?.some(({ node }) => node.id === row.node.id)) continue;
    const rows =
      page.rows && [...page.rows, row].sort((one, other) => (isOlder(toPosition(one), toPosition(other)) ? 1 : -1));
    result = remade(result, result.pages.with(index, { ...page, rows, count: page.count + 1 }));
  }
  return result;
}

/** Drops the rows of all pages except the first and any that overlap the range of row indexes. */
export function withoutFarRows(list: ThreadPages, from: number, to: number): ThreadPages {
  let begin = 0;
  let isChanged = false as boolean;
  const pages = list.pages.map((page, index) => {
    const isNear = index === 0 || (begin <= to && begin + page.count > from);
    begin += page.count;
    if (isNear || page.rows === null) return page;
    isChanged = true;
    return { ...page, rows: null };
  });
  return isChanged ? { ...list, pages } : list;
}

/** Returns the row at an index; null if its page has dropped it or the list ends before it. */
export function rowAt(list: ThreadPages, index: number): ListedThread | null {
  let begin = 0;
  for (const { rows, count } of list.pages) {
    if (index < begin + count) return rows?.[index - begin] ?? null;
    begin += count;
  }
  return null;
}

/** Returns the index of a thread; -1 if it is not among the loaded rows. */
export function indexOfThread(list: ThreadPages, id: string): number {
  let begin = 0;
  for (const { rows, count } of list.pages) {
    const index = rows?.findIndex(({ node }) => node.id === id) ?? -1;
    if (index !== -1) return begin + index;
    begin += count;
  }
  return -1;
}

/** Returns the start cursors of the pages without rows that overlap the range. */
export function missingPages(list: ThreadPages, from: number, to: number): (string | null)[] {
  let begin = 0;
  const missing: (string | null)[] = [];
  for (const { after, rows, count } of list.pages) {
    if (rows === null && begin <= to && begin + count > from) missing.push(after);
    begin += count;
  }
  return missing;
}

/** Returns all loaded rows. */
export function heldRows(list: ThreadPages): ListedThread[] {
  return list.pages.flatMap(({ rows }) => rows ?? []);
}

/** Removes rows from a page that are now in a newer one. */
function without(ids: ReadonlySet<string>) {
  return (page: ThreadPage): ThreadPage => {
    const rows = page.rows?.filter(({ node }) => !ids.has(node.id)) ?? null;
    return rows === null || rows.length === page.rows?.length ? page : { ...page, rows, count: rows.length };
  };
}

function divided(list: ThreadPages): ThreadPages {
  const [head, ...others] = list.pages;
  if (head?.rows == null || head.rows.length <= MAX_HEAD_ROWS) return list;
  const first = head.rows.slice(0, PAGE_ROWS);
  const rest = head.rows.slice(PAGE_ROWS);
  const cut = first.at(-1);
  if (cut === undefined) return list;
  return remade(list, [
    { ...head, rows: first, count: first.length, end: toPosition(cut) },
    { after: cut.cursor, rows: rest, count: rest.length, end: head.end },
    ...others,
  ]);
}

function mapRows(list: ThreadPages, change: (rows: ListedThread[]) => ListedThread[]): ThreadPages {
  return remade(
    list,
    list.pages.map((page) => {
      const rows = page.rows && change(page.rows);
      return rows === page.rows || rows === null ? page : { ...page, rows, count: rows.length };
    }),
  );
}

function remade(list: ThreadPages, pages: readonly ThreadPage[], end: Partial<ThreadPages> = {}): ThreadPages {
  return { ...list, ...end, pages, size: pages.reduce((sum, { count }) => sum + count, 0) };
}

function toPosition({ node }: ListedThread): Position {
  return { at: Date.parse(node.listedAt), id: node.id };
}

function isOlder(one: Position, other: Position): boolean {
  return one.at < other.at || (one.at === other.at && one.id < other.id);
}
