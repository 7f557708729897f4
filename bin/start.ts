import type { Actor } from '../actors/actor.ts';
import type { Database } from '../db/connection/database.ts';
import { type LoginRole, loginUrl } from '../db/connection/logins.ts';
import { hasAnyAccount } from '../db/queries/accounts/account.ts';
import { voidLeases } from '../db/queries/upkeep/void-leases.ts';
import type { LocalSending } from '../operations/sending/local-sender.ts';
import type { Bus } from '../schema/messages.ts';
import { connectableHost } from './config.ts';
import { processEnvironment } from './environment.ts';
import { readArguments, readConfigOrRefuse, refuseToStart } from './runner/command-line.ts';
import { createDatabaseOutage } from './runner/database-outage.ts';
import { isWithin } from './runner/environment-values.ts';
import { warnOfExposures } from './runner/exposures.ts';
import { createFirstAccount } from './runner/first-account.ts';
import { createFirstStartFile } from './runner/first-start-file.ts';
import { openLoggedDatabase } from './runner/logged-database.ts';
import { createLog } from './runner/monitoring/log.ts';
import { measureBacklog } from './runner/monitoring/measure-backlog.ts';
import { measureDisk } from './runner/monitoring/measure-disk.ts';
import { openMonitoring } from './runner/monitoring/monitoring.ts';
import { measureProcess } from './runner/monitoring/process-metrics.ts';
import { createReadiness, isReachable, type Readiness } from './runner/monitoring/readiness.ts';
import { openTracing, TRACES_FLUSH_LIMIT_MS } from './runner/monitoring/tracing.ts';
import { prepareDatabase, StartRefused } from './runner/prepare-database.ts';
import { type ActorName, actorNames, createActorContext, startActor } from './runner/processes/actors.ts';
import { openBus, openBusDoor } from './runner/processes/bus.ts';
import { reasonNotToListen } from './runner/processes/listening.ts';
import { releaseMemoryWhenIdle } from './runner/processes/release-memory.ts';
import { restartReports } from './runner/processes/restart-reports.ts';
import { createClosers, stopSignal } from './runner/processes/shutdown.ts';
import { DataDirectoryTaken, openSingleMachine, type SingleMachine } from './runner/processes/single-machine.ts';
import { runSmtpProcesses, type SmtpProcesses } from './runner/processes/smtp-processes.ts';
import { welcome } from './runner/welcome.ts';

readArguments({
  usage: `Usage: npm start

Runs the whole service on this machine: SMTP, the actors, REST and GraphQL, and PostgreSQL unless
DATABASE_URL is set. It stores its data in DATA_DIR (default ./data). docs/settings.md lists the
environment variables.`,
});

/** PostgreSQL connections: 20 in total on two cores. The rest is for commands that run at the same time. */
const ACTOR_CONNECTIONS = 10;
const GATEWAY_CONNECTIONS = 8;
const AUTH_CONNECTIONS = 2;
/** Maximum drain time of SMTP, actors and gateway together. A stop takes at most 10 s. Milliseconds. */
const DRAIN_LIMIT_MS = 9_700;
const CLUSTER_STOP_LIMIT_MS = 40_000;

const config = readConfigOrRefuse();
const outage = createDatabaseOutage();
const log = createLog(config, 'start', { outage });
const closers = createClosers(log);
const signal = stopSignal();
let readiness = null as Readiness | null;

try {
  process.stdout.write(await start());
  log.info({ event: 'start.ready', smtpPort: config.smtpPort, httpPort: config.httpPort }, 'ready');
} catch (error) {
  const isForOperator = error instanceof StartRefused || error instanceof DataDirectoryTaken;
  if (!isForOperator) log.fatal({ err: error }, 'start failed');
  await closers.closeAll();
  refuseToStart((error as Error).message);
}
log.info({ event: 'start.stopping', signal: await signal }, 'draining');
await readiness?.leave(config.drainDelaySeconds);
await closers.closeAll();
log.info({ event: 'start.stopped' }, 'stopped');
process.exit(0);

/** Starts all parts, each after what it needs. Returns the welcome text. */
async function start(): Promise<string> {
  warnOfExposures(config, log);
  const { url, secretKey, machine } = await openData();
  for (const [variable, port] of [
    ['HTTP_PORT', config.httpPort],
    ['SMTP_PORT', config.smtpPort],
  ] as const) {
    const reason = await reasonNotToListen(config.host, port);
    if (reason !== null) throw new StartRefused(`${variable}: ${reason}`);
  }
  await prepareDatabase({ url, secretKey, allowUnsafeWrites: config.allowUnsafeWrites });
  if (machine !== null) await asOwner(url, takeOverWork);

  const tracing = await openTracing(config, 'start', log);
  closers.add('traces', () => tracing.close(), TRACES_FLUSH_LIMIT_MS);
  const bus = openBus(config.natsUrl, 'postroom start', log);
  closers.add('bus', () => bus.close());
  const open = (role: LoginRole, poolSize: number) => openPoolOf(role, loginUrl(url, role, secretKey), poolSize);
  const context = createActorContext({ bus, database: open('postroom_actor', ACTOR_CONNECTIONS), log });
  const settings = { config, secretKey, databaseUrl: url, mailDirectory: machine?.clusterDirectory ?? null };
  const database = open('postroom_gateway', GATEWAY_CONNECTIONS);
  const localSending: LocalSending = { sender: null };
  readiness = createReadiness({ database });
  outage.watch(log, () => isReachable(database));
  closers.add('outage', async () => outage.close());
  machine?.supervise(restartReports(outage, log));
  let smtp = null as SmtpProcesses | null;
  measureProcess('start');
  releaseMemoryWhenIdle();
  measureBacklog(context.database, log);
  measureDisk(settings.mailDirectory);
  // Half of all modules. What refuses the start, and --help, comes before them.
  const { openGateway } = await import('./runner/processes/gateway.ts');
  const others = async () => (await smtp?.snapshots()) ?? [];
  const monitoring = await openMonitoring({ config, log, missing: readiness.missing, others });
  closers.add('monitoring', () => monitoring.close());
  const gateway = await openGateway({
    bus,
    database,
    authDatabase: open('postroom_auth', AUTH_CONNECTIONS),
    log,
    requestLimitStore: 'memory',
    readiness,
    // There is no other gateway that could take over.
    quietMs: 0,
    localSending,
    ...settings,
  });
  // After everything that can refuse the start: work that has begun must be recorded, so it needs an orderly stop.
  const actors = new Map<ActorName, Actor>();
  const actorSettings = { ...settings, gatewayDatabase: database, localSending };
  for (const name of actorNames) actors.set(name, await startActor(name, context, actorSettings));
  const running = await openSmtp(bus, machine?.directory ?? null);
  smtp = running;
  // Mail that SMTP is receiving needs the receiving actor. Everything else can stop at the same time.
  const drain = async () => {
    const others = [...actors].filter(([name]) => name !== 'receiving').map(([, actor]) => actor.stop());
    await Promise.all([running.stop().then(() => actors.get('receiving')?.stop()), ...others, gateway.close()]);
  };
  closers.add('SMTP, actors and gateway', drain, DRAIN_LIMIT_MS);
  await Promise.race([running.awaitService(), signal]);

  const smtpAddress = `${config.host}:${config.smtpPort}`;
  await machine?.announce({ httpUrl: config.publicUrl, smtpAddress });
  if (machine !== null) closers.add('run record', () => machine.announce(null));
  // Last, because the key is shown only once: nothing may fail between creating it and printing or storing it.
  const { trustedDomains } = config;
  const file =
    machine === null || (config.printsSecrets ?? process.stdout.isTTY)
      ? null
      : await createFirstStartFile(config.dataDirectory);
  const firstAccount =
    machine === null
      ? null
      : await asOwner(url, (database) => createFirstAccount(database, { trustedDomains, secretKey }));
  // Only the embedded cluster is certain to be readable: DATABASE_URL may name a role that sees no accounts.
  const hasAccounts = machine === null || (await asOwner(url, hasAnyAccount));
  const facts = {
    smtpAddress,
    publicUrl: config.publicUrl,
    data: machine?.directory ?? 'DATABASE_URL',
    firstAccount,
    hasAccounts,
    isSignUpOpen: config.isSignUpOpen,
  };
  if (firstAccount === null) await file?.discard();
  else await file?.write(welcome({ ...facts, secretsFile: null }));
  return welcome({ ...facts, secretsFile: firstAccount === null ? null : (file?.path ?? null) });
}

interface Data {
  /** URL of the owner of the database; the pools log in with their own roles */
  url: string;
  secretKey: Uint8Array;
  /** null with an external database */
  machine: SingleMachine | null;
}

async function openData(): Promise<Data> {
  if (config.databaseUrl !== null && config.secretKey !== null)
    return { url: config.databaseUrl, secretKey: config.secretKey, machine: null };
  const machine = await openSingleMachine({
    dataDirectory: config.dataDirectory,
    program: 'start',
    tell: (line) => void process.stdout.write(`${line}\n`),
  });
  if (machine === null) throw new StartRefused('another process uses the data directory');
  closers.add('PostgreSQL', () => machine.close(), CLUSTER_STOP_LIMIT_MS);
  return { url: machine.databaseUrl, secretKey: config.secretKey ?? machine.secrets.secretKey, machine };
}

async function takeOverWork(database: Database): Promise<void> {
  const count = await voidLeases(database);
  if (count > 0) log.info({ event: 'start.leases-voided', count }, 'took over the work of a run that was killed');
}

async function asOwner<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const { database, close } = openLoggedDatabase({ url, role: null, poolSize: 1, applicationName: 'start' }, log);
  try {
    return await work(database);
  } finally {
    await close();
  }
}

function openPoolOf(role: LoginRole, url: string, poolSize: number): Database {
  const { database, close } = openLoggedDatabase({ url, role, poolSize, applicationName: `postroom ${role}` }, log);
  closers.add('database connections', close);
  return database;
}

async function openSmtp(bus: Bus, heldDirectory: string | null): Promise<SmtpProcesses> {
  const door = config.natsUrl === null ? await openBusDoor(heldDirectory, bus, log) : null;
  if (door !== null) closers.add('bus socket', () => door.close());
  return runSmtpProcesses({
    host: config.host,
    port: config.smtpPort,
    isProxied: isWithin(config.smtpProxies, connectableHost(config.host)),
    environment: { ...processEnvironment(), ...(door === null ? {} : { BUS_SOCKET: door.path }) },
    log,
  });
}
