import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDnsServer } from '../../support/servers/dns.ts';
import { connectRemoteClient } from './remote-client.ts';

/*
 * Dockerfile and docker-compose.yml on a real Docker engine, that of DOCKER_HOST or one that this file starts and ends: `npm run test:engine`.
 * Wants root, Linux with Debian's docker.io (an engine before 27 with --experimental --ip6tables), debootstrap and swaks, and the Compose
 * plugin. Base images are local stand-ins (make-images.sh), as none is pulled. KEEP_ENGINE=1 leaves everything running for a look.
 */

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../..');
const API = 'http://127.0.0.1:18080/api/e2';
const SMTP_PORT = 12_525;

/** Sends a mail to the host and port of its arguments, with the subject of the third, and prints the replies: swaks needs a module for IPv6. */
const SEND = `
  const [host, port, subject] = process.argv.slice(1);
  const message = 'From: you@sender.test\\r\\nTo: orders@inbox.test\\r\\nSubject: ' + subject + '\\r\\n\\r\\nHello\\r\\n.';
  const lines = ['EHLO client.test', 'MAIL FROM:<you@sender.test>', 'RCPT TO:<orders@inbox.test>', 'DATA', message, 'QUIT'];
  const socket = require('net').connect({ host, port });
  socket.on('data', (reply) => {
    process.stdout.write(reply);
    if (/^\\d{3} .*\\r\\n$/m.test(String(reply)) && lines.length > 0) socket.write(lines.shift() + '\\r\\n');
  });`;

let directory: string;
let clone: string;
let engine: ChildProcess | null = null;
let environment: NodeJS.ProcessEnv;
let key: string;

/** Runs a command in the clone; returns what it printed. Throws with its stderr. */
async function sh(command: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', command], { cwd: clone, env: environment, maxBuffer: 64_000_000 });
  return stdout;
}

/** Those `host:port` to which a TCP connection from the container opens within 3 s. */
async function reachedFrom(service: string, places: readonly string[]): Promise<string[]> {
  const program = `
    const opens = (place) => new Promise((resolve) => {
      const [host, port] = place.split(':');
      const socket = require('net').connect({ host, port }).setTimeout(3000, () => resolve(false));
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    });
    Promise.all(process.argv.slice(1).map(async (place) => (await opens(place)) ? [place] : []))
      .then((reached) => { console.log(JSON.stringify(reached.flat())); process.exit(); });`;
  const words = ['compose', 'exec', '-T', service, 'node', '-e', program, ...places];
  const { stdout } = await run('docker', words, { cwd: clone, env: environment });
  return JSON.parse(stdout) as string[];
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 300_000; !(await isSo().catch(() => false)); await pause(500))
    if (Date.now() > deadline) throw new Error(`not within 300 s: ${what}`);
}

/** Connects to the SMTP port; returns the connection when its greeting has come. */
async function greeted(): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: SMTP_PORT });
  socket.setTimeout(30_000, () => socket.destroy(new Error('no greeting')));
  await new Promise<void>((resolve, reject) => {
    socket.once('data', (banner) => {
      if (banner.toString().startsWith('220')) resolve();
      else reject(new Error(banner.toString()));
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
  socket.on('error', () => {});
  return socket;
}

/** Asks the API and SMTP through the proxy, over and over, while `work` runs; returns the probes and those that failed. */
async function probeWhile(work: () => Promise<unknown>): Promise<{ probes: number; failed: string[] }> {
  const failed: string[] = [];
  let probes = 0;
  let isOver = false;
  const greet = async () => void (await greeted()).destroy();
  const ask = async () => {
    const answer = await fetch(`${API}/emails?limit=1`, { headers: { authorization: `Bearer ${key}` } });
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  };
  const probe = async (attempt: () => Promise<void>) => {
    while (!isOver) {
      probes++;
      await attempt().catch((error: unknown) => failed.push(`${new Date().toISOString()} ${String(error)}`));
      await pause(100);
    }
  };
  const probing = [probe(ask), probe(greet)];
  try {
    await work();
  } finally {
    isOver = true;
    await Promise.all(probing);
  }
  return { probes, failed };
}

async function call(method: string, route: string, body?: unknown) {
  const answer = await fetch(API + route, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read into the answers of many routes
  return { status: answer.status, body: (await answer.json()) as any };
}

async function setting(name: string, value: string): Promise<void> {
  const file = path.join(clone, '.env');
  const text = await readFile(file, 'utf8');
  expect(text).toMatch(new RegExp(`^${name}=`, 'm'));
  await writeFile(file, text.replace(new RegExp(`^${name}=.*$`, 'm'), `${name}=${value}`));
}

beforeAll(async () => {
  directory = await mkdtemp('/var/tmp/postroom-engine-');
  clone = path.join(directory, 'postroom');
  const socket = process.env['DOCKER_HOST'] ?? `unix://${directory}/docker.sock`;
  environment = { ...process.env, DOCKER_HOST: socket, DOCKER_BUILDKIT: '0', COMPOSE_PROJECT_NAME: 'postroom' };
  const words = [
    '--data-root',
    `${directory}/data`,
    '--exec-root',
    `${directory}/exec`,
    '--pidfile',
    `${directory}/pid`,
    // As docs/deploy/compose.md says of IPv6; engines since 27 do so by themselves.
    '--experimental',
    '--ip6tables',
  ];
  if (process.env['DOCKER_HOST'] === undefined)
    engine = spawn('dockerd', [...words, '-H', socket], { stdio: 'ignore' });
  await until('dockerd answers', async () => spawnSync('docker', ['version'], { env: environment }).status === 0);
  // As a clone is under the strictest usual umask.
  await run('sh', ['-c', `umask 077 && git clone --quiet '${root}' '${clone}'`]);
  await run(path.join(root, 'test/deploy/engine/make-images.sh'), { env: environment, maxBuffer: 64_000_000 });
  const secret = () => randomBytes(24).toString('hex');
  const example = await readFile(path.join(clone, '.env.example'), 'utf8');
  await writeFile(
    path.join(clone, '.env'),
    example.replaceAll(/^([A-Z_]*PASSWORD)=$/gm, (_, name: string) => `${name}=${secret()}`),
  );
  await setting('SECRET_KEY', randomBytes(32).toString('base64url'));
  await setting('PUBLIC_URL', 'http://localhost:18080');
  await setting('MAIL_HOSTNAME', 'localhost');
  await setting('HTTP_PUBLISHED', '127.0.0.1:18080');
  await setting('SMTP_PUBLISHED', `127.0.0.1:${SMTP_PORT}`);
  await setting('TRUSTED_DOMAINS', 'inbox.test');
  await setting('OUTBOUND_RELAY_URL', 'smtp://try-sink:2526');
  await setting('ALLOWED_PRIVATE_NETWORKS', '172.31.254.0/24');
  await setting('WEBHOOK_CA_FILE', '/certificates/try.pem');
  await mkdir(path.join(clone, 'certificates'), { mode: 0o755 });
  await sh(`openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=try-webhook -addext subjectAltName=DNS:try-webhook \
    -keyout certificates/try-key.pem -out certificates/try.pem 2>&1 && chmod 644 certificates/*`);
  await sh('docker build --quiet --network host --tag postroom:0.1.0 .');
  await sh('docker build --quiet --network host --target backup --tag postroom-backup:0.1.0 .');
}, 1_800_000);

afterAll(async () => {
  if (process.env['KEEP_ENGINE'] !== undefined) return;
  await sh('docker compose --profile tools --profile try down --volumes --timeout 5').catch(() => undefined);
  const started = engine;
  if (started !== null) {
    started.kill('SIGTERM');
    await new Promise((resolve) => started.once('exit', resolve));
  }
  await rm(directory, { recursive: true, force: true });
}, 300_000);

test('roll.sh refuses the clone of umask 077 until the mounted folders can be read', async () => {
  await expect(sh('docs/deploy/roll.sh --check')).rejects.toThrow('chmod -R a+rX docs/deploy');
  await sh('chmod a+x . docs && chmod -R a+rX docs/deploy && docs/deploy/roll.sh --check');
});

test('every service becomes healthy, and no anonymous volume is left', async () => {
  await sh('docker compose up --detach --wait');
  const states = (await sh(`docker compose ps --format '{{.Service}} {{.State}} {{.Health}}'`)).trim().split('\n');
  expect(states).toHaveLength(19);
  expect(states.filter((line) => !line.endsWith(' running healthy'))).toEqual([]);
  const volumes = (await sh(`docker volume ls --format '{{.Name}}'`)).trim().split('\n');
  expect(volumes.toSorted()).toEqual(['postroom_postgres', 'postroom_smtp']);
});

test('SMTP servers reach NATS alone, gateways no way out, and neither reaches the host', async () => {
  const inspect = `docker inspect --format '{{index .Config.Labels "com.docker.compose.service"}}{{range .NetworkSettings.Networks}} {{.IPAddress}}{{end}}'`;
  const lines = (await sh(`${inspect} $(docker compose ps --quiet)`)).trim().split('\n');
  // Whatever listens in any container, and a server at every address of the host.
  const ports = [2525, 3000, 4222, 5432, 6222, 8080, 8222, 8404, 9464];
  const names = new Map<string, string>();
  for (const [name = '', ...addresses] of lines.map((line) => line.split(' ')))
    for (const address of addresses)
      for (const port of ports) names.set(`${address}:${port}`, `${name.replace(/-\d$/, '')}:${port}`);
  const host = createServer((socket) => socket.destroy()).listen(0, '0.0.0.0');
  await once(host, 'listening');
  const { port } = host.address() as AddressInfo;
  for (const { address, family } of Object.values(networkInterfaces()).flatMap((each) => each ?? []))
    if (family === 'IPv4' && !address.startsWith('127.')) names.set(`${address}:${port}`, 'host');
  const reached = async (service: string) =>
    [...new Set((await reachedFrom(service, [...names.keys()])).map((place) => names.get(place) ?? place))].toSorted();
  expect(await reached('smtp-1')).toEqual(['nats:4222', 'nats:6222', 'smtp:2525', 'smtp:9464']);
  const actors = ['delivery', 'receiving', 'scheduling', 'sending', 'threading'].map((name) => `${name}:9464`);
  const inside = [...actors, 'gateway:3000', 'gateway:9464', 'nats:4222', 'nats:6222', 'postgres:5432'];
  expect(await reached('gateway-1')).toEqual(inside.toSorted());
  expect(await reached('threading-1')).toEqual(inside.toSorted());
  // Whoever has a way out reaches the host as well: the test would notice.
  expect(await reached('delivery-1')).toEqual(expect.arrayContaining([...inside, 'host', 'proxy:2525', 'proxy:8080']));
  host.close();
});

test("the README's first mail: in by SMTP and out as a webhook, out by the API to the sink", async () => {
  await sh('docker compose --profile try up --detach try-webhook try-sink');
  const made = await sh('docker compose run --rm --no-deps -T migrate node bin/account.ts create me@example.com');
  key = (JSON.parse(made) as { apiKey: string }).apiKey;
  const domain = await call('POST', '/domains', { domain: 'inbox.test' });
  expect(domain.body).toMatchObject({ status: 'verified' });
  const config = { url: 'https://try-webhook:4000/' };
  const endpoint = await call('POST', '/endpoints', { name: 'try', type: 'webhook', config });
  const address = { address: 'orders@inbox.test', domainId: domain.body.id, endpointId: endpoint.body.id };
  expect((await call('POST', '/email-addresses', address)).status).toBe(201);
  await sh(
    `swaks --server 127.0.0.1:${SMTP_PORT} --from you@example.com --to orders@inbox.test --header 'Subject: An order' --body Two`,
  );
  await until('the webhook', async () => (await sh('docker compose logs try-webhook')).includes('An order'));
  const sent = { from: 'orders@inbox.test', to: 'you@example.com', subject: 'A first mail out', text: 'Hello' };
  expect((await call('POST', '/emails', sent)).status).toBe(200);
  await until('the mail at the sink', async () =>
    (await sh('docker compose logs try-sink')).includes('A first mail out'),
  );
});

test('the doctor finds nothing wrong, networks included', async () => {
  const { status, stdout } = spawnSync('docker', ['compose', 'run', '--rm', '-T', 'doctor'], {
    cwd: clone,
    env: environment,
    encoding: 'utf8',
  });
  expect(stdout).toContain('as docker-compose.yml fixes them');
  expect(status, stdout).toBe(0);
});

test('a changed setting reaches every container one after the other, and clients notice nothing', async () => {
  await setting('LOG_LEVEL', 'debug');
  const { probes, failed } = await probeWhile(() => sh('docs/deploy/roll.sh'));
  process.stdout.write(`roll.sh: ${probes} probes, ${failed.length} failed\n`);
  expect(failed).toEqual([]);
  const levels = await sh(
    'docker compose exec -T gateway-2 printenv LOG_LEVEL; docker compose exec -T sending-1 printenv LOG_LEVEL',
  );
  expect(levels).toBe('debug\ndebug\n');
});

test('the proxy reloads a changed haproxy.cfg without a failed probe, and sees the changed file', async () => {
  await sh(`sed -i 's/hard-stop-after 60s/hard-stop-after 59s/' docs/deploy/haproxy/haproxy.cfg`);
  const { probes, failed } = await probeWhile(async () => {
    for (let n = 0; n < 3; n++) {
      await sh('docker compose kill --signal USR2 proxy');
      await pause(2_000);
    }
  });
  process.stdout.write(`reload: ${probes} probes, ${failed.length} failed\n`);
  expect(failed).toEqual([]);
  expect(await sh('docker compose exec -T proxy grep hard-stop /etc/haproxy/haproxy.cfg')).toContain('59s');
});

test('a proxy that is recreated while a session is open lets clients in again', async () => {
  const open = await greeted();
  const recreate = () => sh('docker compose up --detach --no-deps --wait --force-recreate proxy');
  const { probes, failed } = await probeWhile(recreate);
  open.destroy();
  const [first = '', last = first] = [failed[0], failed.at(-1)].map((line) => line?.split(' ')[0] ?? '');
  const seconds = (Date.parse(last) - Date.parse(first)) / 1_000;
  process.stdout.write(`proxy recreated: ${probes} probes, ${failed.length} failed within ${seconds} s\n`);
  expect((await call('GET', '/emails')).status).toBe(200);
});

test('one command backs up, and one restores on an emptied service', async () => {
  await sh('docker compose run --rm -T backup');
  const backup = (
    await sh(
      'docker run --rm -v postroom_backups:/backups postroom-backup:0.1.0 -e "console.log(fs.readdirSync(\'/backups\')[0])"',
    )
  ).trim();
  await sh(
    'docker compose --profile try down && docker volume rm postroom_postgres && docker compose up --detach --wait postgres',
  );
  await sh(`docker compose run --rm -T restore /backups/${backup}`);
  await sh('docker compose up --detach --wait');
  for (const [type, subject] of [
    ['received', 'An order'],
    ['sent', 'A first mail out'],
  ]) {
    const list = await call('GET', `/emails?type=${type}`);
    expect(list.body.data.map((email: { subject: string }) => email.subject)).toEqual([subject]);
  }
});

test('with compose-ipv6.yml an IPv6 client keeps its address, and SPF passes', async () => {
  const client = await connectRemoteClient();
  const dns = await startDnsServer(client.hostIpv4);
  try {
    dns.set('sender.test', 'TXT', [`v=spf1 ip4:${client.ipv4} ip6:${client.ipv6} -all`]);
    await setting('DNS_SERVERS', dns.address);
    await setting('SMTP_PUBLISHED', `0.0.0.0:${SMTP_PORT}`);
    await appendFile(path.join(clone, '.env'), 'COMPOSE_FILE=docker-compose.yml:docs/deploy/compose-ipv6.yml\n');
    await sh('docker compose down && docker compose up --detach --wait');
    for (const [host, port, address] of [
      [client.hostIpv4, String(SMTP_PORT), client.ipv4],
      [client.hostIpv6, '25', client.ipv6],
    ] as const) {
      const greeting = await client.run(process.execPath, '-e', SEND, host, port, address);
      expect(greeting).toContain(`Hello [${address}]`);
      const found = async () =>
        (await call('GET', '/emails')).body.data.find((email: { subject: string }) => email.subject === address);
      await until(`the mail from ${address}`, async () => (await found()) !== undefined);
      const query = `{ email(id: "${(await found()).id}") { content { authentication { spf { result domain } } } } }`;
      const answer = await fetch(API.replace('/api/e2', '/graphql'), {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      expect(await answer.json()).toEqual({
        data: { email: { content: { authentication: { spf: { result: 'PASS', domain: 'sender.test' } } } } },
      });
    }
  } finally {
    await dns.stop();
    await client.remove();
  }
});
