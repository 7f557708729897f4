import { createHash, hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type OutputAsset, type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { narrowCode } from './narrow-code.ts';

/*
 * The programs of the service as JavaScript (docs/decisions/0136). `dist/ID` has a file for each program, worker thread and part, at the path
 * of its source, and `chunks` that they share; what the sources import lazily stays lazy. `dist/server.json` names that folder and the files
 * that it was made from. `bin/run.js` reads it.
 */

/** What `dist/server.json` has. */
export interface ServerBuild {
  /** from the root of the repository */
  folder: string;
  /** size in bytes, time of the last change in milliseconds, and SHA-256 in hex of each file that the build was made from */
  files: Record<string, [sizeBytes: number, changedMs: number, sha256: string]>;
}

const ROOT = path.resolve(import.meta.dirname, '../..');
const DIST = path.join(ROOT, 'dist');

/** Programs that keep running. Others run from their source. */
const PROGRAMS = ['start', 'gateway', 'actor', 'smtp', 'migrate'];

/**
 * Packages that stay in node_modules: Haraka loads its parts by their path and has its state in its modules; the others are large, and
 * rarely used or not at all.
 */
const EXTERNAL = /^(haraka|haraka-[a-z-]+|pg-native|unpdf|@graphql-yoga\/render-graphiql)(\/|$)/;

/**
 * rolldown takes these functions for pure and removes a call whose result is unused, as in `try { decodeURIComponent(text) } catch`. As members
 * of `globalThis` they stay.
 */
const CALLS_THAT_THROW = Object.fromEntries(
  ['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'String.fromCodePoint'].map((name) => [
    name,
    `globalThis.${name}`,
  ]),
);

/** Which packages are bundled, in which versions. */
const PACKAGES = ['package.json', 'package-lock.json'];

/** Builds the service. Returns its folder from the root, and the bytes of its code. */
export async function buildServer(): Promise<{ folder: string; bytes: number }> {
  const startedAt = Date.now();
  const inputs = new Set<string>();
  const bundle = await rolldown({
    cwd: ROOT,
    platform: 'node',
    input: Object.fromEntries(PROGRAMS.map((name) => [`bin/${name}`, path.join(ROOT, `bin/${name}.ts`)])),
    external: EXTERNAL,
    transform: { define: CALLS_THAT_THROW },
    plugins: [keepPlaces(inputs)],
    onLog(level, log, handle) {
      // Packages have cycles, and code in strings. The plugin changes no line.
      if (!['CIRCULAR_DEPENDENCY', 'EVAL', 'SOURCEMAP_BROKEN'].includes(log.code ?? '')) handle(level, log);
    },
  });
  const generated = await bundle.generate({
    format: 'esm',
    // Source maps name the sources from this depth.
    dir: path.join(DIST, 'ID'),
    sourcemap: true,
    sourcemapExcludeSources: true,
    keepNames: true,
    comments: { legal: false, jsdoc: false, annotation: false },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  await bundle.close();
  const output = generated.output.map((each) =>
    each.type === 'chunk'
      ? { type: each.type, fileName: each.fileName, code: narrowCode(each.code) }
      : { type: each.type, fileName: each.fileName, source: each.source },
  );
  const folder = `dist/${nameOutput(output)}`;
  const files = await describeFiles([...inputs, ...PACKAGES]);
  const changed = Object.entries(files).find(([, [, changedMs]]) => changedMs >= startedAt);
  if (changed !== undefined) throw new Error(`${changed[0]} was changed during the build. Build again`);
  await writeFolder(path.join(ROOT, folder), output);
  await publish({ folder, files });
  const bytes = output.reduce((sum, each) => sum + (each.type === 'chunk' ? Buffer.byteLength(each.code) : 0), 0);
  return { folder, bytes };
}

/**
 * Keeps `import.meta` of each source as it was, because code reads files beside it, and notes the sources. The URL of a program, which a
 * process or thread runs, becomes the URL of its built file.
 */
function keepPlaces(inputs: Set<string>): Plugin {
  return {
    name: 'postroom-places',
    transform: {
      order: 'pre',
      handler(code, id) {
        const file = id.replace(/\?.*$/, '');
        if (!file.startsWith(`${ROOT}/`)) return null;
        const place = path.relative(ROOT, file);
        const isOurs = !place.startsWith('node_modules/');
        if (isOurs) inputs.add(place);
        if (!/import\.meta\.|__dirname|__filename/.test(code)) return null;
        const startPrograms = (text: string) =>
          text.replaceAll(/new URL\('([^']+)\.ts', import\.meta\.url\)/g, (_, relative: string) => {
            const program = path.join(path.dirname(place), relative);
            this.emitFile({ type: 'chunk', id: path.join(ROOT, `${program}.ts`), fileName: `${program}.js` });
            return `new URL(${JSON.stringify(`${program}.js`)}, postroom_built)`;
          });
        const [asUrl, asFile, asFolder] = [
          `(postroom_url + ${JSON.stringify(place)})`,
          `(postroom_root + ${JSON.stringify(place)})`,
          `(postroom_root + ${JSON.stringify(path.dirname(place))})`,
        ];
        const placed = (isOurs ? startPrograms(code) : code)
          .replaceAll(/\bimport\.meta\.url\b/g, asUrl)
          .replaceAll(/\bimport\.meta\.filename\b/g, asFile)
          .replaceAll(/\bimport\.meta\.dirname\b/g, asFolder);
        return {
          code: isOurs ? placed : placed.replaceAll(/\b__filename\b/g, asFile).replaceAll(/\b__dirname\b/g, asFolder),
          map: null,
        };
      },
    },
    renderChunk(code, { fileName }) {
      if (!/\bpostroom_(built|url|root)\b/.test(code)) return null;
      const up = '../'.repeat(fileName.split('/').length - 1);
      const places = [
        `postroom_built = new URL('./${up}', import.meta.url)`,
        `postroom_url = new URL('./${up}../../', import.meta.url).href`,
        `postroom_root = process.getBuiltinModule('node:path').resolve(import.meta.dirname, './${up}../..') + '/'`,
      ];
      return { code: `const ${places.join(', ')}; ${code}`, map: null };
    },
  };
}

type Output = readonly (
  | Pick<OutputChunk, 'type' | 'fileName' | 'code'>
  | Pick<OutputAsset, 'type' | 'fileName' | 'source'>
)[];

/** The same code has the same name, so that V8 finds what it compiled before. */
function nameOutput(output: Output): string {
  const sum = createHash('sha256');
  for (const each of output) sum.update(each.fileName).update(each.type === 'chunk' ? each.code : each.source);
  return sum.digest('hex').slice(0, 12);
}

async function describeFiles(places: readonly string[]): Promise<ServerBuild['files']> {
  const entries = places.toSorted().map(async (place) => {
    const file = path.join(ROOT, place);
    const [{ size, mtimeMs }, content] = await Promise.all([stat(file), readFile(file)]);
    return [place, [size, mtimeMs, hash('sha256', content, 'hex')]] as const;
  });
  return Object.fromEntries(await Promise.all(entries)) as ServerBuild['files'];
}

/** Completes what a build that was killed left there. A service that runs from the same folder sees each file as it was. */
async function writeFolder(folder: string, output: Output): Promise<void> {
  for (const each of output) {
    const file = path.join(folder, each.fileName);
    await mkdir(path.dirname(file), { recursive: true });
    await replaceFile(file, each.type === 'chunk' ? each.code : each.source);
  }
}

async function replaceFile(file: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, content);
  await rename(unfinished, file);
}

/** Another build may be writing a folder that is younger. Milliseconds. */
const KEPT_MS = 86_400_000;

/** From now on, programs start from this build. What runs from the one before it still finds its files. */
async function publish(build: ServerBuild): Promise<void> {
  const file = path.join(DIST, 'server.json');
  const before = await readFile(file, 'utf8').then(
    (text) => (JSON.parse(text) as ServerBuild).folder,
    () => null,
  );
  await replaceFile(file, JSON.stringify(build));
  for (const name of await readdir(DIST)) {
    if (!/^[0-9a-f]{12}$/.test(name) || [before, build.folder].includes(`dist/${name}`)) continue;
    const folder = path.join(DIST, name);
    if ((await stat(folder)).mtimeMs < Date.now() - KEPT_MS) await rm(folder, { recursive: true });
  }
}
