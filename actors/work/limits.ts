import type { Limit } from './fair-queue.ts';

/** Limits on what may run at once: a number of items, and their total bytes. */
export interface Room {
  count: number;
  bytes: number;
}

export interface LimitOptions<Item> extends Room {
  bytesOf: (item: Item) => number;
}

/** Limits all items together. One item is always admitted, however large it is. */
export function limitTotal<Item>({ count, bytes, bytesOf }: LimitOptions<Item>): Limit<Item> {
  const running: Room = { count: 0, bytes: 0 };
  return {
    admits: (item) => running.count === 0 || (running.count < count && running.bytes + bytesOf(item) <= bytes),
    isFull: () => running.count >= count,
    enter: (item) => change(running, 1, bytesOf(item)),
    leave: (item) => change(running, -1, -bytesOf(item)),
  };
}

/**
 * Limits the items of each key. A key that reached its limit starts nothing until it is down to `refill`, so that its items start in batches.
 * One item of a key is always admitted, however large it is.
 */
export function limitPerKey<Item>(
  options: LimitOptions<Item> & { refill: number; keyOf: (item: Item) => string },
): Limit<Item> {
  const { count, bytes, bytesOf, refill, keyOf } = options;
  const keys = new Map<string, Room & { isFilling: boolean }>();
  const isOpen = (key: string) => keys.get(key)?.isFilling ?? true;
  return {
    admitsKey: isOpen,
    admits(item) {
      const running = keys.get(keyOf(item));
      return running === undefined || (running.isFilling && running.bytes + bytesOf(item) <= bytes);
    },
    enter(item) {
      const key = keyOf(item);
      const running = keys.get(key) ?? { count: 0, bytes: 0, isFilling: true };
      keys.set(key, running);
      change(running, 1, bytesOf(item));
      if (running.count >= count) running.isFilling = false;
    },
    leave(item) {
      const key = keyOf(item);
      const running = keys.get(key);
      if (running === undefined) return;
      change(running, -1, -bytesOf(item));
      if (running.count <= refill) running.isFilling = true;
      if (running.count === 0) keys.delete(key);
    },
  };
}

/**
 * Limits all items together, and shares the room: a user may use as much as is left free, so that one user alone gets half, two get a third
 * each, and a user who has nothing running finds room. One item is always admitted, however large it is. With `isFirstAdmitted`, the first
 * item of a user is admitted whenever anything is free: otherwise small items of others may take the room of a large one for ever. The total
 * then exceeds `bytes` by less than one item.
 */
export function limitShared<Item>(
  options: LimitOptions<Item> & { workspaceOf: (item: Item) => string; isFirstAdmitted?: boolean },
): Limit<Item> {
  const { count, bytes, bytesOf, workspaceOf, isFirstAdmitted = false } = options;
  const users = new Map<string, Room>();
  const running: Room = { count: 0, bytes: 0 };

  const changeBoth = (item: Item, sign: 1 | -1) => {
    const workspaceId = workspaceOf(item);
    const own = users.get(workspaceId) ?? { count: 0, bytes: 0 };
    for (const room of [own, running]) change(room, sign, sign * bytesOf(item));
    if (own.count === 0) users.delete(workspaceId);
    else users.set(workspaceId, own);
  };

  return {
    admits(item) {
      const freeCount = count - running.count;
      if (freeCount <= 0) return false;
      if (running.count === 0) return true;
      const freeBytes = bytes - running.bytes - bytesOf(item);
      const own = users.get(workspaceOf(item));
      if (own === undefined) return isFirstAdmitted ? running.bytes < bytes : freeBytes >= 0;
      return own.count < freeCount && own.bytes + bytesOf(item) <= freeBytes;
    },
    isFull: () => running.count >= count,
    enter: (item) => changeBoth(item, 1),
    leave: (item) => changeBoth(item, -1),
  };
}

/** Applies a limit to some of the items: the others always start, as far as it goes. */
export function limitSome<Item>(applies: (item: Item) => boolean, limit: Limit<Item>): Limit<Item> {
  return {
    admits: (item) => !applies(item) || limit.admits(item),
    enter: (item) => (applies(item) ? limit.enter(item) : undefined),
    leave: (item) => (applies(item) ? limit.leave(item) : undefined),
  };
}

function change(room: Room, count: number, bytes: number): void {
  room.count += count;
  room.bytes += bytes;
}
