import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { keepSecrets, makeDataDirectory, type Secrets } from '../../../db/cluster/data-directory.ts';
import { startEmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import { sharedFolder } from '../shared-folder.ts';
import { databaseUrl, freePort, onServer } from './cluster.ts';

const execute = promisify(execFile);

/**
 * Makes DATA_DIR of a single machine with its secrets and a migrated cluster, by copy of one that a run makes once: initdb and the
 * migrations are what a start costs most. What a first start does by itself, test/bin/start.program.ts shows.
 */
export async function copyDataDirectory(to: string): Promise<void> {
  await copy(await templateDirectory(), to);
}

/** The same for a cluster alone, whose database is `postgres`; returns the superuser's password. */
export async function copyCluster(to: string): Promise<string> {
  const template = await templateDirectory();
  await copy(path.join(template, 'postgresql'), to);
  return (await keepSecrets(template)).databasePassword;
}

async function copy(from: string, to: string): Promise<void> {
  await execute('cp', ['-a', from, to]);
}

function templateDirectory(): Promise<string> {
  return sharedFolder('data', async (draft) => {
    await chmod(draft, 0o711);
    await fill(await makeDataDirectory(draft));
  });
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
