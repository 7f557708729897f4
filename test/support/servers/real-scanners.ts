import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../cluster/cluster.ts';
import { EICAR } from './scanners.ts';

/** A scanner of Debian that runs with a configuration of its own, on loopback. */
interface RealScanner {
  /** Suspends all of its processes, as a machine that hangs does. */
  suspend(): void;
  resume(): void;
  /** Kills all of its processes. */
  kill(): Promise<void>;
  /** Starts it again, at the same port. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export type RealFilter = RealScanner & { url: string; controllerUrl: string };
export type RealVirusScanner = RealScanner & { address: { host: string; port: number } };

const START_MS = 180_000;

/** Modules of rspamd that ask other machines, or that these tests do not need. */
const DISABLED = [
  'rbl surbl fuzzy_check asn dkim_signing spf dmarc arc mx_check phishing greylist ratelimit url_redirector neural reputation bimi',
  'history_redis replies rspamd_update mid whitelist milter_headers hfilter elastic clickhouse metadata_exporter',
]
  .join(' ')
  .split(' ');

/** Starts rspamd with Redis, in which it keeps what it learns. No module asks another machine. */
export async function startRealFilter(): Promise<RealFilter> {
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-rspamd-'));
  const [checking, controller, redisPort] = [await freePort(), await freePort(), await freePort()];
  const redis = run('redis-server', [
    '--port',
    String(redisPort),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--dir',
    folder,
  ]);
  await untilOpen(redisPort, redis);
  const files: Record<string, string> = {
    'override.d/worker-normal.inc': `bind_socket = "127.0.0.1:${checking}"; count = 1;`,
    'override.d/worker-controller.inc': `bind_socket = "127.0.0.1:${controller}"; count = 1; secure_ip = "127.0.0.1";`,
    'override.d/worker-proxy.inc': 'enabled = false;',
    'override.d/options.inc': `filters = "chartable,dkim,regexp"; dns { nameserver = ["127.0.0.1:1"]; timeout = 0.1s; retransmits = 1; } control_socket = "${folder}/control.sock mode=0600";`,
    'override.d/logging.inc': 'type = "console"; level = "warning";',
    'local.d/redis.conf': `servers = "127.0.0.1:${redisPort}";`,
    'local.d/classifier-bayes.conf':
      'backend = "redis"; users_enabled = true; per_user = true; autolearn = false; min_learns = 3;',
    ...Object.fromEntries(DISABLED.map((name) => [`override.d/${name}.conf`, 'enabled = false;'])),
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), `${text}\n`);
  }
  const variables = ['LOCAL_CONFDIR', 'RUNDIR', 'DBDIR', 'LOGDIR'].map((name) => `--var=${name}=${folder}`);
  const scanner = await startScanner(() => run('rspamd', ['-f', '-i', ...variables]), [checking, controller]);
  return {
    ...scanner,
    url: `http://127.0.0.1:${checking}`,
    controllerUrl: `http://127.0.0.1:${controller}`,
    async stop() {
      await scanner.stop();
      await end(redis);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts clamd with one signature: the test file of virus scanners. */
export async function startRealVirusScanner(): Promise<RealVirusScanner> {
  const folder = await mkdtemp(path.join(tmpdir(), 'postroom-clamd-'));
  const port = await freePort();
  await mkdir(path.join(folder, 'db'));
  await writeFile(path.join(folder, 'db/eicar.ndb'), `Eicar-Signature:0:*:${Buffer.from(EICAR).toString('hex')}\n`);
  const settings = [
    `TCPSocket ${port}`,
    'TCPAddr 127.0.0.1',
    `DatabaseDirectory ${folder}/db`,
    'Foreground yes',
    'User root',
    'StreamMaxLength 25M',
  ];
  await writeFile(path.join(folder, 'clamd.conf'), `${settings.join('\n')}\n`);
  const scanner = await startScanner(() => run('clamd', ['-c', path.join(folder, 'clamd.conf')]), [port]);
  return {
    ...scanner,
    address: { host: '127.0.0.1', port },
    async stop() {
      await scanner.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startScanner(begin: () => ChildProcess, ports: readonly number[]): Promise<RealScanner> {
  let program = begin();
  const opened = () => Promise.all(ports.map((port) => untilOpen(port, program)));
  await opened();
  return {
    suspend: () => signal(program, 'SIGSTOP'),
    resume: () => signal(program, 'SIGCONT'),
    kill: () => end(program),
    async start() {
      program = begin();
      await opened();
    },
    stop: () => end(program),
  };
}

/** Starts a program as the leader of a group, with which its workers get each signal. */
function run(name: string, words: readonly string[]): ChildProcess {
  return spawn(name, words, { stdio: 'ignore', detached: true });
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, name);
}

async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null || program.pid === undefined) return;
  const gone = once(program, 'exit');
  signal(program, 'SIGKILL');
  await gone;
}

async function untilOpen(port: number, program: ChildProcess): Promise<void> {
  const failed = once(program, 'error').then(([error]) => Promise.reject(error as Error));
  failed.catch(() => undefined);
  const endAt = performance.now() + START_MS;
  while (!(await Promise.race([isOpen(port), failed]))) {
    if (performance.now() > endAt || program.exitCode !== null) throw new Error(`nothing listens at port ${port}`);
    await pause(100);
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    const settle = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on('connect', () => settle(true)).on('error', () => settle(false));
  });
}
