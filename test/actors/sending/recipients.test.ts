import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { wrongTotals } from '../../support/rows/outgoing-rows.ts';
import { queueMail } from '../../support/rows/queued-mail.ts';
import { listAttempts, listRecipients, readEmail, untilRecipients, untilTried } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const areSettled = (recipients: { status: string }[]) => recipients.every(({ status }) => status !== 'pending');

test('when one of three recipients is refused, the two others get the message once', async () => {
  const sink = await stage.startSink({
    script: { rcpt: (address) => (address.startsWith('ben') ? '550 5.1.1 no such user' : undefined) },
  });
  stage.publish('three.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@three.test', 'ben@three.test', 'cay@three.test'] });
  const recipients = await untilRecipients(stage.owner, emailId, areSettled);
  expect(recipients.map(({ address, status, last_code }) => [address, status, last_code])).toEqual([
    ['ann@three.test', 'delivered', 250],
    ['ben@three.test', 'bounced', 550],
    ['cay@three.test', 'delivered', 250],
  ]);
  await stage.moveClock(100_000);
  expect(sink.messages.map((message) => message.recipients.toSorted())).toEqual([['ann@three.test', 'cay@three.test']]);
  expect(sink.transactions).toHaveLength(1);
  expect(await readEmail(stage.owner, emailId)).toMatchObject({ status: 'bounced', failure_reason: 'no such user' });
  expect(await listAttempts(stage.owner, emailId)).toHaveLength(3);
  expect(await wrongTotals(stage.owner, stage.sender.workspaceId)).toEqual([]);
});

test('recipients of one transaction share its return address', async () => {
  const sink = await stage.startSink();
  stage.publish('shared.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@shared.test', 'ben@shared.test'] });
  const recipients = await untilRecipients(stage.owner, emailId, areSettled);
  expect(new Set(recipients.map(({ return_id }) => return_id)).size).toBe(1);
  expect(recipients.map(({ id }) => id)).toContain(recipients[0]?.return_id);
  expect(sink.messages).toHaveLength(1);
});

test('recipients of several domains get the message in one transaction per domain', async () => {
  const sink = await stage.startSink();
  stage.publish('one.test', '127.0.0.1');
  stage.publish('two.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@one.test', 'ben@two.test', 'cay@one.test'] });
  await untilRecipients(stage.owner, emailId, areSettled);
  const groups = sink.messages.map((message) => message.recipients.toSorted().join(' '));
  expect(groups.toSorted()).toEqual(['ann@one.test cay@one.test', 'ben@two.test']);
});

test('recipients that a server defers within a transaction go in the next one over the same connection', async () => {
  const sink = await stage.startSink({ mostRecipients: 2 });
  stage.publish('narrow.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const to = ['ann', 'ben', 'cay', 'dan', 'eve'].map((name) => `${name}@narrow.test`);
  const emailId = await stage.send({ to });
  const recipients = await untilRecipients(stage.owner, emailId, areSettled);
  expect(recipients.every(({ status, attempts }) => status === 'delivered' && attempts === 1)).toBe(true);
  expect(sink.messages.map((message) => message.recipients.length)).toEqual([2, 2, 1]);
  expect(sink.messages.flatMap((message) => message.recipients).toSorted()).toEqual(to);
  expect(sink.connections).toHaveLength(1);
  expect(new Set(sink.messages.map(({ from }) => from)).size).toBe(3);
  expect(new Set(recipients.map(({ return_id }) => return_id)).size).toBe(3);
});

test('the hundred and first recipient of a domain goes in the next transaction', async () => {
  const sink = await stage.startSink();
  stage.publish('crowd.test', '127.0.0.1');
  const to = Array.from({ length: 130 }, (_, n) => `user${n}@crowd.test`);
  const emailId = await queueMail(stage.owner, stage.sender, { to });
  await stage.start({ port: sink.port });
  await untilRecipients(stage.owner, emailId, areSettled);
  expect(sink.messages.every((message) => message.recipients.length <= 100)).toBe(true);
  expect(sink.messages.flatMap((message) => message.recipients).toSorted()).toEqual(to.toSorted());
});

test('full storage of the only recipient is not retried at once', async () => {
  const sink = await stage.startSink({ script: { rcpt: () => '452 4.2.2 mailbox full' } });
  stage.publish('full.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@full.test'] });
  const [recipient] = await untilTried(stage.owner, emailId);
  expect(recipient).toMatchObject({ status: 'pending', attempts: 1, last_code: 452 });
  expect(sink.transactions).toHaveLength(1);
});

test('a refusal before a lost connection still counts', async () => {
  const sink = await stage.startSink({
    script: { rcpt: (address) => (address.startsWith('ben') ? '550 5.1.1 no' : undefined), body: () => 'drop' },
  });
  stage.publish('half.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@half.test', 'ben@half.test'] });
  const recipients = await untilTried(stage.owner, emailId);
  expect(recipients.map(({ status }) => status)).toEqual(['pending', 'bounced']);
  expect((await readEmail(stage.owner, emailId)).status).toBe('pending');
});

test('an address that was suppressed meanwhile is settled without a connection', async () => {
  const sink = await stage.startSink();
  stage.publish('quiet.test', '127.0.0.1');
  await stage.owner.pool.query(
    `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_1', 'ann@quiet.test', 'complaint', now())`,
    [stage.sender.workspaceId],
  );
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['Ann@quiet.test', 'ben@quiet.test'] });
  const recipients = await untilRecipients(stage.owner, emailId, areSettled);
  expect(recipients).toMatchObject([
    { status: 'bounced', last_code: null, last_text: 'Not sent: the address is on the suppression list' },
    { status: 'delivered' },
  ]);
  expect(sink.transactions.flatMap(({ offered }) => offered.map(({ address }) => address))).toEqual(['ben@quiet.test']);
  expect(await readEmail(stage.owner, emailId)).toMatchObject({ status: 'bounced' });
});

test('an address that unsubscribed from a list gets no queued mail of that list, but gets other mail', async () => {
  const sink = await stage.startSink();
  stage.publish('listed.test', '127.0.0.1');
  await stage.owner.pool.query(
    `insert into suppression (workspace_id, id, address, reason, list, created_at)
     values ($1, 'sup_3', 'ann@listed.test', 'unsubscribe', 'news', now())`,
    [stage.sender.workspaceId],
  );
  const queued = await Promise.all(
    [null, 'other', 'news'].map(async (list) => {
      const id = await queueMail(stage.owner, stage.sender, { to: ['ann@listed.test'] });
      await stage.owner.pool.query('update recipient set list = $2 where email_id = $1', [id, list]);
      return id;
    }),
  );
  await stage.start({ port: sink.port });
  const settled = await Promise.all(queued.map((id) => untilRecipients(stage.owner, id, areSettled)));
  expect(settled.flat().map(({ status }) => status)).toEqual(['delivered', 'delivered', 'bounced']);
});

test('mail is sent to an address that another user suppressed', async () => {
  const sink = await stage.startSink();
  stage.publish('loud.test', '127.0.0.1');
  await stage.owner.pool.query(
    `insert into suppression (workspace_id, id, address, reason, created_at) values ('usr_other', 'sup_2', 'ann@loud.test', 'bounce', now())`,
  );
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@loud.test'] });
  await untilRecipients(stage.owner, emailId, ([only]) => only?.status === 'delivered');
});

test('mail is not sent when its sender no longer has the domain', async () => {
  const sink = await stage.startSink();
  stage.publish('late.test', '127.0.0.1');
  const emailId = await queueMail(stage.owner, stage.sender, { to: ['ann@late.test'] });
  await stage.owner.pool.query(`update domain set status = 'pending' where name = 'box.test'`);
  try {
    await stage.start({ port: sink.port });
    await untilRecipients(stage.owner, emailId, ([only]) => only?.status === 'failed');
  } finally {
    await stage.owner.pool.query(`update domain set status = 'verified' where name = 'box.test'`);
  }
  expect((await listRecipients(stage.owner, emailId))[0]?.last_text).toBe(
    'Not sent: box.test is not a verified domain of the sender any more',
  );
  expect(sink.connections).toHaveLength(0);
  const email = await readEmail(stage.owner, emailId);
  expect([email.status, email.events.map(({ kind }) => kind)]).toEqual(['failed', ['email.failed']]);
});
