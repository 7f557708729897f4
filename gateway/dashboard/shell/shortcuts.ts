import { useEffect, useEffectEvent } from 'react';

/** Selector of overlays that receive the keys while they are open. */
const OVERLAYS = '[role=dialog], [role=menu], .mantine-Popover-dropdown';
/** Time within which the second key of a pair such as `g i` has to follow. Milliseconds. */
const PAIR_MS = 1_500;

/**
 * Calls back for keys pressed without modifiers while no field, menu or dialog has the focus. A name such as `g i` is a pair: the second key
 * is not passed to other actions. `Mod+k` is Ctrl+K or ⌘K, everywhere.
 */
export function useShortcuts(actions: Record<string, () => void>): void {
  const isPrefix = (key: string) => Object.keys(actions).some((name) => name.startsWith(`${key} `));
  const press = useEffectEvent((event: KeyboardEvent, prefix: string | null): string | null => {
    if (event.defaultPrevented || event.altKey || event.isComposing) return null;
    if (event.ctrlKey || event.metaKey) {
      const action = actions[`Mod+${event.key.toLowerCase()}`];
      if (action === undefined) return null;
      event.preventDefault();
      action();
      return null;
    }
    if (isTaken(event)) return null;
    if (prefix === null && isPrefix(event.key)) return event.key;
    const action = actions[prefix === null ? event.key : `${prefix} ${event.key}`];
    // The second key of a pair has no other meaning.
    if (action !== undefined || prefix !== null) event.preventDefault();
    action?.();
    return null;
  });
  useEffect(() => {
    let isAside = false;
    let prefix: { key: string; at: number } | null = null;
    // Checked before any handler runs: the key may close the overlay.
    const look = (event: KeyboardEvent) => {
      isAside = [...document.querySelectorAll(OVERLAYS)].some((overlay) => overlay.checkVisibility());
      const before = prefix !== null && event.timeStamp - prefix.at < PAIR_MS ? prefix.key : null;
      prefix = null;
      if (before !== null && !isAside) press(event, before);
    };
    const listener = (event: KeyboardEvent) => {
      if (isAside) return;
      const key = press(event, null);
      if (key !== null) prefix = { key, at: event.timeStamp };
    };
    window.addEventListener('keydown', look, { capture: true });
    document.addEventListener('keydown', listener);
    return () => {
      window.removeEventListener('keydown', look, { capture: true });
      document.removeEventListener('keydown', listener);
    };
  }, []);
}

/** Returns whether the focused element uses the key. */
function isTaken({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  if (
    target.closest(
      'input:not([type=checkbox]), textarea, select, [contenteditable], [role=dialog], [role=menu], [role=listbox]',
    ) !== null
  )
    return true;
  return (key === 'Enter' || key === ' ') && target.closest('a, button, summary, [role=button], input') !== null;
}
