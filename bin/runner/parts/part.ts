import type { Logger } from 'pino';
import { releaseMemoryWhenIdle } from '../../../actors/work/release-memory.ts';
import { keepPreviousKey } from '../../../core/shared/previous-key.ts';
import type { Database } from '../../../db/connection/database.ts';
import { type LoginRole, loginUrl } from '../../../db/connection/logins.ts';
import { retireIdleConnections } from '../../../db/connection/open-pool.ts';
import type { Config } from '../../config.ts';
import { readConfigOrRefuse } from '../command-line.ts';
import { createDatabaseOutage } from '../database-outage.ts';
import { openLoggedDatabase } from '../logged-database.ts';
import { createLog } from '../monitoring/log.ts';
import { measureProcess, takeSnapshot } from '../monitoring/process-metrics.ts';
import { respondProcess } from '../monitoring/process-questions.ts';
import { createReadiness, isReachable, type Readiness } from '../monitoring/readiness.ts';
import { traceSources } from '../monitoring/source-stack.ts';
import { openTracing, TRACES_FLUSH_LIMIT_MS } from '../monitoring/tracing.ts';
import { type Closers, createClosers, stopSignal } from '../processes/shutdown.ts';
import { StartRefused } from '../start-refused.ts';
import { BEAT_MS, type Begin, type FromPart, toPart } from './part-messages.ts';
import type { PartName } from './supervised-part.ts';

/** What a part works with. */
export interface Part extends Pick<Begin, 'databaseUrl' | 'directory' | 'mailDirectory' | 'busSocket' | 'claimant'> {
  config: Config;
  secretKey: Uint8Array;
  log: Logger;
  closers: Closers;
  /** Opens a pool of that role, which the end of the part closes. */
  open(role: LoginRole, poolSize: number): Database;
  /** Makes the part ready while PostgreSQL responds to this pool; the first one only. */
  needs(database: Database): Readiness;
}

export interface PartPlan {
  name: PartName;
  /** whether this part logs outages of PostgreSQL; with one line per machine, only one part does */
  isReportingOutages: boolean;
  /** Loads code that the part will need, while PostgreSQL starts. */
  load?: (log: Logger) => Promise<unknown>;
  /** Prepares the database at the start of the service, before any part works. */
  prepare?: (part: Part) => Promise<void>;
  /** Starts the part, after the leases of its dead predecessors are ended with `deadClaimants`. */
  work: (part: Part, deadClaimants: readonly string[]) => Promise<void>;
  /** Prints the welcome text. */
  welcome?: (part: Part) => Promise<void>;
}

/**
 * Runs a part of the service on one machine in this process, a child of bin/start.ts, from its start to the end of its drain. If the
 * supervisor is gone, the process ends at once: the next start takes over its work.
 */
export async function runPart(plan: PartPlan): Promise<never> {
  traceSources();
  const config = readConfigOrRefuse();
  const outage = createDatabaseOutage({ isReporting: plan.isReportingOutages });
  const log = createLog(config, plan.name, { outage });
  const closers = createClosers(log);
  const signal = stopSignal();
  process.on('disconnect', die);
  if (!process.connected) die();
  setInterval(() => tell({ postroom: 'beat' }), BEAT_MS).unref();
  await plan.load?.(log);
  const pools: Database[] = [];
  let readiness = null as Readiness | null;
  const begin = await awaitBegin({
    leave: () => void readiness?.leave(0),
    databaseEnded: () => outage.begin(new Error('The PostgreSQL server process has ended')),
    databaseRestarted: () => outage.countRestart(),
  });
  const { databaseUrl, directory, mailDirectory, busSocket, claimant } = begin;
  const secretKey = keepPreviousKey(Buffer.from(begin.secretKey, 'base64url'), config.previousSecretKey);
  const part: Part = {
    config,
    secretKey,
    databaseUrl,
    directory,
    mailDirectory,
    busSocket,
    claimant,
    log,
    closers,
    open(role, poolSize) {
      const url = loginUrl(databaseUrl, role, secretKey);
      const applicationName = `postroom ${plan.name}, ${role.replace('postroom_', '')}`;
      const { database, close } = openLoggedDatabase({ url, role, poolSize, applicationName }, log);
      closers.add('database connections', close);
      pools.push(database);
      return database;
    },
    needs(database) {
      readiness = createReadiness({ database });
      // One pool may still have a connection when PostgreSQL gives no other one.
      outage.watch(log, async () => (await Promise.all(pools.map(isReachable))).every((reachable) => reachable));
      closers.add('outage', async () => outage.close());
      return readiness;
    },
  };
  respondProcess({
    metrics: takeSnapshot,
    missing: async () => readiness?.missing() ?? [plan.name],
    welcome: async () => {
      await plan.welcome?.(part);
      return true;
    },
  });
  try {
    if (begin.isFirst) await plan.prepare?.(part);
    tell({ postroom: 'prepared' });
    const tracing = await openTracing(config, plan.name, log);
    closers.add('traces', () => tracing.close(), TRACES_FLUSH_LIMIT_MS);
    measureProcess(plan.name);
    releaseMemoryWhenIdle({ release: () => pools.forEach(({ pool }) => void retireIdleConnections(pool)) });
    await plan.work(part, begin.deadClaimants);
    tell({ postroom: 'ready' });
  } catch (error) {
    if (error instanceof StartRefused) tell({ postroom: 'refused', reason: error.message });
    else log.fatal({ err: error }, 'start failed');
    await closers.closeAll();
    process.exit(1);
  }
  await signal;
  await (readiness as Readiness | null)?.leave(0);
  await closers.closeAll();
  process.exit(0);
}

/** Says that the modules are loaded, and resolves with the supervisor's reply. Takes its later messages. */
function awaitBegin(take: { leave(): void; databaseEnded(): void; databaseRestarted(): void }): Promise<Begin> {
  return new Promise((resolve) => {
    process.on('message', (message) => {
      const parsed = toPart.safeParse(message);
      if (!parsed.success) return;
      switch (parsed.data.postroom) {
        case 'begin':
          return resolve(parsed.data);
        case 'leave':
          return take.leave();
        case 'database':
          return parsed.data.change === 'ended' ? take.databaseEnded() : take.databaseRestarted();
      }
    });
    tell({ postroom: 'loaded' });
  });
}

function tell(message: FromPart): void {
  // The channel may have been closed meanwhile.
  if (process.connected) process.send?.(message, () => undefined);
}

/** As after a crash of the machine: a process that went on could do work that the next start does, too. Node can hang in its own exit. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}
