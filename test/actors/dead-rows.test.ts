import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Actor } from '../../actors/actor.ts';
import { startReceivingActor } from '../../actors/receiving/actor.ts';
import { startSchedulingActor } from '../../actors/scheduling/actor.ts';
import { startThreadingActor } from '../../actors/threading/actor.ts';
import type { Database } from '../../db/connection/database.ts';
import { countDeadRows, forgetOldFaults, listDeadRows, replayDeadRows } from '../../db/queries/upkeep/dead-row.ts';
import { poisonRow, readAside } from '../support/mail/poison.ts';
import { insertScheduled, moveClock, wrongTotals } from '../support/rows/outgoing-rows.ts';
import { createSender, queueMail } from '../support/rows/queued-mail.ts';
import { insertReceivedMail } from '../support/rows/received-mail.ts';
import { createMailbox } from '../support/rows/routing-rows.ts';
import { startSinkMta } from '../support/servers/sink-mta.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { testActorContext } from '../support/stages/actor-context.ts';
import { makeMail, newWorkspace, openThreadStage, type ThreadStage } from '../support/stages/thread-stage.ts';
import { startDelivering } from './delivery/delivering.ts';
import { SECRET_KEY, startSending } from './sending/sending.ts';

let stage: ThreadStage;
let database: Database;
let owner: Database;

beforeAll(async () => {
  stage = await openThreadStage();
  database = stage.actor;
  owner = stage.owner;
});
afterEach(() => owner.pool.query('delete from dead_row'));
afterAll(() => stage.close());

const LONGEST_WAIT_SECONDS = Math.exp(10);

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Starts the actor again and again, each time after the longest pause, until it has given the row up; returns the pauses it made. */
async function untilDead(start: () => Promise<Actor>, step: string, subjectId: string): Promise<number[]> {
  const waits: number[] = [];
  for (let tries = 1; ; tries++) {
    const actor = await start();
    await until(async () => ((await readAside(owner, step, subjectId))?.tries ?? 0) >= tries);
    await actor.stop();
    const aside = await readAside(owner, step, subjectId);
    expect(aside?.tries).toBe(tries);
    if (aside?.is_dead === true) return waits;
    waits.push(aside?.wait ?? 0);
    await moveClock(owner, LONGEST_WAIT_SECONDS + 1);
  }
}

const waitsOfFaults = Array.from({ length: 24 }, (_, n) => Math.exp(Math.min(10, n + 1)));

function expectBackOff(waits: readonly number[]): void {
  expect(waits.map((wait) => Math.round(wait * 10))).toEqual(waitsOfFaults.map((wait) => Math.round(wait * 10)));
}

async function replay(subjectId: string): Promise<void> {
  expect(await replayDeadRows(owner, { actor: null, subjectId })).toBe(1);
}

test('an email that cannot be threaded is set aside, dies after twenty-five tries, and is threaded when replayed', async () => {
  const workspaceId = newWorkspace();
  const ids = ['one', 'two', 'three'].map((word) => `em_${word}${randomBytes(4).toString('hex')}`);
  const [good = '', bad = '', other = ''] = ids;
  const poison = await poisonRow(owner, { table: 'email', on: 'update', column: 'id', value: bad });
  await stage.insert(
    workspaceId,
    ids.map((id, n) => makeMail(id, n)),
  );
  const start = () => startThreadingActor(testActorContext(database));
  expectBackOff(await untilDead(start, 'assign', bad));
  expect(await stage.findThread(workspaceId, good)).toMatch(/^th_/);
  expect(await stage.findThread(workspaceId, other)).toMatch(/^th_/);
  expect(await countDeadRows(owner)).toEqual([{ actor: 'threading', count: 1 }]);
  const [dead] = await listDeadRows(owner, { actor: 'threading', subjectId: null }, 10);
  expect(dead).toMatchObject({ workspace_id: workspaceId, step: 'assign', subject_id: bad, tries: 25 });
  expect(dead?.last_error).toContain('a fault of ours, planted');
  // Others still get their turn, and it does not.
  await moveClock(owner, LONGEST_WAIT_SECONDS * 10);
  const late = `em_late${randomBytes(4).toString('hex')}`;
  await stage.insert(workspaceId, [makeMail(late, 9)]);
  const actor = await start();
  await until(async () => (await stage.findThread(workspaceId, late)) !== null);
  expect((await readAside(owner, 'assign', bad))?.tries).toBe(25);
  await poison.cure();
  await replay(bad);
  await until(async () => (await stage.findThread(workspaceId, bad)) !== null);
  await actor.stop();
  expect(await readAside(owner, 'assign', bad)).toBeNull();
  expect(await stage.findFaults(workspaceId)).toEqual([]);
});

test('mail that can neither be routed nor held does not stop the batch, dies, and is routed when replayed', async () => {
  const domain = `${randomBytes(4).toString('hex')}.test`;
  const box = await createMailbox(database, { domain, address: `hello@${domain}` });
  const [good, bad, other] = (await insertReceivedMail(database, box, { count: 3 })).map(({ emailId }) => emailId);
  if (good === undefined || bad === undefined || other === undefined) throw new Error('no mail');
  const poison = await poisonRow(owner, { table: 'route', on: 'update', column: 'email_id', value: bad });
  expectBackOff(await untilDead(() => startDelivering(database, owner), 'route', bad));
  const outcomes = async () =>
    (
      await owner.pool.query('select email_id, outcome from route where workspace_id = $1 order by email_id', [
        box.workspaceId,
      ])
    ).rows;
  const expected = (outcome: string | null) => [
    { email_id: good, outcome: 'stored' },
    { email_id: bad, outcome },
    { email_id: other, outcome: 'stored' },
  ];
  expect(await outcomes()).toEqual(expected(null));
  await poison.cure();
  await replay(bad);
  const actor = await startDelivering(database, owner);
  await until(async () => (await outcomes()).every(({ outcome }) => outcome !== null));
  await actor.stop();
  expect(await outcomes()).toEqual(expected('stored'));
});

test('a scheduled email that cannot be released does not keep the others, dies, and goes when replayed', async () => {
  const workspaceId = newWorkspace();
  const [good, bad, other] = await insertScheduled(database, [
    { workspaceId, inSeconds: -30 },
    { workspaceId, inSeconds: -20 },
    { workspaceId, inSeconds: -10 },
  ]);
  if (bad === undefined) throw new Error('no mail');
  const poison = await poisonRow(owner, { table: 'recipient', on: 'update', column: 'email_id', value: bad });
  const start = () => startSchedulingActor(testActorContext(database), { dnsServers: [], mailHostname: 'mx.test' });
  expectBackOff(await untilDead(start, 'release', bad));
  const types = async () => {
    const { rows } = await owner.pool.query<{ id: string; type: string }>(
      'select id, type from email where workspace_id = $1',
      [workspaceId],
    );
    return new Map(rows.map(({ id, type }) => [id, type]));
  };
  expect(await types()).toEqual(new Map([[good, 'sent'], [bad, 'scheduled'], [other, 'sent']])); // biome-ignore format: a table
  await poison.cure();
  await replay(bad);
  const actor = await start();
  await until(async () => (await types()).get(bad) === 'sent');
  await actor.stop();
  expect(await wrongTotals(database, workspaceId)).toEqual([]);
});

test('a message that cannot be stored is set aside, dies while others come through, and is mail when replayed', async () => {
  const domain = `${randomBytes(4).toString('hex')}.test`;
  const { workspaceId, addressId, domainId, address } = await createMailbox(database, {
    domain,
    address: `hello@${domain}`,
  });
  const envelope = {
    reversePath: 'ann@elsewhere.test',
    recipients: [{ recipient: address, workspaceId, addressId, domainId, ownAddress: address }],
    remoteAddress: '192.0.2.1',
    helo: 'elsewhere.test',
    isTls: false,
    traceFields: '',
  };
  const context = { ...testActorContext(database), name: 'receiving-dead' };
  const start = () =>
    startReceivingActor(context, {
      workers: 1,
      dnsServers: ['127.0.0.1:1'],
      dataDirectory: null,
      mailHostname: 'mx.test',
      secretKey: SECRET_KEY,
    });
  // An insert of the address is refused for this one only; whatever of the message is stored, it bears the address.
  const poison = await poisonRow(owner, { table: 'email', on: 'insert', column: 'recipient', value: `bad+${address}` });
  const first = await start();
  const accept = async (recipient: string) => {
    const recipients = envelope.recipients.map((one) => ({ ...one, recipient }));
    const bytes = Buffer.from(
      `From: ann@elsewhere.test\r\nSubject: ${recipient}\r\n\r\nHello ${randomBytes(4).toString('hex')}\r\n`,
    );
    const reply = await context.bus.ask('receiving.message.accept', { ...envelope, recipients }, { bytes });
    return reply.verdict === 'accepted' ? (reply.emailIds[0] ?? '') : '';
  };
  const [good, bad, other] = await Promise.all([accept(address), accept(`bad+${address}`), accept(address)]);
  await until(async () => (await readAside(owner, 'parse', bad))?.tries === 1);
  await first.stop();
  await moveClock(owner, LONGEST_WAIT_SECONDS + 1);
  const ids = async () =>
    (await owner.pool.query('select id from email where workspace_id = $1', [workspaceId])).rows.map(({ id }) => id);
  // Each try costs a second here: those between are left out.
  await owner.pool.query('update dead_row set tries = 22 where subject_id = $1', [bad]);
  for (let tries = 23; tries <= 25; tries++) {
    const actor = await start();
    await until(async () => (await readAside(owner, 'parse', bad))?.tries === tries);
    await actor.stop();
    await moveClock(owner, LONGEST_WAIT_SECONDS + 1);
  }
  expect((await readAside(owner, 'parse', bad))?.is_dead).toBe(true);
  expect(new Set(await ids())).toEqual(new Set([good, other]));
  await poison.cure();
  await replay(bad);
  const actor = await start();
  await until(async () => (await ids()).includes(bad));
  await actor.stop();
  // Many failed claims would otherwise have it stored without being parsed.
  const { rows } = await owner.pool.query('select parse_error from email_content where email_id = $1', [bad]);
  expect(rows).toEqual([{ parse_error: null }]);
});

test('mail that our own fault keeps from being sent becomes a dead row instead of a failure, and is sent when replayed', async () => {
  const sink = await startSinkMta();
  const sender = await createSender(owner, `${randomBytes(4).toString('hex')}.test`, SECRET_KEY);
  const emailId = await queueMail(owner, sender, { to: ['ann@elsewhere.test'] });
  const { rows: kept } = await owner.pool.query<{ raw_id: string; bytes: Buffer; id: string }>(
    `select e.raw_id, m.packed as bytes, r.id from email e join raw_message m on m.id = e.raw_id join recipient r on r.email_id = e.id where e.id = $1`,
    [emailId],
  );
  const [{ raw_id: rawId, bytes, id: recipientId }] = kept as [(typeof kept)[0]];
  const spoil = (to: Buffer) => owner.pool.query('update raw_message set packed = $2 where id = $1', [rawId, to]);
  await spoil(Buffer.from('damaged'));
  const start = () => startSending(database, { relayUrl: `smtp://127.0.0.1:${sink.port}` });
  const waits = await untilDead(start, 'send', recipientId);
  expectBackOff(waits);
  const status = async () =>
    (await owner.pool.query<{ status: string }>('select status from recipient where id = $1', [recipientId])).rows[0]
      ?.status;
  expect(await status()).toBe('pending');
  await spoil(bytes);
  await replay(recipientId);
  const actor = await start();
  await until(async () => (await status()) === 'delivered');
  await actor.stop();
  expect(sink.messages).toHaveLength(1);
  await sink.stop();
});

test('a webhook whose outcome cannot be recorded is not posted again, even by another process', async () => {
  const receiver = await startWebhookReceiver();
  const domain = `${randomBytes(4).toString('hex')}.test`;
  const box = await createMailbox(database, {
    domain,
    address: `hello@${domain}`,
    endpointUrl: `${receiver.url}/once`,
  });
  const [mail] = await insertReceivedMail(database, box);
  const poison = await poisonRow(owner, {
    table: 'endpoint_stat',
    on: 'insert',
    column: 'endpoint_id',
    value: box.endpointId ?? '',
  });
  const readDelivery = async () =>
    (
      await owner.pool.query<{ id: string; status: string }>('select id, status from delivery where email_id = $1', [
        mail?.emailId,
      ])
    ).rows[0];
  const first = await startDelivering(database, owner);
  await until(async () => {
    const id = (await readDelivery())?.id;
    return id !== undefined && (await readAside(owner, 'deliver', id)) !== null;
  });
  await first.stop();
  const delivery = await readDelivery();
  expect(receiver.requests).toHaveLength(1);
  // Its lease is over, its pause is not.
  await owner.pool.query(`update delivery set claimed_by = null, claimed_until = null where id = $1`, [delivery?.id]);
  await owner.pool.query(`update dead_row set retry_at = 'infinity', dead_at = now() where subject_id = $1`, [
    delivery?.id,
  ]);
  const other = await insertReceivedMail(database, box);
  await poison.cure();
  const second = await startDelivering(database, owner);
  await until(async () => {
    const { rows } = await owner.pool.query(`select 1 from delivery where email_id = $1 and status = 'success'`, [
      other[0]?.emailId,
    ]);
    return rows.length === 1;
  });
  expect(receiver.requests).toHaveLength(2);
  await replay(delivery?.id ?? '');
  await until(async () => (await readDelivery())?.status === 'success');
  expect(receiver.requests).toHaveLength(3);
  await second.stop();
  await receiver.stop();
});

test('replayed rows without a due time keep none: held recipients, and forwards that were already queued', async () => {
  const sender = await createSender(owner, `${randomBytes(4).toString('hex')}.test`, null);
  const held = await queueMail(owner, sender, { to: ['ann@elsewhere.test'] });
  const later = await queueMail(owner, sender, { to: ['bea@elsewhere.test'] });
  const deliveryId = `dlv_${randomBytes(6).toString('hex')}`;
  await owner.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, forward_raw_id, created_at)
     values ($1, $2, $3, 'ep', 'email', 1, 'raw_x', now())`,
    [sender.workspaceId, deliveryId, held],
  );
  await owner.pool.query('update recipient set next_attempt_at = null where email_id = $1', [held]);
  await owner.pool.query(`update recipient set next_attempt_at = now() + interval '1 day' where email_id = $1`, [
    later,
  ]);
  await owner.pool.query(
    `insert into dead_row (workspace_id, step, actor, subject_id, tries, last_error, first_failed_at, last_failed_at, retry_at, dead_at)
       select workspace_id, 'send', 'sending', id, 25, 'e', now(), now(), 'infinity'::timestamptz, now() from recipient where email_id in ($2, $3)
       union all select $1, 'forward', 'delivery', $4, 25, 'e', now(), now(), 'infinity', now()`,
    [sender.workspaceId, held, later, deliveryId],
  );
  expect(await replayDeadRows(owner, { actor: null, subjectId: null })).toBe(3);
  const { rows } = await owner.pool.query(
    `select email_id, next_attempt_at <= postroom_now() as is_due from recipient where workspace_id = $1 order by email_id = $2 desc`,
    [sender.workspaceId, held],
  );
  expect(rows).toEqual([
    { email_id: held, is_due: null },
    { email_id: later, is_due: true },
  ]);
  const delivery = await owner.pool.query('select next_attempt_at from delivery where id = $1', [deliveryId]);
  expect(delivery.rows).toEqual([{ next_attempt_at: null }]);
  await owner.pool.query(`update recipient set status = 'failed' where workspace_id = $1`, [sender.workspaceId]);
  await owner.pool.query('delete from delivery where id = $1', [deliveryId]);
});

test('rows that were set aside and succeeded later are forgotten, dead ones are not', async () => {
  await owner.pool.query(`
    insert into dead_row (workspace_id, step, actor, subject_id, tries, last_error, first_failed_at, last_failed_at, retry_at, dead_at)
    values ('u', 'assign', 'threading', 'em_old', 3, 'e', now(), now(), now() - interval '2 days', null),
      ('u', 'assign', 'threading', 'em_waits', 3, 'e', now(), now(), now() + interval '1 hour', null),
      ('u', 'assign', 'threading', 'em_dead', 25, 'e', now() - interval '30 days', now(), 'infinity', now() - interval '30 days')`);
  await owner.pool.query(`update clock set shift = '0'`);
  expect(await forgetOldFaults(owner, 100)).toBe(1);
  const { rows } = await owner.pool.query('select subject_id from dead_row order by 1');
  expect(rows.map(({ subject_id: id }) => id)).toEqual(['em_dead', 'em_waits']);
});
