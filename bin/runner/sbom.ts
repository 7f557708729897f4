/** package-lock.json, version 3. */
export interface PackageLock {
  packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  name?: string;
  version: string;
  license?: string;
  integrity?: string;
  resolved?: string;
  dev?: boolean;
  optional?: boolean;
  dependencies?: Readonly<Record<string, string>>;
  optionalDependencies?: Readonly<Record<string, string>>;
  peerDependencies?: Readonly<Record<string, string>>;
}

/** A package of the bill (CycloneDX 1.6). */
interface SbomComponent {
  type: 'library';
  'bom-ref': string;
  group?: string;
  name: string;
  version: string;
  scope: 'required' | 'optional' | 'excluded';
  hashes: { alg: 'SHA-512' | 'SHA-256' | 'SHA-1'; content: string }[];
  licenses: ({ license: { id: string } } | { expression: string })[];
  purl: string;
}

export interface Sbom {
  bomFormat: 'CycloneDX';
  specVersion: '1.6';
  serialNumber: string;
  version: 1;
  metadata: { component: Record<string, unknown> };
  components: SbomComponent[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const ALGORITHMS = { sha512: 'SHA-512', sha256: 'SHA-256', sha1: 'SHA-1' } as const;
const ROOT_FOLDER = '';
const MODULES = 'node_modules/';

/**
 * Returns the software bill of materials of the production packages of a lock file. The same lock file makes the same bill: it has no time, and its
 * serial number follows from the hash of the lock file. A package that is not installed is marked as excluded.
 */
export function makeSbom(
  { packages }: PackageLock,
  { lockSha256, isInstalled }: { lockSha256: string; isInstalled: (folder: string) => boolean },
): Sbom {
  const own = packages[ROOT_FOLDER];
  if (own === undefined) throw new Error('package-lock.json has no package of its own');
  const locked = Object.entries(packages).filter(([folder, { dev }]) => folder !== ROOT_FOLDER && dev !== true);
  const components = new Map<string, SbomComponent>();
  const dependencies = new Map<string, Set<string>>();
  const link = (ref: string, folder: string, entry: LockedPackage) => {
    const refs = dependencies.get(ref) ?? new Set();
    dependencies.set(ref, refs);
    for (const target of dependencyFolders(packages, folder, entry)) refs.add(makeRef(target, packages));
  };
  for (const [folder, entry] of locked) {
    const component = toComponent(folder, entry, isInstalled(folder));
    const known = components.get(component['bom-ref']);
    // The same version can be in several folders.
    if (known === undefined || known.scope === 'excluded') components.set(component['bom-ref'], component);
    link(component['bom-ref'], folder, entry);
  }
  const rootRef = `pkg:npm/${own.name ?? 'postroom'}@${own.version}`;
  link(rootRef, ROOT_FOLDER, own);
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${makeUuid(lockSha256)}`,
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': rootRef,
        name: own.name ?? 'postroom',
        version: own.version,
        licenses: toLicenses(own),
        purl: rootRef,
      },
    },
    components: [...components.values()].toSorted((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
    dependencies: [...dependencies]
      .map(([ref, refs]) => ({ ref, dependsOn: [...refs].toSorted() }))
      .toSorted((a, b) => (a.ref < b.ref ? -1 : 1)),
  };
}

function toComponent(folder: string, entry: LockedPackage, isThere: boolean): SbomComponent {
  const name = readName(folder, entry);
  const slash = name.lastIndexOf('/');
  const group = slash === -1 ? undefined : name.slice(0, slash);
  const purl = readPurl(name, entry.version);
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group === undefined ? {} : { group }),
    name: name.slice(slash + 1),
    version: entry.version,
    scope: !isThere ? 'excluded' : entry.optional === true ? 'optional' : 'required',
    hashes: readHashes(entry),
    licenses: toLicenses(entry),
    purl,
  };
}

/** Returns the name of a package, which can differ from the name of its folder. */
function readName(folder: string, { name }: LockedPackage): string {
  return name ?? folder.slice(folder.lastIndexOf(MODULES) + MODULES.length);
}

/** https://github.com/package-url/purl-spec */
function readPurl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function makeRef(folder: string, packages: PackageLock['packages']): string {
  const entry = packages[folder];
  if (entry === undefined) throw new Error(`package-lock.json has no ${folder}`);
  return readPurl(readName(folder, entry), entry.version);
}

/** Subresource integrity, in base64: https://www.w3.org/TR/sri. */
function readHashes({ integrity = '' }: LockedPackage): SbomComponent['hashes'] {
  return integrity.split(/\s+/).flatMap((each) => {
    const [, name, base64 = ''] = /^(sha512|sha256|sha1)-([A-Za-z0-9+/=]+)/.exec(each) ?? [];
    if (name === undefined) return [];
    const content = Buffer.from(base64, 'base64').toString('hex');
    return [{ alg: ALGORITHMS[name as keyof typeof ALGORITHMS], content }];
  });
}

function toLicenses({ license }: LockedPackage): SbomComponent['licenses'] {
  if (license === undefined) return [];
  return /^[A-Za-z0-9.-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }];
}

/** Returns the folders of what a package needs, as Node finds them: beside it, or in a folder above. What is not installed is left out. */
function dependencyFolders(packages: PackageLock['packages'], folder: string, entry: LockedPackage): string[] {
  const names = new Set([
    ...Object.keys(entry.dependencies ?? {}),
    ...Object.keys(entry.optionalDependencies ?? {}),
    ...Object.keys(entry.peerDependencies ?? {}),
  ]);
  return [...names].flatMap((name) => {
    for (let above = folder; ; above = readParent(above)) {
      const found = above === ROOT_FOLDER ? `${MODULES}${name}` : `${above}/${MODULES}${name}`;
      const target = packages[found];
      if (target !== undefined) return target.dev === true ? [] : [found];
      if (above === ROOT_FOLDER) return [];
    }
  });
}

/** Returns the folder of the package that contains the one of this folder. */
function readParent(folder: string): string {
  const at = folder.lastIndexOf(`/${MODULES}`);
  return at === -1 ? ROOT_FOLDER : folder.slice(0, at);
}

/** RFC 9562 §5.8: the first 122 bits are those of the hash. */
function makeUuid(sha256: string): string {
  const [a, b, c, d, e] = [
    sha256.slice(0, 8),
    sha256.slice(8, 12),
    sha256.slice(13, 16),
    sha256.slice(17, 20),
    sha256.slice(20, 32),
  ];
  return `${a}-${b}-8${c}-8${d}-${e}`;
}
