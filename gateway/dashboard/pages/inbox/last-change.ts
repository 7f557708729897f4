import { DAY_MS } from '../../../../core/shared/durations.ts';

/** A change of many conversations that the service can undo for a day. */
export interface LastChange {
  /** such as `8,633 conversations archived.` */
  text: string;
  undoIds: string[];
  /** what the person marked for itself; null: nothing */
  ownMarks: OwnMarks | null;
}

/** Threads that the person marked as read, or as unread, that were not so before. */
export interface OwnMarks {
  threadIds: string[];
  isRead: boolean;
}

const KEY = 'postroom-last-change';

/** Keeps the change in this tab, also when it is loaded again. Null forgets it. */
export function keepLastChange(change: LastChange | null): void {
  if (change === null) window.sessionStorage.removeItem(KEY);
  else window.sessionStorage.setItem(KEY, JSON.stringify({ ...change, at: Date.now() }));
}

/** Returns the change that was kept last, unless a day is over. */
export function readLastChange(): LastChange | null {
  try {
    const kept: unknown = JSON.parse(window.sessionStorage.getItem(KEY) ?? 'null');
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
