import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

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

/** `npm run build` writes dist. `npx vite gateway/dashboard` serves the sources with live reload and uses a service on port 3000. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), compressed()],
  build: {
    target: 'es2023',
    outDir: 'dist',
    emptyOutDir: true,
    // The content security policy does not allow data: URLs.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // What several pages share is in two files instead of dozens of small ones: each file is a request.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'libraries', test: /node_modules/, minShareCount: 2, priority: 2 },
            { name: 'parts', minShareCount: 2, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/graphql': 'http://localhost:3000', '/api': 'http://localhost:3000' } },
});
