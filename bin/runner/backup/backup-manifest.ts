import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { eachAtOnce, sumOfFile, type WrittenFile, writeFileDurably } from '../../../db/cluster/durable-copy.ts';

/** Lists the files of a backup and what they were made from. */
export type BackupManifest = z.infer<typeof manifestShape>;

/** The folder is not a backup that can be restored. The message names the file. */
export class BackupRefused extends Error {
  override name = 'BackupRefused';
}

/** Folder of the data files in a backup of a single machine, and the file name of a dump. */
export const CLUSTER_FOLDER = 'cluster';
export const DUMP_FILE = 'postroom.dump';
export const SECRETS_FILE = 'secrets.json';
export const FORMAT = 1;

/** Writes the manifest. Must be called last: a folder without a manifest is not a backup. */
export async function writeManifest(directory: string, manifest: Omit<BackupManifest, 'sum'>): Promise<void> {
  const whole = { ...manifest, sum: computeChecksum(manifest) };
  await writeFileDurably(path.join(directory, MANIFEST_FILE), Buffer.from(`${JSON.stringify(whole, null, 1)}\n`), null);
}

/** Reads only the manifest. Throws BackupRefused if it is missing, damaged or has another format. */
export async function readManifest(directory: string): Promise<BackupManifest> {
  const file = path.join(directory, MANIFEST_FILE);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BackupRefused(
      error.code === 'ENOENT' || error.code === 'ENOTDIR'
        ? `${directory} is not a complete backup: ${MANIFEST_FILE} is missing`
        : `${file} cannot be read: ${error.message}`,
    );
  });
  const json = parseJson(text);
  const format = z.object({ format: z.number() }).safeParse(json);
  if (!format.success) throw new BackupRefused(`${file} is damaged, or was not written by bin/backup.ts`);
  if (format.data.format !== FORMAT)
    throw new BackupRefused(
      `${file} has format ${format.data.format}, but this Postroom reads ${FORMAT}. Restore with the version that wrote it`,
    );
  const { sum, ...content } = json as Record<string, unknown>;
  if (sum !== computeChecksum(content)) throw new BackupRefused(`${file} is damaged: its checksum does not match`);
  return manifestShape.parse(json);
}

/** Compares every file with the manifest. Throws BackupRefused with the first file that is missing, damaged or not listed. */
export async function checkFiles(
  directory: string,
  manifest: BackupManifest,
  onProgress: (doneBytes: number) => void,
): Promise<void> {
  const known = new Map<string, WrittenFile>(manifest.files.map((file) => [file.path, file]));
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const file = path.relative(directory, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/');
    if (!entry.isDirectory() && file !== MANIFEST_FILE && !known.has(file))
      throw new BackupRefused(`${path.join(directory, file)} does not belong to the backup`);
  }
  let done = 0;
  await eachAtOnce(known, FILES_AT_ONCE, async ([name, expected]) => {
    const file = path.join(directory, name);
    const found = await sumOfFile(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new BackupRefused(`${file} is missing`);
      throw new BackupRefused(`${file} cannot be read: ${error.message}`);
    });
    if (found.sizeBytes !== expected.sizeBytes)
      throw new BackupRefused(`${file} has ${found.sizeBytes} bytes instead of ${expected.sizeBytes}`);
    if (found.sha256 !== expected.sha256) throw new BackupRefused(`${file} is damaged: its sha256 does not match`);
    done += found.sizeBytes;
    onProgress(done);
  });
}

/** SECRET_KEY of the backup, and the password of the cluster in it; null in a dump. */
export async function readBackupSecrets(
  directory: string,
): Promise<{ secretKey: Uint8Array; databasePassword: string | null }> {
  const file = path.join(directory, SECRETS_FILE);
  const parsed = secretsShape.safeParse(parseJson(await readFile(file, 'utf8')));
  if (!parsed.success) throw new BackupRefused(`${file} was not written by bin/backup.ts`);
  return { ...parsed.data, secretKey: Buffer.from(parsed.data.secretKey, 'base64url') };
}

const MANIFEST_FILE = 'manifest.json';
const FILES_AT_ONCE = 2;

const instant = z.iso.datetime();
const manifestShape = z.object({
  format: z.literal(FORMAT),
  /** `cluster`: the files of a cluster and its WAL; `dump`: the output of pg_dump */
  kind: z.enum(['cluster', 'dump']),
  postroomVersion: z.string(),
  /** the migrations that had run */
  migrations: z.array(z.string()),
  /** integer such as 180004 */
  postgresqlVersion: z.number().int(),
  startedAt: instant,
  finishedAt: instant,
  /** null for a dump */
  wal: z
    .object({ systemIdentifier: z.string(), timeline: z.number(), startLsn: z.string(), stopLsn: z.string() })
    .nullable(),
  files: z.array(
    z.object({
      path: z
        .string()
        .refine((value) => !path.posix.isAbsolute(value) && !value.split('/').includes('..'), 'leaves the folder'),
      sizeBytes: z.number().int(),
      sha256: z.string(),
    }),
  ),
  /** folders of the cluster, including empty ones */
  folders: z.array(z.string().refine((value) => !path.posix.isAbsolute(value) && !value.split('/').includes('..'))),
  /** sha256 of everything above */
  sum: z.string(),
});

const secretsShape = z.object({
  secretKey: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  databasePassword: z.string().nullable(),
});

function computeChecksum(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
