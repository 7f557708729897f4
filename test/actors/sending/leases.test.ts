import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { queueMail } from '../../support/queued-mail.ts';
import { attemptsOf, emailOf, recipientsOf, untilRecipients } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const isDelivered = ([first]: { status: string }[]) => first?.status === 'delivered';

test('two actors at once send everything, and nothing twice', async () => {
  const sink = await stage.startSink();
  stage.publish('pair.test', '127.0.0.1');
  const emailIds = [];
  for (let n = 0; n < 150; n++)
    emailIds.push(await queueMail(stage.owner, stage.sender, { to: [`user${n}@pair.test`] }));
  const one = await stage.start({ port: sink.port, name: 'one' });
  const other = await stage.start({ port: sink.port, name: 'other' });
  for (const emailId of emailIds) {
    one.wake(stage.sender.userId, emailId);
    other.wake(stage.sender.userId, emailId);
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

test('the same wake ten times makes one message', async () => {
  const sink = await stage.startSink();
  stage.publish('ten.test', '127.0.0.1');
  const actor = await stage.start({ port: sink.port });
  const emailId = await queueMail(stage.owner, stage.sender, { to: ['ann@ten.test'] });
  for (let n = 0; n < 10; n++) actor.wake(stage.sender.userId, emailId);
  await untilRecipients(stage.owner, emailId, isDelivered);
  actor.wake(stage.sender.userId, emailId);
  const second = await stage.send({ to: ['ben@ten.test'] });
  await untilRecipients(stage.owner, second, isDelivered);
  expect(sink.messages).toHaveLength(2);
});

test('an attempt that a dead process left open is recorded as interrupted, and the message goes again', async () => {
  const sink = await stage.startSink();
  stage.publish('crashed.test', '127.0.0.1');
  const emailId = await queueMail(stage.owner, stage.sender, { to: ['ann@crashed.test'] });
  await stage.owner.pool.query(
    `with r as (update recipient set claimed_by = 'dead', claimed_until = postroom_now() + interval '20 seconds' where email_id = $1
       returning user_id, id)
     insert into sending_attempt (user_id, recipient_id, number, started_at) select user_id, id, 1, postroom_now() from r`,
    [emailId],
  );
  await stage.start({ port: sink.port });
  const other = await stage.send({ to: ['ben@crashed.test'] });
  await untilRecipients(stage.owner, other, isDelivered);
  expect((await recipientsOf(stage.owner, emailId))[0]?.claimed_by).toBe('dead');
  await stage.moveClock(30);
  const [recipient] = await untilRecipients(stage.owner, emailId, isDelivered);
  expect(recipient?.attempts).toBe(1);
  expect(await attemptsOf(stage.owner, emailId)).toMatchObject([
    { number: 1, outcome: 'interrupted', text: 'Interrupted: the process that sent it ended' },
    { number: 2, outcome: 'delivered' },
  ]);
});

test('who lost the claim records no outcome over the new holder’s', async () => {
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  const sink = await stage.startSink({
    script: {
      message: async () => {
        await mayAnswer;
        return '550 5.1.1 too late' as const;
      },
    },
  });
  stage.publish('fenced.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@fenced.test'] });
  await sink.until(({ transactions }) => transactions[0]?.recipients.length === 1);
  await stage.owner.pool.query(
    `update recipient set claimed_by = 'thief', claimed_until = postroom_now() + interval '1 hour' where email_id = $1`,
    [emailId],
  );
  answer();
  for (;;) {
    const [attempt] = await attemptsOf(stage.owner, emailId);
    if (attempt?.outcome === 'bounced') break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await recipientsOf(stage.owner, emailId)).toMatchObject([
    { status: 'pending', attempts: 0, claimed_by: 'thief', last_code: null },
  ]);
  expect((await emailOf(stage.owner, emailId)).status).toBe('pending');
});

test('leases of attempts that take long are renewed', async () => {
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
}, 40_000);

test('a stop gives back what has not begun, and ends what does not end by itself', async () => {
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
    await untilRecipients(stage.owner, emailId, ([only]) => only?.claimed_by === null, 4_000);
    expect(await attemptsOf(stage.owner, emailId)).toEqual([]);
  }
  await stopped;
  for (const emailId of emailIds) {
    const [recipient] = await recipientsOf(stage.owner, emailId);
    expect(recipient).toMatchObject({ status: 'pending', attempts: 0, claimed_by: null });
    expect(recipient?.wait_seconds).toBeLessThanOrEqual(0);
    if (!waiting.includes(emailId))
      expect(await attemptsOf(stage.owner, emailId)).toMatchObject([
        { number: 1, outcome: 'interrupted', text: 'Interrupted: the service was stopped', code: null },
      ]);
  }
  sink.answer({});
  await stage.start({ port: sink.port });
  for (const emailId of emailIds) {
    const [recipient] = await untilRecipients(stage.owner, emailId, isDelivered);
    expect(recipient?.attempts).toBe(1);
  }
}, 40_000);

test('a stop while connections are being opened ends in time', async () => {
  const sink = await stage.startSink({ script: { banner: () => 'hang' } });
  stage.publish('unopened.test', '127.0.0.1');
  const actor = await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@unopened.test'] });
  await sink.until(({ connections }) => connections.length === 1);
  const started = performance.now();
  await actor.stop();
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(await attemptsOf(stage.owner, emailId)).toMatchObject([{ outcome: 'interrupted' }]);
  expect(await recipientsOf(stage.owner, emailId)).toMatchObject([{ attempts: 0, claimed_by: null }]);
}, 20_000);

test('a reply that cannot be stored is recorded without its words, and the message does not go again', async () => {
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
