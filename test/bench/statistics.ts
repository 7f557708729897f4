/** The value below which that share of the sample lies (nearest rank); NaN of an empty sample. */
export function percentile(sample: number[], share: number): number {
  const sorted = sample.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

export function median(sample: number[]): number {
  const sorted = sample.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** `median (lowest-highest)`, rounded. */
export function spread(sample: number[], digits = 0): string {
  if (sample.length === 0) return '-';
  return `${median(sample).toFixed(digits)} (${Math.min(...sample).toFixed(digits)}-${Math.max(...sample).toFixed(digits)})`;
}

/** The contestants of a round in their turn: each round begins with another one, and every second one runs backwards. */
export function inTurn<T>(contestants: readonly T[], round: number): T[] {
  const turned = contestants.map((_, at) => contestants[(at + round) % contestants.length] as T);
  return round % 2 === 1 ? turned.toReversed() : turned;
}
