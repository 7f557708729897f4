import { randomBytes } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { lockDataDirectory, makeDataDirectory, writeSecrets } from '../../../db/cluster/data-directory.ts';
import { copyFileDurably, eachAtOnce, makeDirectory, syncDirectory } from '../../../db/cluster/durable-copy.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import { findNativePostgresql, type SystemUser } from '../../../db/cluster/native-postgresql.ts';
import { readPostmaster } from '../../../db/cluster/postmaster.ts';
import { DATABASE_NAME, DataDirectoryTaken, findClusterFolder, startOnFreePort } from '../processes/single-machine.ts';
import type { Progress } from '../progress.ts';
import { type BackupManifest, BackupRefused, CLUSTER_FOLDER } from './backup-manifest.ts';

export interface RestoreOrder {
  /** folder of the backup */
  directory: string;
  manifest: BackupManifest;
  secrets: { secretKey: Uint8Array; databasePassword: string };
  dataDirectory: string;
  tell: Progress;
}

/**
 * Copies the cluster of a backup into DATA_DIR, which must contain no data, lets PostgreSQL replay the WAL, runs `work` on its database,
 * and stops it. Until all steps succeed the cluster has another name, so that no start uses it. It gets a new password: clients with the
 * old password, and the original cluster if it still runs on this machine, cannot reach it.
 */
export async function restoreCluster<T>(order: RestoreOrder, work: (url: string) => Promise<T>): Promise<T> {
  const directory = await makeDataDirectory(order.dataDirectory);
  const { lock, holder } = await lockDataDirectory(directory, 'restore');
  if (lock === null) throw new DataDirectoryTaken(`DATA_DIR ${directory} is in use by pid ${holder.pid}`);
  try {
    await assertNothingHeld(directory);
    const secrets = { secretKey: order.secrets.secretKey, databasePassword: randomBytes(24).toString('hex') };
    const place = await findClusterFolder(directory, secrets, order.tell.say);
    const draft = `${place}${DRAFT_SUFFIX}`;
    await removeDraft(draft);
    try {
      const { user } = await findNativePostgresql();
      await placeFiles(order, draft, user);
      const result = await onCluster(order, draft, async (cluster) => {
        const url = new URL(cluster.url);
        url.pathname = `/${DATABASE_NAME}`;
        const done = await work(url.href);
        await changePassword(cluster.url, secrets.databasePassword);
        return done;
      });
      await rename(draft, place);
      await syncDirectory(path.dirname(place));
      // Last: a start accepts a folder that contains secrets.
      await writeSecrets(directory, secrets);
      return result;
    } catch (error) {
      await removeDraft(draft);
      throw error;
    }
  } finally {
    await lock.release();
  }
}

const DRAFT_SUFFIX = '.restoring';
const FILES_AT_ONCE = 4;

/** Replaying the WAL of a long backup may also take long. Seconds. */
const REPLAY_LIMIT_SECONDS = 86_400;

async function assertNothingHeld(directory: string): Promise<void> {
  const allowed = /^(?:lock|lock\.json|lock-journal|postgresql\.restoring.*)$/;
  const held = (await readdir(directory)).find((name) => !allowed.test(name));
  if (held !== undefined) throw new Error(`DATA_DIR ${directory} contains ${held}. Restore into a folder without data`);
}

async function placeFiles(order: RestoreOrder, draft: string, owner: SystemUser | null): Promise<void> {
  const { directory, manifest, tell } = order;
  const at = (name: string) => path.join(draft, path.posix.relative(CLUSTER_FOLDER, name));
  for (const folder of manifest.folders) await makeDirectory(at(folder), owner);
  const files = manifest.files.filter((file) => file.path.startsWith(`${CLUSTER_FOLDER}/`));
  const all = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  let done = 0;
  await eachAtOnce(files, FILES_AT_ONCE, async (file) => {
    const from = path.join(directory, file.path);
    const written = await copyFileDurably(from, at(file.path), owner);
    if (written.sha256 !== file.sha256) throw new BackupRefused(`${from} is damaged: its sha256 does not match`);
    done += written.sizeBytes;
    tell.step('Restored', done, all);
  });
  for (const folder of manifest.folders.toReversed()) await syncDirectory(at(folder));
}

async function onCluster<T>(
  { secrets, tell }: RestoreOrder,
  directory: string,
  work: (cluster: EmbeddedCluster) => Promise<T>,
): Promise<T> {
  tell.say('PostgreSQL is replaying the WAL');
  const cluster = await startOnFreePort(null, (port) =>
    startEmbeddedCluster({
      directory,
      password: secrets.databasePassword,
      port,
      startLimitSeconds: REPLAY_LIMIT_SECONDS,
    }),
  );
  try {
    return await work(cluster);
  } finally {
    await cluster.stop();
  }
}

async function changePassword(url: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`alter role current_user password ${client.escapeLiteral(password)}`);
  } finally {
    await client.end();
  }
}

/** Removes the rest of an interrupted restore, and stops its server if it is still running. */
async function removeDraft(draft: string): Promise<void> {
  for (let server = await readPostmaster(draft); server !== null; server = await readPostmaster(draft)) {
    process.kill(server.pid, 'SIGINT');
    await sleep(200);
  }
  await rm(draft, { recursive: true, force: true });
}
