import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../support/runner.ts';

const page = readFileSync(path.join(repository, 'docs/architecture.md'), 'utf8');

test.each([
  ['docs/architecture.md', 80],
  ['README.md', 20],
])('%s names only files and folders that exist', (name, least) => {
  const text = readFileSync(path.join(repository, name), 'utf8');
  const named = [...text.matchAll(/`([a-z-]+\/[^`\s]*)`/g)].map(([, file = '']) => file);
  const all = named.flatMap(expanded);
  expect(all.length).toBeGreaterThan(least);
  expect(all.filter((file) => !existsSync(path.join(repository, file)))).toEqual([]);
});

test.each(['The way in: SMTP to webhook', 'The way out: POST to MX'])('every step of "%s" has its file', (heading) => {
  const section = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const steps = [...section.matchAll(/^\d+\. .+$/gm)].map(([step]) => step);
  expect(steps.length).toBeGreaterThan(10);
  expect(steps.filter((step) => !/`[a-z/-]+\.ts`/.test(step))).toEqual([]);
});

test('the table of layers names every folder of the gateway and of the actors', () => {
  const named = [...page.matchAll(/^\|[^|]*\| ([^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+\/)`/g)].flatMap(([, folder = '']) => expanded(folder)),
  );
  const folders = ['gateway', 'actors'].flatMap((layer) =>
    readdirSync(path.join(repository, layer), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${layer}/${name}/`),
  );
  expect(folders.filter((folder) => !named.includes(folder))).toEqual([]);
});

test('every feature is a folder of at least two layers', () => {
  const features = [...page.matchAll(/^\| `([a-z]+)` \| /gm)].map(([, name = '']) => name);
  expect(features.length).toBeGreaterThan(8);
  const layers = ['core', 'db/queries', 'operations', 'schema/graphql'];
  const inLayers = (name: string) => layers.filter((layer) => existsSync(path.join(repository, layer, name)));
  expect(features.filter((name) => inLayers(name).length < 2)).toEqual([]);
});

test('each file that is said to call an operation imports it', () => {
  const steps = [...page.matchAll(/^\d+\. .+$/gm)].map(([step]) => step);
  const calls = steps.flatMap((step) =>
    [...step.matchAll(/\bcalls? `([^`]+\.ts)`/g)].flatMap(([, called = ''], at, all) => {
      const before = step.slice(0, all[at]?.index ?? step.length);
      return [...before.matchAll(/`([a-z-]+\/[^`]+\.ts)`/g)].map(([, caller = '']) => ({ caller, called }));
    }),
  );
  expect(calls.length).toBeGreaterThan(8);
  const importsOf = (file: string) =>
    [...readFileSync(path.join(repository, file), 'utf8').matchAll(/from '([^']+)'/g)].map(([, name = '']) =>
      path.posix.join(path.posix.dirname(file), name),
    );
  expect(calls.filter(({ caller, called }) => !importsOf(caller).includes(called))).toEqual([]);
});

test('the messages that the page names are in schema/messages.ts', () => {
  const messages = readFileSync(path.join(repository, 'schema/messages.ts'), 'utf8');
  const named = [...page.matchAll(/`([a-z]+(?:\.[a-z]+){1,2})`/g)].map(([, name = '']) => name);
  const subjects = named.filter((name) => !/\.(?:ts|md|sql|yaml)$/.test(name));
  expect(subjects.length).toBeGreaterThan(3);
  expect(subjects.filter((name) => !messages.includes(`'${name}'`))).toEqual([]);
});

/** Expands `{feature}` to a feature that every layer has, and `{a,b}` to each of its words. */
function expanded(name: string): string[] {
  const [whole, words = ''] = /\{([^}]*)\}/.exec(name) ?? [];
  if (whole === undefined) return [name];
  return words.split(',').flatMap((word) => expanded(name.replace(whole, word === 'feature' ? 'sending' : word)));
}
