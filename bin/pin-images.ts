import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { readArguments } from './runner/command-line.ts';

const { check, registry = 'https://registry-1.docker.io' } = readArguments({
  usage: `Usage: npx node bin/pin-images.ts [--check] [--registry URL]

Writes the digest of each image of others behind its tag in Dockerfile and docker-compose.yml, as name:tag@sha256:...
The digest is that of the manifest that the registry sends for the tag now, of all platforms, computed from its bytes.

  --check         writes nothing; exits with 1 and a line for each image without a digest, or whose tag has another one now
  --registry URL  a mirror of Docker Hub; default https://registry-1.docker.io`,
  options: { check: { type: 'boolean' }, registry: { type: 'string' } },
}).options;

/** In the folder in which the program is started. */
const FILES = ['Dockerfile', 'docker-compose.yml'];
/** An image with a tag: where it is named, its name, its tag, and its digest if there is one. */
const IMAGE = /(^FROM |^\s*image: )([a-z0-9][\w./-]*):([\w.-]+)(@sha256:[0-9a-f]{64})?/gm;
/** Images that these files build. */
const OWN = /^postroom(?:-backup)?$/;
/** Media types of what a tag names: an index of platforms, or the manifest of the only one (OCI image specification, and Docker's before it). */
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
/** Of the OCI distribution specification, "Pulling manifests". Bytes. */
const MAX_MANIFEST_BYTES = 4_194_304;
const TIMEOUT_MS = 30_000;

const digests = new Map<string, string>();
const wrong: string[] = [];
const texts = new Map(FILES.map((file) => [file, readFileSync(file, 'utf8')]));
for (const [file, text] of texts) {
  const images = [...text.matchAll(IMAGE)].filter(([, , name = '']) => !OWN.test(name));
  for (const [, , name = '', tag = '', given] of images) {
    const image = `${name}:${tag}`;
    const digest = digests.get(image) ?? (await readDigest(name, tag));
    digests.set(image, digest);
    if (given === undefined) wrong.push(`${file}: ${image} has no digest; the registry has ${digest}`);
    else if (given !== `@${digest}`)
      wrong.push(`${file}: ${image} has ${given.slice(1)}; the registry has ${digest} now`);
  }
}
if (check === undefined)
  for (const [file, text] of texts)
    writeFileSync(
      file,
      text.replace(IMAGE, (all, where: string, name: string, tag: string) =>
        OWN.test(name) ? all : `${where}${name}:${tag}@${digests.get(`${name}:${tag}`) ?? ''}`,
      ),
    );
for (const line of wrong) process.stdout.write(`${check === undefined ? 'Pinned. Before: ' : ''}${line}\n`);
if (wrong.length === 0) process.stdout.write(`All ${digests.size} images have the digest of the registry.\n`);
if (check !== undefined && wrong.length > 0) process.exitCode = 1;

/** Returns the digest of what the registry sends for a tag. Throws when it sends nothing, or another digest than it says. */
async function readDigest(name: string, tag: string): Promise<string> {
  const repository = name.includes('/') ? name : `library/${name}`;
  const url = new URL(`/v2/${repository}/manifests/${tag}`, registry);
  const first = await get(url);
  const response = first.status === 401 ? await get(url, await readToken(first)) : first;
  if (!response.ok) throw new Error(`The registry responds ${response.status} for ${name}:${tag}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (bytes.length > MAX_MANIFEST_BYTES) throw new Error(`The manifest of ${name}:${tag} is too large`);
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const said = response.headers.get('docker-content-digest');
  if (said !== null && said !== digest)
    throw new Error(`The registry says ${said} for ${name}:${tag}, and sends what has ${digest}`);
  return digest;
}

/** Returns a token that lets anyone read, from the server that the registry names (Docker registry token authentication). */
async function readToken(refused: Response): Promise<string> {
  const challenge = refused.headers.get('www-authenticate') ?? '';
  const parameters = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value] as const),
  );
  const { realm, ...query } = parameters;
  if (realm === undefined)
    throw new Error(`The registry wants ${challenge || 'authentication'}, which is not supported`);
  const url = new URL(realm);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  const response = await get(url);
  const { token, access_token } = (await response.json()) as { token?: string; access_token?: string };
  const given = token ?? access_token;
  if (given === undefined) throw new Error(`${url.host} sends no token`);
  return given;
}

function get(url: URL, token?: string): Promise<Response> {
  return fetch(url, {
    headers: { accept: MANIFESTS, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}
