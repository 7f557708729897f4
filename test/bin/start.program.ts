import { execFile } from 'node:child_process';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { isQuick } from '../support/chaos-figures.ts';
import { queryOnce } from '../support/cluster/cluster.ts';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { type Machine, makeMachine, printedKey, type Run, repository, runOn, startOn } from '../support/runner.ts';
import { until } from '../support/servers/service.ts';
import { type SmtpLoadResult, smtpLoad, toWireForm } from '../support/servers/smtp-load.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { singleMachineDatabaseUrl } from '../support/single-machine.ts';

const execute = promisify(execFile);
const machines: Machine[] = [];

afterEach(async () => {
  for (const machine of machines.splice(0)) await machine.remove();
});

/** Returns a machine that already has its cluster. */
async function newMachine(): Promise<Machine> {
  const machine = await makeMachine();
  machines.push(machine);
  await copyDataDirectory(machine.dataDirectory);
  return machine;
}

/** For the message of a failed wait. */
const readTail = (run: Run) => () => run.output().slice(-2_000);

/** Sends `count` messages over 10 sessions as fast as the service accepts them; WITHOUT_END: until it accepts no more. */
function offer(machine: Machine, count: number, to = 'hello@inbox.test'): Promise<SmtpLoadResult[]> {
  return smtpLoad({
    isEndingAtFailure: count === WITHOUT_END,
    host: '127.0.0.1',
    port: machine.smtpPort,
    count,
    sessions: 10,
    isReusingConnections: true,
    reversePath: 'sender@elsewhere.test',
    recipients: () => [to],
    message: (n) =>
      toWireForm(
        Buffer.from(
          `Message-ID: <${n}.${process.hrtime.bigint()}@elsewhere.test>\r\nFrom: sender@elsewhere.test\r\nTo: ${to}\r\nSubject: Mail ${n}\r\n\r\nBody ${n}\r\n`,
        ),
      ),
  });
}

const WITHOUT_END = Number.POSITIVE_INFINITY;

const accepted = (results: SmtpLoadResult[]) => results.filter((result) => result.code === 250).length;

/** Returns the SMTP reply to one message. */
async function replyToOne(machine: Machine): Promise<string> {
  const [result] = await offer(machine, 1);
  return `${result?.code} ${result?.reply}`;
}

async function listTotal(machine: Machine, apiKey: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${machine.httpPort}/api/e2/emails?limit=1`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const body = (await response.json()) as { pagination: { total: number } };
  return body.pagination.total;
}

/** Returns the address to which the dashboard offers to send a first mail. */
async function firstAddress(machine: Machine, apiKey: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${machine.httpPort}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ viewer { firstMail { address } } }' }),
  });
  const body = (await response.json()) as { data: { viewer: { firstMail: { address: string } } } };
  return body.data.viewer.firstMail.address;
}

/** Names of the records that the owner of the first domain is asked to publish. */
async function recordNames(machine: Machine, apiKey: string): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${machine.httpPort}/api/e2/domains`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const body = (await response.json()) as { data: { dnsRecords: { name: string }[] }[] };
  return body.data.flatMap((domain) => domain.dnsRecords.map(({ name }) => name));
}

/** Rows of raw messages, asked of the cluster that runs on the machine. */
async function storedCount(machine: Machine): Promise<number> {
  const client = new pg.Client({ connectionString: await singleMachineDatabaseUrl(machine.dataDirectory) });
  await client.connect();
  const { rows } = await client.query<{ count: string }>('select count(*) from reception');
  await client.end();
  return Number(rows[0]?.count);
}

/** Returns the process of that part of the running service. */
async function pidOfPart(run: Run, name: 'mail' | 'gateway'): Promise<number> {
  const { stdout } = await execute('ps', ['-o', 'pid=,args=', '--ppid', String(run.child.pid)]);
  return Number(new RegExp(`(\\d+) .*parts/${name}\\.[jt]s`).exec(stdout)?.[1]);
}

async function listProcesses(machine: Machine): Promise<string[]> {
  const { stdout } = await execute('ps', ['-eo', 'pid=,args=']);
  const environments = await Promise.all(
    stdout
      .trim()
      .split('\n')
      .map(async (line) => {
        const [pid = '', ...words] = line.trim().split(/\s+/);
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
        return environment.includes(`DATA_DIR=${machine.dataDirectory}`) ? words.join(' ') : null;
      }),
  );
  return environments.filter((words) => words !== null);
}

describe('a machine, from its first start on', () => {
  let machine: Machine;
  let run: Run;
  let key: string;

  beforeAll(async () => {
    machine = await makeMachine();
    run = await startOn(machine);
    key = printedKey(run);
  }, 300_000);
  afterAll(() => machine.remove(), 60_000);

  test('the first start prints an account that receives and lists mail', async () => {
    expect(key).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(run.output()).toContain(`curl --crlf smtp://127.0.0.1:${machine.smtpPort} `);
    const before = await listTotal(machine, key);
    expect(accepted(await offer(machine, 3))).toBe(3);
    await until('three mails are listed', readTail(run), async () => (await listTotal(machine, key)) === before + 3);
    // The address that signs in receives, too, and is not the one that senders and commands begin with.
    expect(accepted(await offer(machine, 1, 'owner@inbox.test'))).toBe(1);
    expect(await firstAddress(machine, key)).toBe('hello@inbox.test');
    await until('its mail is listed', readTail(run), async () => (await listTotal(machine, key)) === before + 4);
    expect(await recordNames(machine, key)).toContainEqual(expect.stringMatching(/^pr\S+\._domainkey\.inbox\.test$/));
    const named = await queryOnce(await singleMachineDatabaseUrl(machine.dataDirectory), 'select name from workspace');
    expect(named).toEqual([{ name: 'inbox.test' }]);
  });

  // A machine that other machines reach: open-defaults.program.ts.
  test('a machine that nothing else reaches is open and does not warn', async () => {
    const receiver = await startWebhookReceiver({ host: '127.0.0.1' });
    const post = (route: string, body: unknown) =>
      fetch(`http://127.0.0.1:${machine.httpPort}${route}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
    try {
      expect(run.output()).not.toContain('start.exposed');
      const stranger = { email: 'stranger@example.com', password: 'correct horse', name: 'Stranger' };
      expect((await post('/api/auth/sign-up/email', stranger)).status).toBe(200);
      const config = { url: `http://127.0.0.1:${receiver.port}/`, timeout: 30, retryAttempts: 3 };
      const endpoint = { name: 'inside', type: 'webhook', config };
      expect((await post('/api/e2/endpoints', endpoint)).status).toBe(201);
    } finally {
      await receiver.stop();
    }
  });

  test('the data folder is not accessible to other users', async () => {
    const names = await readdir(machine.dataDirectory);
    expect(names).toEqual(expect.arrayContaining(['postgresql', 'run.json', 'secrets.json']));
    for (const name of names) {
      const { mode } = await stat(path.join(machine.dataDirectory, name));
      expect(`${name} ${(mode & 0o077).toString(8)}`).toBe(`${name} 0`);
    }
  });

  test('a second start on the same DATA_DIR names the process that uses it', async () => {
    const second = runOn(machine, ['bin/start.ts']);
    expect(await second.ended).toBe(1);
    expect(second.output().trim()).toMatch(
      new RegExp(`^DATA_DIR .* is in use by another Postroom \\(pid ${run.child.pid}\\)$`),
    );
  });

  test('a port in use by another program is named', async () => {
    const neighbour = await newMachine();
    const second = runOn(neighbour, ['bin/start.ts'], { environment: { SMTP_PORT: String(machine.smtpPort) } });
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/^SMTP_PORT: 127\.0\.0\.1:\d+ is in use by another program/m);
  });

  test.each(['mail', 'gateway'] as const)(
    'the %s process is restarted after kill -9, and the other one goes on',
    async (name) => {
      const other = name === 'mail' ? 'gateway' : 'mail';
      const [pid, otherPid] = [await pidOfPart(run, name), await pidOfPart(run, other)];
      const outputBefore = run.output().length;
      process.kill(pid, 'SIGKILL');
      await run.written(`${name}: process died, starting it again`);
      if (name === 'gateway') expect(accepted(await offer(machine, 1))).toBe(1);
      else expect((await fetch(`http://127.0.0.1:${machine.httpPort}/ready`)).status).toBe(200);
      const before = await storedCount(machine);
      await until('SMTP takes mail', readTail(run), async () => accepted(await offer(machine, 1)) === 1);
      await until('all of it is listed', readTail(run), async () => (await listTotal(machine, key)) === before + 1);
      expect(await pidOfPart(run, name)).not.toBe(pid);
      expect(await pidOfPart(run, other)).toBe(otherPid);
      await until('the restart is logged', readTail(run), async () =>
        run.output().slice(outputBefore).includes(`${name}: works again`),
      );
    },
  );

  test('Ctrl-C under load drains and loses nothing, and the next start keeps the account and its mail', async () => {
    const outputBefore = run.output().length;
    const storedBefore = await storedCount(machine);
    const load = offer(machine, WITHOUT_END);
    await until('mail comes in', readTail(run), async () => (await storedCount(machine)) > storedBefore + 50);
    run.signalGroup('SIGINT');
    expect(await run.ended).toBe(0);
    const results = await load;
    expect(accepted(results)).toBeGreaterThan(0);
    // Whoever got a response other than 250 was told to come again, and nobody was refused for good.
    expect(results.filter((result) => result.code !== null && result.code >= 500)).toEqual([]);
    expect(run.output().slice(outputBefore)).not.toMatch(/"level":(50|60)/);
    expect(await listProcesses(machine)).toEqual([]);

    run = await startOn(machine);
    expect(run.output()).not.toContain('API key');
    expect(await storedCount(machine)).toBeGreaterThanOrEqual(storedBefore + accepted(results));
    await until('all that was taken is listed', readTail(run), isAllListed);
  });

  test('after kill -9 of the supervisor its parts end, and the next start needs no manual repair', async () => {
    const storedBefore = await storedCount(machine);
    const load = offer(machine, WITHOUT_END);
    await until('mail comes in', readTail(run), async () => (await storedCount(machine)) > storedBefore + 50);
    run.child.kill('SIGKILL');
    const taken = accepted(await load);
    // Fewer than are stored: the last ones were committed and not answered yet.
    expect(taken).toBeGreaterThan(0);
    const isAlone = async () => (await listProcesses(machine)).every((words) => !words.includes('bin/'));
    await until('its parts end', readTail(run), isAlone);

    run = runOn(machine, ['start'], { program: 'npm' });
    await run.written('"event":"start.ready"');
    expect(await replyToOne(machine)).toMatch(/^250/);
    expect(await storedCount(machine)).toBeGreaterThanOrEqual(storedBefore + taken + 1);
    await until('all that was taken is listed', readTail(run), isAllListed);
  });

  test('a signal to npm start reaches the service', async () => {
    run.child.kill('SIGTERM');
    await run.ended;
    await run.written('"event":"start.stopped"');
    expect(await listProcesses(machine)).toEqual([]);
  });

  test('a SECRET_KEY that does not match the data is refused', async () => {
    const other = runOn(machine, ['bin/start.ts'], {
      environment: { SECRET_KEY: Buffer.alloc(32, 1).toString('base64url') },
    });
    expect(await other.ended).toBe(1);
    expect(other.output()).toMatch(/^SECRET_KEY does not match this database\. Set the original key/m);
    expect(await listProcesses(machine)).toEqual([]);
  });

  const isAllListed = async () => (await listTotal(machine, key)) === (await storedCount(machine));
});

const testAtLength = isQuick ? null : test;
testAtLength?.skipIf(process.getuid?.() !== 0)(
  'root starts it from a clone under a folder that is closed to all others',
  async () => {
    const machine = await makeMachine();
    machines.push(machine);
    const closed = path.join(machine.directory, 'home');
    const clone = path.join(closed, 'clone');
    await execute('mkdir', ['-m', '0700', closed]);
    await cloneTo(clone);
    const run = runOn(machine, ['bin/start.ts'], { root: clone, environment: { DATA_DIR: './data' } });
    await run.written('"event":"start.ready"');
    const place =
      /PostgreSQL data is in (\/var\/lib\/postroom\/[0-9a-f]{16})\/postgresql/.exec(run.output())?.[1] ?? '';
    expect(place).not.toBe('');
    try {
      const key = printedKey(run);
      expect(await replyToOne(machine)).toMatch(/^250/);
      await until('the mail is listed', readTail(run), async () => (await listTotal(machine, key)) === 1);
      run.child.kill('SIGTERM');
      expect(await run.ended).toBe(0);

      const again: Run = runOn(machine, ['bin/start.ts'], { root: clone, environment: { DATA_DIR: './data' } });
      await again.written('"event":"start.ready"');
      expect(await listTotal(machine, key)).toBe(1);
      again.child.kill('SIGTERM');
      expect(await again.ended).toBe(0);
    } finally {
      await run.end();
      await rm(place, { recursive: true, force: true });
    }
  },
  240_000,
);

/** The sources and node_modules as they are, by hard links where the file system allows. */
async function cloneTo(clone: string): Promise<void> {
  await execute('mkdir', [clone]);
  const names = ['bin', 'core', 'schema', 'db', 'operations', 'actors', 'gateway', 'haraka-plugins', 'package.json'];
  await execute('cp', ['-a', ...names.map((name) => path.join(repository, name)), clone]);
  const modules = path.join(repository, 'node_modules');
  await execute('cp', ['-al', modules, clone]).catch(async () => {
    await rm(path.join(clone, 'node_modules'), { recursive: true, force: true });
    await execute('cp', ['-a', modules, clone]);
  });
}
