import { isConflict, isTransient } from '../../db/errors.ts';
import { apart } from '../bus/tracing.ts';

export interface GroupCommitOptions<Item, Result> {
  /** Writes the items in one transaction and returns a result for each, in their order. When it throws, nothing was written, or writing it again is harmless. */
  write: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** of one group; a single item may be larger than `size` */
  limits: { items: number; size?: number };
  /** of an item, in the unit of `limits.size`; 1 by default */
  sizeOf?: (item: Item) => number;
  /**
   * How long an item waits for others before its group is written, unless the group is full earlier; 0 by default: items that arrive during
   * a commit form the next group. Milliseconds.
   */
  gatherMs?: (item: Item) => number;
  /** Whether further items are on their way. A group waits for others only while this is true; always, by default. */
  isMoreComing?: () => boolean;
  /** an item that waited longer is rejected with `WaitedTooLong`, and was not written; milliseconds, no limit by default */
  maxWaitMs?: number;
  /** groups that are written at the same time; 1 by default */
  groupsAtOnce?: number;
}

/** Writes items that arrive at the same time in one transaction. */
export interface GroupCommit<Item, Result> {
  /** Resolves after the commit with the result for this item. Rejects when it was not written. */
  add(item: Item): Promise<Result>;
}

/** An item was not written, because its turn came too late. */
export class WaitedTooLong extends Error {
  constructor() {
    super('waited too long for its commit');
    this.name = 'WaitedTooLong';
  }
}

interface Waiting<Item, Result> {
  item: Item;
  since: number;
  /** on performance.now(): when its group is written at the latest */
  dueAt: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Groups commits. When a group fails for a reason that may lie in one of its items, each item is written alone, so that one bad item
 * harms no other. When PostgreSQL is unreachable, all of them are rejected at once.
 */
export function createGroupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> {
  const { limits, gatherMs = () => 0, isMoreComing = () => true, groupsAtOnce = 1 } = options;
  const maxWaitMs = options.maxWaitMs ?? Number.POSITIVE_INFINITY;
  const sizeOf = options.sizeOf ?? (() => 1);
  const waiting: Waiting<Item, Result>[] = [];
  let groupsInFlight = 0;
  /** lets the group that gathers look again whether it is due */
  let lookAgain: () => void = () => undefined;

  const startGroups = () => {
    while (groupsInFlight < groupsAtOnce && waiting.length > 0) {
      groupsInFlight++;
      void commitNext().finally(() => {
        groupsInFlight--;
        startGroups();
      });
    }
  };

  const commitNext = async (): Promise<void> => {
    // Not after a turn of the event loop: the first item is written at once.
    if (leftMs() > 0) await gather();
    const group = takeGroup().filter(isFresh);
    try {
      await commit(group);
    } catch (error) {
      await commitEachAlone(group, error);
    }
  };

  /** Waits until the group is full, or the first of its items is due. */
  const gather = async (): Promise<void> => {
    for (let left = leftMs(); left > 0; left = leftMs()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      lookAgain = resolve;
      const timer = setTimeout(resolve, left);
      await promise;
      clearTimeout(timer);
    }
  };

  /** Milliseconds until the next group is written; 0 or less: now. */
  const leftMs = (): number => {
    if (waiting.length >= limits.items || !isMoreComing()) return 0;
    return Math.min(...waiting.map(({ dueAt }) => dueAt)) - performance.now();
  };

  const takeGroup = (): Waiting<Item, Result>[] => {
    let count = 0;
    let size = 0;
    for (const { item } of waiting) {
      size += sizeOf(item);
      if (count === limits.items || (count > 0 && size > (limits.size ?? Number.POSITIVE_INFINITY))) break;
      count++;
    }
    return waiting.splice(0, count);
  };

  const commit = async (group: readonly Waiting<Item, Result>[]): Promise<void> => {
    if (group.length === 0) return;
    const results = await options.write(group.map(({ item }) => item));
    if (results.length !== group.length) throw new Error('a group commit must return one result for each item');
    for (const [at, { resolve }] of group.entries()) resolve(results[at] as Result);
  };

  const commitEachAlone = async (group: readonly Waiting<Item, Result>[], cause: unknown): Promise<void> => {
    let reason = cause;
    for (const member of group) {
      const isHopeless = group.length === 1 && !isConflict(reason);
      if (isHopeless || !mayLieInItem(reason)) member.reject(reason);
      else if (isFresh(member)) {
        try {
          await commit([member]);
        } catch (error) {
          member.reject(error);
          if (!mayLieInItem(error)) reason = error;
        }
      }
    }
  };

  /** An item that is too old is rejected. */
  const isFresh = ({ since, reject }: Waiting<Item, Result>): boolean => {
    const isInTime = performance.now() - since < maxWaitMs;
    if (!isInTime) reject(new WaitedTooLong());
    return isInTime;
  };

  return {
    add(item) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const since = performance.now();
      waiting.push({ item, since, dueAt: since + gatherMs(item), resolve, reject });
      lookAgain();
      // A commit is of several items and belongs to none of their traces.
      apart(startGroups);
      return promise;
    },
  };
}

/** Whether an item of the group may have caused the failure, or the failure has passed, so that the other items can be written. */
function mayLieInItem(error: unknown): boolean {
  return !isTransient(error) || isConflict(error);
}
