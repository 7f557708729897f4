import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { listAttempts, readEmail, untilRecipients, untilTried } from './sending.ts';
import { createStage, type SendingStage } from './stage.ts';

let stage: SendingStage;

beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test('retries double from five minutes up to four hours, and the mail fails after five days', async () => {
  const sink = await stage.startSink({ script: { rcpt: () => '450 4.2.1 later' } });
  stage.publish('patient.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@patient.test'] });
  const waits: number[] = [];
  let passed = 0;
  for (let attempts = 1; ; attempts++) {
    const [recipient] = await untilTried(stage.owner, emailId, attempts);
    const wait = recipient?.wait_seconds ?? null;
    if (wait === null) break;
    waits.push(wait);
    passed += wait;
    await stage.moveClock(wait + 0.5);
  }
  const steps = [5, 10, 20, 40, 80, 160, 240, 240].map((minutes) => minutes * MINUTE);
  for (const [n, step] of steps.entries()) {
    expect(waits[n]).toBeGreaterThan(step - 10);
    expect(waits[n]).toBeLessThanOrEqual(step * 1.1 + 1);
  }
  expect(passed).toBeGreaterThan(5 * DAY - MINUTE);
  expect(passed).toBeLessThan(5 * DAY + MINUTE);
  const email = await readEmail(stage.owner, emailId);
  expect(email).toMatchObject({ status: 'failed', failure_reason: 'later', sent_at: null });
  expect(email.events.map(({ kind }) => kind)).toEqual(['email.delayed', 'email.failed']);
  const attempts = await listAttempts(stage.owner, emailId);
  expect(attempts.map(({ number }) => number)).toEqual(attempts.map((_, n) => n + 1));
  expect(new Set(attempts.map(({ outcome }) => outcome))).toEqual(new Set(['deferred']));
  expect(sink.transactions).toHaveLength(attempts.length);
  const { rows } = await stage.owner.pool.query(`select 1 from suppression`);
  expect(rows).toEqual([]);
});

test('a recipient is not tried before its time', async () => {
  const sink = await stage.startSink({ script: { rcpt: () => '450 4.2.1 later' } });
  stage.publish('punctual.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@punctual.test'] });
  await untilTried(stage.owner, emailId);
  await stage.moveClock(4 * MINUTE);
  const other = await stage.send({ to: ['ben@punctual.test'] });
  await untilTried(stage.owner, other);
  expect(sink.transactions).toHaveLength(2);
  expect((await listAttempts(stage.owner, emailId)).length).toBe(1);
});

test('recipients that were deferred together are retried together', async () => {
  const sink = await stage.startSink({ script: { message: () => '451 4.3.0 later' } });
  stage.publish('together.test', '127.0.0.1');
  await stage.start({ port: sink.port });
  const emailId = await stage.send({ to: ['ann@together.test', 'ben@together.test', 'cay@together.test'] });
  await untilTried(stage.owner, emailId);
  sink.respond({});
  await stage.moveClock(400);
  await untilRecipients(stage.owner, emailId, (all) => all.every(({ status }) => status === 'delivered'));
  expect(sink.messages.map(({ recipients }) => recipients.length)).toEqual([3]);
  expect(await readEmail(stage.owner, emailId)).toMatchObject({ status: 'delivered', failure_reason: null });
});
