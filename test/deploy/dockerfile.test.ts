import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readComposeServices } from '../support/stages/compose-file.ts';

const root = path.resolve(import.meta.dirname, '../..');
const text = readFileSync(path.join(root, 'Dockerfile'), 'utf8');
/** One instruction a line. */
const instructions = text
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const stages = instructions.filter((line) => line.startsWith('FROM '));
/** The stage of the image itself. */
const last = readStage('postroom');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
};
const readable = readFileSync(path.join(root, '.dockerignore'), 'utf8').split('\n');

test('every stage starts from the pinned Node version of package.json', () => {
  const image = `node:${manifest.dependencies['node']}-slim`;
  const postgres = readComposeServices().find(({ name }) => name === 'postgres')?.image;
  expect(stages.map((stage) => stage.replace(/@sha256:[0-9a-f]{64}/, ''))).toEqual([
    `FROM ${image} AS build`,
    `FROM ${image} AS postroom`,
    // pg_dump of the server's own version
    `FROM ${postgres?.split('@')[0]} AS backup`,
    'FROM postroom',
  ]);
});

/** A digest can be read only from the registry, and one that was never pulled would be unchecked; docs/security.md says how to add it. */
const NO_REGISTRY = 'no registry was reachable when the tag was chosen';
/** Images that are pinned by tag alone, each with the reason. A digest behind the tag takes an image from the list. */
const WITHOUT_DIGEST: Readonly<Record<string, string>> = {
  'node:24.21.0-slim': NO_REGISTRY,
  'postgres:18.4': NO_REGISTRY,
  'nats:2.12.1-alpine': NO_REGISTRY,
  'haproxy:3.2.4-alpine': NO_REGISTRY,
  'rspamd/rspamd:3.11.1': NO_REGISTRY,
  'redis:7.4-alpine': NO_REGISTRY,
  'clamav/clamav:1.4.3': NO_REGISTRY,
};

test('every image of others is pinned by its digest, or is on the list with the reason', () => {
  const built = new Set([...text.matchAll(/^FROM \S+ AS (\S+)/gm)].map(([, name]) => name));
  const used = [
    ...stages.map((stage) => stage.split(' ')[1] ?? '').filter((name) => !built.has(name)),
    ...readComposeServices()
      .map(({ image }) => image)
      .filter((image) => !/^postroom(?:-backup)?:/.test(image)),
  ];
  const unpinned = new Set(used.filter((image) => !/@sha256:[0-9a-f]{64}$/.test(image)));
  expect([...unpinned].toSorted()).toEqual(Object.keys(WITHOUT_DIGEST).toSorted());
});

test('a clone made under any umask builds an image that user 10001 can read', () => {
  expect(readStage('build').at(-1)).toBe('RUN find . -path ./node_modules -prune -o -exec chmod u=rwX,go=rX {} +');
});

test('the image runs as the user of docker-compose.yml, which can write only to its data', () => {
  const user = last.filter((line) => line.startsWith('USER '));
  expect(user).toEqual(['USER 10001:10001']);
  for (const { image, definition } of readComposeServices())
    if (image.startsWith('postroom:')) expect(definition['user']).toBe('10001:10001');
  expect(last.filter((line) => /chown|chmod/.test(line))).toEqual([]);
  // A volume would leave one behind with every container, writable under a read-only root.
  expect(text).not.toMatch(/^VOLUME/m);
  expect(text).toContain('DATA_DIR=/var/lib/postroom');
});

test('the image has a health check, labels, and a plain node command', () => {
  expect(last.find((line) => line.startsWith('HEALTHCHECK '))).toContain('/ready');
  for (const label of ['title', 'description', 'licenses', 'version', 'revision'])
    expect(text).toContain(`org.opencontainers.image.${label}=`);
  expect(text).toContain(`ARG VERSION=${manifest.version}\n`);
  expect(last.at(-1)).toBe('CMD ["node", "bin/run.js", "gateway"]');
});

test('installs the production packages of the lock file without running scripts', () => {
  expect(text).toContain('RUN npm ci --omit=dev --ignore-scripts');
  expect(text).not.toMatch(/npm (install|i) |curl|wget|apt-get|ADD /);
});

test('builds and runs with production packages alone', () => {
  const allowed = new Set([...Object.keys(manifest.dependencies), ...builtinModules]);
  const wrong = listSources((name) => name !== 'bin/contracts.ts').flatMap(({ name, source }) =>
    // `import type` is gone before anything runs
    [
      ...source.matchAll(
        /^(?:import(?! type )|export)[^'"]*from '([^'./][^']*)'|^import '([^'./][^']*)'|\bimport\('([^'./][^']*)'\)/gm,
      ),
    ]
      .map(([, ...found]) => found.find((each) => each !== undefined) ?? '')
      .filter((specifier) => !/^(?:node|virtual):/.test(specifier))
      .map((specifier) =>
        specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/'),
      )
      .filter((packageName) => !allowed.has(packageName))
      .map((packageName) => `${name}: ${packageName}`),
  );
  expect(wrong).toEqual([]);
});

test('contains everything that the processes read, but no tests, data or secrets', () => {
  expect(readable).toContain('*');
  const allowed = readable.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const folders = ['core', 'schema', 'db', 'operations', 'actors', 'gateway', 'haraka-plugins', 'bin'];
  expect(allowed.filter((name) => !name.includes('.') && name !== 'LICENSE').toSorted()).toEqual(folders.toSorted());
  for (const name of allowed) expect(readdirSync(root)).toContain(name.split('/')[0]);
  // The dashboard shows them as guides; its build reads them.
  for (const pages of ['docs/*.md', 'docs/deploy/*.md']) expect(allowed).toContain(pages);
});

test('removes only packages of the dashboard build and of the single-machine service', () => {
  const removed = [...(/rm -rf (.*)/.exec(instructions.join('\n'))?.[1] ?? '').matchAll(/node_modules\/(\S+)/g)].map(
    (match) => (match[1] ?? '').replace(/\*$/, ''),
  );
  expect(removed.length).toBeGreaterThan(5);
  const exempt = new Set([
    'bin/build-cli.ts',
    'bin/build-dashboard.ts',
    'bin/runner/build-server.ts',
    'bin/runner/narrow-code.ts',
    'bin/contracts.ts',
    'db/cluster/native-postgresql.ts',
  ]);
  const wrong = listSources((name) => !name.includes('dashboard/') && !exempt.has(name))
    .filter(({ source }) =>
      removed.some((each) => source.includes(`from '${each}'`) || source.includes(`from '${each}/`)),
    )
    .map(({ name }) => name);
  expect(wrong).toEqual([]);
});

test('contains no TypeScript compiler and no Redis client', () => {
  for (const name of ['typescript', '@typescript', 'redis', '@redis', 'haraka-plugin-redis/node_modules'])
    expect(readStage('build').join('\n')).toContain(` node_modules/${name}`);
});

/** The TypeScript of the folders in the image, by path. */
function listSources(isMeant: (name: string) => boolean): { name: string; source: string }[] {
  return ['core', 'schema', 'db', 'operations', 'actors', 'gateway', 'haraka-plugins', 'bin'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => path.join(folder, name))
      .filter((name) => /\.tsx?$/.test(name) && isMeant(name))
      .map((name) => ({ name, source: readFileSync(path.join(root, name), 'utf8') })),
  );
}

function readStage(name: string): string[] {
  const from = instructions.findIndex((line) => line.startsWith('FROM ') && line.endsWith(` AS ${name}`));
  const length = instructions.slice(from + 1).findIndex((line) => line.startsWith('FROM '));
  return instructions.slice(from, from + 1 + length);
}
