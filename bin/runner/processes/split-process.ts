import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { releaseMemoryWhenIdle } from '../../../actors/work/release-memory.ts';
import type { Database } from '../../../db/connection/database.ts';
import { isLoginRefused, type LoginRole, loginUrl, readLoginName } from '../../../db/connection/logins.ts';
import { retireIdleConnections } from '../../../db/connection/open-pool.ts';
import { isTransient } from '../../../db/errors.ts';
import type { Bus } from '../../../schema/messages.ts';
import type { Config } from '../../config.ts';
import { readConfigOrRefuse, refuseToStart } from '../command-line.ts';
import { createDatabaseOutage } from '../database-outage.ts';
import { openLoggedDatabase } from '../logged-database.ts';
import { createLog } from '../monitoring/log.ts';
import { measureBacklog } from '../monitoring/measure-backlog.ts';
import { openMonitoring } from '../monitoring/monitoring.ts';
import { measureProcess } from '../monitoring/process-metrics.ts';
import { createReadiness, isReachable, type Readiness } from '../monitoring/readiness.ts';
import { traceSources } from '../monitoring/source-stack.ts';
import { openTracing, TRACES_FLUSH_LIMIT_MS } from '../monitoring/tracing.ts';
import { startWatchdog } from '../monitoring/watchdog.ts';
import { inspectDatabase } from '../prepare-database.ts';
import { StartRefused } from '../start-refused.ts';
import { openNatsBus } from './bus.ts';
import { type Closers, createClosers, stopSignal } from './shutdown.ts';

/** What one process of the split mode works with. */
export interface SplitProcess {
  config: Config;
  secretKey: Uint8Array;
  /** names no user */
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
  /** the role that `database` logs in as, and the other roles of the process */
  roles: readonly [LoginRole, ...LoginRole[]];
  connections: number;
  /** whether the process can work, with limits, while the bus is unreachable */
  isUsefulWithoutBus?: boolean;
}

/** Wait between attempts while PostgreSQL is unreachable at start. Milliseconds. */
const RETRY_MS = 1_000;

/**
 * Runs one process of the split mode from its start to the end of its drain: reads the configuration, waits for PostgreSQL, and lets `work`
 * start its part and register in `closers` what must be stopped. Stops everything and exits at SIGTERM or SIGINT.
 */
export async function runSplitProcess(
  options: SplitProcessOptions,
  work: (process: SplitProcess) => Promise<void>,
): Promise<never> {
  const config = readConfigOrRefuse();
  const { databaseUrl, natsUrl, secretKey } = config;
  if (databaseUrl === null || natsUrl === null || secretKey === null)
    return refuseToStart(
      `DATABASE_URL, NATS_URL and SECRET_KEY are required to run a separate process: see docs/operate.md`,
    );
  const [role] = options.roles;
  const user = readLoginName(databaseUrl);
  if (user !== null)
    return refuseToStart(
      `Remove the user ${user} and the password from DATABASE_URL: this process logs in as ${role}. Only bin/migrate.ts and the operator programs log in as the owner`,
    );
  const outage = createDatabaseOutage();
  const log = createLog(config, options.name, { outage });
  traceSources();
  startWatchdog(options.name);
  const closers = createClosers(log);
  const signal = stopSignal();
  let readiness: Readiness | null = null;
  try {
    const isReady = await Promise.race([
      awaitDatabase(config, { databaseUrl, secretKey }, options.roles, log),
      signal.then(() => false),
    ]);
    if (isReady) {
      const tracing = await openTracing(config, options.name, log);
      closers.add('traces', () => tracing.close(), TRACES_FLUSH_LIMIT_MS);
      const bus = await openNatsBus(natsUrl, `postroom ${options.name}`, log);
      closers.add('bus', () => bus.close());
      const url = loginUrl(databaseUrl, role, secretKey);
      const { database, close } = openLoggedDatabase(
        { url, role, poolSize: options.connections, applicationName: `postroom ${options.name}` },
        log,
      );
      closers.add('database connections', close);
      outage.watch(log, () => isReachable(database));
      closers.add('outage', async () => outage.close());
      readiness = createReadiness({ database, ...(options.isUsefulWithoutBus === true ? {} : { bus }) });
      measureProcess(options.name);
      releaseMemoryWhenIdle({ release: () => void retireIdleConnections(database.pool) });
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

/** Waits until PostgreSQL is reachable and migrated, because processes on several machines start in any order. */
async function awaitDatabase(
  config: Config,
  { databaseUrl, secretKey }: { databaseUrl: string; secretKey: Uint8Array },
  roles: SplitProcessOptions['roles'],
  log: Logger,
): Promise<boolean> {
  const order = {
    url: databaseUrl,
    secretKey,
    allowUnsafeWrites: config.allowUnsafeWrites,
    warn: (line: string) => log.warn({ event: 'database.asynchronous' }, line),
  };
  let told = '';
  const tell = (event: string, line: string, err?: unknown) => {
    if (told !== event) log.warn({ ...(err === undefined ? {} : { err }), event }, line);
    told = event;
  };
  for (;;) {
    try {
      const pending = await inspectDatabase(order, roles);
      if (pending.length === 0) return true;
      tell('database.pending', `waiting for npx node bin/migrate.ts to run ${pending.join(', ')}`);
    } catch (error) {
      if (isLoginRefused(error)) tell('database.login', `${(error as Error).message}. ${LOGIN_MEND}`);
      else if (isTransient(error)) tell('database.away', 'waiting for PostgreSQL', error);
      else throw error;
    }
    await sleep(RETRY_MS);
  }
}

const LOGIN_MEND = 'Waiting until npx node bin/migrate.ts has set this login with the same SECRET_KEY';
