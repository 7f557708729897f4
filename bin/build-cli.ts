import { execFileSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build, type Plugin } from 'vite';
import { readArguments } from './runner/command-line.ts';
import { VERSION } from './runner/version.ts';

const {
  options: { pack },
} = readArguments({
  usage: `Usage: npm run build-cli -- [--pack FOLDER]

Bundles the command line with its dependencies into one file, which runs with Node 20 or later and nothing else:
gateway/dashboard/dist/postroom.mjs. The gateway serves it at /postroom.mjs; npm ci builds it automatically.

  --pack FOLDER   also write postroom-cli-VERSION.tgz there, a package that npm install -g takes`,
  options: { pack: { type: 'string' } },
});

const root = path.resolve(import.meta.dirname, '..');
const file = path.join(root, 'gateway/dashboard/dist/postroom.mjs');

/** Replaces modules that need the repository with ones that do not. */
function withoutRepository(): Plugin {
  const replaced: Record<string, string> = {
    [path.join(root, 'bin/runner/version.ts')]: `export const VERSION = ${JSON.stringify(VERSION)};`,
    [path.join(root, 'bin/doctor/diagnose.ts')]:
      "export async function diagnose() { throw new Error('--server works in a clone of the repository only. Run there: npx node bin/doctor.ts'); }",
  };
  return {
    name: 'postroom-without-repository',
    enforce: 'pre',
    load: (id) => replaced[id] ?? null,
  };
}

/** What Node 20 lacks of the language; the package runs there, too. */
const POLYFILLS =
  'Promise.withResolvers??=function(){let a,b;const promise=new this((c,d)=>{a=c;b=d});return{promise,resolve:a,reject:b}};URL.parse??=(a,b)=>URL.canParse(a,b)?new URL(a,b):null;';

await build({
  configFile: false,
  root,
  logLevel: 'warn',
  plugins: [withoutRepository()],
  ssr: { noExternal: true },
  build: {
    ssr: 'bin/postroom.ts',
    target: 'node20',
    write: true,
    emptyOutDir: false,
    copyPublicDir: false,
    outDir: path.dirname(file),
    minify: true,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      output: {
        entryFileNames: path.basename(file),
        codeSplitting: false,
        banner: `#!/usr/bin/env node\n${POLYFILLS}`,
      },
    },
  },
});
await chmod(file, 0o755);

if (pack !== undefined) {
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-cli-'));
  try {
    const manifest = {
      name: 'postroom-cli',
      version: VERSION,
      description: 'The command line of Postroom.',
      license: 'Apache-2.0',
      type: 'module',
      bin: { postroom: 'postroom.mjs' },
      engines: { node: '>=20' },
    };
    await writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
    await cp(file, path.join(folder, 'postroom.mjs'));
    await cp(path.join(root, 'docs/cli.md'), path.join(folder, 'README.md'));
    await writeFile(path.join(folder, 'LICENSE'), await readFile(path.join(root, 'LICENSE')));
    await mkdir(pack, { recursive: true });
    execFileSync('npm', ['pack', '--silent', '--pack-destination', path.resolve(pack)], {
      cwd: folder,
      stdio: 'inherit',
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}
