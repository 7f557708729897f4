import { median } from './statistics.ts';

/** One line of docs/benchmarks.md: a figure of ours and of a peer that did the same work in the same run. */
export interface Row {
  /** names the row in docs/benchmarks.json, and in what the guard prints */
  id: string;
  /** what is measured */
  work: string;
  unit: 'messages/s' | 'requests/s' | 'ms' | 'ms/s' | 'MiB' | 'KiB';
  better: 'higher' | 'lower';
  /** one value per round */
  ours: number[];
  peer: Peer | null;
}

interface Peer {
  name: string;
  /** one value per round */
  values: number[];
}

/** What a part of the benchmarks measured. */
export interface PartOutcome {
  rows: Row[];
  /** CPU that other processes used during each measurement; percent of all cores */
  foreignPercents: number[];
  /** what failed while the rest was measured */
  problems: string[];
}

/** Our median by the peer's; null without a peer, and when the peer used nothing. */
export function computeRatio({ ours, peer }: Row): number | null {
  const ratio = peer === null ? Number.NaN : median(ours) / median(peer.values);
  return Number.isFinite(ratio) ? ratio : null;
}

/** Removes rows that nothing was measured for. A peer without a value leaves its row without a peer. */
export function measuredRows(rows: readonly Row[]): Row[] {
  return rows.flatMap((row) => {
    const [ours, values] = [row.ours.filter(Number.isFinite), row.peer?.values.filter(Number.isFinite) ?? []];
    if (ours.length === 0) return [];
    return [{ ...row, ours, peer: row.peer === null || values.length === 0 ? null : { ...row.peer, values } }];
  });
}

/** How large a measurement is: `small` tries the tool out, `guard` is what three minutes allow, `full` is for docs/benchmarks.md. */
export type Extent = 'small' | 'guard' | 'full';
