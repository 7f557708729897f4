import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startDnsServer } from '../../support/servers/dns.ts';
import { EICAR, GTUBE } from '../../support/servers/scanners.ts';
import { EngineStage, greeted, SMTP_PORT, sendMail, until } from './engine-stage.ts';
import { connectRemoteClient } from './remote-client.ts';

/*
 * Dockerfile and docker-compose.yml on a real Docker engine, that of DOCKER_HOST or one that this file starts and ends: `npm run test:engine`.
 * Wants root, Linux with Debian's docker.io (an engine before 27 with --experimental --ip6tables), debootstrap and swaks, and the Compose
 * plugin. Base images are local stand-ins (make-images.sh), as none is pulled. KEEP_ENGINE=1 leaves everything running for a look.
 */

/** Sends a mail to the host and port of its arguments, with the subject of the third and a sender of the fourth, and prints the replies: swaks needs a module for IPv6. */
const SEND = `
  const [host, port, subject, domain] = process.argv.slice(1);
  const message = 'From: you@' + domain + '\\r\\nTo: orders@inbox.test\\r\\nSubject: ' + subject + '\\r\\n\\r\\nHello\\r\\n.';
  const lines = ['EHLO client.test', 'MAIL FROM:<you@' + domain + '>', 'RCPT TO:<orders@inbox.test>', 'DATA', message, 'QUIT'];
  const socket = require('net').connect({ host, port });
  socket.on('data', (reply) => {
    process.stdout.write(reply);
    if (/^\\d{3} .*\\r\\n$/m.test(String(reply)) && lines.length > 0) socket.write(lines.shift() + '\\r\\n');
  });`;

/** Prints those `host:port` of its arguments to which a TCP connection opens within 3 s. */
const REACH = `
  const opens = (place) => new Promise((resolve) => {
    const [host, port] = place.split(':');
    const socket = require('net').connect({ host, port }).setTimeout(3000, () => resolve(false));
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
  });
  Promise.all(process.argv.slice(1).map(async (place) => (await opens(place)) ? [place] : []))
    .then((reached) => { console.log(JSON.stringify(reached.flat())); process.exit(); });`;

/** rspamd without a network, as docs/deploy/compose.md says. */
const OFFLINE = 'arc asn dkim dmarc fuzzy_check hfilter mx_check phishing rbl spf url_redirector'.split(' ');

/** Enough words for a lesson. */
const LUNCH =
  'Shall we meet for lunch on Friday, at the small restaurant near the station? Bring the drawings of the bridge, please, and tell Martha.';

let engine: EngineStage;
const sh = (command: string) => engine.sh(command);
const listSubjects = async (query: string): Promise<string[]> =>
  (await engine.call(`/emails?limit=100&${query}`)).body.data.map((email: { subject: string }) => email.subject);
const readHealth = async (service: string) =>
  (await sh(`docker inspect --format '{{.State.Health.Status}}' $(docker compose ps --all --quiet ${service})`)).trim();

beforeAll(async () => {
  engine = await EngineStage.start();
}, 1_800_000);

afterAll(() => engine?.stop(), 300_000);

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
  const isOfThis = (name: string) => name.startsWith('postroom_') || /^[0-9a-f]{64}$/.test(name);
  expect(volumes.filter(isOfThis).toSorted()).toEqual(['postroom_postgres', 'postroom_smtp']);
});

test('SMTP servers reach NATS alone, threading no way out, and neither reaches the host', async () => {
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
    [
      ...new Set(
        (JSON.parse(await engine.node(service, REACH, ...names.keys())) as string[]).map(
          (place) => names.get(place) ?? place,
        ),
      ),
    ].toSorted();
  // Some machines have a proxy on their way out that accepts connections to every address.
  const [, way = ''] = /^default .*\bdev (\S+)/m.exec(await sh('ip route')) ?? [];
  const block = (action: string) => (way === '' ? '' : sh(`iptables ${action} DOCKER-USER -o ${way} -j DROP`));
  await block('-I');
  onTestFinished(async () => void (await block('-D')));
  expect(await reached('smtp-1')).toEqual(['nats:4222', 'nats:6222', 'smtp:2525', 'smtp:9464']);
  const actors = ['delivery', 'receiving', 'scheduling', 'sending', 'threading'].map((name) => `${name}:9464`);
  const inside = [...actors, 'gateway:3000', 'gateway:9464', 'nats:4222', 'nats:6222', 'postgres:5432'];
  expect(await reached('threading-1')).toEqual(inside.toSorted());
  // Gateways ask sign-in providers. Whoever has a way out reaches the host as well: the test would notice.
  expect(await reached('gateway-1')).toEqual([...inside, 'host'].toSorted());
  expect(await reached('delivery-1')).toEqual(expect.arrayContaining([...inside, 'host', 'proxy:2525', 'proxy:8080']));
  host.close();
});

test("the README's first mail: in by SMTP and out as a webhook, out by the API to the sink", async () => {
  await sh('docker compose --profile try up --detach try-webhook try-sink');
  const made = await sh('docker compose run --rm --no-deps -T migrate node bin/account.ts create me@example.com');
  engine.key = (JSON.parse(made) as { apiKey: string }).apiKey;
  const domain = await engine.call('/domains', { domain: 'inbox.test' });
  expect(domain.body).toMatchObject({ status: 'verified' });
  const config = { url: 'https://try-webhook:4000/' };
  const endpoint = await engine.call('/endpoints', { name: 'try', type: 'webhook', config });
  const address = { address: 'orders@inbox.test', domainId: domain.body.id, endpointId: endpoint.body.id };
  expect((await engine.call('/email-addresses', address)).status).toBe(201);
  await sh(
    `swaks --server 127.0.0.1:${SMTP_PORT} --from you@example.com --to orders@inbox.test --header 'Subject: An order' --body Two`,
  );
  await until('the webhook', async () => (await sh('docker compose logs try-webhook')).includes('An order'));
  const sent = { from: 'orders@inbox.test', to: 'you@example.com', subject: 'A first mail out', text: 'Hello' };
  expect((await engine.call('/emails', sent)).status).toBe(200);
  await until('the mail at the sink', async () =>
    (await sh('docker compose logs try-sink')).includes('A first mail out'),
  );
});

test('runs as user 10001, which can write to nothing but its data, in an image without secrets', async () => {
  expect((await sh('docker compose exec -T smtp-1 id -u')).trim()).toBe('10001');
  const write =
    'for folder in / /app /usr/bin /etc /var/cache/postroom; do touch $folder/x 2>&1 && echo "wrote $folder"; done; true';
  expect(await sh(`docker compose exec -T gateway-1 sh -c '${write}'`)).not.toContain('wrote');
  expect((await sh(`docker compose exec -T smtp-1 stat -c '%u:%g %a' /var/lib/postroom`)).trim()).toBe(
    '10001:10001 700',
  );
  const history = await sh('docker history --no-trunc postroom:0.1.0; docker inspect postroom:0.1.0');
  for (const line of (await readFile(path.join(engine.clone, '.env'), 'utf8')).split('\n')) {
    const [, secret = ''] = /^(?:\w+PASSWORD|SECRET_KEY)=(.+)$/.exec(line) ?? [];
    if (secret !== '') expect(history).not.toContain(secret);
  }
});

test('is unhealthy while PostgreSQL hangs, and healthy again behind it', async () => {
  await sh('docker compose pause postgres');
  await until('unhealthy', async () => (await readHealth('gateway-1')) === 'unhealthy');
  expect(await sendMail('orders@inbox.test', 'Not now', 'Hello')).toMatch(/^4/);
  await sh('docker compose unpause postgres');
  await until('healthy', async () => (await readHealth('gateway-1')) === 'healthy');
  expect((await engine.call('/emails')).status).toBe(200);
});

test('what was accepted is there once after services were stopped under mail, and after all were restarted', async () => {
  const accepted: string[] = [];
  let isOver = false;
  const send = async (client: number) => {
    for (let n = 0; !isOver && n < 30; n++) {
      const subject = `Kept ${client}-${n}`;
      const reply = await sendMail('orders@inbox.test', subject, 'Hello').catch((error: unknown) => String(error));
      if (reply.startsWith('250')) accepted.push(subject);
      await pause(1_000);
    }
  };
  const sending = [1, 2, 3].map(send);
  const stopped = ['smtp-1', 'receiving-1', 'threading-1', 'delivery-1'];
  await sh(`docker compose stop ${stopped.join(' ')}`);
  const ended = `docker inspect --format '{{index .Config.Labels "com.docker.compose.service"}} {{.State.ExitCode}}'`;
  const codes = await sh(`${ended} $(docker compose ps --all --quiet ${stopped.join(' ')})`);
  expect(codes.trim().split('\n').toSorted()).toEqual(stopped.map((name) => `${name} 0`).toSorted());
  await sh(`docker compose start ${stopped.join(' ')}`);
  isOver = true;
  await Promise.all(sending);
  expect(accepted.length).toBeGreaterThan(10);
  // As after the machine was started again: the engine starts all of them at once.
  await sh('docker compose restart --timeout 90');
  await sh('docker compose up --detach --wait');
  await until('all of it', async () => {
    const found = (await listSubjects('type=received&search=Kept')).filter((subject) => subject.startsWith('Kept'));
    return found.length === accepted.length && found.every((subject) => accepted.includes(subject));
  });
});

test('the doctor finds nothing wrong, networks included', async () => {
  const { status, stdout } = spawnSync('docker', ['compose', 'run', '--rm', '-T', 'doctor'], {
    cwd: engine.clone,
    env: engine.environment,
    encoding: 'utf8',
  });
  expect(stdout).toContain('as docker-compose.yml fixes them');
  expect(status, stdout).toBe(0);
});

test('changed settings reach every container one after the other, the scanners start, and clients notice nothing', async () => {
  await engine.set({
    LOG_LEVEL: 'debug',
    COMPOSE_PROFILES: 'rspamd,clamd',
    RSPAMD_URL: 'http://rspamd:11333',
    CLAMD_ADDRESS: 'clamd:3310',
    SCAN_OUTGOING: 'on',
  });
  const folder = path.join(engine.clone, 'docs/deploy/rspamd/override.d');
  for (const name of OFFLINE) await writeFile(path.join(folder, `${name}.conf`), 'enabled = false;\n');
  const dns = 'dns { nameserver = ["127.0.0.1:1"]; timeout = 0.1s; retransmits = 1; }\n';
  await writeFile(path.join(folder, 'options.inc'), dns);
  // A new version may need a subject that nats.conf did not allow before.
  const nats = await sh('docker compose ps --quiet nats-1');
  const { probes, failed } = await engine.probeWhile(() => sh('docs/deploy/roll.sh'));
  process.stdout.write(`roll.sh: ${probes} probes, ${failed.length} failed\n`);
  expect(failed).toEqual([]);
  const levels = await sh(
    'docker compose exec -T gateway-2 printenv LOG_LEVEL; docker compose exec -T sending-1 printenv LOG_LEVEL',
  );
  expect(levels).toBe('debug\ndebug\n');
  expect(await readHealth('rspamd')).toBe('healthy');
  expect(await readHealth('clamd')).toBe('healthy');
  expect(await sh('docker compose ps --quiet nats-1')).not.toBe(nats);
  // Whoever reaches the controller or Redis, which ask for no password, can change what rspamd has learned.
  const scanners = ['clamd:3310', 'rspamd:11333', 'rspamd:11334', 'rspamd-redis:6379'];
  const reached = async (service: string) => JSON.parse(await engine.node(service, REACH, ...scanners)) as string[];
  expect(await reached('gateway-1')).toEqual(['clamd:3310']);
  expect(await reached('delivery-1')).toEqual(['clamd:3310']);
  expect(await reached('receiving-1')).toEqual(['clamd:3310', 'rspamd:11333', 'rspamd:11334']);
});

test('a virus is refused in both directions, spam is kept apart, and a lesson arrives', async () => {
  const to = 'orders@inbox.test';
  expect(await sendMail(to, 'The file', EICAR)).toMatch(/^550 5\.7\.1 The message has a virus: Eicar/);
  expect(await sendMail(to, 'Cheap pills', GTUBE)).toMatch(/^250 /);
  expect(await sendMail(to, 'Lunch', LUNCH)).toMatch(/^250 /);
  const sent = { from: to, to: 'you@example.com', subject: 'The file', text: EICAR };
  expect(await engine.call('/emails', sent)).toMatchObject({ status: 422 });
  await until('both are parsed', async () => {
    const [spam, ham] = [await listSubjects('spam=only'), await listSubjects('type=received')];
    return String(spam) === 'Cheap pills' && ham.includes('Lunch') && !ham.includes('Cheap pills');
  });
  const { body } = await engine.call('/emails?type=received&search=Lunch');
  expect((await engine.call(`/emails/${body.data[0].id}/spam`, {})).status).toBe(200);
  await until('rspamd has learned', async () =>
    (await sh('docker compose exec -T rspamd-redis redis-cli --scan')).includes('RS'),
  );
});

test('mail that comes while the scanners are stopped is accepted, and checked when they are back', async () => {
  await sh('docker compose stop rspamd clamd');
  const to = 'orders@inbox.test';
  expect(await sendMail(to, 'Later pills', GTUBE)).toMatch(/^250 /);
  expect(await sendMail(to, 'Later file', EICAR)).toMatch(/^250 /);
  const late = async () => (await listSubjects('type=received')).filter((subject) => subject.startsWith('Later'));
  await until('both are there, unchecked', async () => (await late()).length === 2);
  await sh('docker compose start rspamd clamd');
  await until('both are kept apart', async () => (await late()).length === 0);
  expect(await listSubjects('spam=only')).toContain('Later pills');
});

test('the proxy reloads a changed haproxy.cfg without a failed probe, and sees the changed file', async () => {
  await sh(`sed -i 's/hard-stop-after 60s/hard-stop-after 59s/' docs/deploy/haproxy/haproxy.cfg`);
  const { probes, failed } = await engine.probeWhile(async () => {
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
  const { probes, failed } = await engine.probeWhile(recreate);
  open.destroy();
  const [first = '', last = first] = [failed[0], failed.at(-1)].map((line) => line?.split(' ')[0] ?? '');
  const seconds = (Date.parse(last) - Date.parse(first)) / 1_000;
  process.stdout.write(`proxy recreated: ${probes} probes, ${failed.length} failed within ${seconds} s\n`);
  expect((await engine.call('/emails')).status).toBe(200);
});

test('one command backs up, and one restores on an emptied service', async () => {
  await sh('docker compose run --rm -T backup');
  const backup = (
    await sh(
      'docker run --rm -v postroom_backups:/backups postroom-backup:0.1.0 -e "console.log(fs.readdirSync(\'/backups\')[0])"',
    )
  ).trim();
  await sh(
    'docker compose --profile "*" down && docker volume rm postroom_postgres && docker compose up --detach --wait postgres',
  );
  await sh(`docker compose run --rm -T restore /backups/${backup}`);
  await sh('docker compose up --detach --wait');
  expect(await listSubjects('type=received')).toContain('An order');
  expect(await listSubjects('type=sent')).toContain('A first mail out');
});

test('with compose-ipv6.yml an IPv6 client keeps its address, and SPF passes; with compose-dns.yml SMTP servers ask DNS', async () => {
  const client = await connectRemoteClient();
  const dns = await startDnsServer(client.hostIpv4);
  try {
    dns.set('sender.test', 'TXT', [`v=spf1 ip4:${client.ipv4} ip6:${client.ipv6} -all`]);
    dns.set('sender.test', 'MX', [{ preference: 10, exchange: 'mx.sender.test' }]);
    dns.set('mx.sender.test', 'A', [client.ipv4]);
    const published = `0.0.0.0:${SMTP_PORT}`;
    await engine.set({ DNS_SERVERS: dns.address, SMTP_PUBLISHED: published, SMTP_SENDER_DOMAIN: 'refuse' });
    await appendFile(
      path.join(engine.clone, '.env'),
      'COMPOSE_FILE=docker-compose.yml:docs/deploy/compose-ipv6.yml:docs/deploy/compose-dns.yml\n',
    );
    await sh('docker compose down && docker compose up --detach --wait');
    for (const [host, port, address] of [
      [client.hostIpv4, String(SMTP_PORT), client.ipv4],
      [client.hostIpv6, '25', client.ipv6],
    ] as const) {
      const greeting = await client.run(process.execPath, '-e', SEND, host, port, address, 'sender.test');
      expect(greeting).toContain(`Hello [${address}]`);
      const found = async () =>
        (await engine.call('/emails')).body.data.find((email: { subject: string }) => email.subject === address);
      await until(`the mail from ${address}`, async () => (await found()) !== undefined);
      const query = `{ email(id: "${(await found()).id}") { content { authentication { spf { result domain } } } } }`;
      expect(await (await engine.fetch('/graphql', { query })).json()).toMatchObject({
        data: { email: { content: { authentication: { spf: { result: 'PASS', domain: 'sender.test' } } } } },
      });
    }
    const words = [client.hostIpv4, String(SMTP_PORT), 'Gone', 'gone.test'];
    expect(await client.run(process.execPath, '-e', SEND, ...words)).toMatch(/^550 .*gone\.test/m);
  } finally {
    await dns.stop();
    await client.remove();
  }
});
