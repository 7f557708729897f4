import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../support/runner.ts';

const read = (name: string) => readFileSync(path.join(repository, name), 'utf8');
const readme = read('README.md');

test('the programs that the README names are those of bin', () => {
  const row = /^\| `bin\/` \|.*$/m.exec(readme)?.[0] ?? '';
  const named = /and the programs ([^;]*);/.exec(row)?.[1]?.match(/`[a-z-]+`/g) ?? [];
  // postroom is the command line, and the others are no programs for operators.
  const others = new Set(['postroom', 'config', 'environment', 'build-dashboard', 'build-cli', 'build-server']);
  const programs = readdirSync(path.join(repository, 'bin'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.basename(file, '.ts'))
    .filter((name) => !others.has(name));
  expect(named.map((name) => name.slice(1, -1)).sort()).toEqual(programs.sort());
});

test('every command of npm that the README names is in package.json', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = [...readme.matchAll(/npm (?:run ([a-z:-]+)|(start|test)\b)/g)].map(
    ([, run, short]) => run ?? short ?? '',
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
});

test('the tools that the README names are those that the tests install', () => {
  const sentence = /it installs the tools that the tests need \(([^)]*)\)/.exec(readme)?.[1] ?? '';
  const named = (sentence.match(/`[a-z0-9-]+`/g) ?? []).map((name) => name.slice(1, -1));
  const source = read('test/support/run-tests.ts');
  const programs = /const programs: Program\[\] = \[([\s\S]*?)\n\];/.exec(source)?.[1] ?? '';
  const extracted = /const extractedPrograms = \[(.*)\];/.exec(source)?.[1] ?? '';
  const installed = [
    ...[...programs.matchAll(/debian: '([^']+)'/g)].map(([, name = '']) => name),
    ...[...extracted.matchAll(/name: '([^']+)'/g)].map(([, name = '']) => name),
  ];
  expect(named.sort()).toEqual(installed.sort());
});

test('the variables that several machines share are settings', () => {
  const settings = read('docs/settings.md');
  const named = readme.match(/`[A-Z]+(?:_[A-Z]+)+`/g) ?? [];
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((name) => !settings.includes(name))).toEqual([]);
});
