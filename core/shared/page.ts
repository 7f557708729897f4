/** A page by offset; limit is 1 to MAX_PAGE_SIZE. */
export interface Page {
  limit: number;
  offset: number;
}

/** Rows a page has at most. A larger limit is taken as this one. */
export const MAX_PAGE_SIZE = 100;
/** Of lists by offset. */
export const DEFAULT_PAGE_SIZE = 50;
/** Of the thread list. */
export const DEFAULT_THREAD_PAGE_SIZE = 25;

/** A place in a list that is ordered by an instant and then an id. */
export interface KeysetCursor {
  at: Date;
  id: string;
}

/** The part of a list behind one place and before another, in the list's order or, when inverted, from its end. */
export interface KeysetPage<At = KeysetCursor> {
  after: At | null;
  before: At | null;
  isInverted: boolean;
  limit: number;
}

/** A place as a cursor, opaque to clients. */
export function encodeCursor(place: KeysetCursor): string {
  return Buffer.from(`${place.at.getTime().toString(36)}.${place.id}`).toString('base64url');
}

/** The place that a cursor of encodeCursor names; null when it is none. */
export function decodeCursor(cursor: string): KeysetCursor | null {
  const match = /^(-?[0-9a-z]{1,11})\.([A-Za-z0-9_-]{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  const at = new Date(Number.parseInt(match?.[1] ?? '', 36));
  if (match?.[2] === undefined || Number.isNaN(at.getTime())) return null;
  return { at, id: match[2] };
}
