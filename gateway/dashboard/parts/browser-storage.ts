import { useCallback, useState } from 'react';

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

/** What was shown last, so that the page keeps room for it as it loads. Of the person who is signed in. */
export const SHOWN_BEFORE = { views: 'postroom-saved-views', filters: 'postroom-inbox-filters' } as const;
/** What this tab can undo, also when it is loaded again. Of the person who is signed in. */
export const LAST_CHANGE = 'postroom-last-change';

/** Forgets what was shown last and can be undone: the next person has other views, filters and conversations. */
export function forgetShown(): void {
  for (const name of Object.values(SHOWN_BEFORE)) writeStored(name, '');
  window.sessionStorage.clear();
}

/** Keeps a value in this tab, also when it is loaded again, if there is room for it; null: none any more. */
export function keepInTab(name: string, value: object | null): void {
  try {
    if (value === null) window.sessionStorage.removeItem(name);
    else window.sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // The browser stores nothing for this page, or not as much.
  }
}

/** Returns what this tab keeps; null: nothing. */
export function readInTab<Value>(name: string): Value | null {
  try {
    return JSON.parse(window.sessionStorage.getItem(name) ?? 'null') as Value | null;
  } catch {
    return null;
  }
}

/** Returns whether something is switched on in this browser, and a function that remembers it. Pages that are open already learn of it later. */
export function useStoredChoice(name: string): [isOn: boolean, setOn: (isOn: boolean) => void] {
  const [isOn, setOn] = useState(() => readStored(name) === 'yes');
  const change = useCallback(
    (next: boolean) => {
      writeStored(name, next ? 'yes' : 'no');
      setOn(next);
    },
    [name],
  );
  return [isOn, change];
}
