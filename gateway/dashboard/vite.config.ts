import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { icons as tabler } from '@iconify-json/tabler';
import react from '@vitejs/plugin-react';
import fastify from 'fastify';
import { build, defineConfig, type Plugin } from 'vite';
import { firstRequests } from './first-requests-plugin.ts';
import { guides } from './guides/guides-plugin.ts';

const LARGE_BYTES = 1_000_000;

/** Writes compressed copies of text files, so that the gateway does not compress at run time. */
function compressed(): Plugin {
  return {
    name: 'postroom-compressed',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const names = (await readdir(path.join(dir, 'assets'))).filter((name) => /\.(js|css|svg)$/.test(name));
      const brotli = promisify(brotliCompress);
      const compressors = {
        gz: promisify(gzip),
        // The best quality, 11, takes ten seconds for 5 MB.
        br: (bytes: Buffer) =>
          brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: bytes.length > LARGE_BYTES ? 9 : 11 } }),
      };
      await Promise.all(
        names.map(async (name) => {
          const file = path.join(dir, 'assets', name);
          const bytes = await readFile(file);
          for (const [ending, compress] of Object.entries(compressors))
            await writeFile(`${file}.${ending}`, await compress(bytes));
        }),
      );
    },
  };
}

const JAVASCRIPT_SAMPLES = 'key:`js`,title:`JavaScript`';

/**
 * Emits the script of the REST reference as a file of its own: 5 MB that are bundled and minified already. The package has it only as what
 * its Fastify plugin serves.
 */
function scalarScript(): Plugin {
  return {
    name: 'postroom-scalar',
    apply: 'build',
    resolveId: (id) => (id === 'virtual:scalar' ? id : null),
    async load(id) {
      if (id !== 'virtual:scalar') return null;
      const { default: scalar } = await import('@scalar/fastify-api-reference');
      const app = fastify();
      await app.register(scalar, { routePrefix: '/reference', configuration: { content: {} } });
      const { body } = await app.inject('/reference/js/scalar.js');
      await app.close();
      // Its samples with fetch are valid TypeScript, and JavaScript is the only name it has for them.
      if (body.split(JAVASCRIPT_SAMPLES).length !== 2)
        throw new Error('Scalar names its JavaScript samples in another way');
      const source = body.replace(JAVASCRIPT_SAMPLES, JAVASCRIPT_SAMPLES.replace('JavaScript', 'TypeScript'));
      const file = this.emitFile({ type: 'asset', name: 'scalar.js', source });
      return `export default import.meta.ROLLUP_FILE_URL_${file}`;
    },
  };
}

/** How Tabler Icons draws lines: the same in each icon. */
const LINES = ' fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" stroke-width="2"';

/** Puts the shapes of Tabler Icons that icons.ts names there, so that the page gets only those. */
function icons(): Plugin {
  return {
    name: 'postroom-icons',
    transform: {
      filter: { id: /\/parts\/icons\.ts$/ },
      handler(code) {
        const [, names = ''] = /const NAMES = `([^`]*)`/.exec(code) ?? [];
        const shapes = names.match(/\S+/g)?.map((name) => [name, readShape(name)]) ?? [];
        const filled = code.replace(/(?<=const SHAPES: .* = )\{\}/, () => JSON.stringify(Object.fromEntries(shapes)));
        if (shapes.length === 0 || filled === code) throw new Error('parts/icons.ts has no NAMES or SHAPES to fill');
        return filled;
      },
    },
    enforce: 'pre',
  };
}

/** Returns the shape of an icon without what an icon of lines has from its element. */
function readShape(name: string): string {
  if (!(name in tabler.icons)) throw new Error(`Tabler Icons has no icon "${name}"`);
  const { body } = tabler.icons[name] as { body: string };
  const lines = body.replace(LINES, '');
  return lines === body ? body.replace('<path ', '<path stroke="none" ') : lines;
}

/**
 * Returns the modules that the entry and the inbox use, directly or not, without what they load later. Bundles everything once without
 * writing it: only a bundle without unused code tells which parts of a library are used.
 */
async function findFirstLoad(): Promise<ReadonlySet<string>> {
  const built = await build({
    configFile: false,
    root: import.meta.dirname,
    plugins: [icons(), guides(), react()],
    logLevel: 'error',
    build: { write: false, minify: false, reportCompressedSize: false },
  });
  const chunks = [built].flat().flatMap((result) => ('output' in result ? result.output : []));
  const byName = new Map(chunks.flatMap((chunk) => (chunk.type === 'chunk' ? [[chunk.fileName, chunk] as const] : [])));
  const reached = new Set<string>();
  const reach = (name: string) => {
    if (reached.has(name)) return;
    reached.add(name);
    for (const imported of byName.get(name)?.imports ?? []) reach(imported);
  };
  for (const { fileName, isEntry, facadeModuleId } of byName.values())
    if (isEntry || facadeModuleId?.endsWith('/inbox-page.tsx') === true) reach(fileName);
  return new Set([...reached].flatMap((name) => Object.keys(byName.get(name)?.modules ?? {})));
}

/** `npm run build` writes dist. `npx vite gateway/dashboard` serves the sources with live reload and uses a service on port 3000. */
export default defineConfig(async ({ command }) => {
  const firstLoad = command === 'build' ? await findFirstLoad() : new Set<string>();
  return {
    root: import.meta.dirname,
    plugins: [icons(), guides(), react(), scalarScript(), firstRequests(), compressed()],
    build: {
      target: 'es2023',
      outDir: 'dist',
      emptyOutDir: true,
      // The content security policy does not allow data: URLs.
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      // The first load is one file on purpose, and Scalar is large.
      chunkSizeWarningLimit: 6_000,
      // Browsers that run es2023 need no polyfill, which would be the only module that both pages share.
      modulePreload: { polyfill: false },
      // The first load is one file, what further pages share two, instead of dozens of small ones: each file is a request.
      rolldownOptions: {
        // On a slow machine, rolldown would explain which plugin took long, in the middle of npm ci.
        checks: { bundlerTimings: false },
        input: ['index.html', 'reference.html'].map((name) => path.join(import.meta.dirname, name)),
        output: {
          codeSplitting: {
            groups: [
              { name: 'first', test: (id: string) => firstLoad.has(id), priority: 3 },
              { name: 'libraries', test: /node_modules/, minShareCount: 2, priority: 2 },
              { name: 'parts', minShareCount: 2, priority: 1 },
            ],
          },
        },
      },
    },
    server: { proxy: { '/graphql': 'http://localhost:3000', '/api': 'http://localhost:3000' } },
  };
});
