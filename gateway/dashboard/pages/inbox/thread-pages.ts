import type { ThreadRow } from './inbox-documents.ts';

/** Rows of a page of the graph. */
export const PAGE_ROWS = 50;
/** Rows that the first page may grow to by new mail, before it is divided. */
const MAX_HEAD_ROWS = 2 * PAGE_ROWS;

/** A thread in the list, with its cursor. */
export interface ListedThread {
  cursor: string;
  node: ThreadRow;
}

/**
 * A stretch of the list. Of stretches far from what is seen only the cursors and the count stay: `rows` is null, and they are read again
 * when somebody scrolls there.
 */
interface ThreadPage {
  /** cursor that it lies behind; null: it is the first */
  after: string | null;
  rows: ListedThread[] | null;
  count: number;
  /** of its last row when it was read: what is older belongs to the next page */
  end: Place;
}

interface Place {
  at: number;
  id: string;
}

/** The list as far as it is known, newest message first. Never changed, only replaced. */
export interface ThreadPages {
  pages: readonly ThreadPage[];
  /** whether there is more behind the last page */
  hasMore: boolean;
  /** cursor of the last page's end */
  endCursor: string | null;
  size: number;
}

/** A list of which nothing is known. */
export const NO_PAGES: ThreadPages = { pages: [], hasMore: true, endCursor: null, size: 0 };

/** The answer of the graph to a page. */
export interface AnsweredPage {
  edges: readonly ListedThread[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/** Puts the page behind the list's end. */
export function withNextPage(list: ThreadPages, { edges, pageInfo }: AnsweredPage): ThreadPages {
  const known = new Set(list.pages.flatMap(({ rows }) => rows ?? []).map(({ node }) => node.id));
  const rows = edges.filter(({ node }) => !known.has(node.id));
  const last = edges.at(-1);
  const page = last && { after: list.endCursor, rows, count: rows.length, end: placeOf(last) };
  return remade(list, page ? [...list.pages, page] : list.pages, {
    hasMore: pageInfo.hasNextPage,
    endCursor: pageInfo.endCursor ?? list.endCursor,
  });
}

/** Puts rows into a page that had dropped them, or newer ones into one that has them. */
export function withPageRows(list: ThreadPages, after: string | null, { edges }: AnsweredPage): ThreadPages {
  const index = list.pages.findIndex((page) => page.after === after);
  const page = list.pages[index];
  if (page === undefined) return list;
  const elsewhere = new Set(
    list.pages.flatMap(({ rows }, at) => (at === index || rows === null ? [] : rows)).map(({ node }) => node.id),
  );
  const isLast = index === list.pages.length - 1;
  const rows = edges.filter((row) => !elsewhere.has(row.node.id) && (isLast || !isOlder(placeOf(row), page.end)));
  return remade(list, list.pages.with(index, { ...page, rows, count: rows.length }));
}

/**
 * Puts what the beginning of the list is now, `fresh`, in the place of what was known of it. Null: so much is new that `fresh` does not reach
 * down to what is known, and more has to be read first.
 */
export function withHead(list: ThreadPages, fresh: AnsweredPage): ThreadPages | null {
  const [head, ...others] = list.pages;
  const last = fresh.edges.at(-1);
  if (!fresh.pageInfo.hasNextPage || head === undefined || last === undefined) return withNextPage(NO_PAGES, fresh);
  const lastPlace = placeOf(last);
  const newestKnown = head.rows?.[0];
  if (newestKnown === undefined || isOlder(placeOf(newestKnown), lastPlace)) return null;
  const ids = new Set(fresh.edges.map(({ node }) => node.id));
  const kept = (head.rows ?? []).filter((row) => !ids.has(row.node.id) && isOlder(placeOf(row), lastPlace));
  const rows = [...fresh.edges.filter((row) => others.length === 0 || !isOlder(placeOf(row), head.end)), ...kept];
  const isShort = others.length === 0 && isOlder(lastPlace, head.end);
  const pages = [
    { ...head, rows, count: rows.length, end: isShort ? lastPlace : head.end },
    ...others.map(without(new Set(rows.map(({ node }) => node.id)))),
  ];
  const end = isShort ? { endCursor: fresh.pageInfo.endCursor, hasMore: fresh.pageInfo.hasNextPage } : {};
  return divided(remade(list, pages, end));
}

/** Replaces threads by what they are now; those that the list does not hold are passed over. */
export function withThreads(list: ThreadPages, threads: readonly ThreadRow[]): ThreadPages {
  const byId = new Map(threads.map((thread) => [thread.id, thread]));
  return mapRows(list, (rows) =>
    rows.some(({ node }) => byId.has(node.id))
      ? rows.map((row) => ({ ...row, node: byId.get(row.node.id) ?? row.node }))
      : rows,
  );
}

/** Takes threads out. */
export function withoutThreads(list: ThreadPages, ids: ReadonlySet<string>): ThreadPages {
  return mapRows(list, (rows) =>
    rows.some(({ node }) => ids.has(node.id)) ? rows.filter(({ node }) => !ids.has(node.id)) : rows,
  );
}

/** Puts rows back where they stood. */
export function withRowsBack(list: ThreadPages, back: readonly ListedThread[]): ThreadPages {
  let result = list;
  for (const row of back) {
    const place = placeOf(row);
    const found = result.pages.findIndex((page) => !isOlder(place, page.end));
    const index = found === -1 ? result.pages.length - 1 : found;
    const page = result.pages[index];
    if (page === undefined || page.rows?.some(({ node }) => node.id === row.node.id)) continue;
    const rows =
      page.rows && [...page.rows, row].sort((one, other) => (isOlder(placeOf(one), placeOf(other)) ? 1 : -1));
    result = remade(result, result.pages.with(index, { ...page, rows, count: page.count + 1 }));
  }
  return result;
}

/** Drops the rows of all pages but the first and those that reach into the span; both ends of it are indexes of rows. */
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

/** The row at an index; null: its page has dropped it, or the list ends before it. */
export function rowAt(list: ThreadPages, index: number): ListedThread | null {
  let begin = 0;
  for (const { rows, count } of list.pages) {
    if (index < begin + count) return rows?.[index - begin] ?? null;
    begin += count;
  }
  return null;
}

/** Where a thread stands; -1: it is not among the rows that the list holds. */
export function indexOfThread(list: ThreadPages, id: string): number {
  let begin = 0;
  for (const { rows, count } of list.pages) {
    const index = rows?.findIndex(({ node }) => node.id === id) ?? -1;
    if (index !== -1) return begin + index;
    begin += count;
  }
  return -1;
}

/** What the pages without rows lie behind that reach into the span. */
export function missingPages(list: ThreadPages, from: number, to: number): (string | null)[] {
  let begin = 0;
  const missing: (string | null)[] = [];
  for (const { after, rows, count } of list.pages) {
    if (rows === null && begin <= to && begin + count > from) missing.push(after);
    begin += count;
  }
  return missing;
}

/** All rows that the list holds. */
export function heldRows(list: ThreadPages): ListedThread[] {
  return list.pages.flatMap(({ rows }) => rows ?? []);
}

/** Takes those out of a page that stand in a newer one now. */
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
    { ...head, rows: first, count: first.length, end: placeOf(cut) },
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

function placeOf({ node }: ListedThread): Place {
  return { at: Date.parse(node.lastMessageAt), id: node.id };
}

function isOlder(one: Place, other: Place): boolean {
  return one.at < other.at || (one.at === other.at && one.id < other.id);
}
