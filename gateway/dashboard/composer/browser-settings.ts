/** Names in the browser's storage. */
const TEXT_MODE = 'postroom-text-mode';
const UNDO_SECONDS = 'postroom-undo-seconds';

/** Times to undo sending, in seconds; 0: none. */
export const UNDO_CHOICES = [0, 5, 10, 20, 30];
const DEFAULT_UNDO_SECONDS = 10;

/** Returns whether this browser writes new emails as plain text. */
export function prefersPlain(): boolean {
  return read(TEXT_MODE) === 'plain';
}

/** Remembers the mode in this browser. */
export function rememberMode(mode: 'plain' | 'rich'): void {
  write(TEXT_MODE, mode);
}

/** Returns the seconds in which an email sent in this browser can be taken back. */
export function undoSeconds(): number {
  const stored = Number(read(UNDO_SECONDS) ?? DEFAULT_UNDO_SECONDS);
  return UNDO_CHOICES.includes(stored) ? stored : DEFAULT_UNDO_SECONDS;
}

/** Remembers the time to undo sending in this browser. */
export function rememberUndoSeconds(seconds: number): void {
  write(UNDO_SECONDS, String(seconds));
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The browser stores nothing for this page.
  }
}
