import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { makeDatabaseUrl } from '../../bin/runner/processes/single-machine.ts';
import { readRunRecord, readSecrets } from '../../db/cluster/data-directory.ts';
import { startEmbeddedCluster } from '../../db/cluster/embedded-cluster.ts';
import { withoutLogin } from '../../db/connection/logins.ts';
import { freePort } from '../support/cluster/cluster.ts';
import { processTree, readProcess } from '../support/servers/process-tree.ts';
import { smtpReady, startServer, stopUnless, tracked } from './child.ts';
import { makeResources, type Resources } from './resources.ts';

/** A user of Postroom. */
export interface Account {
  apiKey: string;
  workspaceId: string;
  /** Calls REST as this user. Throws when the response is an error. */
  call(method: string, route: string, body?: object): Promise<Record<string, unknown>>;
  /** Creates the address, with its domain if that is new, whose mail goes to the webhook. Returns the address. */
  createWebhookAddress(address: string, url: string): Promise<string>;
}

/** Postroom under test, with an account `bench@bench.test`. */
export interface PostroomServer extends Resources, Account {
  smtpPort: number;
  httpPort: number;
  /** of the owner of its database, by the way that the service itself takes */
  databaseUrl: string;
  /** process number of its PostgreSQL */
  postmaster: number;
  createAccount(email: string): Promise<Account>;
  stop(): Promise<void>;
}

export interface PostroomOptions {
  dnsServer: string;
  environment?: Record<string, string>;
  /** the cores that it may use, PostgreSQL included: `0` or `0,1`. All by default. */
  cpus?: string;
  /** the file that a process joins its control group with, see memory-group.ts */
  memoryGroup?: string;
}

const root = path.resolve(import.meta.dirname, '../..');
const node = process.execPath;

/** The command of `npm start`, with its settings of Node. */
async function startCommand(): Promise<string> {
  const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  return manifest.scripts.start;
}
const run = promisify(execFile);

/** Postroom by its start command: embedded PostgreSQL, in-process bus, everything on. */
export async function startSingleMachine(directory: string, options: PostroomOptions): Promise<PostroomServer> {
  const [smtpPort, httpPort] = [await freePort(), await freePort()];
  const dataDirectory = path.join(directory, 'postroom');
  const environment = { DATA_DIR: dataDirectory, ...sharedEnvironment(smtpPort, httpPort, options) };
  const join = options.memoryGroup === undefined ? '' : `echo $$ > ${options.memoryGroup}; `;
  const server = await startServer('sh', ['-c', `${join}${await startCommand()}`], environment, '', options.cpus);
  const describe = async (): Promise<PostroomServer> => {
    await responses(`http://127.0.0.1:${httpPort}/ready`, server.output);
    await smtpReady(smtpPort);
    const [secrets, record] = [await readSecrets(dataDirectory), await readRunRecord(dataDirectory)];
    if (secrets === null || record === null) throw new Error(`${dataDirectory} does not say where its PostgreSQL is`);
    const databaseUrl = makeDatabaseUrl(secrets, record);
    const postmaster = await findPostmaster(databaseUrl);
    return {
      smtpPort,
      httpPort,
      databaseUrl,
      postmaster,
      createAccount: (email) => createAccount(email, httpPort, environment),
      ...(await createAccount(FIRST_ACCOUNT, httpPort, environment)),
      ...makeResources(() => [...processTree(server.child.pid ?? 0), ...processTree(postmaster)]),
      async stop() {
        await server.stop();
        // It ends with the service; a service that was killed leaves it behind.
        if (readProcess(postmaster).length > 0) process.kill(postmaster, 'SIGINT');
      },
    };
  };
  return stopUnless(server, describe());
}

/** A deployment of several processes. */
export interface SplitServer extends PostroomServer {
  /** process numbers by name: gateway, smtp, or the actor's */
  pids: Record<string, number[]>;
}

/** Every process of a deployment on one machine. */
export const allProcesses: readonly (readonly string[])[] = [
  ['bin/gateway.ts'],
  ['bin/actor.ts', 'receiving'],
  ['bin/actor.ts', 'threading'],
  ['bin/actor.ts', 'delivery'],
  ['bin/actor.ts', 'sending'],
  ['bin/actor.ts', 'scheduling'],
  ['bin/smtp.ts'],
];

/** The same with each actor twice. */
export const eachActorTwice = [...allProcesses, ...allProcesses.filter(([program]) => program === 'bin/actor.ts')];

/** Those processes of Postroom (the gateway among them) over a real nats-server and one PostgreSQL. */
export async function startSplit(
  directory: string,
  commands: readonly (readonly string[])[],
  options: PostroomOptions & { settings?: Record<string, string> },
): Promise<SplitServer> {
  await mkdir(directory, { recursive: true });
  const [smtpPort, httpPort, natsPort, port] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const embedded = await startEmbeddedCluster({
    directory: path.join(directory, 'cluster'),
    password: 'bench',
    port,
    ...(options.settings === undefined ? {} : { settings: options.settings }),
  });
  const cluster = tracked({ url: embedded.url, stop: () => embedded.stop() });
  const started: { stop(): Promise<void> }[] = [cluster];
  const stop = async () => {
    for (const server of started.splice(0).toReversed()) await server.stop();
  };
  const describe = async (): Promise<SplitServer> => {
    const configuration = path.join(directory, 'nats.conf');
    await writeFile(configuration, `listen: "127.0.0.1:${natsPort}"\nmax_payload: 16777216\n`);
    const nats = await startServer('nats-server', ['-c', configuration], {}, 'Server is ready');
    started.push(nats);
    const environment = {
      DATABASE_URL: withoutLogin(cluster.url),
      NATS_URL: `nats://127.0.0.1:${natsPort}`,
      SECRET_KEY: randomBytes(32).toString('base64url'),
      DATA_DIR: directory,
      ...sharedEnvironment(smtpPort, httpPort, options),
    };
    const ownerEnvironment = { ...environment, DATABASE_URL: cluster.url };
    await run(node, ['bin/migrate.ts'], { cwd: root, env: { ...process.env, ...ownerEnvironment } });
    const servers = await Promise.all(
      commands.map(async (command) => {
        const server = await startServer(node, [...command], environment, READY, options.cpus);
        started.push(server);
        return server;
      }),
    );
    await responses(`http://127.0.0.1:${httpPort}/ready`, () => servers.map((server) => server.output()).join('\n'));
    if (commands.some(([program]) => program === 'bin/smtp.ts')) await smtpReady(smtpPort);
    const postmaster = await findPostmaster(cluster.url);
    return {
      smtpPort,
      httpPort,
      databaseUrl: cluster.url,
      postmaster,
      pids: pidsByName(commands.map((command, n) => [readName(command), servers[n]?.child.pid ?? 0] as const)),
      createAccount: (email) => createAccount(email, httpPort, ownerEnvironment),
      ...(await createAccount(FIRST_ACCOUNT, httpPort, ownerEnvironment)),
      ...makeResources(() => [
        ...servers.flatMap((server) => processTree(server.child.pid ?? 0)),
        ...readProcess(nats.child.pid ?? 0),
        ...processTree(postmaster),
      ]),
      stop,
    };
  };
  return stopUnless({ stop }, describe());
}

function readName([program = '', actor]: readonly string[]): string {
  return actor ?? path.basename(program, '.ts');
}

function pidsByName(named: readonly (readonly [string, number])[]): Record<string, number[]> {
  const groups = Map.groupBy(named, ([name]) => name);
  return Object.fromEntries([...groups].map(([name, each]) => [name, each.map(([, pid]) => pid)]));
}

function sharedEnvironment(smtpPort: number, httpPort: number, options: PostroomOptions): Record<string, string> {
  return {
    SMTP_PORT: String(smtpPort),
    METRICS_PORT: '0',
    HTTP_PORT: String(httpPort),
    TRUSTED_DOMAINS: 'inbox.test,bench.test',
    ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
    RATE_LIMIT_PER_SECOND: '0',
    DNS_SERVERS: options.dnsServer,
    ...options.environment,
  };
}

/** What a process logs when it does its work. */
const READY = /process\.ready|smtp\.listening/;

const FIRST_ACCOUNT = 'bench@bench.test';

async function createAccount(email: string, httpPort: number, environment: Record<string, string>): Promise<Account> {
  const apiKey = `bench-${randomBytes(24).toString('hex')}`;
  const { stdout } = await run(node, ['bin/account.ts', 'create', email, '--key', apiKey], {
    cwd: root,
    env: { ...process.env, ...environment },
  });
  const { userId: workspaceId } = JSON.parse(stdout) as { userId: string };
  const call: Account['call'] = async (method, route, body) => {
    const response = await fetch(`http://127.0.0.1:${httpPort}/api/e2${route}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const result = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${JSON.stringify(result)}`);
    return result;
  };
  const domainIds = new Map<string, unknown>();
  const createWebhookAddress: Account['createWebhookAddress'] = async (address, url) => {
    const domain = address.replace(/^.*@/, '');
    if (!domainIds.has(domain)) domainIds.set(domain, (await call('POST', '/domains', { domain }))['id']);
    const endpoint = await call('POST', '/endpoints', { name: address, type: 'webhook', config: { url } });
    const domainId = domainIds.get(domain);
    await call('POST', '/email-addresses', { address, domainId, endpointId: endpoint['id'] });
    return address;
  };
  return { apiKey, workspaceId, call, createWebhookAddress };
}

/** The process number of a PostgreSQL on this machine, from its data directory. */
export async function findPostmaster(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    const text = await readFile(path.join(rows[0]?.data_directory ?? '', 'postmaster.pid'), 'utf8');
    return Number(text.split('\n')[0]);
  } finally {
    await client.end();
  }
}

async function responses(url: string, output: () => string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} is not ready: ${output().slice(-3000)}`);
}
