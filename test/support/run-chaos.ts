import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  chaosPage,
  type ExperimentResult,
  makeOutcome,
  mergeResults,
  missingTests,
  type NotedFigure,
  readResults,
  type TestReport,
  testNamePattern,
} from './chaos-results.ts';
import { type FaultExperiment, faultExperiments } from './stages/fault-experiments.ts';
import { findVitestConfig } from './test-files.ts';

/**
 * `npm run chaos [-- ID|FILE…] [--minutes N]`: runs fault experiments at full length, one test file after the other and without retries,
 * and merges their results into docs/chaos.md. Those without a result and with the oldest ones come first. CHAOS_LENGTH=slice,
 * CHAOS_KILLS, CHAOS_SECONDS and CHAOS_RATE make it shorter.
 */
const root = path.resolve(import.meta.dirname, '../..');

/** What the experiments take from the environment. */
const length = chosen({ CHAOS_LENGTH: 'full', CHAOS_KILLS: '20', CHAOS_SECONDS: '45', CHAOS_RATE: '50' });

/** One test file; a hang must not stop the others. */
const FILE_LIMIT_MINUTES = 60;

const { values, positionals } = parseArgs({
  options: { output: { type: 'string', default: 'docs' }, minutes: { type: 'string', default: '360' } },
  allowPositionals: true,
});
const resultsFile = path.resolve(root, values.output, 'chaos-results.jsonl');
const pageFile = path.resolve(root, values.output, 'chaos.md');
const endAt = Date.now() + Number(values.minutes) * 60_000;
let isStopped = false;

const missing = missingTests(faultExperiments, (file) => {
  try {
    return readFileSync(path.join(root, file), 'utf8');
  } catch {
    return null;
  }
});
if (missing.length > 0) {
  process.stderr.write(
    `test/support/stages/fault-experiments.ts names tests that do not exist:\n${missing.join('\n')}\n`,
  );
  process.exit(1);
}

let results = readResults(await readFile(resultsFile, 'utf8').catch(() => ''));
const selected = oldestFirst(select(positionals));
const commit = version();
const folder = await mkdtemp(path.join(tmpdir(), 'postroom-chaos-'));
try {
  await writeResults();
  const ran = await run(selected);
  const failed = ran.filter(({ outcome }) => outcome === 'failed');
  for (const { id, reason } of failed) process.stdout.write(`${id} failed: ${reason}\n`);
  process.stdout.write(`${ran.length} of ${selected.length} experiments run, ${failed.length} failed: ${pageFile}\n`);
  process.exitCode = failed.length > 0 ? 1 : 0;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The experiments with these ids or with a test in these files; all of them that have a test when nothing is named. */
function select(names: readonly string[]): FaultExperiment[] {
  const isChosen = ({ id, tests }: FaultExperiment, name: string) =>
    id === name || tests.some(({ file }) => file === path.relative(root, path.resolve(name)));
  for (const name of names)
    if (!faultExperiments.some((each) => isChosen(each, name))) throw new Error(`${name} is no experiment`);
  return faultExperiments.filter(
    (each) => each.tests.length > 0 && (names.length === 0 || names.some((name) => isChosen(each, name))),
  );
}

function oldestFirst(experiments: readonly FaultExperiment[]): FaultExperiment[] {
  const ranAt = new Map(results.map((result) => [result.id, result.ranAt]));
  return experiments.toSorted((one, other) => (ranAt.get(one.id) ?? '').localeCompare(ranAt.get(other.id) ?? ''));
}

/** Runs the files of the experiments and writes each result as soon as all files of its experiment have run. */
async function run(experiments: readonly FaultExperiment[]): Promise<ExperimentResult[]> {
  const figuresFile = path.join(folder, 'figures.jsonl');
  const reports = new Map<string, TestReport[] | { broken: string }>();
  const ran: ExperimentResult[] = [];
  for (const file of new Set(experiments.flatMap(({ tests }) => tests.map((each) => each.file)))) {
    if (Date.now() >= endAt) break;
    const tests = experiments.flatMap((each) => each.tests).filter((each) => each.file === file);
    const report = await runFile(file, testNamePattern(tests), figuresFile);
    if (isStopped) break;
    reports.set(file, report);
    const figures = await readFigures(figuresFile);
    const done = experiments.filter(
      (each) =>
        each.tests.some((test) => test.file === file) &&
        each.tests.every((test) => reports.has(test.file)) &&
        !ran.some(({ id }) => id === each.id),
    );
    const newer = done.map((each) => makeResult(each, reports, figures));
    ran.push(...newer);
    results = mergeResults(faultExperiments, results, newer);
    await writeResults();
  }
  return ran;
}

async function writeResults(): Promise<void> {
  await writeFile(resultsFile, results.map((result) => `${JSON.stringify(result)}\n`).join(''));
  await writeFile(pageFile, chaosPage(faultExperiments, results));
}

function makeResult(
  experiment: FaultExperiment,
  reports: ReadonlyMap<string, TestReport[] | { broken: string }>,
  figures: readonly NotedFigure[],
): ExperimentResult {
  const { id } = experiment;
  const mine = figures.filter((figure) => figure.experiment === id);
  const [ledger] = mine.flatMap((figure) => ('note' in figure ? [] : [figure]));
  return {
    id,
    ...makeOutcome(experiment, reports),
    ranAt: new Date().toISOString(),
    commit,
    length,
    machine: machine(),
    notes: mine.flatMap((figure) => ('note' in figure ? [figure.note] : [])),
    ledger: ledger ?? null,
  };
}

async function runFile(
  file: string,
  pattern: string | null,
  figuresFile: string,
): Promise<TestReport[] | { broken: string }> {
  const report = path.join(folder, 'report.json');
  await rm(report, { force: true });
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  const config = findVitestConfig(file);
  const words = [
    'run',
    `--config=${config}`,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    file,
  ];
  const child = spawn(process.execPath, [vitest, ...words, ...(pattern === null ? [] : ['-t', pattern])], {
    cwd: root,
    env: {
      ...process.env,
      ...Object.fromEntries(length.split(' ').map((word) => word.split('='))),
      CHAOS_FIGURES: figuresFile,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
    // A process group, so that servers of a test that hangs end with it.
    detached: true,
  });
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  }, FILE_LIMIT_MINUTES * 60_000);
  const stop = () => {
    isStopped = true;
    process.kill(-(child.pid ?? 0), 'SIGTERM');
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  await new Promise((resolve) => void child.once('exit', resolve));
  process.off('SIGINT', stop).off('SIGTERM', stop);
  clearTimeout(limit);
  if (isLate) return { broken: `it took longer than ${FILE_LIMIT_MINUTES} minutes` };
  const text = await readFile(report, 'utf8').catch(() => null);
  if (text === null) return { broken: 'vitest left no report' };
  const { testResults } = JSON.parse(text) as { testResults: FileReport[] };
  const [only] = testResults;
  if (only === undefined) return { broken: 'vitest found no such file' };
  const isBroken = only.status === 'failed' && only.assertionResults.every((each) => each.status !== 'failed');
  return isBroken ? { broken: only.message.split('\n', 1)[0] ?? '' } : only.assertionResults;
}

interface FileReport {
  status: string;
  message: string;
  assertionResults: TestReport[];
}

async function readFigures(file: string): Promise<NotedFigure[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as NotedFigure);
}

/** The variables with what the environment says in place of these, as `NAME=value …`. */
function chosen(defaults: Record<string, string>): string {
  return Object.entries(defaults)
    .map(([name, value]) => `${name}=${process.env[name] ?? value}`)
    .join(' ');
}

function version(): string {
  const git = (...words: string[]) => spawnSync('git', words, { cwd: root, encoding: 'utf8' });
  const head = git('rev-parse', '--short', 'HEAD');
  if (head.status !== 0) return 'unknown';
  const changed = git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!docs').stdout.trim();
  return `${head.stdout.trim()}${changed === '' ? '' : ' with local changes'}`;
}

function machine(): string {
  const [cpu] = cpus();
  const kernel = execFileSync('uname', ['-sr'], { encoding: 'utf8' }).trim();
  return `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB, ${kernel}, Node ${process.version}`;
}
