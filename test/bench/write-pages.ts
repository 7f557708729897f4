import { parseArgs } from 'node:util';
import { readmeFile, resultsFolder, writePages } from './results.ts';

export const help = 'Writes docs/benchmarks.md and the table of README.md from docs/benchmarks.json. Measures nothing.';

export function run(args: string[]): Promise<void> {
  parseArgs({ args, options: {} });
  writePages(resultsFolder, readmeFile);
  return Promise.resolve();
}
