import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');
const folders = ['core', 'schema', 'db', 'operations', 'actors', 'gateway', 'haraka-plugins', 'bin'];

interface SourceFile {
  /** path from the root of the repository, with forward slashes */
  name: string;
  text: string;
  /** paths of the repository's own files that it imports */
  imports: string[];
  /** packages and `node:` modules that it imports */
  packages: string[];
}

const files: SourceFile[] = folders.flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules') && !name.startsWith('dashboard/dist/'))
    .map((name) => readSource(path.posix.join(folder, name.replaceAll(path.sep, '/')))),
);
const names = new Set(files.map((file) => file.name));

/** The layers and the position of each: a layer imports only itself and layers with a lower position. */
const order: [prefix: string, position: number][] = [
  ['core/', 0],
  ['schema/messages.ts', 1],
  ['schema/metrics.ts', 1],
  ['db/', 1],
  ['actors/bus/', 2],
  ['actors/work/', 2.1],
  ['operations/', 2.2],
  ['schema/input-shapes.ts', 2.5],
  ['schema/graphql/', 3],
  ['actors/actor.ts', 3],
  ['actors/network/', 3],
  ['actors/set-aside.ts', 3.5],
  ['actors/screening/', 3.6],
  ['actors/mail-spans.ts', 2.5],
  ['actors/direct-delivery.ts', 2.5],
  ['actors/receiving/', 4],
  ['actors/threading/', 4],
  ['actors/sending/', 4],
  ['actors/scheduling/', 4],
  ['actors/delivery/', 4],
  ['haraka-plugins/', 4],
  ['gateway/', 5],
  ['bin/', 6],
];

test('every source file belongs to a layer', () => {
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => findLayer(file.name) === undefined).map((file) => file.name)).toEqual([]);
});

test('imports run one way: each layer imports only lower layers', () => {
  const wrong = files.flatMap((file) =>
    file.imports
      .filter((target) => {
        const from = findLayer(file.name);
        const to = findLayer(target);
        return from !== undefined && to !== undefined && from !== to && to[1] >= from[1];
      })
      .map((target) => `${file.name} -> ${target}`),
  );
  expect(wrong).toEqual([]);
});

test('the dashboard imports only its own files and core, because it runs in a browser', () => {
  const dashboard = files.filter((file) => file.name.startsWith('gateway/dashboard/'));
  expect(dashboard.length).toBeGreaterThan(100);
  const wrong = dashboard.flatMap((file) =>
    file.imports
      .filter((target) => !target.startsWith('gateway/dashboard/') && !target.startsWith('core/'))
      .map((target) => `${file.name} -> ${target}`),
  );
  expect(wrong).toEqual([]);
});

test('the Haraka plugin does not import the database, and the gateway imports neither SQL nor entities', () => {
  const wrong = files.flatMap((file) => {
    if (file.name.startsWith('haraka-plugins/')) return file.imports.filter((target) => target.startsWith('db/'));
    if (file.name.startsWith('gateway/'))
      return [
        ...file.imports.filter((target) => target.startsWith('db/entities/') && target !== 'db/entities/store.ts'),
        ...file.packages.filter((name) => ['kysely', 'pg'].includes(name) || name.startsWith('@mikro-orm/')),
      ].map((target) => `${file.name} -> ${target}`);
    return [];
  });
  expect(wrong).toEqual([]);
});

test('better-auth is loaded on demand: a quarter of all modules, which no start needs', () => {
  const importers = files.filter(({ packages }) =>
    packages.some((name) => /^(?:@better-auth\/(?!utils)|better-auth)/.test(name)),
  );
  expect(importers.map(({ name }) => name)).toEqual(['gateway/accounts/auth.ts']);
  const eager = files.filter(({ text }) => /^import (?!type )[^;]*'[^']*\/auth\.ts'/m.test(text));
  expect(eager.map(({ name }) => name)).toEqual([]);
});

test('every dependency is pinned exactly, and the lock file has a checksum for each package', () => {
  const read = (name: string) => JSON.parse(readFileSync(path.join(root, name), 'utf8'));
  const { dependencies, devDependencies } = read('package.json') as Record<string, Record<string, string>>;
  const ranges = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, at]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(at),
  );
  expect(ranges).toEqual([]);
  const { packages } = read('package-lock.json') as {
    packages: Record<string, { integrity?: string; inBundle?: true }>;
  };
  const unsure = Object.entries(packages).filter(
    ([at, { integrity, inBundle }]) => at !== '' && !inBundle && !integrity?.startsWith('sha512-'),
  );
  expect(unsure).toEqual([]);
});

test('every relative import names a file that exists', () => {
  const wrong = files.flatMap((file) =>
    file.imports.filter((target) => !names.has(target)).map((target) => `${file.name} -> ${target}`),
  );
  expect(wrong).toEqual([]);
});

test('there are no import cycles', () => {
  const byName = new Map(files.map((file) => [file.name, file]));
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (name: string, trail: string[]) => {
    if (state.get(name) === 'done') return;
    if (state.get(name) === 'open') return void cycles.push([...trail.slice(trail.indexOf(name)), name].join(' -> '));
    state.set(name, 'open');
    for (const target of byName.get(name)?.imports ?? []) visit(target, [...trail, name]);
    state.set(name, 'done');
  };
  for (const file of files) visit(file.name, []);
  expect(cycles).toEqual([]);
});

test('core is pure: no I/O, no clock, no randomness', () => {
  const modules = new Set(['crypto', 'net', 'url', 'buffer', 'util', 'punycode', 'zlib'].map((name) => `node:${name}`));
  const impure =
    /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomBytes\b|\brandomUUID\b|\bprocess\.|\bperformance\.|\bfetch\(/;
  const wrong = files
    .filter((file) => file.name.startsWith('core/'))
    .flatMap((file) => [
      ...file.packages
        .filter((name) => name.startsWith('node:') && !modules.has(name))
        .map((name) => `${file.name}: ${name}`),
      ...codeLines(file)
        .filter((line) => impure.test(line))
        .map((line) => `${file.name}: ${line.trim()}`),
    ]);
  expect(wrong).toEqual([]);
});

test('only bin/environment.ts and the Haraka plugins read the environment', () => {
  const wrong = files.filter(
    (file) =>
      file.name !== 'bin/environment.ts' &&
      !file.name.startsWith('haraka-plugins/') &&
      // The dashboard runs in a browser; its code samples show `process.env`.
      !file.name.startsWith('gateway/dashboard/') &&
      file.text.includes('process.env'),
  );
  expect(wrong.map((file) => file.name)).toEqual([]);
});

test('there are no index files, no default exports except in tool configurations, and no top-level await outside bin', () => {
  const wrong = files.filter(
    (file) =>
      /^index\.tsx?$/.test(path.basename(file.name)) ||
      (/^export default\b/m.test(file.text) && !file.name.endsWith('.config.ts')) ||
      (!file.name.startsWith('bin/') && /^(?:(?:export )?(?:const|let) .*= )?await\b/m.test(file.text)),
  );
  expect(wrong.map((file) => file.name)).toEqual([]);
});

test('no file has an empty name such as utils or helpers', () => {
  const empty = /^(utils?|helpers?|common|managers?|services?|base|misc)$/;
  const wrong = files.filter((file) => {
    const words = file.name.replace(/\.tsx?$/, '').split(/[/-]/);
    // RFC 5256 defines "base subject", and PostgreSQL "base backup".
    return words.some((word, at) => empty.test(word) && !['subject', 'backup'].includes(words[at + 1] ?? ''));
  });
  expect(wrong.map((file) => file.name)).toEqual([]);
});

test('file names are in kebab-case', () => {
  const wrong = files.filter((file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.d|\.config)?\.tsx?$/.test(path.basename(file.name)));
  expect(wrong.map((file) => file.name)).toEqual([]);
});

test('no file is longer than 500 lines', () => {
  // The types of the graph are generated. A migration is a schema in SQL, which does not change after its release.
  const long = files.filter(
    (file) =>
      file.name !== 'gateway/dashboard/graphql-env.d.ts' &&
      !file.name.startsWith('db/migrations/') &&
      file.text.split('\n').length > 501,
  );
  expect(long.map((file) => file.name)).toEqual([]);
});

function findLayer(name: string): [string, number] | undefined {
  return order.find(([prefix]) => name.startsWith(prefix));
}

function readSource(name: string): SourceFile {
  const text = readFileSync(path.join(root, name), 'utf8');
  const specifiers = [
    ...text.matchAll(/^(?:import|export)\b[^'"`;]*?\bfrom\s+'([^']+)'/gm),
    ...text.matchAll(/^import\s+'([^']+)'/gm),
    ...text.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g),
  ].map((match) => match[1] ?? '');
  const own = specifiers.filter((specifier) => specifier.startsWith('.'));
  return {
    name,
    text,
    imports: own
      .map((specifier) => path.posix.join(path.posix.dirname(name), specifier))
      .filter((target) => /\.tsx?$/.test(target)),
    packages: specifiers.filter((specifier) => !specifier.startsWith('.')),
  };
}

function codeLines(file: SourceFile): string[] {
  return file.text.split('\n').filter((line) => !/^\s*(\*|\/\/|\/\*)/.test(line));
}

test('the standards page and the README name files and folders that exist', () => {
  const standards = readFileSync(path.join(root, 'core/STANDARDS.md'), 'utf8');
  const named = [...standards.matchAll(/`([a-z-]+\/[a-z/-]+\.ts)`/g)].map((match) => match[1] ?? '');
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !names.has(name))).toEqual([]);
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
  const programs = [...readme.matchAll(/\bbin\/[a-z]+\.ts\b/g)].map((match) => match[0]);
  expect(programs.filter((name) => !names.has(name))).toEqual([]);
});

test('a conflict is final, or says that the client can retry', () => {
  const conflicts = files.flatMap(({ name, text }) =>
    [...text.matchAll(/new UserError\(\s*'conflict',[\s\S]*?\);/g)].map(([thrown]) => ({ name, thrown, text })),
  );
  expect(conflicts.length).toBeGreaterThan(15);
  // A text or options that are passed by name are declared a few lines above, in the same function.
  const isClear = ({ thrown, text }: (typeof conflicts)[number]) => {
    const at = text.indexOf(thrown);
    const before = text.slice(text.lastIndexOf('function ', at), at);
    return /isFinal: true|retryAfterSeconds|again|shortly|answer\.reason/i.test(before + thrown);
  };
  expect(conflicts.filter((conflict) => !isClear(conflict)).map(({ name, thrown }) => `${name}: ${thrown}`)).toEqual(
    [],
  );
});
