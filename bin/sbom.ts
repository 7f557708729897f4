import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readArguments } from './runner/command-line.ts';
import { makeSbom, type PackageLock } from './runner/sbom.ts';

const { out, installed } = readArguments({
  usage: `Usage: npm run sbom [-- --out FILE] [-- --installed]

Writes the software bill of materials of the production packages in package-lock.json, as CycloneDX 1.6 in JSON.

  --out FILE    where to write it; without it, to standard output
  --installed   marks packages that node_modules lacks as excluded, such as packages that the image removes`,
  options: { out: { type: 'string' }, installed: { type: 'boolean' } },
}).options;

const root = path.resolve(import.meta.dirname, '..');
const lockText = readFileSync(path.join(root, 'package-lock.json'), 'utf8');
const text = `${JSON.stringify(
  makeSbom(JSON.parse(lockText) as PackageLock, {
    lockSha256: createHash('sha256').update(lockText).digest('hex'),
    isInstalled: (folder) => installed === undefined || existsSync(path.join(root, folder, 'package.json')),
  }),
  null,
  2,
)}\n`;
if (out !== undefined) writeFileSync(out, text);
else process.stdout.write(text);
