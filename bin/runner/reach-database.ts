import { setTimeout as sleep } from 'node:timers/promises';
import { readRunRecord, readSecrets } from '../../db/cluster/data-directory.ts';
import { type Database, openDatabase } from '../../db/connection/database.ts';
import { isTransient } from '../../db/errors.ts';
import { migrate } from '../../db/migrate.ts';
import type { Config } from '../config.ts';
import { DataDirectoryTaken, makeDatabaseUrl, openSingleMachine } from './processes/single-machine.ts';

/** A database that a program of `bin` works on, with or without a running service. */
export interface ReachedDatabase {
  /** URL of its owner */
  url: string;
  /** SECRET_KEY of the environment, or else the one in DATA_DIR */
  secretKey: Uint8Array;
  /** of DATA_DIR; null with DATABASE_URL */
  databasePassword: string | null;
  /** whether a service is running on DATA_DIR; null with DATABASE_URL, where it is unknown */
  isServed: boolean | null;
}

/** Maximum time to wait while services start and stop on the database. Milliseconds. */
const PATIENCE_MS = 90_000;

/**
 * Runs `work` on the database of DATABASE_URL, or else on that of the service that runs on DATA_DIR, or else starts the PostgreSQL of
 * DATA_DIR for the duration of the work. If a service starts or stops meanwhile and the connection is lost, runs the work a second time,
 * unless it has called `begin`: after that, what it has written would be in the way.
 */
export async function onDatabase<T>(
  config: Config,
  program: string,
  work: (reached: ReachedDatabase, begin: () => void) => Promise<T>,
): Promise<T> {
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
  };
  if (config.databaseUrl !== null && config.secretKey !== null)
    return work(
      { url: config.databaseUrl, secretKey: config.secretKey, databasePassword: null, isServed: null },
      begin,
    );
  // The database of a running service is open to us; otherwise we start it. A service may start or stop while we check.
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(200)) {
    try {
      const running = await runningDatabase(config);
      if (running !== null) return await work(running, begin);
      const machine = await openSingleMachine({
        dataDirectory: config.dataDirectory,
        program,
        tell: (line) => void process.stderr.write(`${line}\n`),
        isServedElsewhere: async () => (await runningDatabase(config)) !== null,
      });
      if (machine === null) continue;
      try {
        await migrate(machine.databaseUrl);
        const { secretKey, databasePassword } = machine.secrets;
        return await work(
          {
            url: machine.databaseUrl,
            secretKey: config.secretKey ?? secretKey,
            databasePassword,
            isServed: false,
          },
          begin,
        );
      } finally {
        await machine.close();
      }
    } catch (error) {
      if (error instanceof DataDirectoryTaken || !isTransient(error)) throw error;
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- set by begin()
      if (hasBegun)
        throw new Error(`The database connection was lost: ${(error as Error).message}. Run the command again`, {
          cause: error,
        });
      if (Date.now() > deadline) throw error;
    }
  }
}

/** Returns the database of the service that runs on DATA_DIR; null when none responds. */
export async function runningDatabase(config: Config): Promise<ReachedDatabase | null> {
  const record = await readRunRecord(config.dataDirectory);
  if (record === null || record.pid === null) return null;
  const secrets = await readSecrets(config.dataDirectory);
  if (secrets === null) return null;
  const url = makeDatabaseUrl(secrets, record);
  try {
    await asOwner(url, 'look', (database) => database.pool.query('select 1'));
  } catch {
    return null;
  }
  const { secretKey, databasePassword } = secrets;
  return { url, secretKey: config.secretKey ?? secretKey, databasePassword, isServed: true };
}

/** Runs `work` over one connection of the URL's own role. Statements have the time limit of a service's, or none. */
export async function asOwner<T>(
  url: string,
  applicationName: string,
  work: (database: Database) => Promise<T>,
  patience: 'limited' | 'unlimited' = 'limited',
): Promise<T> {
  const database = openDatabase({
    url,
    role: null,
    poolSize: 1,
    applicationName,
    onError: () => undefined,
    ...(patience === 'unlimited' ? { statementTimeoutMs: null } : {}),
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
