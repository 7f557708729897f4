import path from 'node:path';
import { parseArgs } from 'node:util';
import { currentCommit } from '../support/last-results.ts';
import { figure } from './page.ts';
import { QUIET_PERCENT } from './resources.ts';
import { type PartResult, type Results, readResults, resultsFolder } from './results.ts';
import { computeRatio, type Row } from './rows.ts';
import { namedParts, runPart } from './run-part.ts';
import { median } from './statistics.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** A ratio may be worse than the page's by this factor. */
const TOLERANCE = 1.25;

/** What three minutes allow. */
const GUARDED_PARTS = ['inbound', 'outbound', 'quiet', 'api'];
const GUARDED_ROWS = [
  'webhook-4k-fresh',
  'webhook-100k-fresh',
  'send',
  'quiet-cpu',
  'list-100k',
  'search-100k',
] as const;

export const help = `Measures ${GUARDED_ROWS.length} rows of docs/benchmarks.md again in about three minutes and compares the ratios to the peers.
A row that is worse is measured a second time, and both rounds count.

  exit 0   no ratio is worse than the page's by more than a quarter
  exit 1   a ratio is worse, or could not be measured or compared; the rows are named
  exit 2   wrong options
  exit 3   NOISY: other processes used more than ${QUIET_PERCENT} % of the machine, so the figures say nothing. Repeat on a quiet machine.

  --small       a few messages each, to try the tool out`;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { small: { type: 'boolean', default: false } } });
  const page = readResults(resultsFolder);
  const measure = async (names: readonly string[]) => {
    const results: PartResult[] = [];
    for (const part of namedParts(names)) {
      console.log(`\n=== ${part.name}`);
      results.push(await runPart(part, values.small ? 'small' : 'guard', currentCommit(root)));
    }
    return results;
  };
  const first = await measure(GUARDED_PARTS);
  const worse = compare(page, first).filter(({ isWorse }) => isWorse);
  const again = GUARDED_PARTS.filter((name) => worse.some(({ id }) => findPart(page, id) === name));
  const results = again.length === 0 ? first : merged(first, await measure(again));
  const verdicts = compare(page, results);
  const foreignPercent = median(results.flatMap((result) => result.foreignPercent ?? []));
  console.log(`\n${verdicts.map(({ text }) => text).join('\n')}`);
  for (const { part, problems } of results) for (const problem of problems) console.log(`FAILED ${part}: ${problem}`);
  process.exitCode = exitCode(verdicts, results, foreignPercent);
  const noise = `other processes used ${foreignPercent.toFixed(0)} % of the machine`;
  console.log(process.exitCode === 3 ? `NOISY: ${noise}` : noise);
}

export interface Verdict {
  id: string;
  /** or could not be compared */
  isWorse: boolean;
  text: string;
}

/** Compares the guarded rows with those of the page. */
export function compare(page: Results, results: readonly PartResult[]): Verdict[] {
  return GUARDED_ROWS.map((id) => {
    const [before, now] = [findRow(page.parts, id), findRow(results, id)];
    const [expected, found] = [before, now].map((row) => (row === undefined ? null : computeRatio(row)));
    if (now === undefined || before === undefined || expected == null || found == null) {
      const missing = expected == null ? 'docs/benchmarks.md has no ratio: run npm run bench -- all' : 'not measured';
      return { id, isWorse: true, text: `MISSING ${id}: ${missing}` };
    }
    const isWorse = now.better === 'higher' ? found * TOLERANCE < expected : found > expected * TOLERANCE;
    const peer =
      now.peer === null ? '' : ` (${figure(median(now.ours))} ${now.unit} beside ${figure(median(now.peer.values))})`;
    return {
      id,
      isWorse,
      text: `${isWorse ? 'WORSE  ' : 'ok     '} ${id}: ratio ${found.toFixed(2)}, on the page ${expected.toFixed(2)}${peer}`,
    };
  });
}

export function exitCode(
  verdicts: readonly Verdict[],
  results: readonly PartResult[],
  foreignPercent: number,
): 0 | 1 | 3 {
  if (foreignPercent > QUIET_PERCENT) return 3;
  const isFailed = verdicts.some(({ isWorse }) => isWorse) || results.some(({ problems }) => problems.length > 0);
  return isFailed ? 1 : 0;
}

/** The results with the values of a second measurement added to those of the first. */
export function merged(first: readonly PartResult[], second: readonly PartResult[]): PartResult[] {
  return first.map((result) => {
    const more = second.find(({ part }) => part === result.part);
    if (more === undefined) return result;
    const rows = result.rows.map((row): Row => {
      const other = more.rows.find(({ id }) => id === row.id);
      if (other === undefined) return row;
      const peer =
        row.peer === null ? null : { ...row.peer, values: [...row.peer.values, ...(other.peer?.values ?? [])] };
      return { ...row, ours: [...row.ours, ...other.ours], peer };
    });
    const added = more.rows.filter(({ id }) => rows.every((row) => row.id !== id));
    return { ...more, rows: [...rows, ...added] };
  });
}

function findRow(results: readonly PartResult[], id: string): Row | undefined {
  return results.flatMap(({ rows }) => rows).find((row) => row.id === id);
}

function findPart(page: Results, id: string): string | undefined {
  return page.parts.find(({ rows }) => rows.some((row) => row.id === id))?.part;
}
