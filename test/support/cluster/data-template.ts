import { execFile } from 'node:child_process';
import { access, chmod, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { keepSecrets, makeDataDirectory, type Secrets } from '../../../db/cluster/data-directory.ts';
import { startEmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import { databaseUrl, freePort, onServer } from './cluster.ts';

/** How long one file waits for another to make the template. */
const LIMIT_MS = 60_000;

const execute = promisify(execFile);

/**
 * Makes DATA_DIR of a single machine with its secrets and a migrated cluster, by copy of one that a run makes once: initdb and the
 * migrations are what a start costs most. What a first start does by itself, test/bin/start.test.ts shows.
 */
export async function copyDataDirectory(to: string): Promise<void> {
  await copy(await templateDirectory(), to);
}

/** The same for a cluster alone, whose database is `postgres`; answers the superuser's password. */
export async function copyCluster(to: string): Promise<string> {
  const template = await templateDirectory();
  await copy(path.join(template, 'postgresql'), to);
  return (await keepSecrets(template)).databasePassword;
}

async function copy(from: string, to: string): Promise<void> {
  await execute('cp', ['-a', from, to]);
}

async function templateDirectory(): Promise<string> {
  const directory = path.join(inject('runDirectory'), 'shared', 'data');
  const draft = `${directory}.draft`;
  for (const deadline = Date.now() + LIMIT_MS; ; await sleep(100)) {
    if (await isThere(directory)) return directory;
    const isOurs = await mkdir(draft).then(
      () => true,
      () => false,
    );
    if (isOurs) break;
    if (Date.now() > deadline) throw new Error(`${draft} was not made in time`);
  }
  try {
    await chmod(draft, 0o711);
    await fill(await makeDataDirectory(draft));
    await rename(draft, directory);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  return directory;
}

async function fill(directory: string): Promise<void> {
  const secrets = await keepSecrets(directory);
  const cluster = await startEmbeddedCluster({
    directory: path.join(directory, 'postgresql'),
    password: secrets.databasePassword,
    port: await freePort(),
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  });
  try {
    // Only those who make it need the ORM.
    const { migrate } = await import('../../../db/migrate.ts');
    await migrate(cluster.url);
    await weakenPassword(cluster.url, secrets);
    await onServer(databaseUrl(cluster.url, 'template1'), 'create database postroom template postgres');
  } finally {
    await cluster.stop();
  }
}

/** The tests' many connections shall not each cost 4,096 rounds of hashing on both sides. */
async function weakenPassword(url: string, { databasePassword }: Pick<Secrets, 'databasePassword'>): Promise<void> {
  await onServer(url, 'alter system set scram_iterations = 1');
  await onServer(url, `set scram_iterations = 1; alter role postroom password '${databasePassword}'`);
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
