import { createHash, hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type OutputAsset, type OutputChunk, type Plugin, rolldown } from 'rolldown';

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
    plugins: [keepPlaces(inputs)],
    onLog(level, log, handle) {
      // Packages have cycles, and code in strings. The plugin changes no line.
      if (!['CIRCULAR_DEPENDENCY', 'EVAL', 'SOURCEMAP_BROKEN'].includes(log.code ?? '')) handle(level, log);
    },
  });
  const { output } = await bundle.generate({
    format: 'esm',
    // Source maps name the sources from this depth.
    dir: path.join(DIST, 'ID'),
    sourcemap: true,
    keepNames: true,
    comments: { legal: false, jsdoc: false, annotation: false },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  await bundle.close();
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

type Output = readonly (OutputChunk | OutputAsset)[];

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

/** Writes all files or none, also when two builds run at the same time. */
async function writeFolder(folder: string, output: Output): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  for (const each of output) {
    const file = path.join(unfinished, each.fileName);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, each.type === 'chunk' ? each.code : each.source);
  }
  // Another build may have made the same folder. A service may run from it, so it stays.
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
}

/** From now on, programs start from this build. What runs from the one before it still finds its files. */
async function publish(build: ServerBuild): Promise<void> {
  const file = path.join(DIST, 'server.json');
  const before = await readFile(file, 'utf8').then(
    (text) => (JSON.parse(text) as ServerBuild).folder,
    () => null,
  );
  await writeFile(`${file}.${process.pid}`, JSON.stringify(build));
  await rename(`${file}.${process.pid}`, file);
  const kept = [before, build.folder].map((folder) => folder?.replace('dist/', ''));
  for (const name of await readdir(DIST))
    if (/^[0-9a-f]{12}$/.test(name) && !kept.includes(name)) await rm(path.join(DIST, name), { recursive: true });
}
