import { parts } from './parts.ts';
import { QUIET_PERCENT } from './resources.ts';
import type { PartResult, Results } from './results.ts';
import { computeRatio, type Row } from './rows.ts';
import { median } from './statistics.ts';

/** The table of README.md stands between them. */
export const README_MARKS = ['<!-- benchmarks: written by npm run bench -- all -->', '<!-- /benchmarks -->'] as const;

/** The rows of README.md. */
const README_ROWS = [
  'webhook-4k-fresh',
  'webhook-4k-reused',
  'webhook-100k-reused',
  'send',
  'post',
  'search-100k',
  'quiet-cpu',
  'idle-memory',
];

/** Returns the text of docs/benchmarks.md. */
export function benchmarksPage(results: Results): string {
  return [
    '# Benchmarks',
    '',
    'Postroom beside peers that do comparable work, in turn on one machine, on loopback, with `fsync` on. The load generator, the webhook receiver and the',
    'remote mail server run on the same cores. Compare the ratios: they change less from machine to machine than the figures.',
    '',
    '    npm run bench -- all                  measure everything and write this page (about 30 minutes)',
    '    npm run bench -- all --only fairness  measure one part',
    '    npm run bench -- guard                compare with this page in three minutes',
    '',
    'Each figure is the median over rounds, with the lowest and highest in parentheses. A ratio is our figure divided by the peer’s: above 1 is better for a rate,',
    'below 1 for a cost. Every message is counted at its destination. [Capacity](capacity.md) says what one message costs each process and what to enlarge first.',
    '',
    ...parts.flatMap((part) => {
      const result = results.parts.find((each) => each.part === part.name);
      return [`## ${part.title}`, '', ...(result === undefined ? ['Not measured yet.'] : partLines(result)), ''];
    }),
  ].join('\n');
}

function partLines(result: PartResult): string[] {
  const { part, commit, machine, at, foreignPercent, isSmall, problems, rows } = result;
  const about = parts.find(({ name }) => name === part)?.about ?? '';
  return [
    about,
    '',
    `\`npm run bench -- all --only ${part}${isSmall ? ' --small' : ''}\`, commit ${commit}, ${at.slice(0, 10)}, ${machine}.${noise(foreignPercent)}`,
    '',
    ...(isSmall ? ['**A small run that only tries the tool out.**', ''] : []),
    ...(problems.length === 0 ? [] : [...problems.map((problem) => `**Failed:** ${problem.split('\n')[0]}`), '']),
    '| work | Postroom | peer | its figure | ratio |',
    '|---|---|---|---|---|',
    ...rows.map(tableRow),
  ];
}

function noise(foreignPercent: number | null): string {
  if (foreignPercent === null) return '';
  const percent = `Other processes used ${foreignPercent.toFixed(0)} % of the machine`;
  return foreignPercent > QUIET_PERCENT ? ` ${percent}: **NOISY**, not a quiet machine.` : ` ${percent}.`;
}

function tableRow(row: Row): string {
  const { work, unit, ours, peer } = row;
  const theirs = peer === null ? ['–', '–'] : [peer.name, figures(peer.values, unit)];
  return `| ${[work, figures(ours, unit), ...theirs, ratioText(row)].join(' | ')} |`;
}

/** Returns the table of README.md, which quotes rows of docs/benchmarks.md. */
export function readmeTable(results: Results): string {
  const rows = results.parts.filter(({ isSmall }) => !isSmall).flatMap((part) => part.rows);
  const quoted = README_ROWS.flatMap((id) => rows.find((row) => row.id === id) ?? []);
  if (quoted.length === 0) return 'Not measured yet.\n';
  return [
    '| work | Postroom | peer | ratio |',
    '|---|---|---|---|',
    ...quoted.map((row) => {
      const peer = row.peer === null ? '–' : `${row.peer.name}: ${figure(median(row.peer.values))} ${row.unit}`;
      return `| ${row.work} | ${figure(median(row.ours))} ${row.unit} | ${peer} | ${ratioText(row)} |`;
    }),
    '',
  ].join('\n');
}

function figures(values: readonly number[], unit: string): string {
  const middle = `${figure(median([...values]))} ${unit}`;
  return values.length < 2 ? middle : `${middle} (${figure(Math.min(...values))}–${figure(Math.max(...values))})`;
}

function ratioText(row: Row): string {
  return computeRatio(row)?.toFixed(2) ?? '–';
}

/** Three digits. */
export function figure(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toFixed(digits).replace(/\B(?=(\d{3})+$)/g, digits === 0 ? ',' : '');
}
