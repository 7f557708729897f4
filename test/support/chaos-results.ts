import type { Figures } from './stages/cluster-bench.ts';
import type { ExperimentTests, FaultExperiment } from './stages/fault-experiments.ts';

/** What an experiment came to when it was last run. One line of docs/chaos-results.jsonl. */
export interface ExperimentResult {
  id: string;
  outcome: 'held' | 'failed' | 'skipped';
  /** why it failed or was skipped; empty when it held */
  reason: string;
  /** of all its tests together */
  seconds: number;
  tests: number;
  /** ISO 8601 */
  ranAt: string;
  commit: string;
  /** the variables that set its length, as `CHAOS_KILLS=20 …` */
  length: string;
  machine: string;
  /** measurements that its tests noted */
  notes: string[];
  /** counts of the cluster's ledger */
  ledger: Figures | null;
}

/** One test as vitest reports it. */
export interface TestReport {
  fullName: string;
  status: string;
  /** milliseconds */
  duration?: number | null;
  failureMessages?: string[] | null;
}

/** A line that a test wrote into the file CHAOS_FIGURES. */
export type NotedFigure = { experiment: string; note: string } | ({ experiment: string } & Figures);

/** Returns whether a test with that full name belongs to the experiment. */
function isNamed({ name = '', row = '' }: ExperimentTests, fullName: string): boolean {
  return fullName.includes(name) && fullName.includes(row);
}

/** Returns the tests that experiments name and that the source of their file does not hold, as `A1: file: name`. */
export function missingTests(
  experiments: readonly FaultExperiment[],
  findSource: (file: string) => string | null,
): string[] {
  return experiments.flatMap(({ id, tests }) =>
    tests.flatMap(({ file, name = '', row = '' }) => {
      const source = findSource(file);
      if (source === null) return [`${id}: ${file}`];
      return [name, row].filter((text) => !source.includes(text)).map((text) => `${id}: ${file}: ${text}`);
    }),
  );
}

/** Returns the `--testNamePattern` that selects these tests of one file; null when all of them are selected. */
export function testNamePattern(tests: readonly ExperimentTests[]): string | null {
  if (tests.some(({ name }) => name === undefined)) return null;
  const quote = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return [...new Set(tests.map(({ name = '', row = '' }) => `^(?=.*${quote(name)})(?=.*${quote(row)})`))].join('|');
}

/** The part of an experiment's result that its tests decide. `reports` holds the tests of each file that was run. */
export function makeOutcome(
  experiment: FaultExperiment,
  reports: ReadonlyMap<string, readonly TestReport[] | { broken: string }>,
): Pick<ExperimentResult, 'outcome' | 'reason' | 'seconds' | 'tests'> {
  const reasons: string[] = [];
  const skipped: string[] = [];
  const found = new Map<string, TestReport>();
  for (const each of experiment.tests) {
    const report = reports.get(each.file);
    if (report === undefined) reasons.push(`${each.file} was not run`);
    else if ('broken' in report) reasons.push(`${each.file}: ${report.broken}`);
    else {
      const mine = report.filter(({ fullName }) => isNamed(each, fullName));
      if (mine.length === 0) reasons.push(`${each.file} has no test "${each.name ?? ''} ${each.row ?? ''}"`);
      for (const test of mine) found.set(`${each.file} ${test.fullName}`, test);
    }
  }
  for (const { fullName, status, failureMessages } of found.values()) {
    if (status === 'failed') reasons.push(`${fullName}: ${firstLine(failureMessages?.[0] ?? '')}`);
    else if (status !== 'passed') skipped.push(fullName);
  }
  const seconds = Math.round([...found.values()].reduce((sum, { duration }) => sum + (duration ?? 0), 0) / 100) / 10;
  const counts = { seconds, tests: found.size };
  if (reasons.length > 0) return { outcome: 'failed', reason: reasons.join('; ').slice(0, 400), ...counts };
  if (skipped.length > 0)
    return { outcome: 'skipped', reason: `${skipped.length} of ${found.size} tests cannot run here`, ...counts };
  return { outcome: 'held', reason: '', ...counts };
}

/** Reads docs/chaos-results.jsonl. */
export function readResults(text: string): ExperimentResult[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ExperimentResult);
}

/** Returns the results with those of `newer` in place of the older ones of the same experiments, in the order of the list. */
export function mergeResults(
  experiments: readonly FaultExperiment[],
  older: readonly ExperimentResult[],
  newer: readonly ExperimentResult[],
): ExperimentResult[] {
  const results = new Map([...older, ...newer].map((result) => [result.id, result]));
  return experiments.flatMap(({ id }) => results.get(id) ?? []);
}

/** The text of docs/chaos.md: every experiment with its last result. */
export function chaosPage(experiments: readonly FaultExperiment[], results: readonly ExperimentResult[]): string {
  const byId = new Map(results.map((result) => [result.id, result]));
  const count = (outcome: ExperimentResult['outcome']) => results.filter((each) => each.outcome === outcome).length;
  const machines = [...new Set(results.map(({ machine }) => machine))];
  const lengths = [...new Set(results.map(({ length }) => length))];
  const lines = [
    '# Fault experiments',
    '',
    'What was broken on purpose, what must hold, and the result of the last run of each experiment. The ledgers',
    '(`test/support/stages/ledger.ts`, `test/support/stages/sending-ledger.ts`) check after a run that no accepted message was lost or duplicated.',
    '',
    '    npm run chaos                      # every experiment at full length; takes hours, at most 7',
    '    npm run chaos -- A1 G2             # these experiments',
    '    npm run chaos -- FILE              # the experiments with a test in this file',
    '    npm run chaos -- --minutes 60      # starts no test file after 60 minutes (default 360); the oldest results come first',
    '',
    'A run replaces the rows of the experiments it ran and keeps the others. `CHAOS_LENGTH=slice` and smaller values of `CHAOS_KILLS`,',
    '`CHAOS_SECONDS` and `CHAOS_RATE` shorten it. The experiments and their tests are listed in `test/support/stages/fault-experiments.ts`.',
    '`npm run chaos` writes this page and `chaos-results.jsonl`; do not edit either.',
    '',
    `${experiments.length} experiments: ${count('held')} held, ${count('failed')} failed, ${count('skipped')} skipped, ${experiments.length - results.length} not run.`,
    '',
    '| id | fault | expected | result | last run | commit | seconds | length | machine |',
    '|---|---|---|---|---|---|---|---|---|',
    ...experiments.map((experiment) => {
      const row = [experiment.id, experiment.fault, experiment.expected];
      const result = byId.get(experiment.id);
      if (result === undefined)
        return tableRow([...row, experiment.tests.length === 0 ? 'no test' : 'not run', '', '', '', '', '']);
      const { outcome, reason, ranAt, commit, seconds, length, machine } = result;
      return tableRow([
        ...row,
        reason === '' ? outcome : `${outcome}: ${reason}`,
        ranAt.slice(0, 10),
        commit,
        String(seconds),
        String(lengths.indexOf(length) + 1),
        String(machines.indexOf(machine) + 1),
      ]);
    }),
    '',
    ...numbered('Lengths', lengths),
    ...numbered('Machines', machines),
    ...notes(results),
    ...ledgers(results),
  ];
  return lines.join('\n');
}

function numbered(title: string, texts: readonly string[]): string[] {
  return texts.length === 0 ? [] : [`${title}:`, '', ...texts.map((text, at) => `${at + 1}. ${text}`), ''];
}

function notes(results: readonly ExperimentResult[]): string[] {
  const rows = results.flatMap(({ id, notes: all }) => all.map((note) => tableRow([id, note])));
  return rows.length === 0 ? [] : ['## Measurements', '', '| experiment | measured |', '|---|---|', ...rows, ''];
}

function ledgers(results: readonly ExperimentResult[]): string[] {
  const rows = results.flatMap(({ id, ledger }) =>
    ledger === null
      ? []
      : tableRow([
          id,
          String(ledger.accepted),
          String(ledger.sent),
          counted(ledger.smtpTrouble),
          counted(ledger.httpTrouble),
          String(ledger.repeatedWebhooks),
          String(ledger.doubledSends),
        ]),
  );
  if (rows.length === 0) return [];
  return [
    '## Ledger of the cluster',
    '',
    'Messages accepted by SMTP and sends that got 2xx; the other responses that clients got before, when a retry succeeded; webhooks that',
    'arrived again (with their id and body), and copies of sent mail beyond the first.',
    '',
    '| experiment | accepted | sent | other SMTP responses | other HTTP responses | repeated webhooks | repeated sends |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ];
}

function counted(trouble: Record<string, number>): string {
  const words = Object.entries(trouble).map(([word, times]) => `${times} x ${word}`);
  return words.join(', ') || 'none';
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 200) ?? '';
}
