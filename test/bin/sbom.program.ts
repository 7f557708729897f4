import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSbom, type PackageLock, type Sbom } from '../../bin/runner/sbom.ts';

const root = path.resolve(import.meta.dirname, '../..');
const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as PackageLock;
const production = Object.entries(lock.packages).filter(([folder, { dev }]) => folder !== '' && dev !== true);
const folder = mkdtempSync(path.join(tmpdir(), 'postroom-sbom-'));
let sbom: Sbom;

const write = (...words: string[]) => {
  const file = path.join(folder, 'sbom.cdx.json');
  execFileSync(process.execPath, [path.join(root, 'bin/sbom.ts'), '--out', file, ...words]);
  return readFileSync(file, 'utf8');
};

beforeAll(() => {
  sbom = JSON.parse(write()) as Sbom;
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the software bill of materials', () => {
  test('is CycloneDX 1.6, and the same for the same lock file', () => {
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/),
      metadata: { component: { type: 'application', name: 'postroom', licenses: [{ license: { id: 'Apache-2.0' } }] } },
    });
    expect(JSON.parse(write())).toEqual(sbom);
  });

  test('has every production package with version, license and the hash of the lock file, and no other', () => {
    const byPurl = new Map(sbom.components.map((component) => [component.purl, component]));
    const expected = new Set<string>();
    for (const [place, entry] of production) {
      const name = entry.name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const purl = `pkg:npm/${name.replace('@', '%40')}@${entry.version}`;
      expected.add(purl);
      const component = byPurl.get(purl);
      expect(component, purl).toBeDefined();
      expect(component?.version).toBe(entry.version);
      const license = component?.licenses[0];
      expect(license !== undefined && ('expression' in license ? license.expression : license.license.id), purl).toBe(
        entry.license,
      );
      const [algorithm, base64 = ''] = (entry.integrity ?? '').split('-', 2);
      expect(component?.hashes, purl).toEqual([
        { alg: algorithm === 'sha512' ? 'SHA-512' : algorithm, content: Buffer.from(base64, 'base64').toString('hex') },
      ]);
    }
    expect(production.length).toBeGreaterThan(500);
    expect([...byPurl.keys()].filter((purl) => !expected.has(purl))).toEqual([]);
    expect(sbom.components).toHaveLength(expected.size);
  });

  test('says what needs what, and leads from the service to every package', () => {
    const refs = new Set(sbom.components.map((component) => component['bom-ref']));
    const graph = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set<string>();
    const visit = (ref: string): void => {
      if (reached.has(ref)) return;
      reached.add(ref);
      for (const next of graph.get(ref) ?? []) visit(next);
    };
    visit(String(sbom.metadata.component['bom-ref']));
    expect([...refs].filter((ref) => !reached.has(ref))).toEqual([]);
    expect([...reached].filter((ref) => !refs.has(ref) && ref !== sbom.metadata.component['bom-ref'])).toEqual([]);
  });

  test('marks as excluded what the image has removed', () => {
    const removed = makeSbom(lock, { lockSha256: '0'.repeat(64), isInstalled: (place) => !place.endsWith('/vite') });
    expect(removed.components.filter(({ scope }) => scope === 'excluded').map(({ name }) => name)).toEqual(['vite']);
  });

  test('is in the image, made from what it contains', () => {
    const lines = readFileSync(path.join(root, 'Dockerfile'), 'utf8').split('\n');
    const made = lines.indexOf('RUN node bin/sbom.ts --installed --out sbom.cdx.json');
    expect(made).toBeGreaterThan(lines.findIndex((line) => line.startsWith('RUN rm -rf')));
    expect(made).toBeLessThan(lines.findIndex((line) => line.endsWith('AS postroom')));
  });
});
