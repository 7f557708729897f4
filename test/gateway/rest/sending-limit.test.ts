import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { moveClock } from '../../support/rows/outgoing-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

const LIMIT = 5;

let gateway: TestGateway;
let second: Pick<TestGateway, 'call'>;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { sendLimitPerHour: LIMIT } });
  second = await gateway.beside();
});
afterAll(() => gateway.close());
afterEach(() => gateway.actor.pool.query(`update clock set shift = '0'`));

const email = (box: TestMailbox, more: object = {}) => ({
  from: box.address,
  to: 'ada@elsewhere.test',
  subject: 'Hi',
  text: 'Hello',
  ...more,
});
const post = (box: TestMailbox, more: object = {}, through: Pick<TestGateway, 'call'> = gateway) =>
  through.call(box.apiKey, 'POST', '/emails', email(box, more));

async function countEmails(box: TestMailbox): Promise<number> {
  const text = `select count(*)::integer as n from email where user_id = $1 and type <> 'received'`;
  return (await gateway.actor.pool.query(text, [box.userId])).rows[0].n;
}

test('one more than the limit is 429 with the time when there is room again', async () => {
  const box = await gateway.mailbox();
  await insertMail(
    gateway.actor,
    Array.from({ length: 10 }, () => ({ userId: box.userId, ownAddress: box.address })),
  );
  for (let n = 0; n < LIMIT; n++) {
    expect((await post(box)).statusCode).toBe(200);
    await moveClock(gateway.actor, 60);
  }
  const text = 'Hourly sending limit reached (5 emails per hour). Please try again later.';
  const refused = await post(box);
  expect([refused.statusCode, refused.json()]).toEqual([
    429,
    { error: text, message: text, statusCode: 429, name: 'rate_limit_exceeded', code: 'HOURLY_LIMIT_REACHED' },
  ]);
  // The first left five minutes ago.
  const wait = Number(refused.headers['retry-after']);
  expect(Math.abs(wait - 55 * 60)).toBeLessThan(30);
  expect(await countEmails(box)).toBe(LIMIT);

  await moveClock(gateway.actor, wait);
  expect((await post(box)).statusCode).toBe(200);
  expect((await post(box)).statusCode).toBe(429);
});

test('other users have limits of their own', async () => {
  const [full, free] = [await gateway.mailbox(), await gateway.mailbox()];
  for (let n = 0; n < LIMIT; n++) await post(full);
  expect((await post(full)).statusCode).toBe(429);
  expect((await post(free)).statusCode).toBe(200);
});

test('what waits on the schedule counts when it is asked for', async () => {
  const box = await gateway.mailbox();
  for (let n = 0; n < LIMIT; n++) expect((await post(box, { scheduled_at: 'in 2 days' })).statusCode).toBe(201);
  expect((await post(box)).statusCode).toBe(429);
});

test('many at once through two gateways are never more than the limit', async () => {
  const box = await gateway.mailbox();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => post(box, {}, n % 2 === 0 ? gateway : second)),
  );
  expect(answers.filter((answer) => answer.statusCode === 200)).toHaveLength(LIMIT);
  expect(answers.filter((answer) => answer.statusCode === 429)).toHaveLength(40 - LIMIT);
  for (const answer of answers.filter((each) => each.statusCode === 429)) {
    const wait = Number(answer.headers['retry-after']);
    expect(wait).toBeGreaterThan(3_500);
    expect(wait).toBeLessThanOrEqual(3_600);
  }
  expect(await countEmails(box)).toBe(LIMIT);
});

test('what is refused for another reason does not count, nor does a repetition', async () => {
  const box = await gateway.mailbox();
  for (let n = 0; n < LIMIT; n++) await post(box, { from: 'a@strange.test' });
  const headers = {
    authorization: `Bearer ${box.apiKey}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  const repeat = () =>
    gateway.app.inject({ method: 'POST', url: '/api/e2/emails', headers, payload: JSON.stringify(email(box)) });
  const first = await repeat();
  for (let n = 1; n < LIMIT; n++) expect((await post(box)).statusCode).toBe(200);
  expect((await repeat()).body).toBe(first.body);
  expect((await post(box)).statusCode).toBe(429);
});
