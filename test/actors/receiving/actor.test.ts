import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import type { Actor, ActorContext } from '../../../actors/actor.ts';
import { createInProcessBus } from '../../../actors/bus/in-process.ts';
import { startReceivingActor } from '../../../actors/receiving/actor.ts';
import type { ParseRequest } from '../../../actors/receiving/parse-messages.ts';
import type { ParsePool } from '../../../actors/receiving/parse-pool.ts';
import type { FaultPoint } from '../../../actors/receiving/parse-receptions.ts';
import { scanHeaders } from '../../../core/mime/parse-message.ts';
import { createByteStore } from '../../../db/byte-store.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { Bus, Request } from '../../../schema/messages.ts';
import { onServer } from '../../support/cluster/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';

let test_: TestDatabase;
let actor: Database;
let owner: Database;
let hello: TestMailbox;
let bus: Bus;
let running: Actor[];
const abandoned: Promise<void>[] = [];

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
  owner = test_.open(null);
});
afterAll(async () => {
  await Promise.all(abandoned);
  await test_.drop();
});
beforeEach(async () => {
  const domain = `${randomBytes(4).toString('hex')}.test`;
  hello = await createMailbox(actor, { domain, address: `hello@${domain}` });
  bus = createInProcessBus();
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  await bus.close();
});

/** The parser of these tests: the message is its subject; `!` fails. parse-pool.attack.ts tries the real one. */
function subjectParser(
  parse: (message: ParseRequest) => string | Error = (message) => message.bytes.toString(),
): ParsePool {
  return makeParser((messages) =>
    messages.map(async (message) => {
      const result = parse(message);
      const isFailed = result instanceof Error;
      const scan = scanHeaders(message.bytes, isFailed ? result.message : '');
      return {
        emailId: message.emailId,
        authentication: null,
        report: null,
        dmarcReport: null,
        message: isFailed ? scan : { ...scan, subject: result, parseError: null },
      };
    }),
  );
}

function makeParser(parseEach: ParsePool['parseEach']): ParsePool {
  return {
    parse: (messages) => Promise.all(parseEach(messages)),
    parseEach,
    openCount: () => 0,
    prepare: () => undefined,
    close: async () => undefined,
  };
}

const hangingParser = () => makeParser((messages) => messages.map(() => new Promise(() => undefined)));

test('a message that hangs does not delay the others of its chunk', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const quick = subjectParser();
  const parser = makeParser((messages) =>
    quick
      .parseEach(messages)
      .map((outcome, at) => (String(messages[at]?.bytes) === 'hangs' ? promise.then(() => outcome) : outcome)),
  );
  await leaveBehind(['hangs', 'one', 'two']);
  await start({ parser });
  await until(async () => (await emails()).length === 2);
  expect((await emails()).map(({ subject }) => subject)).toEqual(['one', 'two']);
  resolve();
  await until(async () => (await emails()).length === 3);
});

async function start(
  options: {
    parser?: ParsePool | null;
    name?: string;
    fault?: (point: FaultPoint) => void;
    dataDirectory?: string;
  } = {},
): Promise<Actor> {
  const log = pino({ level: 'silent' });
  const context: ActorContext = {
    bus,
    database: actor,
    bytes: createByteStore({ database: actor, log }),
    directDelivery: { current: null },
    log,
    now: () => new Date(),
    random: (count) => randomBytes(count),
    name: options.name ?? `receiving-${randomBytes(4).toString('hex')}`,
  };
  const one = await startReceivingActor(context, {
    workers: 1,
    dnsServers: [],
    dataDirectory: options.dataDirectory ?? null,
    mailHostname: 'mx.test',
    secretKey: Buffer.alloc(32, 7),
    ...(options.parser === null ? {} : { parser: options.parser ?? subjectParser() }),
    ...(options.fault === undefined ? {} : { fault: options.fault }),
  });
  running.push(one);
  return one;
}

function envelope(): Request<'receiving.message.accept'> {
  const { workspaceId, addressId, domainId, address } = hello;
  return {
    reversePath: 'sender@elsewhere.test',
    recipients: [{ recipient: address, workspaceId, addressId, domainId, ownAddress: address }],
    remoteAddress: '192.0.2.1',
    helo: 'elsewhere.test',
    isTls: false,
    traceFields: '',
  };
}

async function accept(text: string): Promise<string> {
  const reply = await bus.ask('receiving.message.accept', envelope(), { bytes: Buffer.from(text) });
  if (reply.verdict !== 'accepted') throw new Error(reply.text);
  return reply.emailIds[0] ?? '';
}

async function emails(): Promise<{ id: string; subject: string; parse_error: string | null }[]> {
  const { rows } = await actor.pool.query(
    `select e.id, e.subject, c.parse_error from email e join email_content c on (c.workspace_id, c.email_id) = (e.workspace_id, e.id)
     where e.workspace_id = $1 order by e.subject`,
    [hello.workspaceId],
  );
  return rows;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(20);
}

/** Writes receptions as a process does that died at once: leased to it, and the lease has run out. */
async function leaveBehind(texts: string[], claimant: string | null = 'dead'): Promise<void> {
  const dying = await start({ parser: hangingParser() });
  await Promise.all(texts.map(accept));
  running = running.filter((one) => one !== dying);
  abandoned.push(dying.stop());
  await pause(20);
  await actor.pool.query(
    `update reception set claimed_by = $2, claimed_until = now() - interval '1 s' where workspace_id = $1`,
    [hello.workspaceId, claimant],
  );
}

test('real mail is parsed by the real parser', async () => {
  await start({ parser: null });
  await accept('Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nFrom: a@elsewhere.test\r\n\r\nhello\r\n');
  await until(async () => (await emails()).length === 1);
  expect(await emails()).toMatchObject([{ subject: 'Grüße', parse_error: null }]);
});

test('accepts a message, stores it with its thread, and wakes the router', async () => {
  await start();
  const woken: unknown[] = [];
  const told: unknown[] = [];
  bus.onWake('delivery.route.wake', (wake) => void woken.push(wake));
  bus.subscribe('event.appended', (event) => void told.push(event));
  const verdict = await bus.ask('receiving.recipient.check', { recipient: hello.address, reversePath: '' });
  expect(verdict).toMatchObject({ verdict: 'accept', workspaceId: hello.workspaceId });
  const emailId = await accept('hello');
  await until(async () => told.length > 0);
  expect(await emails()).toEqual([{ id: emailId, subject: 'hello', parse_error: null }]);
  expect(woken).toEqual([{ workspaceId: hello.workspaceId, emailIds: [emailId] }]);
  expect(told).toEqual([{ workspaceId: hello.workspaceId, lastSeq: 2 }]);
});

test('rows that a process left are swept when their leases end', async () => {
  const texts = Array.from({ length: 120 }, (_, n) => `left ${n}`);
  await leaveBehind(texts);
  await start();
  await until(async () => (await emails()).length === 120);
  expect((await emails()).map((email) => email.subject)).toEqual(texts.toSorted());
});

test('unclaimed rows are swept too', async () => {
  await leaveBehind(['unclaimed'], null);
  await start();
  await until(async () => (await emails()).length === 1);
});

test('two processes share abandoned rows, and publish each message once', async () => {
  await leaveBehind(Array.from({ length: 200 }, (_, n) => `shared ${n}`));
  await Promise.all([start(), start(), start()]);
  await until(async () => (await emails()).length === 200);
  const { rows } = await actor.pool.query(
    `select sum(count) from email_counter where workspace_id = $1 and grain = 'all' and own_address = '*'`,
    [hello.workspaceId],
  );
  expect(Number(rows[0].sum)).toBe(200);
  const events = await actor.pool.query(
    `select count(*) from event where workspace_id = $1 and kind = 'email.received'`,
    [hello.workspaceId],
  );
  expect(events.rows[0].count).toBe(200);
});

test('a message that its parser cannot read is published with a flag', async () => {
  const parser = subjectParser(({ bytes }) =>
    bytes.toString() === 'poison' ? new Error('the parser was killed') : bytes.toString(),
  );
  await start({ parser });
  await Promise.all(['a', 'poison', 'b'].map(accept));
  await until(async () => (await emails()).length === 3);
  expect((await emails()).map(({ subject, parse_error }) => [subject, parse_error])).toEqual([
    ['', 'the parser was killed'],
    ['a', null],
    ['b', null],
  ]);
});

test('mail that parses quickly does not wait for mail that parses slowly', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => void (release = resolve));
  const quick = subjectParser();
  const parser = makeParser((messages) =>
    quick
      .parseEach(messages)
      .map((outcome, at) => (String(messages[at]?.bytes) === 'slow' ? held.then(() => outcome) : outcome)),
  );
  await start({ parser });
  await accept('slow');
  await Promise.all(Array.from({ length: 100 }, (_, n) => accept(`quick ${n}`)));
  await until(async () => (await emails()).length === 100);
  release();
  await until(async () => (await emails()).length === 101);
});

test('one message to three recipients is parsed once', async () => {
  const other = await createMailbox(actor, { domain: 'o.test', address: `${randomBytes(4).toString('hex')}@o.test` });
  let parsed = 0;
  await start({ parser: subjectParser(() => `parse ${++parsed}`) });
  const request = envelope();
  const [first] = request.recipients;
  if (first === undefined) throw new Error('no recipient');
  const { workspaceId, addressId, domainId, address } = other;
  const third = { recipient: address, workspaceId, addressId, domainId, ownAddress: address };
  request.recipients = [first, { ...first, recipient: first.recipient.replace('@', '+tag@') }, third];
  await bus.ask('receiving.message.accept', request, { bytes: Buffer.from('to three') });
  await until(async () => (await emails()).length === 2);
  expect((await emails()).map((email) => email.subject)).toEqual(['parse 1', 'parse 1']);
});

test('a message that ended ten processes is not parsed again', async () => {
  await leaveBehind(['deadly']);
  await actor.pool.query('update reception set tries = 10 where workspace_id = $1', [hello.workspaceId]);
  await start({ parser: subjectParser(() => new Error('was parsed')) });
  await until(async () => (await emails()).length === 1);
  expect((await emails())[0]?.parse_error).toMatch(/too often/);
});

test('damaged or removed bytes create a flagged email, not a wrong one', async () => {
  await leaveBehind(['damaged', 'removed']);
  await owner.pool.query(`update raw_message set packed = 'harmed!' where packed = 'damaged'`);
  await owner.pool.query(`delete from raw_message where packed = 'removed'`);
  await start();
  await until(async () => (await emails()).length === 2);
  expect((await emails()).map((email) => email.parse_error)).toEqual([
    expect.stringMatching(/missing or damaged/),
    expect.stringMatching(/missing or damaged/),
  ]);
});

test('an unreachable PostgreSQL makes the reply an error, and accepted mail is published when it is back', async () => {
  let isHeld = true;
  const held = subjectParser();
  const parser: ParsePool = {
    ...held,
    async parse(messages) {
      while (isHeld) await pause(10);
      return held.parse(messages);
    },
  };
  await start({ parser });
  await accept('before');
  const name = new URL(test_.url).pathname.slice(1);
  await onServer(inject('clusterUrl'), `alter database ${name} allow_connections false`);
  await onServer(
    inject('clusterUrl'),
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
  await expect(accept('meanwhile')).rejects.toThrow();
  isHeld = false;
  await pause(300);
  await onServer(inject('clusterUrl'), `alter database ${name} allow_connections true`);
  await until(async () => (await emails()).length === 1);
  await accept('after');
  await until(async () => (await emails()).length === 2);
});

test('stopping releases unparsed mail, and the next process takes it at once', async () => {
  const first = await start({ parser: hangingParser() });
  await accept('handed on');
  const stopped = first.stop();
  await until(async () => {
    const { rows } = await actor.pool.query('select claimed_by from reception where workspace_id = $1', [
      hello.workspaceId,
    ]);
    return rows[0].claimed_by === null;
  });
  await stopped;
  await start();
  await until(async () => (await emails()).length === 1);
});

test('a message that one statement takes has fault points before and after its commit', async () => {
  const points: FaultPoint[] = [];
  await start({ fault: (point) => void points.push(point) });
  await accept('observed');
  expect((await emails()).map(({ subject }) => subject)).toEqual(['observed']);
  expect(points).toEqual(['receiving.before-commit', 'receiving.after-commit']);
});

test('a message that is parsed after its commit has fault points before and after each step', async () => {
  const points: FaultPoint[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = makeParser((messages) =>
    subjectParser()
      .parseEach(messages)
      .map((outcome) => promise.then(() => outcome)),
  );
  await start({ parser: slow, fault: (point) => void points.push(point) });
  await accept('observed');
  resolve();
  await until(async () => points.includes('receiving.stored'));
  expect(points).toEqual([
    'receiving.before-commit',
    'receiving.after-commit',
    'receiving.parse-claimed',
    'receiving.parse-done',
    'receiving.threads-joined',
    'receiving.stored',
  ]);
});

test('the disk has room when its space suffices, and an unknown directory is an error', async () => {
  await start({ dataDirectory: '/dev/shm' });
  expect(await bus.ask('receiving.capacity.check', {})).toEqual({ hasRoom: true });
  await Promise.all(running.map((one) => one.stop()));
  await start({ dataDirectory: '/nonexistent' });
  await expect(bus.ask('receiving.capacity.check', {})).rejects.toThrow(/ENOENT/);
});

test('expired offers are removed, younger ones stay', async () => {
  const insert = (recipient: string, expiresIn: string) =>
    actor.pool.query(
      `insert into smtp_offer (workspace_id, recipient, reverse_path, sha256, remote_address, email_id, accepted_at, expires_at)
       values ($1, $2, '', '', '', '', now(), now() + $3::interval)`,
      [hello.workspaceId, recipient, expiresIn],
    );
  await insert('old', '-1 second');
  await insert('young', '1 hour');
  await start();
  await until(async () => {
    const { rows } = await actor.pool.query('select recipient from smtp_offer where workspace_id = $1', [
      hello.workspaceId,
    ]);
    return rows.length === 1 && rows[0].recipient === 'young';
  });
});
