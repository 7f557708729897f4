/** What is left of a rate, on any clock. */
export interface RateState {
  left: number;
  /** milliseconds */
  at: number;
}

const MINUTE_MS = 60_000;

/** Takes one of `perMinute` per minute; a minute's worth may come at once. Returns the new state, and whether there was one left. */
export function takeOfRate(
  known: RateState | undefined,
  perMinute: number,
  now: number,
): { state: RateState; isTaken: boolean } {
  const since = known === undefined ? MINUTE_MS : Math.max(0, now - known.at);
  const left = Math.min(perMinute, (known?.left ?? perMinute) + (since * perMinute) / MINUTE_MS);
  const isTaken = left >= 1;
  return { state: { left: isTaken ? left - 1 : left, at: now }, isTaken };
}
