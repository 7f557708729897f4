import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { diagnose, isWithoutFailure } from '../../bin/doctor/diagnose.ts';
import type { Finding } from '../../bin/doctor/finding.ts';
import { makeCertificate } from '../../haraka-plugins/self-made-certificate.ts';
import { clusterSecretKey, databaseUrl, freePort, onServer } from '../support/cluster/cluster.ts';
import { copyDataDirectory } from '../support/cluster/data-template.ts';
import { createTestDatabase } from '../support/cluster/database.ts';
import { createSender, queueMail } from '../support/rows/queued-mail.ts';
import { type Machine, makeMachine, type Run, runToEnd, startOn } from '../support/runner.ts';
import { type DnsServer, startDnsServer } from '../support/servers/dns.ts';
import { type NatsServer, startNatsServer } from '../support/servers/nats.ts';
import { startSinkMta } from '../support/servers/sink-mta.ts';
import { singleMachineDatabaseUrl } from '../support/single-machine.ts';

const LIMIT_MS = 300_000;
const HOSTNAME = 'mx.doctor.test';
const ADDRESS = '127.0.0.1';
const REVERSE = '1.0.0.127.in-addr.arpa';

/** What the doctor says; every finding by `area name`. */
interface Diagnosis {
  status: number;
  isWell: boolean;
  findings: Finding[];
  of: (name: string) => Finding | undefined;
}

const toDiagnosis = (status: number, isWell: boolean, findings: Finding[]): Diagnosis => ({
  status,
  isWell,
  findings,
  of: (name) => findings.find((each) => `${each.area} ${each.name}` === name),
});

/** As the operator runs it. */
async function runDoctor(environment: Record<string, string>, ...words: string[]): Promise<Diagnosis> {
  const { status, stdout, stderr } = await runToEnd(['bin/doctor.ts', '--json', ...words], environment);
  if (stdout === '') throw new Error(stderr);
  const { isWell, findings } = JSON.parse(stdout) as Pick<Diagnosis, 'isWell' | 'findings'>;
  return toDiagnosis(status, isWell, findings);
}

/** The same within this process, which costs no start of a program. */
async function examine(environment: Record<string, string>): Promise<Diagnosis> {
  const findings = await diagnose({ ...process.env, ...environment }, { outbound: null, networks: null });
  const isWell = isWithoutFailure(findings);
  return toDiagnosis(isWell ? 0 : 1, isWell, findings);
}

function bad({ findings }: Diagnosis): string[] {
  return findings.filter(({ state }) => state === 'fail').map(({ area, name }) => `${area} ${name}`);
}

/** Everything that is wrong says how to fix it, in a line. */
function expectMends({ findings }: Diagnosis): void {
  for (const { state, detail, fix } of findings) {
    expect(detail).toMatch(/^\S[^\n]*$/);
    if (state === 'warn' || state === 'fail') expect(fix, detail).toMatch(/^\S[^\n]{5,}$/);
    else expect(fix).toBeNull();
  }
}

describe('on one machine', () => {
  let dns: DnsServer;
  let machine: Machine;
  let service: Run;

  beforeAll(async () => {
    dns = await startDnsServer();
    publishWell();
    machine = await makeMachine({ DNS_SERVERS: dns.address, MAIL_HOSTNAME: HOSTNAME, TRUSTED_DOMAINS: 'inbox.test' });
    await copyDataDirectory(machine.dataDirectory);
    service = await startOn(machine);
  }, LIMIT_MS);
  afterAll(async () => {
    await machine?.remove();
    await dns?.stop();
  }, LIMIT_MS);

  function publishWell(): void {
    dns.clear();
    dns.set(HOSTNAME, 'A', [ADDRESS]);
    dns.set(REVERSE, 'PTR', [HOSTNAME]);
  }

  test(
    'reports no problem for a healthy service and checks every part',
    async () => {
      const diagnosis = await runDoctor(machine.environment);
      expect(bad(diagnosis)).toEqual([]);
      expect([diagnosis.status, diagnosis.isWell]).toEqual([0, true]);
      expectMends(diagnosis);
      for (const name of [
        'machine Node',
        'machine disk',
        'machine inodes',
        'PostgreSQL connection',
        'PostgreSQL writes',
        'PostgreSQL safe writes',
        'PostgreSQL checksums',
        'PostgreSQL connections',
        'PostgreSQL clock',
        'PostgreSQL roles',
        'PostgreSQL schema',
        'PostgreSQL SECRET_KEY',
        'SMTP listener',
        'SMTP greeting',
        'SMTP verdict',
        'SMTP STARTTLS',
        'HTTP gateway',
        'DNS server',
        'DNS MAIL_HOSTNAME',
        'DNS PTR',
        'work backlog',
        'work dead rows',
        'work held mail',
      ])
        expect(diagnosis.of(name), name).toMatchObject({ state: 'ok' });
      // What a service for this machine only would not be told.
      expect(diagnosis.of('SMTP certificate')).toMatchObject({
        state: 'warn',
        detail: expect.stringMatching(/self-signed/),
      });
      expect(diagnosis.of('configuration access')?.detail).toMatch(/^this machine only/);
      // It stands open to this machine alone.
      expect(diagnosis.of('configuration TRUSTED_DOMAINS')).toBeUndefined();
    },
    LIMIT_MS,
  );

  test(
    'skips checks that matter only to other servers in a trial',
    async () => {
      // The name in the greeting is the one thing that this environment does not share with the service.
      const diagnosis = await examine({ ...machine.environment, MAIL_HOSTNAME: 'localhost' });
      expect(bad(diagnosis)).toEqual(['SMTP greeting']);
      expect(diagnosis.findings.filter(({ state }) => state === 'warn')).toEqual([]);
      expect(diagnosis.of('DNS MAIL_HOSTNAME')?.state).toBe('skip');
      expect(diagnosis.of('SMTP greeting')?.detail).toBe(`greets as ${HOSTNAME}, but MAIL_HOSTNAME is localhost`);
    },
    LIMIT_MS,
  );

  test(
    'warns of a proxy that forwards requests to it, and says what to set',
    async () => {
      expect((await examine(machine.environment)).of('HTTP proxy')).toBeUndefined();
      const url = `http://127.0.0.1:${machine.environment['HTTP_PORT']}/health`;
      await fetch(url, { headers: { 'x-forwarded-for': '203.0.113.7' } });
      const diagnosis = await examine(machine.environment);
      expect(diagnosis.of('HTTP proxy')).toEqual({
        area: 'HTTP',
        name: 'proxy',
        state: 'warn',
        detail: expect.stringMatching(/with the header x-forwarded-for, but .*SIGN_UP/),
        fix: expect.stringMatching(/PUBLIC_URL.*TRUSTED_PROXIES.*SIGN_UP=on/),
      });
      expectMends(diagnosis);
    },
    LIMIT_MS,
  );

  test(
    'warns of each open setting behind a proxy, also in a trial',
    async () => {
      const proxied = { ...machine.environment, PUBLIC_URL: 'https://mail.doctor.test', TRUSTED_PROXIES: ADDRESS };
      const open = { SIGN_UP: 'on', ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8', TRUSTED_DOMAINS: 'inbox.test' };
      const variables = Object.keys(open);
      for (const name of [HOSTNAME, 'localhost']) {
        const opened = await examine({ ...proxied, ...open, MAIL_HOSTNAME: name });
        expect(opened.of('configuration access')?.detail).toMatch(/^other machines too/);
        for (const variable of variables) expect(opened.of(`configuration ${variable}`)?.state, variable).toBe('warn');
        expectMends(opened);
      }
      const closed = await examine({ ...proxied, TRUSTED_DOMAINS: '' });
      for (const variable of variables) expect(closed.of(`configuration ${variable}`), variable).toBeUndefined();
    },
    LIMIT_MS,
  );

  test(
    'prints marks and fixes in columns',
    async () => {
      const { status, stdout } = await runToEnd(['bin/doctor.ts'], machine.environment);
      expect(status).toBe(0);
      expect(stdout).toMatch(/^configuration\n {2}✓ Postroom +0\.\d/);
      expect(stdout).toMatch(/\nSMTP\n {2}✓ listener {2,}127\.0\.0\.1:\d+ responds\n/);
      expect(stdout).toMatch(/\n {2}! certificate {2,}self-signed.*\n( {4,}.*\n)* {6,}→ Get one for mx\.doctor\.test/);
      expect(stdout).toMatch(/\nNo problems, \d+ warnings?\.\n$/);
      // No colours where nobody looks at them.
      expect(stdout).not.toContain('\u001B');
      const column = new Set([...stdout.matchAll(/^ {2}[✓!·] (\S.*? {2,})\S/gm)].map((match) => match[1]?.length));
      expect(column.size).toBe(1);
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(112);
    },
    LIMIT_MS,
  );

  const records: [what: string, spoil: () => void, name: string, state: Finding['state'], detail: RegExp][] = [
    ['MAIL_HOSTNAME has no address', () => dns.clear(), 'DNS MAIL_HOSTNAME', 'fail', /mx\.doctor\.test has no address/],
    [
      'its address has no name',
      () => dns.set(REVERSE, 'PTR', 'NXDOMAIN'),
      'DNS PTR',
      'fail',
      /127\.0\.0\.1 has no reverse name/,
    ],
    [
      'its name leads elsewhere',
      () => {
        dns.set(REVERSE, 'PTR', ['host.hoster.test']);
        dns.set('host.hoster.test', 'A', ['192.0.2.1']);
      },
      'DNS PTR',
      'fail',
      /127\.0\.0\.1 is host\.hoster\.test, which does not lead back/,
    ],
    [
      'its name is another that leads back',
      () => {
        dns.set(REVERSE, 'PTR', ['host.hoster.test']);
        dns.set('host.hoster.test', 'A', [ADDRESS]);
      },
      'DNS PTR',
      'warn',
      /127\.0\.0\.1 is host\.hoster\.test, and not mx\.doctor\.test/,
    ],
    ['DNS fails', () => dns.set(HOSTNAME, 'A', 'SERVFAIL'), 'DNS MAIL_HOSTNAME', 'fail', /DNS lookup of mx/],
  ];
  test.each(records)(
    'reports %s',
    async (_, spoil, name, state, detail) => {
      publishWell();
      spoil();
      const diagnosis = await examine(machine.environment);
      expect(diagnosis.of(name)).toMatchObject({ state, detail: expect.stringMatching(detail) });
      expect(diagnosis.status).toBe(state === 'fail' ? 1 : 0);
      expectMends(diagnosis);
      publishWell();
    },
    LIMIT_MS,
  );

  test(
    'reports missing records of verified domains',
    async () => {
      const client = new pg.Client({ connectionString: await singleMachineDatabaseUrl(machine.dataDirectory) });
      await client.connect();
      try {
        const check = (records: object[]) =>
          JSON.stringify({
            records,
            hasMx: true,
            spf: null,
            hasDmarc: true,
            conflict: null,
            provider: null,
            error: null,
            unanswered: 0,
            reason: null,
          });
        const record = (type: string, isSeen: boolean) => ({
          type,
          name: 'shop.test',
          value: `${type} value`,
          isSeen,
          isAnswered: true,
          error: isSeen ? null : 'No such record',
        });
        const { rows } = await client.query<{ id: string }>('select id from person limit 1');
        const workspaceId = rows[0]?.id;
        const insert = `insert into domain (workspace_id, id, name, status, verified_at, dns_check, checked_at, check_due_at)
        values ($1, $2, $2, 'verified', now(), $3, now() - $4 * interval '1 hour', now() + interval '1 day')`;
        await client.query(insert, [workspaceId, 'well.test', check([record('MX', true)]), 1]);
        await client.query(insert, [workspaceId, 'shop.test', check([record('MX', false), record('TXT', true)]), 1]);
        await client.query(insert, [workspaceId, 'spf.test', check([record('MX', true), record('TXT', false)]), 1]);
        await client.query(insert, [workspaceId, 'stale.test', check([record('MX', true)]), 100]);

        const diagnosis = await examine(machine.environment);
        expect(diagnosis.of('domains records')).toMatchObject({
          state: 'ok',
          detail: '1 of 4 verified domains have all they need',
        });
        expect(diagnosis.of('domains shop.test')).toMatchObject({
          state: 'fail',
          detail: 'MX shop.test: No such record',
          fix: 'Publish MX shop.test MX value',
        });
        expect(diagnosis.of('domains spf.test')).toMatchObject({
          state: 'warn',
          detail: 'TXT shop.test: No such record',
        });
        expect(diagnosis.of('domains stale.test')).toMatchObject({
          state: 'warn',
          detail: 'was last looked at 4 days ago',
        });
        expect(bad(diagnosis)).toEqual(['domains shop.test']);
        expectMends(diagnosis);
      } finally {
        await client.query(`delete from domain where name in ('well.test', 'shop.test', 'spf.test', 'stale.test')`);
        await client.end();
      }
    },
    LIMIT_MS,
  );

  test(
    '--outbound greets the mail server of another domain, and reports when it is unreachable',
    async () => {
      const sink = await startSinkMta({ name: 'mx.elsewhere.test' });
      try {
        dns.set('elsewhere.test', 'MX', [{ preference: 10, exchange: 'mx.elsewhere.test' }]);
        dns.set('mx.elsewhere.test', 'A', [sink.host]);
        const environment = { ...machine.environment, OUTBOUND_PORT: String(sink.port) };
        const well = await runDoctor(environment, '--outbound', 'elsewhere.test');
        expect(well.of('SMTP outbound')).toMatchObject({
          state: 'ok',
          detail: expect.stringMatching(/mx\.elsewhere\.test:\d+ greets/),
        });
        expect(sink.transactions).toEqual([]);
        const closed = { ...machine.environment, OUTBOUND_PORT: String(await freePort()) };
        const away = await runDoctor(closed, '--outbound', 'elsewhere.test');
        expect(away.of('SMTP outbound')).toMatchObject({
          state: 'fail',
          detail: expect.stringMatching(/ECONNREFUSED/),
          fix: expect.stringMatching(/block outgoing port \d+/),
        });
        expect(away.status).toBe(1);
      } finally {
        await sink.stop();
        publishWell();
      }
    },
    LIMIT_MS,
  );

  test(
    'reports a certificate that SMTP does not present and one for another name',
    async () => {
      const folder = path.join(machine.directory, 'tls');
      await mkdir(folder, { recursive: true });
      const { key, cert } = makeCertificate('another.test', new Date());
      await writeFile(path.join(folder, 'key.pem'), key);
      await writeFile(path.join(folder, 'cert.pem'), cert);
      const diagnosis = await examine({
        ...machine.environment,
        SMTP_TLS_KEY_FILE: path.join(folder, 'key.pem'),
        SMTP_TLS_CERT_FILE: path.join(folder, 'cert.pem'),
      });
      expect(diagnosis.of('SMTP file')).toMatchObject({
        state: 'warn',
        detail: expect.stringMatching(/differs from the certificate that SMTP presents/),
      });
      expect(diagnosis.of('SMTP chain')).toMatchObject({
        state: 'warn',
        detail: expect.stringMatching(/do not trust it/),
      });
      expect(diagnosis.of('SMTP certificate')).toMatchObject({
        state: 'ok',
        detail: expect.stringMatching(/expires in \d{4} days/),
      });
    },
    LIMIT_MS,
  );

  test(
    'names every invalid variable and checks nothing else',
    async () => {
      const diagnosis = await runDoctor({ ...machine.environment, SMTP_PORT: 'x', RATE_LIMIT_PER_SECOND: '-1' });
      expect(bad(diagnosis)).toEqual(['configuration SMTP_PORT', 'configuration RATE_LIMIT_PER_SECOND']);
      expect(diagnosis.findings).toHaveLength(2);
      expect(diagnosis.status).toBe(1);
    },
    LIMIT_MS,
  );

  // The last: it ends the service.
  test(
    'checks PostgreSQL without the service and stops it again',
    async () => {
      service.child.kill('SIGTERM');
      await service.ended;
      const diagnosis = await runDoctor(machine.environment);
      expect(bad(diagnosis)).toEqual(['SMTP listener', 'HTTP gateway']);
      expect(diagnosis.of('SMTP listener')).toMatchObject({
        detail: expect.stringMatching(/ECONNREFUSED/),
        fix: 'Start the service (npm start). If its HTTP port responds, its mail process is being restarted: look for part.died in the log',
      });
      expect(diagnosis.of('PostgreSQL schema')).toMatchObject({ state: 'ok' });
      const wrongKey = await examine({ ...machine.environment, SECRET_KEY: 'K'.repeat(43) });
      expect(bad(wrongKey)).toContain('PostgreSQL SECRET_KEY');
      const never = await examine({ ...machine.environment, DATA_DIR: path.join(machine.directory, 'never') });
      expect(bad(never)).toEqual(['machine disk', 'SMTP listener', 'HTTP gateway']);
      expect(never.of('PostgreSQL connection')?.state).toBe('skip');
    },
    LIMIT_MS,
  );
});

describe('on many machines', () => {
  let nats: NatsServer;
  let url: string;
  let environment: Record<string, string>;

  beforeAll(async () => {
    nats = await startNatsServer();
    await onServer(inject('clusterUrl'), 'create database doctor template postroom_template');
    url = databaseUrl(inject('clusterUrl'), 'doctor');
    environment = {
      DATABASE_URL: url,
      NATS_URL: nats.url,
      SECRET_KEY: clusterSecretKey,
      HTTP_PORT: String(await freePort()),
      SMTP_PORT: String(await freePort()),
      DNS_SERVERS: '127.0.0.1:1',
    };
  }, LIMIT_MS);
  afterAll(() => nats?.close());

  test(
    'reports settings that lose mail, missing actors and silent DNS servers',
    async () => {
      const diagnosis = await examine(environment);
      // The cluster of the tests is not safe, and says so.
      expect(diagnosis.of('PostgreSQL safe writes')).toMatchObject({
        state: 'fail',
        detail: expect.stringMatching(/^fsync, full_page_writes, synchronous_commit off/),
        fix: expect.stringMatching(/fsync = on, full_page_writes = on, synchronous_commit = on/),
      });
      expect(diagnosis.of('PostgreSQL roles')).toMatchObject({ state: 'ok' });
      expect(diagnosis.of('bus NATS')).toMatchObject({
        state: 'ok',
        detail: expect.stringMatching(/^\d+\.\d+\.\d+, one server$/),
      });
      for (const actor of ['receiving', 'scheduling', 'delivery'])
        expect(diagnosis.of(`bus ${actor}`)).toMatchObject({ state: 'fail', detail: 'no process responds' });
      expect(diagnosis.of('DNS server')).toMatchObject({
        state: 'fail',
        detail: expect.stringMatching(/^127\.0\.0\.1:1 does not respond/),
      });
      expect(diagnosis.status).toBe(1);
      expectMends(diagnosis);
    },
    LIMIT_MS,
  );

  test(
    'reports a missing schema, logins of another SECRET_KEY, and an older or newer schema',
    async () => {
      await onServer(inject('clusterUrl'), 'create database doctor_empty');
      const empty = await examine({ ...environment, DATABASE_URL: databaseUrl(inject('clusterUrl'), 'doctor_empty') });
      expect(empty.of('PostgreSQL schema')).toMatchObject({
        state: 'fail',
        fix: expect.stringMatching(/bin\/migrate\.ts/),
      });
      await onServer(url, `insert into migration (name) values ('9999-future')`);
      const diagnosis = await examine({ ...environment, SECRET_KEY: 'K'.repeat(43) });
      expect(diagnosis.of('PostgreSQL schema')).toMatchObject({
        state: 'fail',
        detail: expect.stringMatching(/the schema is from a newer version of Postroom \(9999-future\)/),
      });
      expect(diagnosis.of('PostgreSQL roles')).toMatchObject({
        state: 'fail',
        detail: expect.stringMatching(
          /postroom_gateway logs in with another SECRET_KEY, for the database \w+ of the same server/,
        ),
      });
    },
    LIMIT_MS,
  );

  test(
    'reports work that waits too long, dead rows and mail held since a restore',
    async () => {
      const testDatabase = await createTestDatabase();
      try {
        const owner = testDatabase.open(null);
        const sender = await createSender(owner, 'waiting.test', null);
        const [late, held, dead] = [
          await queueMail(owner, sender, { to: ['a@else.test'] }),
          await queueMail(owner, sender, { to: ['b@else.test', 'c@else.test'] }),
          await queueMail(owner, sender, { to: ['d@else.test'] }),
        ];
        const change = (set: string, emailId: string) =>
          owner.pool.query(`update recipient set ${set} where email_id = $1`, [emailId]);
        await change(`next_attempt_at = now() - interval '10 minutes'`, late);
        await change('next_attempt_at = null', held);
        await owner.pool.query(
          `insert into dead_row (workspace_id, step, actor, subject_id, tries, last_error, first_failed_at, last_failed_at, retry_at, dead_at)
           select workspace_id, 'send', 'sending', id, 25, 'planted', now(), now(), 'infinity', now() from recipient where email_id = $1`,
          [dead],
        );
        const looked = await examine({ ...environment, DATABASE_URL: testDatabase.url });
        expect(looked.of('work sending: send')).toMatchObject({
          state: 'warn',
          detail: '1 waiting, the oldest for 10 minutes',
        });
        expect(looked.of('work dead rows')).toMatchObject({ state: 'warn', detail: '1 of sending (send)' });
        expect(looked.of('work held mail')).toMatchObject({
          state: 'warn',
          detail: '2 recipients have waited since a restore',
        });
        await change(`next_attempt_at = now() - interval '5 hours'`, late);
        const later = await examine({ ...environment, DATABASE_URL: testDatabase.url });
        expect(later.of('work sending: send')).toMatchObject({
          state: 'fail',
          detail: '1 waiting, the oldest for 5 hours',
        });
        expectMends(later);
      } finally {
        await testDatabase.drop();
      }
    },
    LIMIT_MS,
  );

  test(
    'reports unreachable PostgreSQL and NATS',
    async () => {
      const closed = await freePort();
      const diagnosis = await examine({
        ...environment,
        DATABASE_URL: `postgresql://postroom:x@127.0.0.1:${closed}/postroom`,
        NATS_URL: `nats://127.0.0.1:${closed}`,
      });
      expect(diagnosis.of('PostgreSQL connection')).toMatchObject({
        state: 'fail',
        detail: expect.stringMatching(/ECONNREFUSED/),
      });
      expect(diagnosis.of('bus NATS')).toMatchObject({
        state: 'fail',
        detail: expect.stringMatching(/cannot connect to a server of NATS_URL/),
      });
      expectMends(diagnosis);
    },
    LIMIT_MS,
  );

  test(
    'recognizes another program on the SMTP port',
    async () => {
      const stranger = await listen((greet) => greet('220 stranger.test ESMTP\r\n'), '250 stranger.test\r\n');
      const mute = await listen((greet) => greet('554 go away\r\n'), '');
      try {
        const diagnosis = await examine({ ...environment, SMTP_PORT: String(stranger.port) });
        expect(diagnosis.of('SMTP greeting')).toMatchObject({
          state: 'fail',
          detail: expect.stringMatching(/greets as stranger\.test/),
        });
        expect(diagnosis.of('SMTP STARTTLS')).toMatchObject({ state: 'fail', detail: 'is not offered' });
        expect(diagnosis.of('SMTP verdict')).toMatchObject({
          state: 'fail',
          detail: expect.stringMatching(/gets "250/),
        });
        const refused = await examine({ ...environment, SMTP_PORT: String(mute.port) });
        expect(refused.of('SMTP listener')).toMatchObject({
          state: 'fail',
          detail: expect.stringMatching(/greets with "554 go away"/),
        });
      } finally {
        stranger.server.close();
        mute.server.close();
      }
    },
    LIMIT_MS,
  );
});

/** A server that greets and then says the same to everything. */
async function listen(
  begin: (say: (text: string) => void) => void,
  response: string,
): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    begin((text) => void socket.write(text));
    socket.on('data', () => void socket.write(response));
  });
  const port = await freePort();
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  return { server, port };
}
