import { decodeCursor, encodeCursor, type KeysetCursor } from '../shared/page.ts';

/** A position in a list ordered by relevance, then by time, then by id. */
export interface RelevanceCursor extends KeysetCursor {
  /** an integer, see relevance */
  score: number;
}

/** Returns a number below 0 when the first comes before the second: the most relevant first, then the newest. */
export function compareRelevance(one: RelevanceCursor, other: RelevanceCursor): number {
  return (
    other.score - one.score ||
    other.at.getTime() - one.at.getTime() ||
    (one.id > other.id ? -1 : one.id < other.id ? 1 : 0)
  );
}

/** Encodes a position as a cursor, opaque to clients. */
export function encodeRelevanceCursor(cursor: RelevanceCursor): string {
  return Buffer.from(`relevance:${cursor.score.toString(36)}:${encodeCursor(cursor)}`).toString('base64url');
}

/** Returns the position of a cursor from encodeRelevanceCursor; null when the cursor is another or invalid. */
export function decodeRelevanceCursor(text: string): RelevanceCursor | null {
  const match = /^relevance:([0-9a-z]{1,11}):(.+)$/.exec(Buffer.from(text, 'base64url').toString('latin1'));
  const cursor = decodeCursor(match?.[2] ?? '');
  return cursor === null ? null : { ...cursor, score: Number.parseInt(match?.[1] ?? '', 36) };
}
