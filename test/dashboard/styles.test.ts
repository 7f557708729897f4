import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../support/runner.ts';

const root = path.join(repository, 'gateway/dashboard');
const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('dist'));
const sources = names
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({ folder: path.dirname(name), text: readFileSync(path.join(root, name), 'utf8') }));

/** Returns the classes of a style sheet, without those of libraries, such as `ProseMirror`. */
function readClasses(file: string): string[] {
  const rules = readFileSync(path.join(root, file), 'utf8').replace(/\/\*.*?\*\/|url\([^)]*\)|:global\([^)]*\)/gs, '');
  return [...new Set([...rules.matchAll(/\.([a-z][\w-]*)/g)].map(([, name = '']) => name))].filter(
    (name) => !name.startsWith('mantine-'),
  );
}

test.each(names.filter((name) => name.endsWith('.module.css')))('%s has only classes that a component uses', (file) => {
  const users = sources.filter(({ folder, text }) =>
    [...text.matchAll(/ from '(\..*\.css)'/g)].some(([, named = '']) => path.join(folder, named) === file),
  );
  const used = users.map(({ text }) => text).join('\n');
  expect(readClasses(file).filter((name) => !used.includes(`['${name}']`) && !used.includes(`.${name}`))).toEqual([]);
});

test('page.css has only classes that a component uses', () => {
  const used = sources.map(({ text }) => text).join('\n');
  expect(readClasses('page.css').filter((name) => !used.includes(name))).toEqual([]);
});

test('icons.ts names only icons that a component shows', () => {
  const isOfIcons = ({ text }: { text: string }) => text.includes('const NAMES = `\n');
  const [, listed = ''] = /const NAMES = `([^`]*)`/.exec(sources.find(isOfIcons)?.text ?? '') ?? [];
  const named = listed.trim().split(/\s+/);
  const used = sources.filter((source) => !isOfIcons(source)).map(({ text }) => text);
  expect(named).toContain('mail');
  expect(named.filter((name) => !used.some((text) => new RegExp(`["']${name}["']`).test(text)))).toEqual([]);
});
