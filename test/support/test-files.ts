import { globSync, readFileSync } from 'node:fs';

/** Returns the configuration of vitest that runs a test file. */
export function findVitestConfig(file: string): string {
  const kind = ['long', 'attack'].find((each) => file.endsWith(`.${each}.ts`));
  return kind === undefined ? 'vitest.config.ts' : `vitest.${kind}.config.ts`;
}

/** The files of `npm run test:long`: `*.long.ts`, and those of `npm test` and `npm run test:attack` that take a length from chaos-figures.ts. */
export function longFiles(root: string): string[] {
  const lengthened = globSync('test/**/*.{test,attack}.ts', { cwd: root }).filter((file) =>
    /^import .* from '.*\/chaos-figures\.ts';$/m.test(readFileSync(`${root}/${file}`, 'utf8')),
  );
  return [...globSync('test/**/*.long.ts', { cwd: root }), ...lengthened].toSorted();
}
