import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Database, type DatabaseRole, isConnectionLost } from '../../db/database.ts';
import type { Bus } from '../../schema/messages.ts';
import type { Config } from '../config.ts';
import { openBus } from './bus.ts';
import { readConfigOrRefuse, refuseToStart } from './command-line.ts';
import { createLog } from './log.ts';
import { openLoggedDatabase } from './logged-database.ts';
import { measureBacklog } from './measure-backlog.ts';
import { openMonitoring } from './monitoring.ts';
import { prepareDatabase, StartRefused } from './prepare-database.ts';
import { measureProcess } from './process-metrics.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import { type Closers, createClosers, stopSignal } from './shutdown.ts';
import { openTracing, TRACES_FLUSH_LIMIT_MS } from './tracing.ts';

/** What one of several processes of the service has to work with. */
export interface SplitProcess {
  config: Config;
  secretKey: Uint8Array;
  databaseUrl: string;
  log: Logger;
  bus: Bus;
  database: Database;
  closers: Closers;
  readiness: Readiness;
}

export interface SplitProcessOptions {
  /** in logs, in pg_stat_activity and in the NATS server's monitoring */
  name: string;
  role: DatabaseRole;
  connections: number;
  /** whether the process does its work, if less well, while the bus is away */
  isUsefulWithoutBus?: boolean;
}

/** Between two tries while PostgreSQL is away at start; milliseconds. */
const RETRY_MS = 1_000;

/**
 * Runs one process of the split mode from its start to the end of its drain: reads the configuration, waits for PostgreSQL,
 * lets `work` start its part (which adds what must be ended to `closers`), and at SIGTERM or SIGINT ends everything and exits.
 */
export async function runSplitProcess(
  options: SplitProcessOptions,
  work: (process: SplitProcess) => Promise<void>,
): Promise<never> {
  const config = readConfigOrRefuse();
  const { databaseUrl, natsUrl, secretKey } = config;
  if (databaseUrl === null || natsUrl === null || secretKey === null)
    return refuseToStart(`DATABASE_URL, NATS_URL and SECRET_KEY are required: this is one of several processes`);
  const log = createLog(config, options.name);
  const closers = createClosers(log);
  const signal = stopSignal();
  let readiness: Readiness | null = null;
  try {
    const isReady = await Promise.race([awaitDatabase(config, databaseUrl, secretKey, log), signal.then(() => false)]);
    if (isReady) {
      const tracing = await openTracing(config, options.name, log);
      closers.add('traces', () => tracing.close(), TRACES_FLUSH_LIMIT_MS);
      const bus = openBus(natsUrl, `postroom ${options.name}`, log);
      closers.add('bus', () => bus.close());
      const { role, connections: poolSize } = options;
      const applicationName = `postroom ${options.name}`;
      const { database, close } = openLoggedDatabase({ url: databaseUrl, role, poolSize, applicationName }, log);
      closers.add('database connections', close);
      readiness = createReadiness({ database, ...(options.isUsefulWithoutBus === true ? {} : { bus }) });
      measureProcess(options.name);
      if (role === 'postroom_actor') measureBacklog(database, log);
      const monitoring = await openMonitoring({ config, log, missing: readiness.missing });
      closers.add('monitoring', () => monitoring.close());
      await work({ config, secretKey, databaseUrl, log, bus, database, closers, readiness });
      log.info({ event: 'process.ready' }, 'ready');
    }
  } catch (error) {
    if (!(error instanceof StartRefused)) log.fatal({ err: error }, 'start failed');
    await closers.closeAll();
    return refuseToStart((error as Error).message);
  }
  log.info({ event: 'process.stopping', signal: await signal }, 'draining');
  await readiness?.leave(config.drainDelaySeconds);
  await closers.closeAll();
  log.info({ event: 'process.stopped' }, 'stopped');
  return process.exit(0);
}

/** Processes of several machines start in any order: a database that is not there yet is waited for. */
async function awaitDatabase(config: Config, url: string, secretKey: Uint8Array, log: Logger): Promise<boolean> {
  for (let isTold = false; ; isTold = true) {
    try {
      await prepareDatabase({
        url,
        secretKey,
        allowUnsafeWrites: config.allowUnsafeWrites,
        warn: (line) => log.warn({ event: 'database.asynchronous' }, line),
      });
      return true;
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      if (!isTold) log.warn({ err: error, event: 'database.away' }, 'waiting for PostgreSQL');
      await sleep(RETRY_MS);
    }
  }
}
