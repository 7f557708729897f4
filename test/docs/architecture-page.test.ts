import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readImportGraph } from '../support/import-graph.ts';
import { repository } from '../support/runner.ts';
import { type Claim, findSteps, architecturePage as page, readClaims, readSection } from './architecture-claims.ts';

/** Files that start the steps of a process: the page does not list them in every section. */
const STARTS_STEPS = [
  /^bin\/runner\/processes\/actors\.ts$/,
  /^bin\/runner\/parts\/mail\.ts$/,
  /^actors\/[a-z]+\/actor\.ts$/,
  /^haraka-plugins\/plugins\/receiving\/plugin\.ts$/,
  /^gateway\/server\.ts$/,
  /^gateway\/rest\/rest\.ts$/,
  /^operations\/capability\/capabilities\.ts$/,
];
/** Haraka calls it by its name when it loads the plugin. */
const CALLED_BY_HARAKA = 'register';

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
  const section = readSection(heading);
  const steps = [...section.matchAll(/^\d+\. .+$/gm)].map(([step]) => step);
  expect(steps.length).toBeGreaterThan(10);
  expect(steps.filter((step) => !/`[a-z/-]+\.ts`/.test(step))).toEqual([]);
});

/**
 * These tests show that a named function is exported by the named file, that a file which the page names in a step (or which starts the
 * steps of a process) imports it and uses its name, and that a program loads that file. architecture-steps.program.ts shows that mail reaches the
 * functions of the ways in and out; that the steps run in this order, tests of the flow show.
 */
describe('a function that a step names', () => {
  const graph = readImportGraph();
  const claims = readClaims(page);
  const inSteps = new Set(
    [
      ...findSteps(page)
        .join('\n')
        .matchAll(/`([a-z-]+\/[^`\s]+\.tsx?)`/g),
    ].map(([, file = '']) => file),
  );

  test('is exported by its file', () => {
    expect(claims.length).toBeGreaterThan(100);
    expect(eachName(claims, ({ name, file }) => !isExported(name, graph.text(file)))).toEqual([]);
  });

  test('is used by its own file, by that of another step, or by one that starts steps', () => {
    const isCaller = (file: string) => inSteps.has(file) || STARTS_STEPS.some((pattern) => pattern.test(file));
    const unused = eachName(
      claims,
      ({ name, file }) =>
        name !== CALLED_BY_HARAKA &&
        !usesItself(graph.text(file), name) &&
        !graph.importers(file).some((each) => isCaller(each) && uses(graph.text(each), name)),
    );
    expect(unused).toEqual([]);
  });

  test('is loaded by a program', () => {
    const loaded = graph.reached(graph.entries);
    expect(graph.entries.length).toBeGreaterThan(15);
    expect(claims.filter(({ file }) => !loaded.has(file)).map(({ file }) => file)).toEqual([]);
  });
});

test('every step names a function', () => {
  const steps = findSteps(page.split('## The way in')[1] ?? '');
  const claims = readClaims(page);
  expect(steps.length).toBeGreaterThan(60);
  expect(steps.filter((step) => !claims.some((claim) => claim.step === step))).toEqual([]);
});

describe('the table of behaviors', () => {
  const rows = [...(page.split('## Where each behavior is decided')[1] ?? '').matchAll(/^\| ([^|`]+?) \| (`.+) \|$/gm)];

  test('names as many groups of files as behaviors', () => {
    expect(rows.length).toBeGreaterThan(20);
    const uneven = rows.flatMap(([, behaviors = '', files = '']) => {
      const [named, given] = [behaviors.split('; ').length, files.split('; ').length];
      return named === given ? [] : [`${behaviors}: ${named} behaviors, ${given} groups of files`];
    });
    expect(uneven).toEqual([]);
  });

  test('names only files that a program loads', () => {
    const graph = readImportGraph();
    const loaded = graph.reached(graph.entries);
    const files = rows.flatMap(([, , cell = '']) =>
      [...cell.matchAll(/`([a-z-]+\/[^`\s]+\.tsx?)`/g)].map(([, file = '']) => file),
    );
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => !loaded.has(file))).toEqual([]);
  });
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
    [...step.matchAll(/\bcalls? (?:`\w+`(?:, | and | in ))*`([a-z-]+\/[^`]+\.ts)`/g)].flatMap(
      ([, called = ''], at, all) => {
        const before = step.slice(0, all[at]?.index ?? step.length);
        return [...before.matchAll(/`([a-z-]+\/[^`]+\.ts)`/g)].map(([, caller = '']) => ({ caller, called }));
      },
    ),
  );
  // Each operation that is declared has one caller.
  expect(calls.length).toBeGreaterThan(3);
  const readImports = (file: string) =>
    [...readFileSync(path.join(repository, file), 'utf8').matchAll(/from '([^']+)'/g)].map(([, name = '']) =>
      path.posix.join(path.posix.dirname(file), name),
    );
  expect(calls.filter(({ caller, called }) => !readImports(caller).includes(called))).toEqual([]);
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

function eachName(claims: readonly Claim[], isWrong: (claim: { name: string; file: string }) => boolean): string[] {
  const all = claims.flatMap(({ names, file }) => names.map((name) => ({ name, file })));
  return all.filter(isWrong).map(({ name, file }) => `${name} in ${file}`);
}

function isExported(name: string, text: string): boolean {
  return new RegExp(`^export (?:async )?(?:function\\*?|const|class) ${name}\\b`, 'm').test(text);
}

/** Whether the file that exports a function also calls it. */
function usesItself(text: string, name: string): boolean {
  const code = text.replaceAll(/^ *(?:\/?\*|\/\/).*$/gm, '');
  return (code.match(new RegExp(`\\b${name}\\(`, 'g')) ?? []).length > 1;
}

/** Whether a file uses a name that it imports, beside the import itself. */
function uses(text: string, name: string): boolean {
  const withoutImports = text.replaceAll(/^import [^;]*;$/gm, '');
  return new RegExp(`\\b${name}\\b`).test(withoutImports);
}
