import { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createSender, queueMail } from '../../support/rows/queued-mail.ts';
import { untilRecipients, untilTried } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const isDelivered = ([first]: { status: string }[]) => first?.status === 'delivered';

/** Puts recipients of one email to a domain, which wait longer than any other, straight into the queue. */
async function fillQueue(domain: string, count: number): Promise<void> {
  const emailId = await queueMail(stage.owner, stage.sender, { to: [`first@${domain}`] });
  await stage.owner.pool.query(
    `insert into recipient (workspace_id, id, email_id, address, domain, queued_at, next_attempt_at, created_at)
     select workspace_id, 'rcp_' || md5(domain || n), email_id, 'user' || n || '@' || domain, domain, queued_at,
       next_attempt_at - interval '1 minute', created_at
     from recipient, generate_series(1, $2::integer) n where email_id = $1`,
    [emailId, count],
  );
}

test('a hanging destination with a long backlog delays no other', async () => {
  const hanging = await stage.startSink({ script: { mail: () => 'hang' } });
  const well = await stage.startSink({ host: '127.0.0.2', port: hanging.port });
  stage.publish('hanging.test', '127.0.0.1');
  await fillQueue('hanging.test', 5_000);
  for (let n = 0; n < 5; n++) stage.publish(`well${n}.test`, '127.0.0.2');
  const swept = await queueMail(stage.owner, stage.sender, { to: ['ann@well0.test'] });
  await stage.start({ port: hanging.port });
  await hanging.until((sink) => sink.connections.length > 0);
  const woken = await Promise.all([1, 2, 3, 4].map((n) => stage.send({ to: [`ann@well${n}.test`] })));
  for (const emailId of [swept, ...woken]) await untilRecipients(stage.owner, emailId, isDelivered);
  expect(well.messages).toHaveLength(5);
  expect(hanging.openConnections(), 'it hangs still').toBeGreaterThan(0);
  const { rows } = await stage.owner.pool.query(
    `select count(*)::integer as count from recipient where claimed_by is not null`,
  );
  expect(rows[0]?.count).toBeLessThan(600);
  expect(hanging.peakConnections()).toBeLessThanOrEqual(3);
});

test('one user’s long backlog does not delay another user’s mail to the same destination', async () => {
  const sink = await stage.startSink({ script: { message: () => ({ reply: '250 2.0.0 taken', afterMs: 100 }) } });
  stage.publish('both.test', '127.0.0.1');
  const other = await createSender(stage.owner, 'small.test', null);
  for (let n = 0; n < 600; n++) await queueMail(stage.owner, stage.sender, { to: [`user${n}@both.test`] });
  const last = await queueMail(stage.owner, other, { to: ['last@both.test'] });
  await stage.start({ port: sink.port });
  await untilRecipients(stage.owner, last, isDelivered);
  const place = sink.messages.findIndex(({ recipients }) => recipients.includes('last@both.test'));
  expect(place).toBeGreaterThanOrEqual(0);
  expect(place).toBeLessThan(300);
});

test('a long backlog of a healthy destination is sent completely', async () => {
  const sink = await stage.startSink();
  stage.publish('newsletter.test', '127.0.0.1');
  await fillQueue('newsletter.test', 1_500);
  await stage.start({ port: sink.port });
  await sink.until(
    ({ messages }) => messages.reduce((sum, { recipients }) => sum + recipients.length, 0) >= 1_501,
    30_000,
  );
  const sent = sink.messages.flatMap(({ recipients }) => recipients);
  expect(new Set(sent).size).toBe(1_501);
  expect(sent).toHaveLength(1_501);
});

test('connections are reused, and more are opened while a destination keeps up', async () => {
  const sink = await stage.startSink({ script: { message: () => ({ reply: '250 2.0.0 taken', afterMs: 20 }) } });
  stage.publish('growing.test', '127.0.0.1');
  for (let n = 0; n < 60; n++) await queueMail(stage.owner, stage.sender, { to: [`user${n}@growing.test`] });
  await stage.start({ port: sink.port });
  await sink.received(60);
  expect(sink.connections.length).toBeGreaterThan(3);
  expect(sink.connections.length).toBeLessThanOrEqual(20);
  expect(Math.max(...sink.connections.map(({ messageCount }) => messageCount))).toBeGreaterThan(1);
});

test('idle connections are closed after a moment', async () => {
  const sink = await stage.startSink();
  stage.publish('idle.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@idle.test'] });
  await untilRecipients(stage.owner, emailId, isDelivered);
  expect(sink.openConnections()).toBe(1);
  await sink.until(() => sink.openConnections() === 0);
  expect(sink.connections[0]?.transcript).toContain('C: QUIT');
});

test('a connection that ended while idle costs the next message nothing', async () => {
  const sink = await stage.startSink({ mostMessages: 1 });
  stage.publish('once.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  for (let n = 0; n < 3; n++) {
    const emailId = await stage.send({ to: [`user${n}@once.test`] });
    const [recipient] = await untilTried(stage.owner, emailId);
    expect(recipient).toMatchObject({ status: 'delivered', attempts: 1 });
  }
  expect(sink.messages).toHaveLength(3);
});

test('a destination that allows one connection gets all its mail over one', async () => {
  const open = new Set<number>();
  const sink = await stage.startSink({
    script: {
      banner: ({ number }) => {
        if (sink.openConnections() > 1) return '421 4.7.0 too many connections';
        open.add(number);
        return undefined;
      },
      message: () => ({ reply: '250 2.0.0 taken', afterMs: 50 }),
    },
  });
  stage.publish('single.test', '127.0.0.1');
  const emailIds = [];
  for (let n = 0; n < 20; n++)
    emailIds.push(await queueMail(stage.owner, stage.sender, { to: [`user${n}@single.test`] }));
  await stage.start({ port: sink.port });
  await sink.received(20);
  for (const emailId of emailIds) {
    const [recipient] = await untilTried(stage.owner, emailId);
    expect(recipient).toMatchObject({ status: 'delivered', attempts: 1 });
  }
  expect(sink.connections.length - open.size).toBeLessThan(10);
});

test('mail that waits for unreachable hosts shares the result of the first attempt', async () => {
  const sink = await stage.startSink();
  await sink.stop();
  stage.publish('dead.test', '127.0.0.1');
  const emailIds = [];
  for (let n = 0; n < 60; n++)
    emailIds.push(await queueMail(stage.owner, stage.sender, { to: [`user${n}@dead.test`] }));
  const connected = vi.spyOn(Socket.prototype, 'connect');
  onTestFinished(() => connected.mockRestore());
  await stage.start({ port: sink.port });
  const tried = async (least: number) => {
    const { rows } = await stage.owner.pool.query<{ count: number }>(
      `select count(*)::integer as count from recipient where domain = 'dead.test' and attempts = 1 and last_text = 'Connection refused'`,
    );
    return (rows[0]?.count ?? 0) >= least;
  };
  while (!(await tried(60))) await new Promise((resolve) => setTimeout(resolve, 10));
  const isToSink = (target: unknown) => JSON.stringify(target)?.includes(`"port":${sink.port}`) === true;
  const tries = connected.mock.calls.filter((words) => isToSink(words)).length;
  expect(tries).toBeGreaterThan(0);
  expect(tries).toBeLessThan(20);
});
