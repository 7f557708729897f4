/** Milliseconds of the machine's monotonic clock, which all its processes share. Its zero point has no meaning. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
