/** A page by offset; limit is 1 to MAX_PAGE_SIZE. */
export interface Page {
  limit: number;
  offset: number;
}

/** Maximum rows per page; a larger limit is reduced to this. */
export const MAX_PAGE_SIZE = 100;
/** Default of lists by offset. */
export const DEFAULT_PAGE_SIZE = 50;
/** Default of the thread list. */
export const DEFAULT_THREAD_PAGE_SIZE = 25;

/** A position in a list ordered by an instant and then an id. */
export interface KeysetCursor {
  at: Date;
  id: string;
}

/** The part of a list after one position and before another; inverted: from the end. */
export interface KeysetPage<At = KeysetCursor> {
  after: At | null;
  before: At | null;
  isInverted: boolean;
  limit: number;
}

/** Returns the page as the list in the opposite order has it. */
export function reversePage<At>({ after, before, isInverted, limit }: KeysetPage<At>): KeysetPage<At> {
  return { after: before, before: after, isInverted: !isInverted, limit };
}

/** Encodes a position as a cursor, opaque to clients. */
export function encodeCursor(place: KeysetCursor): string {
  return Buffer.from(`${place.at.getTime().toString(36)}.${place.id}`).toString('base64url');
}

/** Returns the position of a cursor from encodeCursor; null when the cursor is invalid. */
export function decodeCursor(cursor: string): KeysetCursor | null {
  const match = /^(-?[0-9a-z]{1,11})\.([A-Za-z0-9_-]{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  const at = new Date(Number.parseInt(match?.[1] ?? '', 36));
  if (match?.[2] === undefined || Number.isNaN(at.getTime())) return null;
  return { at, id: match[2] };
}
