import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chown, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { findNativePostgresql } from '../../db/cluster/native-postgresql.ts';
import { databaseUrl, freePort, onServer } from '../support/cluster/cluster.ts';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { type Machine, makeMachine, type Run, runOn, runToEnd, startOn } from '../support/runner.ts';
import { callers, type ServiceResponse, until } from '../support/servers/service.ts';
import { type SmtpLoadResult, smtpLoad, toWireForm } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { singleMachineDatabaseUrl } from '../support/single-machine.ts';
import { awaitDrained, checkLedger, type Offer } from '../support/stages/ledger.ts';
import { readMessageId, SendingStage } from '../support/stages/sending-stage.ts';

/** Starts, copies and replays of a machine that is busy. */
const LIMIT_MS = 600_000;

let stage: SendingStage;
let receiver: WebhookReceiver;
/** where backups lie, and the machine that they are restored on */
let other: Machine;
/** the service there, once the backup is restored */
let second: Run;
let backup: string;
let address: string;
const offers: (Offer & { result: SmtpLoadResult })[] = [];

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  // Links in webhooks begin with it: the second machine goes on under the name of the first.
  stage = await SendingStage.start('single', { PUBLIC_URL: 'https://mail.example.test' });
  other = await makeMachine();
  backup = path.join(other.directory, 'backup');
  const { account } = stage;
  const endpoint = await account.call('POST', '/endpoints', {
    name: 'hook',
    type: 'webhook',
    config: { url: receiver.url },
  });
  address = `box@${account.domain}`;
  await account.call('POST', '/email-addresses', {
    address,
    domainId: account.domainId,
    endpointId: endpoint.body.id,
  });
}, LIMIT_MS);
afterAll(async () => {
  await other?.remove();
  await stage?.stop();
  await receiver?.stop();
}, LIMIT_MS);

test(
  'a backup made while mail arrives is restored on another machine with all acknowledged mail, and continues',
  async () => {
    const { account } = stage;
    const from = `hello@${account.domain}`;
    const send = (to: string, over: object = {}) =>
      account.call('POST', '/emails', { from, to: [to], subject: to, text: 'x', ...over });
    // One that is in hand of its server while the backup is made, and one that is scheduled.
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    stage.sink.respond({
      data: ({ recipients }) => (recipients.includes('held@elsewhere.test') ? released : undefined),
    });
    const inHand = await send('held@elsewhere.test');
    await until(
      'the sink has it in hand',
      () => stage.service.output.slice(-2000),
      async () => stage.sink.transactions.some(({ recipients }) => recipients.includes('held@elsewhere.test')),
    );
    await send('timed@elsewhere.test', { scheduled_at: await stage.instantIn(36_000) });

    // Mail comes in from before the backup begins until after its end.
    let isMade = false;
    let count = 0;
    const more = () => offer((count += 20) - 20, 20, 20);
    const load = (async () => {
      while (!isMade) await more();
      await more();
    })();
    await until(
      'mail comes in',
      () => stage.service.output.slice(-2000),
      async () => receiver.requests.length >= 20,
    );
    const { status, stdout, stderr } = await runToEnd(['bin/backup.ts', backup], readEnvironment(stage));
    expect([status, stderr]).toEqual([0, expect.stringContaining('beside the running service')]);
    const report = JSON.parse(stdout);
    isMade = true;
    await load;
    expect(report).toMatchObject({ directory: backup, kind: 'cluster', accounts: 2 });
    const acknowledged = offers.filter(({ result }) => result.code === 250);
    expect(acknowledged).toHaveLength(count);
    const before = acknowledged.filter(({ result }) => result.endedAt < Date.parse(report.startedAt));
    expect(before.length).toBeGreaterThan(20);
    expect(acknowledged.some(({ result }) => result.startedAt > Date.parse(report.finishedAt))).toBe(true);
    for (const name of await readdir(backup, { recursive: true }))
      expect((await stat(path.join(backup, name))).mode & 0o077, name).toBe(0);

    // It is sent after the backup was made: whoever restores cannot know.
    release(undefined);
    stage.sink.respond({});
    await stage.awaitMessage(inHand.body.message_id);
    await stage.awaitStatus(inHand.body.id, 'delivered');
    await stage.service.end('runner', 'SIGTERM');

    const restored = await runToEnd(['bin/restore.ts', backup], other.environment);
    expect([restored.status, restored.stderr]).toEqual([0, expect.stringContaining('Restored: 2 accounts')]);
    const found = JSON.parse(restored.stdout);
    expect(found.emails).toBeGreaterThanOrEqual(before.length);
    expect(found.held).toEqual({ recipients: 1, emails: 1 });
    expect(found.waiting.scheduled).toBe(1);

    second = await startOn(withEnvironment(other, readEnvironment(stage)));
    const there = callers(`http://127.0.0.1:${other.httpPort}`, account.apiKey);
    const url = await singleMachineDatabaseUrl(other.dataDirectory);
    await awaitDrained(url, 120_000);
    const inCopy = await listRows(url, 'select id from delivery');
    const ledger = await checkLedger({
      databaseUrl: url,
      offers: offers.map((each) =>
        // Acknowledged while the backup was made, or after: it may be in it.
        before.includes(each) ? each : { ...each, result: { ...each.result, code: null } },
      ),
      webhooks: receiver.requests
        .map((request) => ({ webhookId: String(request.headers['webhook-id']), body: request.body }))
        .filter(({ webhookId }) => inCopy.some(({ id }) => id === webhookId)),
    });
    expect(ledger.violations).toEqual([]);
    expect(ledger.storedRows).toBeGreaterThanOrEqual(before.length);

    // Mail comes in and goes out as before, signed with the key that was made before the backup.
    const [fresh] = await offer(count, 1, 1, other.smtpPort);
    expect(fresh?.code).toBe(250);
    const sent = await there.call('POST', '/emails', { from, to: ['new@elsewhere.test'], subject: 'new', text: 'x' });
    const message = await stage.awaitMessage(sent.body.message_id, 60_000);
    expect((await stage.verify(message)).dkim).toEqual([
      { result: 'pass', domain: account.domain, selector: expect.any(String) },
    ]);
    await awaitDrained(url, 120_000);
    const last = receiver.requests.at(-1);
    expect(last?.body).toContain(`Ledger ${count}`);

    // What was held goes when the operator says so, as the message that it was.
    expect(countTaken(inHand)).toBe(1);
    const listed = await runToEnd(['bin/held.ts', 'list'], other.environment);
    expect(JSON.parse(listed.stdout)).toMatchObject({
      address: 'held@elsewhere.test',
      emailId: inHand.body.id,
      messageId: inHand.body.message_id,
    });
    const sendHeld = await runToEnd(['bin/held.ts', 'send'], other.environment);
    expect(JSON.parse(sendHeld.stdout)).toEqual({ recipients: 1, emails: 1 });
    await until(
      'the held email arrives once more',
      () => second.output().slice(-2000),
      async () => countTaken(inHand) === 2,
    );
    expect((await runToEnd(['bin/held.ts', 'list'], other.environment)).stdout).toBe('');
  },
  LIMIT_MS,
);

/** How a backup is spoilt, and what is said of it. */
const damages: [name: string, spoil: (folder: string) => Promise<unknown>, reason: RegExp][] = [
  ['a flipped bit', (folder) => flipBit(path.join(folder, 'cluster/global/pg_control')), /pg_control is damaged/],
  ['a flipped bit in the WAL', async (folder) => flipBit(await readSegment(folder)), /pg_wal\/\w+ is damaged/],
  ['a file less', async (folder) => rm(await readSegment(folder)), /pg_wal\/\w+ is missing/],
  [
    'a file cut off',
    (folder) => writeFile(path.join(folder, 'secrets.json'), '{'),
    /secrets\.json has 1 bytes instead of/,
  ],
  ['a file more', (folder) => writeFile(path.join(folder, 'cluster/x'), ''), /cluster\/x does not belong/],
  [
    'no manifest',
    (folder) => rm(path.join(folder, 'manifest.json')),
    /is not a complete backup: manifest\.json is missing/,
  ],
  ['half a manifest', (folder) => cutManifest(folder), /manifest\.json is damaged/],
  [
    'a changed manifest',
    (folder) => replaceIn(folder, '"timeline": 1', '"timeline": 2'),
    /its checksum does not match/,
  ],
  [
    'a later format',
    (folder) => replaceIn(folder, '"format": 1', '"format": 2'),
    /has format 2, but this Postroom reads 1/,
  ],
];

test.each(damages)(
  'a backup with %s is refused, and nothing is written',
  async (_, spoil, reason) => {
    const folder = path.join(other.directory, 'spoilt');
    await cp(backup, folder, { recursive: true });
    try {
      await spoil(folder);
      const environment = emptyMachine();
      const { status, stdout, stderr } = await runToEnd(['bin/restore.ts', folder], environment);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr.trim().split('\n').at(-1)).toMatch(reason);
      await expect(stat(environment.DATA_DIR)).rejects.toThrow('ENOENT');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  LIMIT_MS,
);

const postgresql = await findPostgresql();

// In `npm test`, a backup, its restore and one that is damaged; in `npm run test:long`, all else that backups meet.
test(
  'a backup that is killed leaves no valid folder, and the next one succeeds in its place',
  async () => {
    const target = path.join(other.directory, 'killed');
    const run = runOn(other, ['bin/backup.ts', target]);
    await run.written('Copied');
    run.child.kill('SIGKILL');
    expect(await run.ended).toBe('SIGKILL');
    const left = (await readdir(other.directory)).filter((name) => name.startsWith('killed'));
    expect(left).toEqual([expect.stringMatching(/^killed\.draft-\d+$/)]);
    const draft = path.join(other.directory, left[0] ?? '');
    const refused = await runToEnd(['bin/restore.ts', draft], emptyMachine());
    expect([refused.status, refused.stderr.trim()]).toEqual([
      1,
      `${draft} is not a complete backup: manifest.json is missing`,
    ]);
    // Its slot went with its connection: no WAL is kept for it.
    const url = await singleMachineDatabaseUrl(other.dataDirectory);
    await until(
      'the slot is gone',
      () => '',
      async () => (await listRows(url, 'select from pg_replication_slots')).length === 0,
    );
    const again = await runToEnd(['bin/backup.ts', target], other.environment);
    expect([again.status, again.stderr]).toEqual([
      0,
      expect.stringContaining(`${draft} is left over from an interrupted backup`),
    ]);
  },
  LIMIT_MS,
);

test(
  'unsuitable folders for a backup are refused',
  async () => {
    const { DATA_DIR } = other.environment;
    for (const [target, reason] of [
      [backup, /is not empty/],
      [path.join(DATA_DIR ?? '', 'backup'), /is in DATA_DIR/],
      ['/dev', /is a mount point\. Name a folder in it/],
      [path.join(other.directory, 'no/where'), /Cannot read .* Create it first/],
    ] as const) {
      const { status, stdout, stderr } = await runToEnd(['bin/backup.ts', target], other.environment);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(reason);
    }
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
  },
  LIMIT_MS,
);

test(
  'a whole backup passes the check, which writes nothing',
  async () => {
    const environment = emptyMachine();
    const { status, stdout } = await runToEnd(['bin/restore.ts', backup, '--check'], environment);
    expect([status, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ directory: backup, isWhole: true })]);
    await expect(stat(environment.DATA_DIR)).rejects.toThrow('ENOENT');
  },
  LIMIT_MS,
);

test(
  'a DATA_DIR that is not empty is not changed',
  async () => {
    const environment = emptyMachine();
    await mkdir(environment.DATA_DIR);
    await writeFile(path.join(environment.DATA_DIR, 'notes'), 'mine');
    const { status, stderr } = await runToEnd(['bin/restore.ts', backup], environment);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/contains notes\. Restore into a folder without data/)]);
    expect(await readFile(path.join(environment.DATA_DIR, 'notes'), 'utf8')).toBe('mine');
  },
  LIMIT_MS,
);

test(
  'the backup contains SECRET_KEY, also from the environment, and is refused without the right one',
  async () => {
    const machine = await makeMachine();
    try {
      const key = 'K'.repeat(43);
      const environment = { ...machine.environment, SECRET_KEY: key };
      await copyDataDirectory(machine.dataDirectory);
      expect((await runToEnd(['bin/migrate.ts'], environment)).status).toBe(0);
      const target = path.join(machine.directory, 'backup');
      const refused = await runToEnd(['bin/backup.ts', target], machine.environment);
      expect([refused.status, refused.stderr]).toEqual([
        1,
        expect.stringMatching(/^SECRET_KEY does not match this database/m),
      ]);
      expect(await readdir(machine.directory)).toEqual(['data']);

      expect((await runToEnd(['bin/backup.ts', target], environment)).status).toBe(0);
      expect(JSON.parse(await readFile(path.join(target, 'secrets.json'), 'utf8')).secretKey).toBe(
        Buffer.from(key, 'base64url').toString('base64url'),
      );
      const there = { ...machine.environment, DATA_DIR: path.join(machine.directory, 'restored') };
      const other = await runToEnd(['bin/restore.ts', target], { ...there, SECRET_KEY: 'L'.repeat(43) });
      expect([other.status, other.stderr]).toEqual([1, expect.stringMatching(/SECRET_KEY does not match the backup/)]);
      expect((await runToEnd(['bin/restore.ts', target], there)).status).toBe(0);
      // It refuses a key that does not open what is stored.
      expect((await runToEnd(['bin/migrate.ts'], there)).status).toBe(0);
    } finally {
      await machine.remove();
    }
  },
  LIMIT_MS,
);

test(
  'with DATABASE_URL and a pg_dump older than the server, the error names both versions',
  async () => {
    const name = 'backup_by_pg_dump';
    await onServer(inject('clusterUrl'), `create database ${name} template postroom_template`);
    const target = path.join(other.directory, 'dump');
    const { status, stdout, stderr } = await runToEnd(['bin/backup.ts', target], {
      ...other.environment,
      DATABASE_URL: databaseUrl(inject('clusterUrl'), name),
      SECRET_KEY: 'K'.repeat(43),
      // Whatever this machine has installed: none of it is looked at.
      PATH: path.join(other.directory, 'empty'),
    });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^The server is PostgreSQL 18, and .+: pg_dump 18 or newer is needed\. On Debian/m);
    expect(await readdir(other.directory)).not.toContain('dump');
  },
  LIMIT_MS,
);

// Nothing that npm brings dumps a server; where the system has a whole PostgreSQL with pg_dump, that is tried.
describe.skipIf(postgresql === null)('with DATABASE_URL and a pg_dump that fits', () => {
  const key = 'k'.repeat(40);
  const environmentOn = (url: string) => ({
    ...machine.environment,
    SECRET_KEY: 'K'.repeat(43),
    DATABASE_URL: url,
  });
  let machine: Machine;
  let first: PostgresqlServer;
  let restoredOn: PostgresqlServer;
  let userLine: string;

  beforeAll(async () => {
    machine = await makeMachine();
    [first, restoredOn] = await startPostgresqls(machine);
    const created = await runToEnd(['bin/migrate.ts'], environmentOn(first.url));
    expect([created.status, created.stderr]).toEqual([0, '']);
    const words = ['bin/account.ts', 'create', 'one@example.com', '--key', key];
    userLine = (await runToEnd(words, environmentOn(first.url))).stdout;
  }, LIMIT_MS);
  afterAll(async () => {
    await first?.stop();
    await restoredOn?.stop();
    await machine?.remove();
  }, LIMIT_MS);

  test(
    'the database is restored in an empty one on a server without our roles',
    async () => {
      const target = path.join(machine.directory, 'dump');
      const made = await runToEnd(['bin/backup.ts', target], environmentOn(first.url));
      expect([made.status, made.stderr]).toEqual([0, expect.stringContaining('is dumping the database')]);
      expect(JSON.parse(made.stdout)).toMatchObject({ kind: 'dump', accounts: 1 });
      // The password is in no command line, and in no file but the URL's own.
      expect(made.stderr).not.toContain('p%20w');

      const full = await runToEnd(['bin/restore.ts', target], environmentOn(first.url));
      expect([full.status, full.stderr]).toEqual([1, expect.stringMatching(/contains \w+\. Use an empty database/)]);
      const on = environmentOn(restoredOn.url);
      const wrong = await runToEnd(['bin/restore.ts', target], { ...on, SECRET_KEY: 'L'.repeat(43) });
      expect([wrong.status, wrong.stderr]).toEqual([
        1,
        expect.stringContaining('SECRET_KEY does not match the backup'),
      ]);
      const restored = await runToEnd(['bin/restore.ts', target], on);
      expect([restored.status, restored.stderr]).toEqual([0, expect.stringContaining('Restored: 1 accounts')]);
      expect(restored.stderr).toMatch(/set SECRET_KEY of .+secrets\.json for every process of this one, start them/);
      // The same account answers to the same key there.
      const again = await runToEnd(['bin/account.ts', 'create', 'one@example.com', '--key', key], on);
      expect(again.stdout).toBe(userLine);
      const policies = 'select count(*)::text as id from pg_policies';
      expect(await listRows(restoredOn.url, policies)).toEqual(await listRows(first.url, policies));
    },
    LIMIT_MS,
  );

  test(
    'a database that a dump cannot be restored in is left empty, and one in use is not changed',
    async () => {
      const there = new URL(first.url);
      there.pathname = '/there';
      const root = new URL('/postgres', first.url);
      root.username = 'postgres';
      await onServer(root.href, 'create database there owner postroom');
      const target = path.join(machine.directory, 'later');
      await listRows(first.url, `insert into migration (name) values ('9999-later')`);
      expect((await runToEnd(['bin/backup.ts', target], environmentOn(first.url))).status).toBe(0);
      const restore = async () => {
        const { status, stderr } = await runToEnd(['bin/restore.ts', target], environmentOn(there.href));
        return [status, stderr.trim().split('\n').slice(-2).join('\n')];
      };
      const newer = 'A newer Postroom made the backup \\(its schema has 9999-later\\)\\. Restore with that version';

      // Before anything is written; and after, when the manifest did not tell.
      expect(await restore()).toEqual([1, expect.stringMatching(new RegExp(`is complete: .+\n${newer}$`))]);
      await dropFromManifest(target, '9999-later');
      const emptied = 'The database of DATABASE_URL is empty again';
      expect(await restore()).toEqual([
        1,
        expect.stringMatching(new RegExp(`is restoring the database\n${newer}\\. ${emptied}$`)),
      ]);
      const left = `select proname as id from pg_proc p where pronamespace = 'public'::regnamespace
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
      union all select relname from pg_class where relnamespace = 'public'::regnamespace
      union all select typname from pg_type t where typnamespace = 'public'::regnamespace
        and not exists (select from pg_depend d where d.objid = t.oid and d.deptype in ('e', 'i'))`;
      expect(await listRows(there.href, left)).toEqual([]);

      const client = new pg.Client({ connectionString: there.href, application_name: 'somebody' });
      await client.connect();
      expect(await restore()).toEqual([
        1,
        expect.stringMatching(/somebody \(pid \d+\) is connected to the database of DATABASE_URL/),
      ]);
      await client.end();

      // What is empty again takes the next backup.
      await listRows(first.url, `delete from migration where name = '9999-later'`);
      await rm(target, { recursive: true });
      expect((await runToEnd(['bin/backup.ts', target], environmentOn(first.url))).status).toBe(0);
      expect((await restore())[0]).toBe(0);
    },
    LIMIT_MS,
  );
});

/** Writes the manifest without that migration, with a sum that fits. */
async function dropFromManifest(folder: string, migration: string): Promise<void> {
  const file = path.join(folder, 'manifest.json');
  const { sum: _, ...content } = JSON.parse(await readFile(file, 'utf8'));
  const without = { ...content, migrations: content.migrations.filter((name: string) => name !== migration) };
  const sum = createHash('sha256').update(JSON.stringify(without)).digest('hex');
  await writeFile(file, JSON.stringify({ ...without, sum }));
}

/** The folder of the newest PostgreSQL of the system that has all programs; null without one. */
async function findPostgresql(): Promise<string | null> {
  const majors: string[] = await readdir('/usr/lib/postgresql').catch(() => []);
  for (const major of majors.toSorted((a, b) => Number(b) - Number(a))) {
    const folder = path.join('/usr/lib/postgresql', major, 'bin');
    const names: string[] = await readdir(folder).catch(() => []);
    if (Number(major) >= 15 && ['initdb', 'pg_ctl', 'pg_dump', 'pg_restore'].every((name) => names.includes(name)))
      return folder;
  }
  return null;
}

interface PostgresqlServer {
  url: string;
  stop: () => Promise<void>;
}

/** Two servers of the system's PostgreSQL. Their role postroom owns a database and may create roles, and is no superuser. */
async function startPostgresqls(machine: Machine): Promise<[PostgresqlServer, PostgresqlServer]> {
  const { user } = await findNativePostgresql();
  const identity = user === null ? {} : { uid: user.uid, gid: user.gid };
  const run = (program: string, directory: string, ...words: string[]) =>
    promisify(execFile)(path.join(postgresql ?? '', program), ['-D', directory, ...words], { ...identity, cwd: '/' });
  const [first, second] = [path.join(machine.directory, 'first'), path.join(machine.directory, 'second')];
  await mkdir(first);
  if (user !== null) await chown(first, user.uid, user.gid);
  await run('initdb', first, '-A', 'trust', '-U', 'postgres', '--no-sync');
  await promisify(execFile)('cp', ['-a', first, second]);
  const start = async (directory: string): Promise<PostgresqlServer> => {
    const port = await freePort();
    const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`;
    await run('pg_ctl', directory, '-w', '-t', '120', '-l', path.join(directory, 'log'), '-o', options, 'start');
    const root = `postgresql://postgres@127.0.0.1:${port}/postgres`;
    await onServer(root, `create role postroom login createrole password 'p w'`);
    await onServer(root, 'create database postroom owner postroom');
    return {
      url: `postgresql://postroom:p%20w@127.0.0.1:${port}/postroom`,
      stop: async () => void (await run('pg_ctl', directory, '-m', 'immediate', 'stop')),
    };
  };
  return [await start(first), await start(second)];
}

/** Offers messages number `first` and on, and writes them into the book. */
async function offer(first: number, count: number, perSecond: number, port = stage.service.smtpPort) {
  const bytes = Array.from({ length: count }, (_, n) => compose(first + n));
  const results = await smtpLoad({
    host: '127.0.0.1',
    port,
    count,
    sessions: 4,
    isReusingConnections: true,
    reversePath: 'sender@elsewhere.test',
    recipients: () => [address],
    message: (n) => toWireForm(bytes[n] ?? Buffer.alloc(0)),
    perSecond,
  });
  for (const result of results)
    offers.push({ bytes: bytes[result.n] ?? Buffer.alloc(0), recipients: [address], result });
  return results;
}

function compose(n: number): Buffer {
  const header = [
    `Message-ID: <${n}@ledger.test>`,
    'From: ledger@elsewhere.test',
    `To: ${address}`,
    `Subject: Ledger ${n}`,
  ];
  // Long ones, too: they lie outside their rows.
  const body = `Body ${n} `.repeat(n % 10 === 0 ? 5_000 : 5);
  return Buffer.from([...header, '', body.replaceAll(/.{70}/g, '$&\r\n'), ''].join('\r\n'));
}

/** How often the sink took the message of that response. */
function countTaken(sent: ServiceResponse): number {
  return stage.sink.messages.filter((message) => readMessageId(message) === sent.body.message_id).length;
}

function readEnvironment(of: SendingStage): Record<string, string> {
  return of.service.environment;
}

/** The other machine with another's settings, at its own place and ports. */
function withEnvironment(machine: Machine, environment: Record<string, string>): Machine {
  const { DATA_DIR = '', HTTP_PORT = '', SMTP_PORT = '' } = machine.environment;
  machine.environment = { ...environment, DATA_DIR, HTTP_PORT, SMTP_PORT };
  return machine;
}

let emptyMachines = 0;

/** Of a machine whose DATA_DIR is not there yet. */
function emptyMachine(): Record<string, string> & { DATA_DIR: string } {
  return { ...other.environment, DATA_DIR: path.join(other.directory, `empty-${emptyMachines++}`) };
}

async function listRows(url: string, text: string): Promise<{ id: string }[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<{ id: string }>(text)).rows;
  } finally {
    await client.end();
  }
}

async function readSegment(folder: string): Promise<string> {
  const wal = path.join(folder, 'cluster/pg_wal');
  const name = (await readdir(wal)).find((each) => /^[0-9A-F]{24}$/.test(each)) ?? '';
  return path.join(wal, name);
}

async function flipBit(file: string): Promise<void> {
  const bytes = await readFile(file);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  await writeFile(file, bytes);
}

async function cutManifest(folder: string): Promise<void> {
  const file = path.join(folder, 'manifest.json');
  await writeFile(file, (await readFile(file)).subarray(0, 1_000));
}

async function replaceIn(folder: string, from: string, to: string): Promise<void> {
  const file = path.join(folder, 'manifest.json');
  await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
}
