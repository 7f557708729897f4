import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedCluster } from '../../db/embedded-cluster.ts';
import { freePort } from '../support/cluster.ts';
import { processTree, readProcess } from '../support/process-tree.ts';
import { startServer } from './child.ts';

/** A server under test: where mail goes in, how many messages it has stored, and what it holds of the machine. */
export interface Contestant {
  name: string;
  smtpPort: number;
  recipient: string;
  /** messages stored since the start; null where nothing is stored */
  storedCount(): Promise<number | null>;
  /** resident memory of all its processes, MiB */
  residentMiB(): number;
  /** CPU seconds used so far by all its processes */
  cpuSeconds(): number;
  /** the same by program */
  cpuSecondsByProgram(): Map<string, number>;
  stop(): Promise<void>;
}

const root = path.resolve(import.meta.dirname, '../..');
const node = process.execPath;
const run = promisify(execFile);

/** Haraka as it comes, taking every recipient and dropping every message: the ceiling of any SMTP front made of it. */
export async function startBareHaraka(directory: string): Promise<Contestant> {
  const home = path.join(directory, 'bare-haraka');
  const smtpPort = await freePort();
  await mkdir(path.join(home, 'plugins'), { recursive: true });
  await mkdir(path.join(home, 'config'), { recursive: true });
  const write = (name: string, text: string) => writeFile(path.join(home, name), text);
  await write('package.json', '{"name":"bare-haraka","private":true,"type":"commonjs"}');
  await write('plugins/accept.js', 'exports.hook_rcpt = (next) => next(OK);\n');
  await write('config/plugins', 'accept\nqueue/discard\n');
  await write('config/smtp.ini', `listen=127.0.0.1:${smtpPort}\n`);
  await write('config/me', 'bare.test\n');
  await cp(path.join(root, 'node_modules/haraka/config/connection.ini'), path.join(home, 'config/connection.ini'));
  const server = await startServer(
    node,
    [path.join(root, 'node_modules/haraka/bin/haraka'), '-c', home],
    { YES_REALLY_DO_DISCARD: '1' },
    '',
  );
  await connects(smtpPort);
  return {
    name: 'bare Haraka',
    smtpPort,
    recipient: 'u@bare.test',
    storedCount: () => Promise.resolve(null),
    ...measured(() => processTree(server.child.pid ?? 0)),
    stop: () => server.stop(),
  };
}

/** Postfix storing into a Maildir; needs PEERS_DIR (default ../shared/peers) and Debian's package. */
export async function startPostfix(directory: string): Promise<Contestant> {
  const script = path.join(process.env['PEERS_DIR'] ?? path.join(root, '../shared/peers'), 'postfix');
  const home = path.join(directory, 'postfix');
  const smtpPort = await freePort();
  await mkdir(home, { recursive: true });
  await chmod(directory, 0o755);
  await run(script, ['start', home, String(smtpPort), 'maildir']);
  await connects(smtpPort);
  const master = Number((await readFile(path.join(home, 'spool/pid/master.pid'), 'utf8')).trim());
  return {
    name: 'Postfix',
    smtpPort,
    recipient: 'u@pf.test',
    storedCount: async () => Number((await run(script, ['done', home])).stdout.trim()),
    ...measured(() => processTree(master)),
    stop: async () => {
      await run(script, ['stop', home]);
    },
  };
}

export interface PostroomOptions {
  webhookUrl: string;
  dnsServer: string;
  environment?: Record<string, string>;
}

/** Postroom by its start command: embedded PostgreSQL, in-process bus, everything on. */
export async function startPostroom(directory: string, options: PostroomOptions): Promise<Contestant> {
  const [smtpPort, httpPort] = [await freePort(), await freePort()];
  const dataDirectory = path.join(directory, 'postroom');
  const environment = {
    DATA_DIR: dataDirectory,
    SMTP_PORT: String(smtpPort),
    HTTP_PORT: String(httpPort),
    ...sharedEnvironment(options),
  };
  const server = await startServer(node, ['bin/start.ts'], environment, '');
  await answers(`http://127.0.0.1:${httpPort}/ready`, server.output);
  const api = await makeMailbox(httpPort, environment, options.webhookUrl);
  const postmaster = async () => Number((await findPostmaster(dataDirectory)) ?? 0);
  const database = await postmaster();
  return {
    name: 'Postroom',
    smtpPort,
    recipient: 'box@bench.test',
    storedCount: api.storedCount,
    ...measured(() => [...processTree(server.child.pid ?? 0), ...processTree(database)]),
    stop: () => server.stop(),
  };
}

/** Postroom as separate processes over a real nats-server and one PostgreSQL. */
export async function startSplitPostroom(directory: string, options: PostroomOptions): Promise<Contestant> {
  const home = path.join(directory, 'split');
  await mkdir(home, { recursive: true });
  const [smtpPort, httpPort, natsPort, databasePort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const cluster = await startEmbeddedCluster({
    directory: path.join(home, 'cluster'),
    password: 'bench',
    port: databasePort,
  });
  const configuration = path.join(home, 'nats.conf');
  await writeFile(configuration, `listen: "127.0.0.1:${natsPort}"\nmax_payload: 16777216\n`);
  const nats = await startServer('nats-server', ['-c', configuration], {}, 'Server is ready');
  const environment = {
    DATABASE_URL: cluster.url,
    NATS_URL: `nats://127.0.0.1:${natsPort}`,
    SECRET_KEY: randomBytes(32).toString('base64url'),
    SMTP_PORT: String(smtpPort),
    HTTP_PORT: String(httpPort),
    DATA_DIR: home,
    ...sharedEnvironment(options),
  };
  await run(node, ['bin/migrate.ts'], { cwd: root, env: { ...process.env, ...environment } });
  const commands = [
    ['bin/gateway.ts'],
    ['bin/actor.ts', 'receiving'],
    ['bin/actor.ts', 'threading'],
    ['bin/actor.ts', 'delivery'],
    ['bin/actor.ts', 'sending'],
    ['bin/actor.ts', 'scheduling'],
    ['bin/smtp.ts'],
  ];
  const servers = await Promise.all(commands.map((command) => startServer(node, command, environment, '')));
  await answers(`http://127.0.0.1:${httpPort}/ready`, () => servers.map((server) => server.output()).join('\n'));
  await connects(smtpPort);
  const api = await makeMailbox(httpPort, environment, options.webhookUrl);
  const postmaster = Number((await findPostmaster(path.join(home, 'cluster'))) ?? 0);
  return {
    name: 'Postroom split',
    smtpPort,
    recipient: 'box@bench.test',
    storedCount: api.storedCount,
    ...measured(() => [
      ...servers.flatMap((server) => processTree(server.child.pid ?? 0)),
      ...readProcess(nats.child.pid ?? 0),
      ...processTree(postmaster),
    ]),
    stop: async () => {
      for (const server of servers.toReversed()) await server.stop();
      await nats.stop();
      await cluster.stop();
    },
  };
}

function sharedEnvironment(options: PostroomOptions): Record<string, string> {
  return {
    TRUSTED_DOMAINS: 'inbox.test,bench.test',
    ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
    RATE_LIMIT_PER_SECOND: '0',
    DNS_SERVERS: options.dnsServer,
    ...options.environment,
  };
}

/** An account with one address that a webhook takes; answers how many emails its list counts. */
async function makeMailbox(
  httpPort: number,
  environment: Record<string, string>,
  webhookUrl: string,
): Promise<{ storedCount: () => Promise<number> }> {
  const key = `bench-${randomBytes(24).toString('hex')}`;
  await run(node, ['bin/account.ts', 'create', 'bench@bench.test', '--key', key], {
    cwd: root,
    env: { ...process.env, ...environment },
  });
  const call = async (method: string, route: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`http://127.0.0.1:${httpPort}/api/e2${route}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const domain = await call('POST', '/domains', { domain: 'bench.test' });
  const endpoint = await call('POST', '/endpoints', { name: 'bench', type: 'webhook', config: { url: webhookUrl } });
  await call('POST', '/email-addresses', {
    address: 'box@bench.test',
    domainId: domain['id'],
    endpointId: endpoint['id'],
  });
  return {
    storedCount: async () => {
      const list = await call('GET', '/emails?type=received&time_range=all&limit=1');
      return (list['pagination'] as { total: number }).total;
    },
  };
}

/** First line of postmaster.pid below the directory; null when there is none. */
async function findPostmaster(directory: string): Promise<string | null> {
  const found = execFileSync(
    'find',
    [directory, '/var/lib/postroom', '-name', 'postmaster.pid', '-newermt', '-1 hour'],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
    .trim()
    .split('\n')[0];
  return found === undefined || found === '' ? null : ((await readFile(found, 'utf8')).split('\n')[0] ?? null);
}

function measured(
  processes: () => { command: string; residentMiB: number; cpuSeconds: number }[],
): Pick<Contestant, 'residentMiB' | 'cpuSeconds' | 'cpuSecondsByProgram'> {
  return {
    residentMiB: () => processes().reduce((sum, each) => sum + each.residentMiB, 0),
    cpuSeconds: () => processes().reduce((sum, each) => sum + each.cpuSeconds, 0),
    cpuSecondsByProgram: () => {
      const sums = new Map<string, number>();
      for (const { command, cpuSeconds } of processes()) {
        const program =
          /bin\/\S+\.ts( \w+)?/.exec(command)?.[0] ??
          /^postgres\b|nats-server/.exec(command)?.[0] ??
          command.split(' ')[0] ??
          '';
        sums.set(program, (sums.get(program) ?? 0) + cpuSeconds);
      }
      return sums;
    },
  };
}

async function connects(port: number): Promise<void> {
  const { connect } = await import('node:net');
  for (let tries = 0; tries < 300; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('data', () => {
        socket.end('QUIT\r\n');
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nothing greets on port ${port}`);
}

async function answers(url: string, output: () => string): Promise<void> {
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
