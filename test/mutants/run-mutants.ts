import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { keepLastResult } from '../support/last-results.ts';
import { findVitestConfig } from '../support/test-files.ts';
import { applyMutant, type Mutant, readMutants } from './mutants.ts';

const HELP = `npm run mutants [-- --only TEXT]

Applies the defects of test/mutants/mutants.jsonl one by one to a copy of the checkout, and runs the test file that each line names.
A defect that no test notices has survived. Exit code 1 if any survived. A whole run notes its result in docs/testing.md. About five seconds for each defect.

  --only TEXT   only defects whose line contains TEXT
`;

type Result = 'killed' | 'survived' | 'invalid';

const root = path.resolve(import.meta.dirname, '../..');
const { values } = parseArgs({ options: { only: { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
if (values.help === true) process.stdout.write(HELP);
else process.exitCode = await run(values.only ?? '');

async function run(only: string): Promise<number> {
  const mutants = (await readMutants()).filter((each) => JSON.stringify(each).includes(only));
  const copy = makeCopy();
  const counts: Record<Result, number> = { killed: 0, survived: 0, invalid: 0 };
  try {
    for (const [at, mutant] of mutants.entries()) {
      const result = tryMutant(copy, mutant);
      counts[result]++;
      process.stdout.write(`${at + 1}/${mutants.length} ${result.padEnd(8)} ${mutant.path}: ${mutant.search}\n`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  const { killed, survived, invalid } = counts;
  const result = `${killed} killed, ${survived} survived, ${invalid} invalid`;
  process.stdout.write(`${result}\n`);
  if (only === '') keepLastResult(root, 'npm run mutants', result);
  return survived + invalid > 0 ? 1 : 0;
}

/** Copies the files under version control. The packages are shared. */
function makeCopy(): string {
  const copy = mkdtempSync(path.join(tmpdir(), 'postroom-mutants-'));
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of listed.stdout.toString().split('\0').filter(Boolean))
    cpSync(path.join(root, file), path.join(copy, file), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  return copy;
}

/** Invalid: the test file cannot be loaded with the defect, so no test noticed it by what it does. */
function tryMutant(copy: string, mutant: Mutant): Result {
  const file = path.join(copy, mutant.path);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, applyMutant(text, mutant));
  try {
    const report = path.join(copy, 'mutant-report.json');
    rmSync(report, { force: true });
    const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
    spawnSync(
      process.execPath,
      [
        vitest,
        'run',
        mutant.test,
        '--config',
        findVitestConfig(mutant.test),
        '--reporter=json',
        `--outputFile=${report}`,
      ],
      {
        cwd: copy,
        stdio: 'ignore',
      },
    );
    const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, 'utf8')) as Record<string, number>;
    if ((numFailedTests ?? 0) > 0) return 'killed';
    return (numPassedTests ?? 0) > 0 ? 'survived' : 'invalid';
  } finally {
    writeFileSync(file, text);
  }
}
