/** Name in the browser's storage. */
const NAME = 'postroom-text-mode';

/** Returns whether this browser writes new emails as plain text. */
export function prefersPlain(): boolean {
  return read() === 'plain';
}

/** Remembers the mode in this browser. */
export function rememberMode(mode: 'plain' | 'rich'): void {
  try {
    localStorage.setItem(NAME, mode);
  } catch {
    // The browser stores nothing for this page: the mode lasts as long as the draft.
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}
