import type { Database } from './database.ts';

/** What a server's clock showed, and when that was read, on performance.now(). */
interface Reading {
  at: number;
  tick: number;
}

const readings = new WeakMap<Database['pool'], Reading>();

/** Remembers what `clock_timestamp()` was in a response that just arrived. */
export function noteServerClock({ pool }: Pick<Database, 'pool'>, clock: Date): void {
  readings.set(pool, { at: clock.getTime(), tick: performance.now() });
}

/**
 * Returns what `clock_timestamp()` will be at that instant on performance.now(), or a little less: by the time that the response with the
 * last reading took. Null when nothing was read yet.
 */
export function serverTimeAt({ pool }: Pick<Database, 'pool'>, tick: number): Date | null {
  const reading = readings.get(pool);
  return reading === undefined ? null : new Date(reading.at + tick - reading.tick);
}
