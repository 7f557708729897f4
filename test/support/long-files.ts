import { globSync, readFileSync } from 'node:fs';

/** The files of `npm run test:long`: `*.long.ts`, and those of `npm test` that take a length from chaos-figures.ts. */
export function longFiles(root: string): string[] {
  const lengthened = globSync('test/**/*.test.ts', { cwd: root }).filter((file) =>
    /^import .* from '.*\/chaos-figures\.ts';$/m.test(readFileSync(`${root}/${file}`, 'utf8')),
  );
  return [...globSync('test/**/*.long.ts', { cwd: root }), ...lengthened].toSorted();
}
