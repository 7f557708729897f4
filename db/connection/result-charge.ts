import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';

/** Counts the bytes that queries return. */
export interface ResultCharge {
  /** Counts bytes that have just arrived. What it throws ends the query, and its connection. */
  take(bytes: number): void;
}

/**
 * Results of one use of a connection are counted in steps of this size, and the last step not at all, so that what most requests read costs
 * nothing. Bytes.
 */
const STEP_BYTES = 262_144;

/** Whom queries are for, and what counts their results. */
interface QueryUse {
  charge: ResultCharge | null;
  /** the account, whose queries take turns with those of others; empty: unknown */
  owner: string;
}

const current = new AsyncLocalStorage<QueryUse>();

/** Runs work whose queries are counted as they arrive; null: they are not counted. They are for the same account as before, unless it is given. */
export function chargeResults<T>(charge: ResultCharge | null, work: () => T, owner: string = currentOwner()): T {
  return current.run({ charge, owner }, work);
}

interface Meter {
  charge: ResultCharge | null;
  /** bytes that are not counted yet */
  bytes: number;
}

const meters = new WeakMap<pg.ClientBase, Meter>();

/** The part of pg's connection that reports rows. */
interface RowSource {
  stream: { destroy(error: Error): void };
  on(event: 'dataRow', listener: (row: { length: number }) => void): void;
}

/** Counts what a connection returns from now on for the work that takes it, until the next one takes it. */
export function meterResults(client: pg.ClientBase, charge: ResultCharge | null): void {
  const known = meters.get(client);
  if (known !== undefined) {
    known.charge = charge;
    known.bytes = 0;
    return;
  }
  const meter: Meter = { charge, bytes: 0 };
  meters.set(client, meter);
  const { connection } = client as unknown as { connection: RowSource };
  connection.on('dataRow', ({ length }) => {
    if (meter.charge === null) return;
    meter.bytes += length;
    if (meter.bytes < STEP_BYTES) return;
    try {
      meter.charge.take(meter.bytes);
      meter.bytes = 0;
    } catch (error) {
      meter.charge = null;
      // The rest of the result must not arrive.
      connection.stream.destroy(error as Error);
    }
  });
}

/** Returns what counts the results of the running work; null if nothing does. */
export function currentCharge(): ResultCharge | null {
  return current.getStore()?.charge ?? null;
}

/** Returns the account that the running work is for; empty if it is unknown. */
export function currentOwner(): string {
  return current.getStore()?.owner ?? '';
}
