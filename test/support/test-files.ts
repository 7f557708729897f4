import { globSync, readFileSync } from 'node:fs';

/** The kinds of test files, by the ending of their names: `npm test` runs `*.test.ts`, `npm run test:KIND` runs `*.KIND.ts`. */
const KINDS = ['test', 'program', 'attack', 'browser', 'long'] as const;

const TEST_FILE = new RegExp(String.raw`\.(?<kind>${KINDS.join('|')})\.ts$`);

/** Whether this is the name of a test file. */
export function isTestFile(file: string): boolean {
  return TEST_FILE.test(file);
}

/** Returns the configuration of vitest that runs a test file. */
export function findVitestConfig(file: string): string {
  const kind = TEST_FILE.exec(file)?.groups?.['kind'] ?? 'test';
  return kind === 'test' ? 'vitest.config.ts' : `vitest.${kind}.config.ts`;
}

/** The files of `npm run test:long`: `*.long.ts`, and those of other commands that take a length from chaos-figures.ts. */
export function longFiles(root: string): string[] {
  const lengthened = globSync('test/**/*.{test,program,attack}.ts', { cwd: root }).filter((file) =>
    /^import .* from '.*\/chaos-figures\.ts';$/m.test(readFileSync(`${root}/${file}`, 'utf8')),
  );
  return [...globSync('test/**/*.long.ts', { cwd: root }), ...lengthened].toSorted();
}
