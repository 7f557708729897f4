import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { isFullLength, noteFigure } from '../support/chaos-figures.ts';
import { type ServiceResponse, until } from '../support/servers/service.ts';
import { SmtpClient } from '../support/servers/smtp-client.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { readField, readMessageId, SendingStage } from '../support/stages/sending-stage.ts';

const MAILS = isFullLength ? 10_000 : 200;
/** POST /emails/batch takes so many. */
const BATCH = 100;
const LIMIT_MS = 120_000 + MAILS * 100;

let stage: SendingStage;
let sender: string;

beforeAll(async () => {
  stage = await SendingStage.start('single');
  sender = `hello@${stage.account.domain}`;
}, 300_000);
afterAll(() => stage?.stop());

async function schedule(subject: string, scheduledAt: string): Promise<ServiceResponse['body']> {
  const response = await stage.account.call('POST', '/emails', {
    from: sender,
    to: 'bob@elsewhere.test',
    subject,
    text: 'Hello',
    scheduled_at: scheduledAt,
  });
  expect([response.status, response.body.status], JSON.stringify(response.body)).toEqual([201, 'scheduled']);
  return response.body;
}

function offered(messageId: string): number {
  return stage.sink.offered.filter(({ bytes }) => readField(bytes, 'Message-ID') === messageId).length;
}

/** Lets a scheduled email of its own leave: whatever was due before it has been looked at by then. */
async function passUntilReleased(seconds: number): Promise<void> {
  const last = await schedule('The one behind', await stage.instantIn(seconds));
  await stage.passSeconds(seconds);
  await stage.awaitMessage(last.message_id);
}

// The first test, as it counts all emails.
test(
  `${MAILS} emails that fall due in one second all go once, and mail and requests are served meanwhile`,
  async () => {
    const receiver = await startWebhookReceiver();
    onTestFinished(() => receiver.stop());
    const { account } = stage;
    const hook = { name: 'hook', type: 'webhook', config: { url: receiver.url } };
    const { id: endpointId } = (await account.call('POST', '/endpoints', hook)).body;
    const address = `box@${account.domain}`;
    await account.call('POST', '/email-addresses', { address, domainId: account.domainId, endpointId });

    const idleMs = await requestTimes(async (times) => times.length >= 100);
    const messageIds = await scheduleAll(await stage.instantIn(2 * 3_600));
    // The other server takes nothing until mail and requests have been served beside all that waits for it.
    const { promise: isOpen, resolve: openSink } = Promise.withResolvers<undefined>();
    stage.sink.respond({ data: () => isOpen });
    await stage.passSeconds(2 * 3_600);
    await until(
      'all are released',
      () => stage.service.output.slice(-2000),
      async () => (await countRows(`select from email where status = 'scheduled'`)) === 0,
      LIMIT_MS,
    );
    const client = await SmtpClient.greet(stage.service.smtpPort);
    const reply = await client.deliver('Subject: Beside them\r\nFrom: a@elsewhere.test\r\n\r\nx\r\n.\r\n', [address]);
    expect(reply.code, reply.text).toBe(250);
    client.destroy();
    await receiver.received(1, LIMIT_MS);
    expect((await account.call('GET', '/emails?limit=10')).status).toBe(200);
    expect(stage.sink.messages).toHaveLength(0);

    openSink(undefined);
    const startedAt = performance.now();
    const busyMs = await requestTimes(async () => stage.sink.messages.length >= MAILS);
    const seconds = (performance.now() - startedAt) / 1_000;
    await until(
      'all are delivered',
      () => stage.service.output.slice(-2000),
      async () => (await countRows(`select from recipient where status = 'delivered'`)) === MAILS,
      LIMIT_MS,
    );
    expect(stage.sink.messages).toHaveLength(MAILS);
    expect(new Set(stage.sink.messages.map(readMessageId))).toEqual(new Set(messageIds));
    await noteFigure(
      'G4',
      `${MAILS} emails sent in ${seconds.toFixed(0)} s (${(MAILS / seconds).toFixed(0)} per second); GET /emails p95 ${p95(idleMs)} ms idle, ${p95(busyMs)} ms meanwhile`,
    );
  },
  2 * LIMIT_MS,
);

test('a scheduled email is sent at its time, not before, and is read as sent from then on', async () => {
  const scheduledAt = await stage.instantIn(62);
  const { id, message_id: messageId, scheduled_at: echoed } = await schedule('On time', scheduledAt);
  expect(echoed).toBe(scheduledAt);
  const before = await stage.account.call('GET', `/emails/${id}`);
  expect(before.body).toMatchObject({ type: 'scheduled', status: 'scheduled', sent_at: null, thread_id: null });
  await stage.passSeconds(60);
  const [clock] = await stage.query<{ shift: number }>('select extract(epoch from shift)::float8 as shift from clock');
  const message = await stage.awaitMessage(messageId);
  const lateMs = message.receivedAt.getTime() + (clock?.shift ?? 0) * 1_000 - Date.parse(scheduledAt);
  expect(lateMs).toBeGreaterThanOrEqual(0);
  expect(Math.abs(Date.parse(readField(message.bytes, 'Date') ?? '') - Date.parse(scheduledAt))).toBeLessThan(1_000);
  const after = await stage.awaitStatus(id, 'delivered');
  expect(after).toMatchObject({ type: 'sent', last_event: 'delivered', scheduled_at: scheduledAt });
  expect(Date.parse(after['sent_at'])).toBeGreaterThanOrEqual(Date.parse(scheduledAt));
});

test('kill -9 of the whole service: what falls due meanwhile leaves once, and mail in hand goes although its lease holds on', async () => {
  const { id, message_id: messageId } = await schedule('Across a restart', await stage.instantIn(70));
  await stage.passSeconds(60);
  stage.sink.respond({ data: () => 'hang' });
  const before = stage.sink.transactions.length;
  const request = { from: sender, to: 'bob@elsewhere.test', subject: 'In hand', text: 'Hello' };
  const { body: inHand } = await stage.account.call('POST', '/emails', request);
  await stage.sink.until(({ transactions }) => transactions[before]?.recipients.length === 1);
  const claims = await stage.query(
    `select 1 from recipient where email_id = $1 and status = 'pending' and claimed_until > postroom_now()`,
    [inHand.id],
  );
  expect(claims, 'the kill meets a claim').toHaveLength(1);
  await stage.service.end('runner', 'SIGKILL');
  stage.sink.respond({});
  expect(offered(messageId), 'nothing left before the kill').toBe(0);
  await stage.passSeconds(70);
  await stage.query(
    `update recipient set claimed_until = claimed_until + interval '1 hour' where email_id = $1 and claimed_by is not null`,
    [inHand.id],
  );
  await stage.service.start();
  await stage.awaitMessage(inHand.message_id);
  const email = await stage.awaitStatus(inHand.id, 'delivered');
  const log = [
    { number: 1, outcome: 'interrupted' },
    { number: 2, outcome: 'delivered' },
  ];
  expect(email['recipients']).toMatchObject([{ attempts: 1, log }]);
  await stage.awaitMessage(messageId);
  await stage.awaitStatus(id, 'delivered');
  await passUntilReleased(61);
  expect(offered(messageId)).toBe(1);
});

test('a cancelled email is never sent, and a sent one cannot be cancelled', async () => {
  const cancelled = await schedule('Cancelled', await stage.instantIn(61));
  const kept = await schedule('Kept', await stage.instantIn(61));
  const response = await stage.account.call('DELETE', `/emails/${cancelled.id}`);
  expect([response.status, response.body.success]).toEqual([200, true]);
  await stage.passSeconds(61);
  await stage.awaitMessage(kept.message_id);
  await passUntilReleased(61);
  expect(offered(cancelled.message_id)).toBe(0);
  expect((await stage.account.call('GET', `/emails/${cancelled.id}`)).body).toMatchObject({
    type: 'scheduled',
    status: 'cancelled',
    sent_at: null,
  });
  expect((await stage.account.call('DELETE', `/emails/${kept.id}`)).status).toBe(400);
});

test('a paused email waits, and is sent when it is resumed after its time, or at a new time', async () => {
  const late = await schedule('Paused beyond its time', await stage.instantIn(61));
  const moved = await schedule('Moved', await stage.instantIn(61));
  expect((await stage.account.call('POST', `/emails/${late.id}/pause`)).body).toMatchObject({ status: 'paused' });
  await stage.account.call('PATCH', `/emails/${moved.id}`, { scheduled_at: await stage.instantIn(600) });
  await passUntilReleased(120);
  expect([offered(late.message_id), offered(moved.message_id)]).toEqual([0, 0]);
  expect((await stage.account.call('POST', `/emails/${late.id}/resume`)).status).toBe(200);
  await stage.awaitMessage(late.message_id);
  expect(offered(moved.message_id)).toBe(0);
  await stage.passSeconds(600);
  await stage.awaitMessage(moved.message_id);
});

describe('cancellations race with the release', () => {
  const COUNT = 60;
  /** Cancelled before the instant is near, and after an email has left. */
  const EARLY = 5;
  const LATE = 5;

  test(`${COUNT} emails fall due while they are cancelled: each is cancelled or sent, never both, never neither`, async () => {
    const scheduledAt = await stage.instantIn(75);
    const emails: ServiceResponse['body'][] = [];
    // As many at once as a busy machine answers in time.
    for (let n = 0; n < COUNT; n += 10)
      emails.push(
        ...(await Promise.all(Array.from({ length: 10 }, (_, at) => schedule(`Race ${n + at}`, scheduledAt)))),
      );
    const isCancelled = new Map<string, boolean>();
    // One after another, so that the instant comes among them.
    const cancel = async (some: ServiceResponse['body'][]) => {
      for (const { id } of some) {
        const response = await stage.account.call('DELETE', `/emails/${id}`);
        expect([200, 400]).toContain(response.status);
        isCancelled.set(id, response.status === 200);
      }
    };
    await cancel(emails.slice(0, EARLY));
    await stage.passSeconds(-0.5 - (await secondsSince(scheduledAt)));
    await cancel(emails.slice(EARLY, -LATE));
    const late = emails.slice(-LATE);
    for (const { message_id: messageId } of late) await stage.awaitMessage(messageId);
    await cancel(late);
    await passUntilReleased(120);
    const sent = emails.filter(({ id }) => isCancelled.get(id) === false);
    for (const { id } of sent) await stage.awaitStatus(id, 'delivered');
    for (const { id, message_id: messageId } of emails)
      expect([id, offered(messageId)]).toEqual([id, isCancelled.get(id) === true ? 0 : 1]);
    expect(sent.length, 'the instant came among the cancellations').toBeGreaterThanOrEqual(LATE);
    expect(sent.length).toBeLessThanOrEqual(COUNT - EARLY);
  });
});

async function secondsSince(instant: string): Promise<number> {
  const [row] = await stage.query<{ seconds: number }>(
    'select extract(epoch from postroom_now() - $1::timestamptz)::float8 as seconds',
    [instant],
  );
  return row?.seconds ?? 0;
}

/** Schedules all emails for that instant; returns their Message-IDs. */
async function scheduleAll(scheduledAt: string): Promise<string[]> {
  for (let first = 0; first < MAILS; first += BATCH) {
    const response = await stage.account.call(
      'POST',
      '/emails/batch',
      Array.from({ length: BATCH }, (_, n) => ({
        from: `hello@${stage.account.domain}`,
        to: `r${first + n}@elsewhere.test`,
        subject: `Due ${first + n}`,
        text: 'Due',
        scheduled_at: scheduledAt,
      })),
    );
    expect(response.status, JSON.stringify(response.body).slice(0, 500)).toBeLessThan(300);
  }
  const rows = await stage.query<{ message_id: string }>(`select message_id from email where status = 'scheduled'`);
  expect(rows).toHaveLength(MAILS);
  return rows.map((row) => row.message_id);
}

/** Lists emails again and again until the condition holds; returns how long each request took, in milliseconds. */
async function requestTimes(isDone: (times: readonly number[]) => Promise<boolean>): Promise<number[]> {
  const times: number[] = [];
  while (!(await isDone(times))) {
    const startedAt = performance.now();
    const { status } = await stage.account.call('GET', '/emails?limit=10');
    times.push(performance.now() - startedAt);
    expect(status).toBe(200);
  }
  return times;
}

async function countRows(select: string): Promise<number> {
  const [row] = await stage.query<{ count: number }>(`select count(*)::int as count from (${select}) each`);
  return row?.count ?? 0;
}

function p95(times: readonly number[]): string {
  return (times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0).toFixed(0);
}
