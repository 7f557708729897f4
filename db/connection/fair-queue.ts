import type pg from 'pg';
import { currentOwner } from './result-charge.ts';

/**
 * The queue for the connections of a pool. Accounts take turns: however many requests of one wait, the first of another waits
 * for the next connections only. pg-pool takes them from an array in the order of their coming.
 */
class FairQueue<Item extends object> extends Array<Item> {
  readonly #owners = new WeakMap<Item, string>();
  /** the accounts that had their turn in this round */
  #round = new Set<string>();

  override push(...items: Item[]): number {
    for (const item of items) this.#owners.set(item, currentOwner());
    return super.push(...items);
  }

  override shift(): Item | undefined {
    const ownerAt = (at: number) => this.#owners.get(this[at] as Item) ?? '';
    let next = this.findIndex((_, at) => !this.#round.has(ownerAt(at)));
    if (next === -1) {
      this.#round = new Set();
      next = 0;
    }
    this.#round.add(ownerAt(next));
    return this.splice(next, 1)[0];
  }

  /** What splice returns is a plain array. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

/** Lets accounts take turns at the connections of a pool (currentOwner). */
export function queueFairly(pool: pg.Pool): void {
  // Not in the published types. A test fails when a later version of pg-pool has another queue.
  (pool as unknown as { _pendingQueue: unknown[] })._pendingQueue = new FairQueue<object>();
}
