import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { currentCommit } from '../support/last-results.ts';
import { parts } from './parts.ts';
import { QUIET_PERCENT } from './resources.ts';
import { keepResult, readmeFile, resultsFolder, writePages } from './results.ts';
import { namedParts, runPart } from './run-part.ts';

const root = path.resolve(import.meta.dirname, '../..');

export const help = `Measures everything that docs/benchmarks.md and README.md quote, and writes both, after each part. A part that fails keeps its former
rows, is named at the end, and the command exits with 1.

  --only LIST   of ${parts.map(({ name }) => name).join(', ')}; default all
  --small       a few messages each, to try the tool out; writes to a temporary folder instead`;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { only: { type: 'string' }, small: { type: 'boolean', default: false } },
  });
  const wanted = namedParts(values.only?.split(',') ?? parts.map(({ name }) => name));
  const folder = values.small ? mkdtempSync(path.join(tmpdir(), 'postroom-benchmarks-')) : resultsFolder;
  const commit = currentCommit(root);
  const results = [];
  for (const part of wanted) {
    console.log(`\n=== ${part.name}`);
    const result = await runPart(part, values.small ? 'small' : 'full', commit);
    keepResult(
      folder,
      result,
      parts.map(({ name }) => name),
    );
    writePages(folder, values.small ? null : readmeFile);
    results.push(result);
  }
  console.log(`\nwritten: ${path.join(folder, 'benchmarks.md')}`);
  for (const { part, seconds, foreignPercent, problems } of results) {
    const noise =
      foreignPercent !== null && foreignPercent > QUIET_PERCENT ? `, NOISY: others used ${foreignPercent} %` : '';
    console.log(`${part}: ${seconds} s${noise}${problems.map((problem) => `\n  FAILED ${problem}`).join('')}`);
  }
  if (results.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
}
