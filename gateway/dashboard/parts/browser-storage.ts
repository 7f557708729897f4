/** Returns what this browser remembers under a name; null if nothing, or if it has no storage. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Remembers a value in this browser, if it has storage. */
export function writeStored(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The browser stores nothing for this page.
  }
}
