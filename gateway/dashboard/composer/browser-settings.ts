import { readStored, writeStored } from '../parts/browser-storage.ts';

/** Names in the browser's storage. */
const TEXT_MODE = 'postroom-text-mode';
const UNDO_SECONDS = 'postroom-undo-seconds';

/** Times to undo sending, in seconds; 0: none. */
export const UNDO_CHOICES = [0, 5, 10, 20, 30];
const DEFAULT_UNDO_SECONDS = 10;

/** Returns whether this browser writes new emails as plain text. */
export function prefersPlain(): boolean {
  return readStored(TEXT_MODE) === 'plain';
}

/** Remembers the mode in this browser. */
export function rememberMode(mode: 'plain' | 'rich'): void {
  writeStored(TEXT_MODE, mode);
}

/** Returns the seconds in which an email sent in this browser can be taken back. */
export function undoSeconds(): number {
  const stored = Number(readStored(UNDO_SECONDS) ?? DEFAULT_UNDO_SECONDS);
  return UNDO_CHOICES.includes(stored) ? stored : DEFAULT_UNDO_SECONDS;
}

/** Remembers the time to undo sending in this browser. */
export function rememberUndoSeconds(seconds: number): void {
  writeStored(UNDO_SECONDS, String(seconds));
}
