/**
 * A limit on what runs at once. An item starts when every limit of its queue admits it.
 */
export interface Limit<Item> {
  /** Whether this item may start now. */
  admits(item: Item): boolean;
  /** Counts an item that starts. */
  enter(item: Item): void;
  /** Ends what `enter` began, for the same item. */
  leave(item: Item): void;
  /** Whether an item of this key could start at all; true if absent. Avoids checking every item of the key. */
  admitsKey?(key: string): boolean;
  /** Whether no item at all could start; false if absent. */
  isFull?(): boolean;
}

export interface FairQueueOptions<Item> {
  /** the destination or endpoint of an item */
  keyOf: (item: Item) => string;
  workspaceOf: (item: Item) => string;
  limits: readonly Limit<Item>[];
}

/**
 * Items that wait or run. Keys take turns, so that a destination that hangs or has a long backlog delays no other, and within a key its users
 * take turns. The items of one user and key start in the order in which they were added.
 */
export interface FairQueue<Item> {
  add(item: Item): void;
  /** Queues an item again that was running, before all others of its key. */
  putBack(item: Item): void;
  /** Returns the next items that may start, one per key in turn. They run until `end`. */
  take(): Item[];
  /** Ends the run of an item: its place is free. */
  end(item: Item): void;
  /** items of that key that run */
  runningOf(key: string): number;
  /** Removes the items of that key that wait. */
  takeWaiting(key: string): Item[];
  /** Removes all items that wait. */
  takeAllWaiting(): Item[];
}

interface Line<Item> {
  /** by user; the first user is next */
  waiting: Map<string, Item[]>;
  running: number;
}

export function createFairQueue<Item>({ keyOf, workspaceOf, limits }: FairQueueOptions<Item>): FairQueue<Item> {
  const lines = new Map<string, Line<Item>>();
  // Keys with waiting items; the first one is next.
  const turns = new Set<string>();

  const findOrAddLine = (key: string): Line<Item> => {
    const line = lines.get(key) ?? { waiting: new Map<string, Item[]>(), running: 0 };
    lines.set(key, line);
    return line;
  };

  const forgetIdle = (key: string, line: Line<Item>) => {
    if (line.running === 0 && line.waiting.size === 0) lines.delete(key);
  };

  /** The next item of the first user in turn whose item is admitted. */
  const takeNextAdmitted = (key: string, { waiting }: Line<Item>): Item | undefined => {
    if (!limits.every((limit) => limit.admitsKey?.(key) ?? true)) return undefined;
    for (const [workspaceId, items] of waiting) {
      const [item] = items;
      if (item === undefined || !limits.every((limit) => limit.admits(item))) continue;
      items.shift();
      waiting.delete(workspaceId);
      if (items.length > 0) waiting.set(workspaceId, items);
      return item;
    }
    return undefined;
  };

  const takeWaiting = (key: string): Item[] => {
    const line = lines.get(key);
    if (line === undefined) return [];
    const taken = [...line.waiting.values()].flat();
    line.waiting.clear();
    turns.delete(key);
    forgetIdle(key, line);
    return taken;
  };

  return {
    add(item) {
      const [key, workspaceId] = [keyOf(item), workspaceOf(item)];
      const { waiting } = findOrAddLine(key);
      const items = waiting.get(workspaceId);
      if (items === undefined) waiting.set(workspaceId, [item]);
      else items.push(item);
      turns.add(key);
    },

    putBack(item) {
      const [key, workspaceId] = [keyOf(item), workspaceOf(item)];
      const { waiting } = findOrAddLine(key);
      const others = [...waiting].filter(([other]) => other !== workspaceId);
      const own = [item, ...(waiting.get(workspaceId) ?? [])];
      waiting.clear();
      for (const [user, items] of [[workspaceId, own] as const, ...others]) waiting.set(user, items);
      turns.add(key);
    },

    take() {
      const started: Item[] = [];
      // How many keys in a row could start nothing; a full round ends the search.
      let idle = 0;
      while (idle < turns.size && !limits.some((limit) => limit.isFull?.() ?? false)) {
        const key = turns.values().next().value;
        if (key === undefined) break;
        turns.delete(key);
        const line = findOrAddLine(key);
        const item = takeNextAdmitted(key, line);
        if (item === undefined) {
          idle++;
        } else {
          line.running++;
          for (const limit of limits) limit.enter(item);
          started.push(item);
          idle = 0;
        }
        if (line.waiting.size > 0) turns.add(key);
      }
      return started;
    },

    end(item) {
      const key = keyOf(item);
      const line = findOrAddLine(key);
      line.running--;
      for (const limit of limits) limit.leave(item);
      forgetIdle(key, line);
    },

    runningOf: (key) => lines.get(key)?.running ?? 0,
    takeWaiting,
    takeAllWaiting: () => [...lines.keys()].flatMap(takeWaiting),
  };
}
