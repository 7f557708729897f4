import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../support/servers/service.ts';
import { fieldOf, SendingStage } from '../support/stages/sending-stage.ts';

let stage: SendingStage;
let sender: string;

beforeAll(async () => {
  stage = await SendingStage.start('single');
  sender = `hello@${stage.account.domain}`;
}, 300_000);
afterAll(() => stage?.stop(), 60_000);

async function schedule(subject: string, scheduledAt: string): Promise<Answer['body']> {
  const answer = await stage.account.call('POST', '/emails', {
    from: sender,
    to: 'bob@elsewhere.test',
    subject,
    text: 'Hello',
    scheduled_at: scheduledAt,
  });
  expect([answer.status, answer.body.status], JSON.stringify(answer.body)).toEqual([201, 'scheduled']);
  return answer.body;
}

function offered(messageId: string): number {
  return stage.sink.offered.filter(({ bytes }) => fieldOf(bytes, 'Message-ID') === messageId).length;
}

/** Lets a scheduled email of its own leave: whatever was due before it has been looked at by then. */
async function passUntilReleased(seconds: number): Promise<void> {
  const last = await schedule('The one behind', await stage.instantIn(seconds));
  await stage.passSeconds(seconds);
  await stage.messageOf(last.message_id);
}

test('a scheduled email leaves on its instant, not before, and reads as sent from then on', async () => {
  const scheduledAt = await stage.instantIn(62);
  const { id, message_id: messageId, scheduled_at: echoed } = await schedule('On time', scheduledAt);
  expect(echoed).toBe(scheduledAt);
  const before = await stage.account.call('GET', `/emails/${id}`);
  expect(before.body).toMatchObject({ type: 'scheduled', status: 'scheduled', sent_at: null, thread_id: null });
  await stage.passSeconds(60);
  const [clock] = await stage.query<{ shift: number }>('select extract(epoch from shift)::float8 as shift from clock');
  const message = await stage.messageOf(messageId);
  const lateMs = message.receivedAt.getTime() + (clock?.shift ?? 0) * 1_000 - Date.parse(scheduledAt);
  expect(lateMs).toBeGreaterThanOrEqual(0);
  expect(Math.abs(Date.parse(fieldOf(message.bytes, 'Date') ?? '') - Date.parse(scheduledAt))).toBeLessThan(1_000);
  const after = await stage.awaitStatus(id, 'delivered');
  expect(after).toMatchObject({ type: 'sent', last_event: 'delivered', scheduled_at: scheduledAt });
  expect(Date.parse(after['sent_at'])).toBeGreaterThanOrEqual(Date.parse(scheduledAt));
});

test('kill -9 of the whole service: what falls due meanwhile leaves once, and mail in hand goes although its lease holds on', async () => {
  const { id, message_id: messageId } = await schedule('Across a restart', await stage.instantIn(70));
  await stage.passSeconds(60);
  stage.sink.answer({ data: () => 'hang' });
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
  stage.sink.answer({});
  expect(offered(messageId), 'nothing left before the kill').toBe(0);
  await stage.passSeconds(70);
  await stage.query(
    `update recipient set claimed_until = claimed_until + interval '1 hour' where email_id = $1 and claimed_by is not null`,
    [inHand.id],
  );
  await stage.service.start();
  await stage.messageOf(inHand.message_id);
  const email = await stage.awaitStatus(inHand.id, 'delivered');
  const log = [
    { number: 1, outcome: 'interrupted' },
    { number: 2, outcome: 'delivered' },
  ];
  expect(email['recipients']).toMatchObject([{ attempts: 1, log }]);
  await stage.messageOf(messageId);
  await stage.awaitStatus(id, 'delivered');
  await passUntilReleased(61);
  expect(offered(messageId)).toBe(1);
});

test('a cancelled one never leaves, and what has left cannot be cancelled', async () => {
  const cancelled = await schedule('Cancelled', await stage.instantIn(61));
  const kept = await schedule('Kept', await stage.instantIn(61));
  const answer = await stage.account.call('DELETE', `/emails/${cancelled.id}`);
  expect([answer.status, answer.body.success]).toEqual([200, true]);
  await stage.passSeconds(61);
  await stage.messageOf(kept.message_id);
  await passUntilReleased(61);
  expect(offered(cancelled.message_id)).toBe(0);
  expect((await stage.account.call('GET', `/emails/${cancelled.id}`)).body).toMatchObject({
    type: 'scheduled',
    status: 'cancelled',
    sent_at: null,
  });
  expect((await stage.account.call('DELETE', `/emails/${kept.id}`)).status).toBe(400);
});

test('a paused one stays, goes when it is resumed after its time, and by another time when it is given one', async () => {
  const late = await schedule('Paused beyond its time', await stage.instantIn(61));
  const moved = await schedule('Moved', await stage.instantIn(61));
  expect((await stage.account.call('POST', `/emails/${late.id}/pause`)).body).toMatchObject({ status: 'paused' });
  await stage.account.call('PATCH', `/emails/${moved.id}`, { scheduled_at: await stage.instantIn(600) });
  await passUntilReleased(120);
  expect([offered(late.message_id), offered(moved.message_id)]).toEqual([0, 0]);
  expect((await stage.account.call('POST', `/emails/${late.id}/resume`)).status).toBe(200);
  await stage.messageOf(late.message_id);
  expect(offered(moved.message_id)).toBe(0);
  await stage.passSeconds(600);
  await stage.messageOf(moved.message_id);
});

describe('cancellations race with the release', () => {
  const COUNT = 60;
  /** Cancelled before the instant is near, and after an email has left. */
  const EARLY = 5;
  const LATE = 5;

  test(`${COUNT} emails fall due while they are cancelled: each is cancelled or sent, never both, never neither`, async () => {
    const scheduledAt = await stage.instantIn(75);
    const emails: Answer['body'][] = [];
    // As many at once as a busy machine answers in time.
    for (let n = 0; n < COUNT; n += 10)
      emails.push(
        ...(await Promise.all(Array.from({ length: 10 }, (_, at) => schedule(`Race ${n + at}`, scheduledAt)))),
      );
    const isCancelled = new Map<string, boolean>();
    // One after another, so that the instant comes among them.
    const cancel = async (some: Answer['body'][]) => {
      for (const { id } of some) {
        const answer = await stage.account.call('DELETE', `/emails/${id}`);
        expect([200, 400]).toContain(answer.status);
        isCancelled.set(id, answer.status === 200);
      }
    };
    await cancel(emails.slice(0, EARLY));
    await stage.passSeconds(-0.5 - (await secondsSince(scheduledAt)));
    await cancel(emails.slice(EARLY, -LATE));
    const late = emails.slice(-LATE);
    for (const { message_id: messageId } of late) await stage.messageOf(messageId);
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
