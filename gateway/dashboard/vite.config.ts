import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Writes each text file a second time, compressed, so that the gateway compresses nothing while it serves. */
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
          const octets = await readFile(file);
          for (const [ending, compress] of Object.entries(compressors))
            await writeFile(`${file}.${ending}`, await compress(octets));
        }),
      );
    },
  };
}

/** `npm run build` makes dist of it; `npx vite gateway/dashboard` serves it anew on each change, beside a service on port 3000. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), compressed()],
  build: {
    target: 'es2023',
    outDir: 'dist',
    emptyOutDir: true,
    // As a data: URL a picture would need a hole in the policy of the pages.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: { proxy: { '/graphql': 'http://localhost:3000', '/api': 'http://localhost:3000' } },
});
