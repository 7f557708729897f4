import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../db/cluster/embedded-cluster.ts';
import { openDatabase } from '../../../db/connection/database.ts';
import { withoutLogin } from '../../../db/connection/logins.ts';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import { freePort } from '../cluster/cluster.ts';
import { copyCluster, copyDataDirectory } from '../cluster/data-template.ts';
import { builtFirst } from '../runner.ts';
import { singleMachineDatabaseUrl } from '../single-machine.ts';
import { makeServiceDirectory, notePid } from './orphans.ts';
import { openSharedLog, sharedOutput } from './shared-server.ts';

/** `single`: `npm start`'s command; `split`: a process per actor over a real nats-server and PostgreSQL. */
export type ServiceMode = 'single' | 'split';

export interface ServiceOptions {
  environment?: Record<string, string>;
  /** whether each process shows its metrics, see metricsUrl */
  hasMetrics?: boolean;
  /** of the split mode: what is started beside nats-server; default: every process. The gateway must be one of them. */
  processes?: readonly string[];
  /** changes DATA_DIR of a single machine before the first start */
  prepare?: (dataDirectory: string) => Promise<void>;
  /** whether its processes outlive this one: each writes to a file, see shared-service.ts */
  isShared?: boolean;
}

/** One answer of the REST interface. */
export interface ServiceResponse {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read into the responses of many routes
  body: any;
}

/** An account of the running service and how to call the REST interface as it. */
export interface TestAccount {
  workspaceId: string;
  apiKey: string;
  call(method: string, route: string, body?: unknown, headers?: Record<string, string>): Promise<ServiceResponse>;
  graphql(query: string, variables?: Record<string, unknown>): Promise<ServiceResponse>;
}

export type DomainAccount = TestAccount & { domain: string; domainId: string };

/** Domains that accounts of a test service may add without DNS; one per account. */
export const trustedDomains: readonly string[] = Array.from({ length: 60 }, (_, n) => `domain${n}.test`);

/** The processes of the split mode beside nats-server. */
const splitNames = ['gateway', 'receiving', 'threading', 'delivery', 'sending', 'scheduling', 'smtp'];

/** A start takes a second; of eight processes on a machine that is busy, it may take two minutes. */
const START_LIMIT_MS = 180_000;

const root = path.resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** The whole service as real processes on free ports, in a data directory of its own. */
export class Service {
  readonly mode: ServiceMode;
  readonly directory: string;
  readonly smtpPort: number;
  readonly httpPort: number;
  readonly natsPort: number;
  readonly natsMonitorPort: number;
  readonly #databasePort: number;
  readonly #environment: Record<string, string>;
  readonly #splitNames: readonly string[];
  readonly #isShared: boolean;
  readonly #metricsPorts = new Map<string, number>();
  /** by name: runner | gateway, receiving, threading, delivery, smtp, nats */
  readonly processes = new Map<string, ChildProcess>();
  #cluster: EmbeddedCluster | null = null;
  #output = '';
  #accounts = 0;

  private constructor(mode: ServiceMode, directory: string, ports: number[], options: ServiceOptions) {
    const [smtpPort = 0, httpPort = 0, natsPort = 0, natsMonitorPort = 0, databasePort = 0] = ports;
    this.mode = mode;
    this.directory = directory;
    this.smtpPort = smtpPort;
    this.httpPort = httpPort;
    this.natsPort = natsPort;
    this.natsMonitorPort = natsMonitorPort;
    this.#databasePort = databasePort;
    this.#splitNames = options.processes ?? splitNames;
    this.#isShared = options.isShared === true;
    this.#environment = {
      DATA_DIR: path.join(directory, 'data'),
      SMTP_PORT: String(smtpPort),
      METRICS_PORT: '0',
      HTTP_PORT: String(httpPort),
      TRUSTED_DOMAINS: ['inbox.test', ...trustedDomains].join(','),
      ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
      RATE_LIMIT_PER_SECOND: '0',
      // a closed port: every look-up of the tests' senders fails at once
      DNS_SERVERS: '127.0.0.1:1',
      LOG_LEVEL: 'info',
      ...(mode === 'split'
        ? { NATS_URL: `nats://127.0.0.1:${natsPort}`, SECRET_KEY: randomBytes(32).toString('base64url') }
        : {}),
      ...options.environment,
    };
  }

  static async start(mode: ServiceMode, options: ServiceOptions = {}): Promise<Service> {
    const directory = await makeServiceDirectory(inject('runDirectory'), 'postroom-flow-');
    const ports = [await freePort(), await freePort(), await freePort(), await freePort(), await freePort()];
    const service = new Service(mode, directory, ports, options);
    if (options.hasMetrics === true)
      for (const name of ['runner', ...splitNames]) service.#metricsPorts.set(name, await freePort());
    try {
      const dataDirectory = path.join(directory, 'data');
      if (mode === 'single') await copyDataDirectory(dataDirectory);
      else await mkdir(dataDirectory);
      await options.prepare?.(dataDirectory);
      await service.start();
    } catch (error) {
      await service.stop();
      throw error;
    }
    return service;
  }

  /** Starts what is not running, and awaits that HTTP responds, and SMTP if it is started. `environment` is added on one machine. */
  async start(environment: Record<string, string> = {}): Promise<void> {
    if (this.mode === 'split') {
      await this.#startSplit();
      await this.awaitReady();
      return;
    }
    const before = this.output.length;
    this.startProcess('runner', environment);
    await this.awaitReady();
    // HTTP responds before the first account is made, and a fault in between ends the start.
    await until(
      'the start is complete',
      () => this.output.slice(-3000),
      async () => this.output.includes('Postroom is running', before),
      START_LIMIT_MS,
    );
  }

  async awaitReady(): Promise<void> {
    await until(
      `${this.url}/ready returns 200`,
      () => this.output.slice(-3000),
      async () => {
        const response = await fetch(`${this.url}/ready`);
        return response.ok;
      },
      START_LIMIT_MS,
    );
    if (this.mode === 'split' && !this.#splitNames.includes('smtp')) return;
    await until(
      'SMTP greets',
      () => this.output.slice(-3000),
      () => greets(this.smtpPort),
      START_LIMIT_MS,
    );
  }

  /** Resolves when the mail or the gateway process of one machine has ended at a fault point since the output had that length. */
  async awaitPartDeath(since: number): Promise<void> {
    await until(
      'a part of the service has ended at a fault point',
      () => this.output.slice(-3000),
      async () => /"event":"part\.died","part":"\w+","code":137,/.test(this.output.slice(since)),
      START_LIMIT_MS,
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.httpPort}`;
  }

  /** What its processes are started with. */
  get environment(): Record<string, string> {
    return { ...this.#environment };
  }

  /** The same for programs beside them, which work as the owner of the database. */
  get ownerEnvironment(): Record<string, string> {
    return { ...this.#environment, ...(this.#cluster === null ? {} : { DATABASE_URL: this.#cluster.url }) };
  }

  /** Everything that the processes wrote to stdout and stderr. */
  get output(): string {
    return this.#isShared ? sharedOutput(this.directory) : this.#output;
  }

  /** The URL of the database's owner. */
  async databaseUrl(): Promise<string> {
    return this.#cluster === null ? singleMachineDatabaseUrl(path.join(this.directory, 'data')) : this.#cluster.url;
  }

  /**
   * Starts one process of this mode by its name, with additional environment; `sending-2` is one more of its kind. Another folder has the
   * code of another version.
   */
  startProcess(name: string, environment: Record<string, string> = {}, folder = root): ChildProcess {
    const commands: Record<string, string[]> = {
      runner: ['bin/start.ts'],
      gateway: ['bin/gateway.ts'],
      smtp: ['bin/smtp.ts'],
      receiving: ['bin/actor.ts', 'receiving'],
      threading: ['bin/actor.ts', 'threading'],
      delivery: ['bin/actor.ts', 'delivery'],
      sending: ['bin/actor.ts', 'sending'],
      scheduling: ['bin/actor.ts', 'scheduling'],
    };
    const words = commands[name.replace(/-\d+$/, '')] ?? [];
    const log = this.#isShared ? openSharedLog(this.directory, name) : 'pipe';
    const child =
      name === 'nats'
        ? spawn('nats-server', ['-c', path.join(this.directory, 'nats.conf')], { stdio: ['ignore', log, log] })
        : spawn(process.execPath, folder === root ? builtFirst(words) : words, {
            cwd: folder,
            env: { ...process.env, ...this.#environment, ...this.#metricsEnvironment(name), ...environment },
            stdio: ['ignore', log, log],
          });
    if (log !== 'pipe') {
      closeSync(log);
      child.unref();
    }
    notePid(this.directory, child.pid);
    const take = (chunk: Buffer) => {
      this.#output += chunk.toString();
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    this.processes.set(name, child);
    return child;
  }

  /** Starts that process unless it runs. */
  ensureProcess(name: string): void {
    const child = this.processes.get(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) this.startProcess(name);
  }

  #metricsEnvironment(name: string): Record<string, string> {
    const port = this.#metricsPorts.get(name);
    return port === undefined ? {} : { METRICS_PORT: String(port) };
  }

  /** Where that process shows /health, /ready and /metrics; throws unless hasMetrics was asked for. */
  metricsUrl(name: string): string {
    const port = this.#metricsPorts.get(name);
    if (port === undefined) throw new Error(`${name} shows no metrics`);
    return `http://127.0.0.1:${port}`;
  }

  /** Ends one process by a signal and awaits its end; returns the exit code, null when the signal ended it. */
  async end(name: string, signal: NodeJS.Signals): Promise<number | null> {
    const child = this.processes.get(name);
    if (child === undefined) return null;
    child.kill(signal);
    return awaitExit(child);
  }

  async stop(): Promise<void> {
    // What takes work first, and last what the others need.
    const isSmtp = (name: string) => /^smtp(?:-\d+)?$/.test(name);
    const names = [...this.processes.keys()].filter((name) => name !== 'nats');
    await Promise.all(names.filter(isSmtp).map((name) => this.end(name, 'SIGTERM')));
    await Promise.all(names.map((name) => this.end(name, 'SIGTERM')));
    await this.end('nats', 'SIGKILL');
    await this.#cluster?.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** An account that owns the trusted domain, made as the account command makes it, and through the REST interface. */
  async createAccount(): Promise<DomainAccount> {
    return createDomainAccount(this.url, await this.databaseUrl(), trustedDomains[this.#accounts++] ?? '');
  }

  async #startSplit(): Promise<void> {
    if (this.#cluster === null) {
      const directory = path.join(this.directory, 'cluster');
      const password = await copyCluster(directory);
      this.#cluster = await startEmbeddedCluster({ directory, password, port: this.#databasePort });
      this.#environment['DATABASE_URL'] = withoutLogin(this.#cluster.url);
      await writeFile(
        path.join(this.directory, 'nats.conf'),
        `listen: "127.0.0.1:${this.natsPort}"\nhttp: "127.0.0.1:${this.natsMonitorPort}"\nmax_payload: 16777216\n`,
      );
      await run(process.execPath, builtFirst(['bin/migrate.ts']), {
        cwd: root,
        env: { ...process.env, ...this.ownerEnvironment },
      });
    }
    for (const name of ['nats', ...this.#splitNames]) this.ensureProcess(name);
  }
}

/** An account that owns the trusted domain, made as the account command makes it, and through the gateway at that URL. */
export async function createDomainAccount(url: string, databaseUrl: string, domain: string): Promise<DomainAccount> {
  const key = `test-${randomBytes(24).toString('hex')}`;
  const workspaceId = await insertAccount(databaseUrl, `owner@${domain}`, key);
  const account = { workspaceId, apiKey: key, ...callers(url, key) };
  const made = await account.call('POST', '/domains', { domain });
  if (made.status !== 201) throw new Error(`POST /domains: ${made.status} ${JSON.stringify(made.body)}`);
  return { ...account, domain, domainId: made.body.id };
}

async function insertAccount(databaseUrl: string, email: string, apiKey: string): Promise<string> {
  const database = openDatabase({
    url: databaseUrl,
    role: null,
    poolSize: 1,
    applicationName: 'account',
    onError: () => undefined,
  });
  try {
    const created = await createAccount(database, { email, password: null, apiKey, mailbox: null });
    if (created.outcome !== 'created') throw new Error(`${email}: ${created.outcome}`);
    return created.workspaceId;
  } finally {
    await database.close();
  }
}

/** The interfaces of the gateway at that URL, as whom the key belongs to. */
export function callers(url: string, key: string): Pick<TestAccount, 'call' | 'graphql'> {
  const call: TestAccount['call'] = async (method, route, body, headers = {}) => {
    const response = await fetch(route.startsWith('/graphql') ? `${url}${route}` : `${url}/api/e2${route}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    const result = isJson ? await response.json() : Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, body: result };
  };
  return { call, graphql: (query, variables) => call('POST', '/graphql', { query, variables }) };
}

/** Polls until the condition holds (a thrown error counts as no); throws after the limit with what `about` says. */
export async function until(
  what: string,
  about: () => string,
  holds: () => Promise<boolean>,
  limitMs = 120_000,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  // Checks less often the longer it takes, because each check takes CPU time from the processes under test.
  for (let pauseMs = 20; Date.now() < deadline; pauseMs = Math.min(pauseMs * 1.25, 250)) {
    if (await holds().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`not within ${limitMs} ms: ${what}\n${about()}`);
}

/** Whether an SMTP server greets on the port. */
export function greets(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('data', (bytes) => {
      socket.end('QUIT\r\n');
      resolve(bytes.toString().startsWith('220'));
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}

/** Resolves with the exit code when the process has ended; null when a signal ended it. */
export function awaitExit(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => void child.once('exit', (code) => resolve(code)));
}
