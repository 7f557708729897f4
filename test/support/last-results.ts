import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { longFiles } from './test-files.ts';
import { testingPage } from './testing-page.ts';

/** How a command that runs less often than `npm test` ended the last time. */
export interface LastResult {
  command: string;
  /** the last line that it printed */
  result: string;
  /** YYYY-MM-DD, UTC */
  date: string;
  /** short hash; with a plus when files had been changed since */
  commit: string;
}

/** Returns the results in docs/test-results.json, in the order of the commands' names. */
export function readLastResults(root: string): LastResult[] {
  return JSON.parse(readFileSync(fileIn(root), 'utf8')) as LastResult[];
}

/** Replaces the result of the command, in docs/test-results.json and docs/testing.md. */
export function keepLastResult(root: string, command: string, result: string): void {
  const kept: LastResult = {
    command,
    result,
    date: new Date().toISOString().slice(0, 10),
    commit: currentCommit(root),
  };
  const others = readLastResults(root).filter((each) => each.command !== command);
  const results = [...others, kept].toSorted((one, other) => one.command.localeCompare(other.command));
  writeFileSync(fileIn(root), `${JSON.stringify(results, null, 2)}\n`);
  writeTestingPage(root);
}

/** Returns the short hash of the commit that is checked out, with a plus when files have been changed since. */
export function currentCommit(root: string): string {
  const git = (...words: string[]) => spawnSync('git', words, { cwd: root, encoding: 'utf8' }).stdout.trim();
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
  return `${git('rev-parse', '--short', 'HEAD')}${isChanged ? '+' : ''}`;
}

/** Writes docs/testing.md. */
export function writeTestingPage(root: string): void {
  writeFileSync(path.join(root, 'docs/testing.md'), testingPage(longFiles(root), readLastResults(root)));
}

const fileIn = (root: string) => path.join(root, 'docs/test-results.json');
