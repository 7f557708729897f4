import { hash } from 'node:crypto';

/** Bytes of the user's mark, and of the event number after it. */
const MARK_BYTES = 6;
const SEQ_BYTES = 6;

/**
 * Encodes a position in a user's event feed as a cursor, opaque to clients: after the event with number `seq`; 0 is the beginning. The
 * cursor contains some bytes of a SHA-256 of the user id, so that a cursor of another account is recognized.
 */
export function encodeEventCursor(workspaceId: string, seq: number): string {
  const bytes = Buffer.alloc(MARK_BYTES + SEQ_BYTES);
  readMark(workspaceId).copy(bytes, 0, 0, MARK_BYTES);
  bytes.writeUIntBE(seq, MARK_BYTES, SEQ_BYTES);
  return bytes.toString('base64url');
}

/** Returns the event number of a cursor from encodeEventCursor; null when the cursor is invalid or another user's. */
export function decodeEventCursor(workspaceId: string, cursor: string): number | null {
  if (!/^[A-Za-z0-9_-]{16}$/.test(cursor)) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  if (readMark(workspaceId).compare(bytes, 0, MARK_BYTES, 0, MARK_BYTES) !== 0) return null;
  return bytes.readUIntBE(MARK_BYTES, SEQ_BYTES);
}

function readMark(workspaceId: string): Buffer {
  return hash('sha256', `event feed of ${workspaceId}`, 'buffer');
}
