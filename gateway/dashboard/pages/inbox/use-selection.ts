import { useState } from 'react';
import { indexOfThread, rowAt, type ThreadPages } from './thread-pages.ts';

/** Maximum number of threads that can be merged at once. */
export const MAX_MERGED = 20;

/** Maximum number of threads of one action. */
export const MAX_SELECTED = 100;

/** The selected threads. */
interface Selection {
  ids: ReadonlySet<string>;
  /** Selects or deselects a thread, or with `isSpan` all threads since the last one. */
  toggle: (id: string, isSpan: boolean) => void;
  set: (ids: Iterable<string>) => void;
  clear: () => void;
}

/** Returns the selection of a list, with at most 100 threads. */
export function useSelection(pages: ThreadPages): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<string | null>(null);
  const put = (next: Iterable<string>) => setIds(new Set([...next].slice(0, MAX_SELECTED)));
  return {
    ids,
    toggle(id, isSpan) {
      setLast(id);
      if (isSpan && last !== null) return put([...ids, ...between(pages, last, id)]);
      put(ids.has(id) ? [...ids].filter((other) => other !== id) : [...ids, id]);
    },
    set: put,
    clear: () => setIds(new Set()),
  };
}

/** Returns the loaded threads from one to the other, inclusive. */
function between(pages: ThreadPages, one: string, other: string): string[] {
  const indexes = [indexOfThread(pages, one), indexOfThread(pages, other)].sort((a, b) => a - b);
  const [from = -1, to = -1] = indexes;
  if (from === -1) return [other];
  return Array.from({ length: to - from + 1 }, (_, n) => rowAt(pages, from + n)?.node.id).filter(
    (id) => id !== undefined,
  );
}
