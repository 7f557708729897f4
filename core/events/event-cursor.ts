import { hash } from 'node:crypto';

/** Octets of the user's mark, and of the number behind it. */
const MARK_OCTETS = 6;
const SEQ_OCTETS = 6;

/**
 * A place in a user's event feed as a cursor, opaque to clients: it lies behind the event of that number; 0 is the beginning. It holds some
 * octets of a SHA-256 of the user's id, so that a cursor of another account is told from one's own, whatever its number.
 */
export function encodeEventCursor(userId: string, seq: number): string {
  const octets = Buffer.alloc(MARK_OCTETS + SEQ_OCTETS);
  markOf(userId).copy(octets, 0, 0, MARK_OCTETS);
  octets.writeUIntBE(seq, MARK_OCTETS, SEQ_OCTETS);
  return octets.toString('base64url');
}

/** The number that a cursor of encodeEventCursor stands for; null when it is none, or another user's. */
export function decodeEventCursor(userId: string, cursor: string): number | null {
  if (!/^[A-Za-z0-9_-]{16}$/.test(cursor)) return null;
  const octets = Buffer.from(cursor, 'base64url');
  if (markOf(userId).compare(octets, 0, MARK_OCTETS, 0, MARK_OCTETS) !== 0) return null;
  return octets.readUIntBE(MARK_OCTETS, SEQ_OCTETS);
}

function markOf(userId: string): Buffer {
  return hash('sha256', `event feed of ${userId}`, 'buffer');
}
