/** Milliseconds of the machine's monotonic clock, which all its processes share; its zero means nothing. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
