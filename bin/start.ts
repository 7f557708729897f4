import { setTimeout as sleep } from 'node:timers/promises';
import { releaseMemoryWhenIdle } from '../actors/work/release-memory.ts';
import { connectableHost } from './config.ts';
import { processEnvironment } from './environment.ts';
import { readArguments, readConfigOrRefuse, refuseToStart } from './runner/command-line.ts';
import { isWithin } from './runner/environment-values.ts';
import { createLog } from './runner/monitoring/log.ts';
import { measureDisk } from './runner/monitoring/measure-disk.ts';
import { openMonitoring } from './runner/monitoring/monitoring.ts';
import { measureProcess } from './runner/monitoring/process-metrics.ts';
import { traceSources } from './runner/monitoring/source-stack.ts';
import { warnOfOpenSettings } from './runner/open-settings.ts';
import { type SupervisedPart, supervisePart } from './runner/parts/supervised-part.ts';
import { findSocketLocation } from './runner/processes/bus-socket.ts';
import { reasonNotToListen } from './runner/processes/listening.ts';
import { chooseNodeFlags, machineMemoryBytes } from './runner/processes/machine-memory.ts';
import { restartReports } from './runner/processes/restart-reports.ts';
import { createClosers, stopSignal } from './runner/processes/shutdown.ts';
import { DataDirectoryTaken, openSingleMachine, type SingleMachine } from './runner/processes/single-machine.ts';
import { runSmtpProcesses, type SmtpProcesses } from './runner/processes/smtp-processes.ts';
import { StartRefused } from './runner/start-refused.ts';

readArguments({
  usage: `Usage: npm start

Runs the whole service on this machine: SMTP, the actors, REST and GraphQL, and PostgreSQL unless
DATABASE_URL is set. It stores its data in DATA_DIR (default ./data). docs/settings.md lists the
environment variables.`,
});

/*
 * This process supervises: it runs PostgreSQL, and the two parts of the service as processes of their own, `bin/runner/parts/mail.ts` and
 * `bin/runner/parts/gateway.ts`. When one of them dies, the other goes on, and this process starts it again (docs/decisions/0113). It does
 * little itself, so that it has little to fail from.
 */

/** Maximum drain time of a part, which limits its own drain to 9.7 s and then closes its connections. A stop takes at most 10 s. Milliseconds. */
const DRAIN_LIMIT_MS = 9_900;
const CLUSTER_STOP_LIMIT_MS = 40_000;

interface Parts {
  mail: SupervisedPart;
  gateway: SupervisedPart;
}

const config = readConfigOrRefuse();
traceSources();
const log = createLog(config, 'start');
const closers = createClosers(log);
const signal = stopSignal();
let parts = null as Parts | null;
let smtp = null as SmtpProcesses | null;
let isLeaving = false;

try {
  await start();
  log.info(
    {
      event: 'start.ready',
      code: isBuilt() ? 'built' : 'sources',
      smtpPort: config.smtpPort,
      httpPort: config.httpPort,
    },
    'ready',
  );
} catch (error) {
  const isForOperator = error instanceof StartRefused || error instanceof DataDirectoryTaken;
  if (!isForOperator) log.fatal({ err: error }, 'start failed');
  await closers.closeAll();
  refuseToStart((error as Error).message);
}
log.info({ event: 'start.stopping', signal: await signal }, 'draining');
await stop();
log.info({ event: 'start.stopped' }, 'stopped');
process.exit(0);

/** Whether bin/run.js found a build of these sources. */
function isBuilt(): boolean {
  return process.argv[1]?.endsWith('.js') === true;
}

/** Starts all parts, each after what it needs. They load their code while PostgreSQL starts. */
async function start(): Promise<void> {
  warnOfOpenSettings(config, log);
  const { machine, secretKey, databaseUrl } = await openData();
  const { mail, gateway } = loadParts();
  closers.add('parts', drain, 2 * DRAIN_LIMIT_MS);
  for (const [variable, port] of [
    ['HTTP_PORT', config.httpPort],
    ['SMTP_PORT', config.smtpPort],
  ] as const) {
    const reason = await reasonNotToListen(config.host, port);
    if (reason !== null) throw new StartRefused(`${variable}: ${reason}`);
  }
  const socket = config.natsUrl === null ? await findSocketLocation(machine?.directory ?? null) : null;
  if (socket !== null) closers.add('bus socket', () => socket.remove());
  const facts = {
    databaseUrl,
    secretKey: Buffer.from(secretKey).toString('base64url'),
    directory: machine?.directory ?? null,
    mailDirectory: machine?.clusterDirectory ?? null,
    busSocket: socket?.path ?? null,
  };
  gateway.begin(facts);
  await gateway.prepared;
  machine?.supervise(restartReports(gateway, log));
  mail.begin(facts);
  smtp = config.smtpProcesses === 1 ? null : openSmtp(socket?.path ?? null);
  measureProcess('start');
  releaseMemoryWhenIdle();
  measureDisk(facts.mailDirectory);
  const missing = async () => [
    ...new Set([...(isLeaving ? ['draining'] : []), ...(await gateway.missing()), ...(await mail.missing())]),
  ];
  const others = async () =>
    (await Promise.all([mail.snapshots(), gateway.snapshots(), smtp?.snapshots() ?? []])).flat();
  const monitoring = await openMonitoring({ config, log, missing, others });
  closers.add('monitoring', () => monitoring.close());
  await Promise.race([Promise.all([mail.ready, gateway.ready, smtp?.awaitService()]), signal]);

  await machine?.announce({ httpUrl: config.publicUrl, smtpAddress: `${config.host}:${config.smtpPort}` });
  if (machine !== null) closers.add('run record', () => machine.announce(null));
  if (!(await gateway.printWelcome())) throw new StartRefused('the gateway process ended at the end of the start');
}

interface Data {
  /** null with an external database */
  machine: SingleMachine | null;
  /** URL of the owner of the database; the parts log in with roles of their own */
  databaseUrl: string;
  secretKey: Uint8Array;
}

async function openData(): Promise<Data> {
  if (config.databaseUrl !== null && config.secretKey !== null)
    return { machine: null, databaseUrl: config.databaseUrl, secretKey: config.secretKey };
  const machine = await openSingleMachine({
    dataDirectory: config.dataDirectory,
    program: 'start',
    tell: (line) => void process.stdout.write(`${line}\n`),
    onLocked: loadParts,
  });
  if (machine === null) throw new StartRefused('another process uses the data directory');
  closers.add('PostgreSQL', () => machine.close(), CLUSTER_STOP_LIMIT_MS);
  return { machine, databaseUrl: machine.databaseUrl, secretKey: config.secretKey ?? machine.secrets.secretKey };
}

/** Starts the processes of the parts, once. */
function loadParts(): Parts {
  const flags = chooseNodeFlags(machineMemoryBytes());
  parts ??= {
    mail: supervisePart({ name: 'mail', flags, log }),
    gateway: supervisePart({ name: 'gateway', flags, log }),
  };
  return parts;
}

/** bin/smtp.ts, for more than one SMTP process. */
function openSmtp(busSocket: string | null): SmtpProcesses {
  return runSmtpProcesses({
    host: config.host,
    port: config.smtpPort,
    isProxied: isWithin(config.smtpProxies, connectableHost(config.host)),
    environment: { ...processEnvironment(), ...(busSocket === null ? {} : { BUS_SOCKET: busSocket }) },
    log,
  });
}

/** Says in all processes that the service is not ready, waits until load balancers had time to notice it, and stops everything. */
async function stop(): Promise<void> {
  isLeaving = true;
  for (const part of [parts?.mail, parts?.gateway]) part?.tell({ postroom: 'leave' });
  await sleep(config.drainDelaySeconds * 1_000);
  await closers.closeAll();
}

async function drain(): Promise<void> {
  // Mail that SMTP processes are receiving needs the mail process. Everything else can stop at the same time.
  const mail = async () => {
    await smtp?.stop();
    await parts?.mail.stop(DRAIN_LIMIT_MS);
  };
  await Promise.all([mail(), parts?.gateway.stop(DRAIN_LIMIT_MS)]);
}
