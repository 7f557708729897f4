import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { build, defineConfig, type Plugin } from 'vite';

/** Writes compressed copies of text files, so that the gateway does not compress at run time. */
function compressed(): Plugin {
  return {
    name: 'postroom-compressed',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const names = (await readdir(path.join(dir, 'assets'))).filter((name) => /\.(js|css|svg)$/.test(name));
      const compressors = { gz: promisify(gzip), br: promisify(brotliCompress) };
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

/**
 * Returns the modules that the entry and the inbox use, directly or not, without what they load later. Bundles everything once without
 * writing it: only a bundle without unused code tells which parts of a library are used.
 */
async function findFirstLoad(): Promise<ReadonlySet<string>> {
  const built = await build({
    configFile: false,
    root: import.meta.dirname,
    plugins: [react()],
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
    plugins: [react(), compressed()],
    build: {
      target: 'es2023',
      outDir: 'dist',
      emptyOutDir: true,
      // The content security policy does not allow data: URLs.
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      // The first load is one file, what further pages share two, instead of dozens of small ones: each file is a request.
      rolldownOptions: {
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
