import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { queueMail } from '../../support/rows/queued-mail.ts';
import type { SinkReply } from '../../support/servers/sink-mta.ts';
import { type AttemptSight, listAttempts, listRecipients, readEmail, untilRecipients } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const isDelivered = ([first]: { status: string }[]) => first?.status === 'delivered';

async function untilAttempts(emailId: string, isMet: (attempts: AttemptSight[]) => boolean): Promise<void> {
  while (!isMet(await listAttempts(stage.owner, emailId))) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('two concurrent actors send every message once', async () => {
  const sink = await stage.startSink();
  stage.publish('pair.test', '127.0.0.1');
  const emailIds = [];
  for (let n = 0; n < 150; n++)
    emailIds.push(await queueMail(stage.owner, stage.sender, { to: [`user${n}@pair.test`] }));
  const one = await stage.start({ port: sink.port, name: 'one' });
  const other = await stage.start({ port: sink.port, name: 'other' });
  for (const emailId of emailIds) {
    one.wake(stage.sender.workspaceId, emailId);
    other.wake(stage.sender.workspaceId, emailId);
  }
  for (const emailId of emailIds) await untilRecipients(stage.owner, emailId, isDelivered);
  expect(sink.messages.flatMap(({ recipients }) => recipients).toSorted()).toEqual(
    emailIds.map((_, n) => `user${n}@pair.test`).toSorted(),
  );
  const { rows } = await stage.owner.pool.query(
    `select 1 from sending_attempt a join recipient r on r.id = a.recipient_id where r.domain = 'pair.test'`,
  );
  expect(rows).toHaveLength(150);
});

test('the same wake ten times sends one message', async () => {
  const sink = await stage.startSink();
  stage.publish('ten.test', '127.0.0.1');
  const actor = await stage.start({ port: sink.port });
  const emailId = await queueMail(stage.owner, stage.sender, { to: ['ann@ten.test'] });
  for (let n = 0; n < 10; n++) actor.wake(stage.sender.workspaceId, emailId);
  await untilRecipients(stage.owner, emailId, isDelivered);
  actor.wake(stage.sender.workspaceId, emailId);
  const second = await stage.send({ to: ['ben@ten.test'] });
  await untilRecipients(stage.owner, second, isDelivered);
  expect(sink.messages).toHaveLength(2);
});

test('an attempt that a dead process left open is recorded as interrupted, and the message is sent again', async () => {
  const sink = await stage.startSink();
  stage.publish('crashed.test', '127.0.0.1');
  const emailId = await queueMail(stage.owner, stage.sender, { to: ['ann@crashed.test'] });
  await stage.owner.pool.query(
    `with r as (update recipient set claimed_by = 'dead', claimed_until = postroom_now() + interval '20 seconds' where email_id = $1
       returning workspace_id, id)
     insert into sending_attempt (workspace_id, recipient_id, number, started_at) select workspace_id, id, 1, postroom_now() from r`,
    [emailId],
  );
  await stage.start({ port: sink.port });
  const other = await stage.send({ to: ['ben@crashed.test'] });
  await untilRecipients(stage.owner, other, isDelivered);
  expect((await listRecipients(stage.owner, emailId))[0]?.claimed_by).toBe('dead');
  await stage.moveClock(30);
  const [recipient] = await untilRecipients(stage.owner, emailId, isDelivered);
  expect(recipient?.attempts).toBe(1);
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([
    { number: 1, outcome: 'interrupted', text: 'Interrupted: the process that sent it ended' },
    { number: 2, outcome: 'delivered' },
  ]);
});

test.each([
  ['another process claimed the message', "claimed_by = 'thief'", { attempts: 0, claimed_by: 'thief' }],
  ['the same process claimed it again and made another attempt', 'attempts = 1', { attempts: 1 }],
])('an outcome is not recorded after %s', async (_what, change, expected) => {
  const { promise: mayRespond, resolve: respond } = Promise.withResolvers<void>();
  const sink = await stage.startSink({
    script: {
      message: async () => {
        await mayRespond;
        return '550 5.1.1 too late' as const;
      },
    },
  });
  stage.publish('fenced.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@fenced.test'] });
  await sink.until(({ transactions }) => transactions[0]?.recipients.length === 1);
  await stage.owner.pool.query(
    `update recipient set ${change}, claimed_until = postroom_now() + interval '1 hour' where email_id = $1`,
    [emailId],
  );
  respond();
  await untilAttempts(emailId, ([only]) => only?.outcome === 'bounced');
  expect(await listRecipients(stage.owner, emailId)).toMatchObject([
    { status: 'pending', last_code: null, ...expected },
  ]);
  expect((await readEmail(stage.owner, emailId)).status).toBe('pending');
});

test('a message that a server accepted is delivered, and the outcome of a later claim changes nothing', async () => {
  const responses = [Promise.withResolvers<SinkReply>(), Promise.withResolvers<SinkReply>()];
  const sink = await stage.startSink({
    script: { message: ({ connection }) => responses[connection.number - 1]?.promise },
  });
  stage.publish('taken.test', '127.0.0.1');
  const one = await stage.start({ port: sink.port, name: 'first-holder' });
  const emailId = await queueMail(stage.owner, stage.sender, { to: ['ann@taken.test'] });
  one.wake(stage.sender.workspaceId, emailId);
  await sink.until(({ transactions }) => transactions[0]?.recipients.length === 1);
  // As if PostgreSQL had been away from the first one for longer than a lease.
  await stage.owner.pool.query(
    `update recipient set claimed_until = postroom_now() - interval '1 second' where email_id = $1`,
    [emailId],
  );
  const other = await stage.start({ port: sink.port, name: 'second-holder' });
  other.wake(stage.sender.workspaceId, emailId);
  await sink.until(({ transactions }) => transactions[1]?.recipients.length === 1);
  expect(await listRecipients(stage.owner, emailId)).toMatchObject([{ claimed_by: 'second-holder' }]);
  responses[0]?.resolve('250 2.0.0 taken');
  await untilRecipients(stage.owner, emailId, isDelivered);
  responses[1]?.resolve('550 5.1.1 too late');
  await untilAttempts(emailId, (attempts) => attempts[1]?.outcome === 'bounced');
  expect(await listRecipients(stage.owner, emailId)).toMatchObject([
    { status: 'delivered', attempts: 1, claimed_by: null, last_code: 250, wait_seconds: null },
  ]);
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([{ outcome: 'delivered' }, { outcome: 'bounced' }]);
  expect((await readEmail(stage.owner, emailId)).events.map(({ kind }) => kind)).toEqual(['email.delivered']);
});

test('a process that lost the claim sends nothing more, and the new holder does', async () => {
  const { promise: mayRespond, resolve: respond } = Promise.withResolvers<SinkReply>();
  const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>();
  const sink = await stage.startSink({
    script: {
      rcpt: (_, __, connection) => {
        ask();
        return connection.number === 1 ? mayRespond : undefined;
      },
    },
  });
  stage.publish('lapsed.test', '127.0.0.1');
  await stage.start({ port: sink.port, name: 'first-holder' });
  const emailId = await stage.send({ to: ['ann@lapsed.test'] });
  await isAsked;
  await stage.owner.pool.query(
    `update recipient set claimed_by = 'dead', claimed_until = postroom_now() + interval '20 seconds' where email_id = $1`,
    [emailId],
  );
  await untilAttempts(emailId, ([only]) => only?.outcome === 'interrupted');
  respond('250 2.1.5 too late');
  await stage.moveClock(30);
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(sink.messages).toHaveLength(1);
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([
    { outcome: 'interrupted', text: 'Interrupted: another process may have taken over' },
    { outcome: 'delivered' },
  ]);
});

test('an outcome that waits for another change of its row is recorded after it', async () => {
  const { promise: mayRespond, resolve: respond } = Promise.withResolvers<void>();
  const sink = await stage.startSink({ script: { message: () => mayRespond.then(() => '550 5.1.1 never' as const) } });
  stage.publish('crossed.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@crossed.test'] });
  await sink.until(({ transactions }) => transactions[0]?.recipients.length === 1);
  // A renewal, for one.
  await inTransaction(stage.owner, async (client) => {
    await client.query(`update recipient set claimed_until = claimed_until + interval '1 second' where email_id = $1`, [
      emailId,
    ]);
    respond();
    for (;;) {
      const { rows } = await stage.owner.pool.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%locked as materialized%'`,
      );
      if (rows.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  const [recipient] = await untilRecipients(stage.owner, emailId, ([only]) => only?.claimed_by === null);
  expect(recipient).toMatchObject({ status: 'bounced', attempts: 1, last_code: 550 });
});

test('leases of long attempts are renewed', async () => {
  const sink = await stage.startSink({ script: { message: () => 'hang' } });
  stage.publish('slow.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@slow.test'] });
  await sink.until(({ transactions }) => transactions[0]?.recipients.length === 1);
  const until = async () => {
    const { rows } = await stage.owner.pool.query<{ claimed_until: Date }>(
      `select claimed_until from recipient where email_id = $1`,
      [emailId],
    );
    return rows[0]?.claimed_until.getTime() ?? 0;
  };
  const first = await until();
  while ((await until()) === first) await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await until()) - first).toBeGreaterThan(5_000);
});

test('a stop releases jobs that have not begun, and ends those that do not end by themselves', async () => {
  const sink = await stage.startSink({ script: { message: () => 'hang' } });
  stage.publish('stopped.test', '127.0.0.1');
  const emailIds = [];
  for (let n = 0; n < 6; n++)
    emailIds.push(await queueMail(stage.owner, stage.sender, { to: [`user${n}@stopped.test`] }));
  const actor = await stage.start({ port: sink.port });
  await sink.until(({ transactions }) => transactions.filter(({ recipients }) => recipients.length === 1).length === 3);
  const stopped = actor.stop();
  const waiting = emailIds.filter(
    (_, n) => !sink.transactions.some(({ recipients }) => recipients[0] === `user${n}@stopped.test`),
  );
  for (const emailId of waiting) {
    await untilRecipients(stage.owner, emailId, ([only]) => only?.claimed_by === null);
    expect(await listAttempts(stage.owner, emailId)).toEqual([]);
  }
  await stopped;
  for (const emailId of emailIds) {
    const [recipient] = await listRecipients(stage.owner, emailId);
    expect(recipient).toMatchObject({ status: 'pending', attempts: 0, claimed_by: null });
    expect(recipient?.wait_seconds).toBeLessThanOrEqual(0);
    if (!waiting.includes(emailId))
      expect(await listAttempts(stage.owner, emailId)).toMatchObject([
        { number: 1, outcome: 'interrupted', text: 'Interrupted: the service was stopped', code: null },
      ]);
  }
  sink.respond({});
  await stage.start({ port: sink.port });
  for (const emailId of emailIds) {
    const [recipient] = await untilRecipients(stage.owner, emailId, isDelivered);
    expect(recipient?.attempts).toBe(1);
  }
});

test('a stop interrupts connections that are being opened', async () => {
  const sink = await stage.startSink({ script: { banner: () => 'hang' } });
  stage.publish('unopened.test', '127.0.0.1');
  const actor = await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@unopened.test'] });
  await sink.until(({ connections }) => connections.length === 1);
  await actor.stop();
  expect(await listAttempts(stage.owner, emailId)).toMatchObject([{ outcome: 'interrupted' }]);
  expect(await listRecipients(stage.owner, emailId)).toMatchObject([{ attempts: 0, claimed_by: null }]);
});

test('a reply that cannot be stored is recorded without its text, and the message is not sent again', async () => {
  const sink = await stage.startSink({ script: { message: () => '250 2.0.0 poison' } });
  stage.publish('poison.test', '127.0.0.1');
  await stage.owner.pool.query(`alter table recipient add constraint no_poison check (last_text <> 'poison')`);
  try {
    await stage.start({ port: sink.port });
    const emailId = await stage.send({ to: ['ann@poison.test'] });
    const [recipient] = await untilRecipients(stage.owner, emailId, isDelivered);
    expect(recipient).toMatchObject({ last_code: 250, last_text: 'The reply could not be recorded' });
    expect(sink.messages).toHaveLength(1);
  } finally {
    await stage.owner.pool.query(`alter table recipient drop constraint no_poison`);
  }
});

test('an outcome that cannot be recorded is held until it can, and the message is not sent again', async () => {
  const sink = await stage.startSink();
  stage.publish('stubborn.test', '127.0.0.1');
  await stage.owner.pool.query(`
    create function refuse_stubborn() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$;
    create trigger stubborn before update of status on recipient for each row
      when (old.address = 'ann@stubborn.test' and new.status <> 'pending') execute function refuse_stubborn()`);
  const { promise: isRefused, resolve: refuse } = Promise.withResolvers<void>();
  const { promise: isRefusedAgain, resolve: refuseAgain } = Promise.withResolvers<void>();
  const log = pino(
    { level: 'error' },
    {
      write(line) {
        if (line.includes('an outcome could not be recorded')) refuse();
        if (line.includes('a row was set aside')) refuseAgain();
      },
    },
  );
  try {
    await stage.start({ port: sink.port, log, name: 'holder' });
    const emailId = await stage.send({ to: ['ann@stubborn.test'] });
    await isRefused;
    const other = await stage.send({ to: ['ben@stubborn.test'] });
    await untilRecipients(stage.owner, other, isDelivered);
    // Its lease is over, and it is still in hand.
    await stage.moveClock(31);
    await isRefusedAgain;
    const third = await stage.send({ to: ['cay@stubborn.test'] });
    await untilRecipients(stage.owner, third, isDelivered);
    // Renewed although it is no attempt any more.
    await untilRecipients(
      stage.owner,
      emailId,
      ([only]) => only?.claimed_by === 'holder' && (only.lease_seconds ?? 0) > 0,
    );
    await stage.owner.pool.query(`drop trigger stubborn on recipient`);
    await untilRecipients(stage.owner, emailId, isDelivered);
    expect(sink.messages.flatMap(({ recipients }) => recipients)).toEqual([
      'ann@stubborn.test',
      'ben@stubborn.test',
      'cay@stubborn.test',
    ]);
    expect(await listAttempts(stage.owner, emailId)).toMatchObject([{ number: 1, outcome: 'delivered' }]);
  } finally {
    await stage.owner.pool.query(`drop trigger if exists stubborn on recipient`);
  }
});
