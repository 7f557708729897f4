import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Figures } from './cluster-bench.ts';

/**
 * `npm run chaos [-- FILE...]`: the fault experiments at their full length, one file after the other, without second tries, and their
 * outcome written to docs/chaos.md as it is. Takes hours; CHAOS_KILLS, CHAOS_SECONDS and CHAOS_RATE make it shorter.
 */
const root = path.resolve(import.meta.dirname, '../..');

/** What the experiments take from the environment, at their full length. */
const length = { CHAOS_KILLS: '20', CHAOS_SECONDS: '45', CHAOS_RATE: '50', ...chosen() };

const files = [
  'test/flow/faults.test.ts',
  'test/flow/faults-split.test.ts',
  'test/flow/sending-faults.test.ts',
  'test/flow/forwarding-faults.test.ts',
  'test/actors/delivery/faults.test.ts',
  'test/flow/cluster-faults.test.ts',
];

const { values, positionals } = parseArgs({
  options: { output: { type: 'string', default: 'docs/chaos.md' } },
  allowPositionals: true,
});
const folder = await mkdtemp(path.join(tmpdir(), 'postroom-chaos-'));
try {
  const figuresFile = path.join(folder, 'figures.jsonl');
  const results: Result[] = [];
  for (const file of positionals.length > 0 ? positionals : files) results.push(...(await runFile(file, figuresFile)));
  const figures = await readFigures(figuresFile);
  await writeFile(path.resolve(root, values.output), page(results, figures));
  const failed = results.filter(({ outcome }) => outcome === 'failed').length;
  process.stdout.write(`${results.length} experiments, ${failed} failed: ${values.output}\n`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** One experiment, as vitest told of it. */
interface Result {
  file: string;
  name: string;
  outcome: 'held' | 'failed' | 'not run';
  /** null when it did not come to its end */
  seconds: number | null;
  /** the first line of what failed; empty otherwise */
  reason: string;
}

async function runFile(file: string, figuresFile: string): Promise<Result[]> {
  const report = path.join(folder, 'report.json');
  await rm(report, { force: true });
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  const words = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, '--retry=0', file];
  const child = spawn(process.execPath, [vitest, ...words], {
    cwd: root,
    env: { ...process.env, ...length, CHAOS_FIGURES: figuresFile },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await new Promise((resolve) => void child.once('exit', resolve));
  const text = await readFile(report, 'utf8').catch(() => null);
  const broken = (reason: string): Result => ({ file, name: '(the file)', outcome: 'failed', seconds: null, reason });
  if (text === null) return [broken('vitest left no report')];
  const { testResults } = JSON.parse(text) as { testResults: FileReport[] };
  if (testResults.length === 0) return [broken('there is no such test')];
  return testResults.flatMap(({ assertionResults, status, message }) => {
    const isBroken = status === 'failed' && assertionResults.every((each) => each.status !== 'failed');
    return [...(isBroken ? [broken(firstLine(message))] : []), ...assertionResults.map((each) => resultOf(file, each))];
  });
}

interface FileReport {
  status: string;
  message: string;
  assertionResults: AssertionReport[];
}

interface AssertionReport {
  fullName: string;
  status: string;
  /** milliseconds */
  duration?: number | null;
  failureMessages?: string[];
}

function resultOf(file: string, { fullName, status, duration, failureMessages }: AssertionReport): Result {
  const outcome = status === 'passed' ? 'held' : status === 'failed' ? 'failed' : 'not run';
  const seconds = outcome === 'not run' || typeof duration !== 'number' ? null : Math.round(duration / 100) / 10;
  return { file, name: fullName, outcome, seconds, reason: firstLine(failureMessages?.[0] ?? '') };
}

async function readFigures(file: string): Promise<({ experiment: string } & Figures)[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { experiment: string } & Figures);
}

function page(results: readonly Result[], figures: readonly ({ experiment: string } & Figures)[]): string {
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length;
  const lines = [
    '# Faults: what was tried, and what came of it',
    '',
    `Written by \`npm run chaos\` on ${new Date().toISOString().slice(0, 10)} at ${version()}, with ${settings()}, on ${machine()}.`,
    `${count('held')} held, ${count('failed')} failed, ${count('not run')} were not run. What each must end with: I1 to I6 in the ledgers`,
    '(`test/support/ledger.ts`, `test/support/sending-ledger.ts`).',
    '',
    '| experiment | outcome | seconds |',
    '|---|---|---|',
    ...results.map(
      ({ file, name, outcome, seconds, reason }) =>
        `| \`${path.basename(file)}\` ${cell(name)} | ${outcome}${reason === '' ? '' : `: ${cell(reason)}`} | ${seconds ?? ''} |`,
    ),
    '',
  ];
  if (figures.length > 0) lines.push(...figuresTable(figures));
  return lines.join('\n');
}

function figuresTable(figures: readonly ({ experiment: string } & Figures)[]): string[] {
  const words = (trouble: Record<string, number>) =>
    Object.entries(trouble)
      .map(([word, times]) => `${times} x ${word}`)
      .join(', ') || 'nothing';
  return [
    '## The ledger of the cluster',
    '',
    'Messages taken by SMTP and requests to send answered 2xx; what clients heard beside that before, when trying again took it;',
    'webhooks that came again (with their id and their body), and copies of sent mail beyond the first.',
    '',
    '| experiment | taken | sent | SMTP clients heard | HTTP clients heard | webhooks again | sent again |',
    '|---|---|---|---|---|---|---|',
    ...figures.map(
      (row) =>
        `| ${cell(row.experiment)} | ${row.accepted} | ${row.sent} | ${cell(words(row.smtpTrouble))} | ${cell(words(row.httpTrouble))} | ${row.repeatedWebhooks} | ${row.doubledSends} |`,
    ),
    '',
  ];
}

function chosen(): Record<string, string> {
  const names = ['CHAOS_KILLS', 'CHAOS_SECONDS', 'CHAOS_RATE'];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function settings(): string {
  return Object.entries(length)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

function version(): string {
  const git = (...words: string[]) => spawnSync('git', words, { cwd: root, encoding: 'utf8' });
  const commit = git('rev-parse', '--short', 'HEAD');
  if (commit.status !== 0) return 'an unknown commit';
  const isChanged = git('status', '--porcelain', '--untracked-files=no').stdout.trim() !== '';
  return `commit ${commit.stdout.trim()}${isChanged ? ' with changes that are not committed' : ''}`;
}

function machine(): string {
  const [cpu] = cpus();
  const kernel = execFileSync('uname', ['-sr'], { encoding: 'utf8' }).trim();
  return `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB, ${kernel}, Node ${process.version}`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 200) ?? '';
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
