/// <reference types="node" />
// Runs a program of this folder: `node bin/run.js gateway` is `node bin/gateway.ts`, from the JavaScript that `npm run build-server` made if
// it matches the sources. `bin/gateway.ts` names it, too: npm start does so, and lists of processes show it. Plain JavaScript, because Node
// keeps what it loads to strip types.
import { hash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const [, name = ''] = /^(?:bin\/)?([a-z-]+)(?:\.ts)?$/.exec(process.argv[2] ?? '') ?? [];
const source = new URL(`${name}.ts`, import.meta.url);
if (name === '' || !existsSync(source)) {
  process.stderr.write('Usage: node bin/run.js PROGRAM [ARGUMENTS], for example node bin/run.js gateway\n');
  process.exit(2);
}
const program = findBuilt(`bin/${name}.js`) ?? source;
process.argv.splice(1, 2, fileURLToPath(program));
await import(program.href);

/**
 * Returns the built file, or null if there is none, or not of these sources.
 *
 * @param {string} file
 */
function findBuilt(file) {
  try {
    const text = readFileSync(new URL('dist/server.json', root), 'utf8');
    const { folder, files } = /** @type {import('./runner/build-server.ts').ServerBuild} */ (JSON.parse(text));
    const built = new URL(`${folder}/${file}`, root);
    return existsSync(built) && Object.entries(files).every(isUnchanged) ? built : null;
  } catch {
    return null;
  }
}

/**
 * Images and copies change times, so the content of a file whose time is another decides.
 *
 * @param {[string, [sizeBytes: number, changedMs: number, sha256: string]]} file
 */
function isUnchanged([place, [sizeBytes, changedMs, sha256]]) {
  const file = new URL(place, root);
  const { size, mtimeMs } = statSync(file);
  if (size !== sizeBytes) return false;
  return mtimeMs === changedMs || hash('sha256', readFileSync(file), 'hex') === sha256;
}
