import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** A client from the npm registry as the lock file pins it. */
export interface PublishedClient {
  version: string;
  /** of the tarball, which `npm ci` compares */
  integrity: string;
}

/** Reads it from the lock file, prints it, and throws when another version is installed. */
export function publishedClient(name: string): PublishedClient {
  const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string; integrity?: string }>;
  };
  const { version = '', integrity = '' } = lock.packages[`node_modules/${name}`] ?? {};
  const manifest = readFileSync(path.join(root, 'node_modules', name, 'package.json'), 'utf8');
  const installed = (JSON.parse(manifest) as { version: string }).version;
  if (installed !== version) throw new Error(`${name} ${installed} is installed, the lock file has ${version}`);
  process.stdout.write(`${name} ${version} ${integrity}\n`);
  return { version, integrity };
}
