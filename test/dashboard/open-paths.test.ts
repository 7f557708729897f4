import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { OPEN_PATHS } from '../../gateway/dashboard/shell/open-paths.ts';

test('nothing is asked for before the script on exactly the pages that need no session', async () => {
  const app = await readFile(new URL('../../gateway/dashboard/app.tsx', import.meta.url), 'utf8');
  const listPaths = (list: string) => {
    const declared = app.slice(app.indexOf(`const ${list} = {`));
    return [...declared.slice(0, declared.indexOf('\n};')).matchAll(/^ {2}'(\/[^']*)'/gm)].map(([, path = '']) => path);
  };
  const [open, others] = [listPaths('openPages'), listPaths('pages')];
  expect([open.length, others.length].every((count) => count > 5)).toBe(true);
  expect(open.filter((path) => !OPEN_PATHS.test(path))).toEqual([]);
  expect(others.filter((path) => OPEN_PATHS.test(path))).toEqual([]);
});
