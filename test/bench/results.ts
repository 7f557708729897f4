import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { benchmarksPage, README_MARKS, readmeTable } from './page.ts';
import type { Row } from './rows.ts';

const root = path.resolve(import.meta.dirname, '../..');
export const resultsFolder = path.join(root, 'docs');
export const readmeFile = path.join(root, 'README.md');

/** What one part of the benchmarks measured the last time. */
export interface PartResult {
  /** as `--only` takes it */
  part: string;
  /** short hash; with a plus when files had been changed */
  commit: string;
  machine: string;
  /** when it ended; ISO 8601 */
  at: string;
  seconds: number;
  /** CPU that other processes used, median of the measurements; percent of all cores, null when it was not measured */
  foreignPercent: number | null;
  /** a run that only tries the tool out */
  isSmall: boolean;
  problems: string[];
  rows: Row[];
}

/** The contents of docs/benchmarks.json. */
export interface Results {
  parts: PartResult[];
}

/** Returns the results in that folder; none when there is no file. */
export function readResults(folder: string): Results {
  const file = path.join(folder, 'benchmarks.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : { parts: [] };
}

/** Replaces the result of one part. A part that measured nothing keeps its former rows. */
export function keepResult(folder: string, result: PartResult, order: readonly string[]): void {
  const { parts } = readResults(folder);
  const kept = result.rows.length === 0 ? parts.find(({ part }) => part === result.part) : undefined;
  const others = parts.filter(({ part }) => part !== result.part);
  const now = kept === undefined ? result : { ...kept, problems: result.problems };
  const sorted = [...others, now].toSorted((one, other) => order.indexOf(one.part) - order.indexOf(other.part));
  writeFileSync(path.join(folder, 'benchmarks.json'), `${JSON.stringify({ parts: sorted }, null, 2)}\n`);
}

/** Writes benchmarks.md of that folder, and the table between the marks of a README, from benchmarks.json. */
export function writePages(folder: string, readme: string | null): void {
  const results = readResults(folder);
  writeFileSync(path.join(folder, 'benchmarks.md'), benchmarksPage(results));
  if (readme !== null) writeFileSync(readme, withTable(readFileSync(readme, 'utf8'), readmeTable(results)));
}

/** Returns the README with the table between its marks. Throws when it does not have both. */
export function withTable(text: string, table: string): string {
  const [from, to] = README_MARKS.map((mark) => text.indexOf(mark));
  if (from === undefined || to === undefined || from === -1 || to < from)
    throw new Error(`README.md does not have the marks ${README_MARKS.join(' and ')}`);
  return `${text.slice(0, from)}${README_MARKS[0]}\n\n${table}\n${text.slice(to)}`;
}
