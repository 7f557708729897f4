import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ServerBuild } from '../../bin/runner/build-server.ts';
import { KEPT_LOGS, makeKeptLogs } from './kept-logs.ts';
import { keepLastResult } from './last-results.ts';
import { EXPECTED, reportLeaks } from './leaks.ts';
import { placeOfRuns, removeOrphans } from './servers/orphans.ts';

/**
 * `npm test` and `npm run test:KIND` (program, attack, browser, long): installs the programs that the tests need beyond npm, runs vitest, and prints
 * one last line, `N passed, N failed, N skipped`. Other arguments go to vitest. Each test runs once: a test that fails only
 * sometimes is a defect. At the end, each skipped test is named with its reason (`.ci/skips`), and the logs of the run are searched for
 * secrets; each line with a secret counts as a failure. With ALL_SKIPS_LISTED=1, each skipped test without a reason does too.
 */
const root = path.resolve(import.meta.dirname, '../..');

interface Program {
  name: string;
  debian: string;
  others?: string[];
  perlModule?: string;
  about: string;
}

/** Programs that the tests need and that are not npm packages, with what cannot be tested without them. */
const programs: Program[] = [
  { name: 'nats-server', debian: 'nats-server', about: 'the bus over NATS and the split mode' },
  { name: 'haproxy', debian: 'haproxy', about: 'the proxy of docker-compose.yml' },
  { name: 'swaks', debian: 'swaks', about: 'the SMTP dialogue of docs/first-steps.md' },
  { name: 'swaks with TLS', debian: 'libnet-ssleay-perl', perlModule: 'Net::SSLeay', about: 'submission by swaks' },
  { name: 'msmtp', debian: 'msmtp', about: 'submission by a mail program of its kind' },
  { name: 'python3', debian: 'python3', about: 'submission by smtplib' },
  { name: 'faketime', debian: 'faketime', about: 'a clock that jumps' },
  { name: 'jq', debian: 'jq', about: 'the examples of docs/codes-in-ci.md' },
  { name: 'php', debian: 'php-cli', about: 'the PHP example of docs/webhooks.md' },
  { name: 'ruby', debian: 'ruby', about: 'the Ruby example of docs/webhooks.md' },
];

/** For `npm run test:long`. */
const scanners: Program[] = [
  { name: 'rspamd', debian: 'rspamd', about: 'the spam filter' },
  { name: 'redis-server', debian: 'redis-server', about: 'what the spam filter learns' },
  { name: 'clamd', debian: 'clamav-daemon', about: 'the virus scanner' },
];

/** For `npm run test:browser`. Any Chromium will do; this one needs the least processor time. */
const browser: Program = {
  name: 'chromium-headless-shell',
  debian: 'chromium-headless-shell',
  others: ['chromium', 'chromium-browser', 'google-chrome'],
  about: 'the dashboard in a browser',
};

/** Programs taken out of their Debian package, which is not installed: it would start a server. */
const extractedPrograms = [{ name: 'promtool', debian: 'prometheus', file: 'usr/bin/promtool' }];
const extracted = path.join(root, 'node_modules/.cache/programs');

/** Maximum time of the whole run, so that a hang is reported. Minutes. */
const LIMIT_MINUTES = 60;

const folder = await mkdtemp(path.join(tmpdir(), 'postroom-tests-'));
const kept = path.join(folder, 'kept');
makeKeptLogs(kept);

/** The compile cache of `npm start`. Tests start hundreds of processes, and compiling takes most of their start. */
const compileCache = path.join(root, 'node_modules/.cache/node');
const environment = {
  NODE_COMPILE_CACHE: compileCache,
  ...process.env,
  PATH: `${process.env['PATH']}:${extracted}`,
  [KEPT_LOGS]: kept,
};

/** Modules that programs load after the start, see their `await import`. */
const laterModules = [
  'bin/runner/processes/gateway.ts',
  'gateway/accounts/auth.ts',
  'gateway/graphql/yoga.ts',
  'haraka-plugins/plugins/receiving/plugin.ts',
];

/** The parts of the built service that import most of the others. */
const BUILT_LATER = /^(?:auth|yoga|actors|single-machine|mcp-server|plugin)-[^.]+\.js$/;

const hasWord = (length: string) => process.argv.some((word) => word.includes(length));
await seeToPrograms([...programs, ...(hasWord('browser') ? [browser] : []), ...(hasWord('long') ? scanners : [])]);
for (const program of extractedPrograms) await extractProgram(program);
await compilePrograms();
const report = path.join(folder, 'report.json');
const status = await runVitest(report, process.argv.slice(2));
// One that was ended in the middle left its servers; the next run would find them, if there is one.
await removeOrphans(await placeOfRuns());
const counts = await readCounts(report, status);
await removeOrphans(await placeOfRuns());
const command = commandOfWholeRun(process.argv.slice(2));
const leaks = await reportLeaks(kept, EXPECTED[command as keyof typeof EXPECTED] ?? []);
for (const line of leaks.lines) console.log(line);
const unlisted = await printSkipped(counts.skipped);
if (process.env['ALL_SKIPS_LISTED'] === '1') counts.failed += unlisted;
if (leaks.failureCount === 0) await rm(folder, { recursive: true, force: true });
counts.failed += leaks.failureCount;
const result = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped.length} skipped`;
// A run of .ci/run changes no file of the checkout.
if (command !== undefined && command !== 'npm test' && process.env['ALL_SKIPS_LISTED'] !== '1')
  keepLastResult(root, command, result);
console.log(result);
process.exitCode = counts.failed > 0 ? 1 : 0;

/** Returns the command that runs with these arguments; undefined when it runs a part of its tests. */
function commandOfWholeRun(words: readonly string[]): string | undefined {
  if (words.length === 0) return 'npm test';
  const [, kind] = /^--config vitest\.(\w+)\.config\.ts$/.exec(words.join(' ')) ?? [];
  return kind === undefined ? undefined : `npm run test:${kind}`;
}

async function seeToPrograms(needed: readonly Program[]): Promise<void> {
  const missing = needed.filter((program) => !isProgramThere(program));
  if (missing.length === 0) return;
  const canInstall = process.getuid?.() === 0 && isThere('apt-get');
  if (canInstall) {
    const apt = (words: string[]) =>
      spawnSync('apt-get', words, {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      });
    apt(['update', '-qq']);
    for (const program of missing) apt(['install', '-y', '-qq', '--no-install-recommends', program.debian]);
  }
  for (const program of missing.filter((each) => !isProgramThere(each) && !(each.others ?? []).some(isThere)))
    console.log(
      `${program.name} is missing, so ${program.about} is skipped. On Debian or Ubuntu: apt-get install ${program.debian}`,
    );
}

function isProgramThere({ name, perlModule }: Program): boolean {
  if (perlModule === undefined) return isThere(name);
  return spawnSync('perl', [`-M${perlModule}`, '-e', '1'], { stdio: 'ignore' }).status === 0;
}

function isThere(program: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'ignore' }).status === 0;
}

/** Puts the program into node_modules/.cache/programs, which is on PATH, unless the system has it. Needs Debian's apt-get, not root. */
async function extractProgram({ name, debian, file }: { name: string; debian: string; file: string }): Promise<void> {
  if (isThere(name) || existsSync(path.join(extracted, name)) || !isThere('apt-get')) return;
  const place = path.join(folder, debian);
  await mkdir(place);
  const run = (program: string, ...words: string[]) => spawnSync(program, words, { cwd: place, stdio: 'ignore' });
  run('apt-get', 'download', debian);
  const [archive] = await readdir(place);
  if (archive === undefined || run('dpkg-deb', '-x', archive, '.').status !== 0) return;
  await mkdir(extracted, { recursive: true });
  await rename(path.join(place, file), path.join(extracted, name)).catch(() =>
    run('cp', path.join(place, file), path.join(extracted, name)),
  );
  await rm(place, { recursive: true, force: true });
}

/** Names each skipped test with the reason that .ci/skips gives for its file; returns how many have none. */
async function printSkipped(skipped: readonly SkippedTest[]): Promise<number> {
  const lines = (await readFile(path.join(root, '.ci/skips'), 'utf8')).split('\n');
  const reasons = new Map(lines.map((line) => [line.split(': ', 1)[0] ?? '', line.slice(line.indexOf(': ') + 2)]));
  for (const { file, name } of skipped)
    console.log(`skipped: ${file}: ${name}: ${reasons.get(file) ?? 'no reason in .ci/skips'}`);
  return skipped.filter(({ file }) => !reasons.has(file)).length;
}

/**
 * Builds the service, unless the build is of these sources: tests run it as `npm start` does. What is compiled is kept at the end of a
 * process; without that the services of the first files would each compile everything.
 */
async function compilePrograms(): Promise<void> {
  const compile = (...words: string[]) =>
    new Promise<void>((resolve) => {
      const child = spawn(process.execPath, words, { cwd: root, env: environment, stdio: 'ignore' });
      child.once('exit', () => resolve()).once('error', () => resolve());
    });
  if (findBuild() === null) await compile('bin/build-server.ts');
  const chunks = path.join(findBuild() ?? '', 'chunks');
  const built = existsSync(chunks) ? (await readdir(chunks)).filter((name) => BUILT_LATER.test(name)) : [];
  const later = laterModules.map((file) => importStatement(path.join(root, file))).join('');
  await Promise.all([
    ...['bin/start.ts', 'bin/actor.ts', 'bin/smtp.ts'].map((program) => compile(program, '--help')),
    compile('--input-type=module', '--eval', `${later} process.exit();`),
    compile(
      '--input-type=module',
      '--eval',
      `${built.map((name) => importStatement(path.join(chunks, name))).join('')} process.exit();`,
    ),
  ]);
}

function importStatement(file: string): string {
  return `await import(${JSON.stringify(file)});`;
}

/** Returns the folder of the built service; null if there is none of the sources as they are. */
function findBuild(): string | null {
  try {
    const build = JSON.parse(readFileSync(path.join(root, 'dist/server.json'), 'utf8')) as ServerBuild;
    const isCurrent = Object.entries(build.files).every(([file, [sizeBytes, changedMs]]) => {
      const { size, mtimeMs } = statSync(path.join(root, file));
      return size === sizeBytes && mtimeMs === changedMs;
    });
    return isCurrent ? path.join(root, build.folder) : null;
  } catch {
    return null;
  }
}

function runVitest(reportFile: string, more: readonly string[]): Promise<number> {
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  const words = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [vitest, ...words, ...more], {
      cwd: root,
      env: environment,
      stdio: ['ignore', 'inherit', 'inherit'],
      // A group of its own: when it has to be ended, so are the servers that tests started.
      detached: true,
    });
    const endGroup = (signal: NodeJS.Signals) => {
      try {
        process.kill(-(child.pid ?? 0), signal);
      } catch {
        // Nobody of it is left.
      }
    };
    const limit = setTimeout(() => {
      console.log(`The tests took longer than ${LIMIT_MINUTES} minutes and were ended.`);
      endGroup('SIGTERM');
      setTimeout(() => endGroup('SIGKILL'), 10_000);
    }, LIMIT_MINUTES * 60_000);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => endGroup(signal));
    child.once('exit', (code) => {
      clearTimeout(limit);
      endGroup('SIGKILL');
      resolve(code ?? 1);
    });
  });
}

interface SkippedTest {
  /** path from the root of the repository */
  file: string;
  name: string;
}

interface Counts {
  passed: number;
  failed: number;
  skipped: SkippedTest[];
}

/** What vitest's JSON report says. A file that fails without a failing test, and a run that ends badly, count as one failure each. */
async function readCounts(reportFile: string, exitStatus: number): Promise<Counts> {
  const text = await readFile(reportFile, 'utf8').catch(() => null);
  if (text === null) return { passed: 0, failed: 1, skipped: [] };
  const result = JSON.parse(text) as {
    numPassedTests: number;
    numFailedTests: number;
    testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[];
  };
  const brokenFiles = result.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((assertion) => assertion.status !== 'failed'),
  ).length;
  const failed = result.numFailedTests + brokenFiles;
  return {
    passed: result.numPassedTests,
    failed: failed === 0 && exitStatus !== 0 ? 1 : failed,
    skipped: result.testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status !== 'passed' && status !== 'failed')
        .map(({ fullName }) => ({ file: path.relative(root, name), name: fullName })),
    ),
  };
}
