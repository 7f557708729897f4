import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { appendFile, chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { freePort } from '../support/cluster/cluster.ts';
import { keepLogFile, keepSecrets } from '../support/kept-logs.ts';
import { secretsGiven } from '../support/printed-secrets.ts';
import { repository } from '../support/runner.ts';
import { type DebianPostgresql, debianPrograms, startDebianPostgresql } from '../support/servers/debian-postgresql.ts';
import { linkToRun, notePid } from '../support/servers/orphans.ts';
import { callers, type ServiceResponse, until } from '../support/servers/service.ts';
import { openShell, type ShellSession } from '../support/servers/shell-session.ts';
import { startSinkMta } from '../support/servers/sink-mta.ts';
import { sendOne } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';

/** All of it, every process restarted; else three of them. */
const IS_WHOLE = process.env['CHAOS_KILLS'] !== undefined;
const DOMAIN = 'operate.test';
const LIMIT_MS = 600_000;

const programs = process.getuid?.() === 0 ? await debianPrograms() : null;
const isMissing =
  programs === null ||
  ['nats-server', 'haproxy', 'curl', 'openssl', 'setsid'].some((name) => spawnSync('which', [name]).status !== 0);

/** The examples of docs/operate.md that are run, in their order. */
const [secrets = '', start = '', account = '', doctor = '', upgrade = '', backup = '', restore = ''] = [
  ...readFileSync(path.join(repository, 'docs/operate.md'), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms),
].map(([, example]) => example);

/** An operator's host: a clone, a network of its own, ports of its own. */
interface Host {
  directory: string;
  network: string;
  httpPort: number;
  smtpPort: number;
  shell: ShellSession;
}

let directory: string;
let postgresql: DebianPostgresql;
let host: Host;
let apiKey = '';
const hosts: Host[] = [];

beforeAll(async () => {
  if (programs === null || isMissing) return;
  directory = await mkdtemp(path.join(tmpdir(), 'postroom-operate-'));
  await chmod(directory, 0o755);
  linkToRun(inject('runDirectory'), directory);
  postgresql = await startDebianPostgresql(programs, path.join(directory, 'postgresql'));
  host = await makeHost('first');
});
afterAll(async () => {
  for (const each of hosts) {
    // By itself: the shell may have ended over an example.
    const env = { ...process.env, NETWORK: each.network, RUN_DIR: path.join(each.directory, 'run') };
    spawnSync('docs/deploy/processes.sh', ['down'], { cwd: each.directory, env, stdio: 'ignore' });
    await each.shell.end();
    keepHost(each);
  }
  await postgresql?.stop();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
}, 300_000);

test.skipIf(isMissing)(
  'the guide leads to a cluster that receives and sends mail, upgrades it under load, and restores it elsewhere',
  async () => {
    const receiver = await startWebhookReceiver();
    const sink = await startSinkMta();
    await host.shell.run(secrets);
    const stored = await readFile(path.join(host.directory, '.env'), 'utf8');
    expect(stored.match(/^[A-Z_]*(?:PASSWORD|SECRET_KEY)=$/gm), 'no secret is left empty').toBeNull();
    await settle(host, { OUTBOUND_RELAY_URL: `smtp://127.0.0.1:${sink.port}` });
    const status = await host.shell.run(asPrinted(start, postgresql.url));
    notePids(host);
    expect(status.match(/^[a-z]+-[123] is ready \(pid \d+\)$/gm) ?? [], status).toHaveLength(17);

    apiKey = (JSON.parse((await host.shell.run(account)).trim()) as { apiKey: string }).apiKey;
    const { call } = callers(`http://127.0.0.1:${host.httpPort}`, apiKey);
    await prepare(call, receiver.url);
    const findings = await host.shell.run(doctor);
    for (const well of [
      'NATS',
      'receiving',
      'scheduling',
      'delivery',
      'safe writes',
      'SECRET_KEY',
      'verdict',
      'gateway',
    ])
      expect(findings, `the doctor says that ${well} is well`).toMatch(new RegExp(`✓ +${well}`));

    // Mail in and out while processes are ended and started.
    const isDone = { value: false };
    const load = Promise.all([inbound(host, () => isDone.value), outbound(call, () => isDone.value)]);
    await host.shell.run(
      IS_WHOLE ? asPrinted(upgrade, '') : asPrinted(upgrade, '').replace(' all', ' gateway-1 smtp-1 delivery-1'),
    );
    notePids(host);
    isDone.value = true;
    const [taken, sent] = await load;
    expect(taken.refused, 'SMTP says nothing but 250 or 4xx').toEqual([]);
    expect(taken.count).toBeGreaterThan(10);
    expect(sent.length).toBeGreaterThan(10);
    await receiver.until(
      (requests) => new Set(requests.map(({ webhookId }) => webhookId)).size >= taken.count,
      LIMIT_MS,
    );
    expect(new Set(receiver.requests.map(({ webhookId }) => webhookId)).size, 'each mail once').toBe(taken.count);
    await until(
      'all that was answered 200 is at the sink',
      () => `${sink.messages.length} of ${sent.length}`,
      () => Promise.resolve(sink.messages.length >= sent.length),
      LIMIT_MS,
    );

    const folder = path.join(directory, 'backup');
    await host.shell.run(backup.replaceAll('/var/backups/postroom-$(date +%F)', folder));
    const other = await makeHost('other');
    await other.shell.run(secrets);
    await settle(other, { DATABASE_URL: await postgresql.createDatabase('elsewhere') });
    const few = IS_WHOLE ? '' : ' nats-1 nats-2 nats-3 gateway-1 proxy';
    await other.shell.run(
      restore
        .replaceAll('/var/backups/postroom-$(date +%F)', folder)
        .replace('processes.sh up', `processes.sh up${few}`),
    );
    notePids(other);
    const restored = callers(`http://127.0.0.1:${other.httpPort}`, apiKey);
    const [before, after] = [
      await call('GET', '/emails?time_range=all&limit=1'),
      await restored.call('GET', '/emails?time_range=all&limit=1'),
    ];
    expect(after.body.pagination.total).toBe(before.body.pagination.total);
    await receiver.stop();
    await sink.stop();
  },
  LIMIT_MS,
);

/** A copy of the repository's files, as a clone would have them, with the modules that are installed here. */
async function makeHost(name: string): Promise<Host> {
  // Of its own: other runs may be on this machine.
  const network = `127.${randomInt(20, 250)}.${randomInt(1, 250)}`;
  const root = path.join(directory, name);
  mkdirSync(root);
  for (const entry of readdirSync(repository))
    if (!['.git', 'node_modules', 'data', 'run', '.env', 'test'].includes(entry))
      cpSync(path.join(repository, entry), path.join(root, entry), { recursive: true });
  symlinkSync(path.join(repository, 'node_modules'), path.join(root, 'node_modules'));
  const made = {
    directory: root,
    network,
    httpPort: await freePort(),
    smtpPort: await freePort(),
    shell: openShell(root, { NETWORK: network, RUN_DIR: path.join(root, 'run'), READY_SECONDS: '240' }),
  };
  hosts.push(made);
  return made;
}

/** What is of this test alone, behind what the guide has in .env. */
async function settle(at: Host, more: Record<string, string>): Promise<void> {
  const values = {
    PUBLIC_URL: `http://127.0.0.1:${at.httpPort}`,
    MAIL_HOSTNAME: 'mx.operate.test',
    HTTP_PUBLISHED: `127.0.0.1:${at.httpPort}`,
    SMTP_PUBLISHED: `127.0.0.1:${at.smtpPort}`,
    DRAIN_DELAY_SECONDS: '2',
    TRUSTED_DOMAINS: DOMAIN,
    ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
    RATE_LIMIT_PER_SECOND: '0',
    // a closed port: look-ups of senders fail at once
    DNS_SERVERS: '127.0.0.1:1',
    ...more,
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  await appendFile(path.join(at.directory, '.env'), lines.join(''));
}

/** The example as printed, but for the database, and for what is installed here already. */
function asPrinted(example: string, databaseUrl: string): string {
  return example
    .replace('postgresql://postroom:$PASSWORD@127.0.0.1:5432/postroom', databaseUrl)
    .replace('npm ci\n', '');
}

/** Lets the run end what a test that is cut leaves behind. */
/** What its processes logged, and the secrets that were made for it. */
function keepHost({ directory: place }: Host): void {
  const run = path.join(place, 'run');
  if (!existsSync(run)) return;
  keepSecrets(secretsGiven(readFileSync(path.join(place, '.env'), 'utf8').split('\n'), []));
  for (const file of readdirSync(run).filter((name) => name.endsWith('.log')))
    keepLogFile(`${path.basename(place)}-${path.basename(file, '.log')}-${process.pid}`, path.join(run, file));
}

function notePids(at: Host): void {
  for (const file of readdirSync(path.join(at.directory, 'run')).filter((name) => name.endsWith('.pid')))
    notePid(directory, Number(readFileSync(path.join(at.directory, 'run', file), 'utf8')));
}

async function prepare(
  call: (method: string, route: string, body?: unknown) => Promise<ServiceResponse>,
  url: string,
): Promise<void> {
  const domain = await call('POST', '/domains', { domain: DOMAIN });
  const endpoint = await call('POST', '/endpoints', { name: 'hook', type: 'webhook', config: { url } });
  const address = { address: `box@${DOMAIN}`, domainId: domain.body.id, endpointId: endpoint.body.id };
  expect((await call('POST', '/email-addresses', address)).status).toBe(201);
}

/** Offers mail, each until it has 250, as other servers do; counts what was taken. */
async function inbound(at: Host, isDone: () => boolean): Promise<{ count: number; refused: string[] }> {
  const refused: string[] = [];
  let count = 0;
  while (!isDone()) {
    const n = count++;
    const text = `Message-ID: <${n}@load.test>\r\nFrom: a@load.test\r\nTo: box@${DOMAIN}\r\nSubject: ${n}\r\n\r\n${n}\r\n`;
    for (let isTaken = false; !isTaken; ) {
      const result = await sendOne({
        port: at.smtpPort,
        reversePath: 'a@load.test',
        recipients: [`box@${DOMAIN}`],
        bytes: Buffer.from(text),
      });
      isTaken = result.code === 250;
      if (!isTaken && result.code !== null && !(result.reply ?? '').startsWith('4')) {
        refused.push(result.reply ?? '');
        isTaken = true;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { count, refused };
}

/** Sends mail, each with a key of its own and again after each failure; fails at a response that is not 200. */
async function outbound(
  call: (method: string, route: string, body?: unknown, headers?: Record<string, string>) => Promise<ServiceResponse>,
  isDone: () => boolean,
): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; !isDone(); n++) {
    const email = { from: `box@${DOMAIN}`, to: `person${n}@outside.test`, subject: `Out ${n}`, text: 'Hello' };
    for (let response: ServiceResponse | null = null; response === null; ) {
      response = await call('POST', '/emails', email, { 'idempotency-key': `load-${n}` }).catch(() => null);
      if (response?.status === 503) response = null;
      if (response !== null) {
        expect(response.status, JSON.stringify(response.body)).toBe(200);
        ids.push(response.body.id);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return ids;
}
