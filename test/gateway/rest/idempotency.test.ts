import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { moveClock } from '../../support/rows/outgoing-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

let gateway: TestGateway;
let second: Pick<TestGateway, 'app'>;
let box: TestMailbox;

beforeAll(async () => {
  gateway = await openTestGateway();
  second = await gateway.beside();
  box = await gateway.mailbox({ domain: 'mine.test' });
});
afterAll(() => gateway.close());
afterEach(() => gateway.actor.pool.query(`update clock set shift = '0'`));

const send = (
  key: string,
  body: object = {},
  {
    through = gateway,
    path = '/emails',
    as = box,
  }: { through?: Pick<TestGateway, 'app'>; path?: string; as?: TestMailbox } = {},
) =>
  through.app.inject({
    method: 'POST',
    url: `/api/e2${path}`,
    headers: {
      authorization: `Bearer ${as.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    payload: JSON.stringify({ from: as.address, to: 'ada@elsewhere.test', subject: 'Hi', text: 'Hello', ...body }),
  });

async function countEmails(): Promise<number> {
  return (await gateway.actor.pool.query('select count(*)::integer as n from email where type <> $1', ['received']))
    .rows[0].n;
}

/** Holds a row lock or a key of the table until it is released. */
async function hold(text: string, values: unknown[]): Promise<() => Promise<void>> {
  const client = await gateway.actor.pool.connect();
  await client.query('begin');
  await client.query(text, values);
  return async () => {
    await client.query('rollback');
    client.release();
  };
}

test('the same request gets the same response, and is executed once', async () => {
  const key = randomUUID();
  const before = await countEmails();
  const first = await send(key);
  const again = await send(key);
  expect([again.statusCode, again.body]).toEqual([200, first.body]);
  expect(await countEmails()).toBe(before + 1);
});

test('a scheduled email keeps its 201, even when its time is near', async () => {
  const key = randomUUID();
  const body = { scheduled_at: new Date(Date.now() + 90_000).toISOString() };
  const first = await send(key, body);
  await moveClock(gateway.actor, 3_600);
  const again = await send(key, body);
  expect(first.statusCode).toBe(201);
  expect([again.statusCode, again.body]).toEqual([201, first.body]);
});

test('the order and spelling of equal values do not matter, and other values do', async () => {
  const key = randomUUID();
  const first = await send(key, { cc: 'c@x.test', surprise: 1 });
  const again = await send(key, { surprise: 2, text: 'Hello', cc: 'c@x.test' });
  expect(again.body).toBe(first.body);
});

test('another body is 409, not to be retried', async () => {
  const key = randomUUID();
  await send(key);
  const before = await countEmails();
  const other = await send(key, { text: 'Another' });
  expect([other.statusCode, other.json()]).toEqual([
    409,
    {
      error: 'Conflict',
      message: 'Idempotency key already used with different request body',
      details: 'Idempotency key already used with different request body',
      statusCode: 409,
      name: 'invalid_idempotent_request',
    },
  ]);
  expect(other.headers['x-should-retry']).toBe('false');
  expect(await countEmails()).toBe(before);
});

test('a key of another operation is 409', async () => {
  const key = randomUUID();
  await send(key);
  await gateway.actor.pool.query(`update idempotency_key set operation = 'batch' where key = $1`, [key]);
  expect((await send(key)).statusCode).toBe(409);
});

test('a reply is executed once, too, and its key is not that of a send or of another reply', async () => {
  const mails = await insertMail(
    gateway.actor,
    [1, 2].map(() => ({ workspaceId: box.workspaceId, ownAddress: box.address })),
  );
  const [path = '', otherPath = ''] = mails.map((id) => `/emails/${id}/reply`);
  const key = randomUUID();
  const first = await send(key, {}, { path });
  expect(first.statusCode, first.body).toBe(200);
  const before = await countEmails();
  expect((await send(key, {}, { path })).body).toBe(first.body);
  expect((await send(key, {}, { path: otherPath })).statusCode).toBe(409);
  expect((await send(key)).statusCode).toBe(409);
  expect(await countEmails()).toBe(before);
});

test('a reply to a thread is replayed even if its latest message can no longer be replied to', async () => {
  const ada = { text: 'ada@x.test', addresses: [{ name: null, address: 'ada@x.test' }] };
  const [original] = await insertMail(gateway.actor, [
    {
      workspaceId: box.workspaceId,
      ownAddress: box.address,
      threadId: 'th_growing',
      addresses: { from: ada, to: null, cc: null, bcc: null, replyTo: null },
    },
  ]);
  const key = randomUUID();
  const first = await send(key, { to: null }, { path: '/emails/th_growing/reply' });
  expect(first.json()).toMatchObject({ replied_to_email_id: original, is_thread_reply: true });
  const own = { text: box.address, addresses: [{ name: null, address: box.address }] };
  const addresses = { from: own, to: own, cc: null, bcc: null, replyTo: null };
  await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, ownAddress: box.address, threadId: 'th_growing', addresses },
  ]);
  expect((await send(randomUUID(), { to: null }, { path: '/emails/th_growing/reply' })).statusCode).toBe(400);
  expect((await send(key, { to: null }, { path: '/emails/th_growing/reply' })).body).toBe(first.body);
});

test('the key of another user is a different key', async () => {
  const other = await gateway.mailbox({ domain: 'theirs.test' });
  const key = randomUUID();
  const mine = await send(key);
  const theirs = await send(key, {}, { as: other });
  expect(theirs.statusCode).toBe(200);
  expect(theirs.json().id).not.toBe(mine.json().id);
});

test('twenty concurrent requests are executed once', async () => {
  const key = randomUUID();
  const before = await countEmails();
  const responses = await Promise.all(Array.from({ length: 20 }, () => send(key)));
  expect(new Set(responses.map((response) => `${response.statusCode} ${response.body}`)).size).toBe(1);
  expect(responses[0]?.statusCode).toBe(200);
  expect(await countEmails()).toBe(before + 1);
});

test('twenty concurrent requests through two gateways are executed once', async () => {
  for (let round = 0; round < 5; round++) {
    const key = randomUUID();
    const before = await countEmails();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) => send(key, {}, { through: n % 2 === 0 ? gateway : second })),
    );
    expect(new Set(responses.map((response) => `${response.statusCode} ${response.body}`)).size).toBe(1);
    expect(responses[0]?.statusCode).toBe(200);
    expect(await countEmails()).toBe(before + 1);
  }
});

test('many keys in opposite orders through two gateways are each executed once', async () => {
  const keys = Array.from({ length: 30 }, () => randomUUID());
  const before = await countEmails();
  const responses = await Promise.all([
    ...keys.map((key) => send(key)),
    ...keys.toReversed().map((key) => send(key, {}, { through: second })),
  ]);
  expect(responses.map((response) => response.statusCode)).toEqual(Array(60).fill(200));
  expect(new Set(responses.map((response) => response.json().id)).size).toBe(30);
  expect(await countEmails()).toBe(before + 30);
});

test('different bodies at once with one key: one is executed, all others are 409', async () => {
  const key = randomUUID();
  const before = await countEmails();
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, n) => send(key, { text: `${n}` }, { through: n % 2 === 0 ? gateway : second })),
  );
  expect(responses.map((response) => response.statusCode).toSorted((a, b) => a - b)).toEqual([
    200,
    ...Array(9).fill(409),
  ]);
  expect(await countEmails()).toBe(before + 1);
});

describe('while another process holds the key', () => {
  const takeKey = async (key: string) => {
    const { rows } = await gateway.owner.pool.query('select id from api_key where workspace_id = $1', [
      box.workspaceId,
    ]);
    return hold(
      `insert into idempotency_key (workspace_id, api_key_id, key, operation, request_sha256, response, created_at)
       values ($1, $3, $2, 'send', '', '{}', now())`,
      [box.workspaceId, key, rows[0].id],
    );
  };

  test('a request is 409, to be retried; other requests proceed', async () => {
    const key = randomUUID();
    const release = await takeKey(key);
    const before = await countEmails();
    try {
      const [held, free] = await Promise.all([send(key), send(randomUUID())]);
      expect([held.statusCode, held.json()]).toMatchObject([
        409,
        {
          error: 'A request with this Idempotency-Key is still being processed. Retry shortly.',
          name: 'concurrent_idempotent_requests',
        },
      ]);
      expect(held.headers['x-should-retry']).toBeUndefined();
      expect(free.statusCode).toBe(200);
    } finally {
      await release();
    }
    expect(await countEmails()).toBe(before + 1);
    expect((await send(key)).statusCode).toBe(200);
  });

  test('that dies, the request is executed', async () => {
    const key = randomUUID();
    const release = await takeKey(key);
    const response = send(key);
    try {
      const waiting = `select count(*)::integer as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      await expect.poll(async () => (await gateway.owner.pool.query(waiting)).rows[0].n).toBeGreaterThan(0);
    } finally {
      await release();
    }
    expect((await response).statusCode).toBe(200);
  });
});

test('a key is free after 24 hours by PostgreSQL’s clock', async () => {
  const key = randomUUID();
  const first = await send(key);
  await moveClock(gateway.actor, 23 * 3_600);
  expect((await send(key)).body).toBe(first.body);
  await moveClock(gateway.actor, 3_600 + 1);
  const later = await send(key, { text: 'Another' });
  expect(later.statusCode).toBe(200);
  expect(later.json().id).not.toBe(first.json().id);
  expect((await send(key, { text: 'Another' })).body).toBe(later.body);
});

test('a replay comes before later changes, such as a suppression', async () => {
  const key = randomUUID();
  const first = await send(key, { to: 'late@x.test' });
  await gateway.actor.pool.query(
    `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_late', 'late@x.test', 'bounce', now())`,
    [box.workspaceId],
  );
  expect((await send(key, { to: 'late@x.test' })).body).toBe(first.body);
  expect((await send(randomUUID(), { to: 'late@x.test' })).statusCode).toBe(400);
});

test('a refused request stores no key', async () => {
  const key = randomUUID();
  expect((await send(key, { from: 'a@strange.test' })).statusCode).toBe(403);
  expect((await send(key)).statusCode).toBe(200);
});

test.each([
  ['empty', ''],
  ['of 257 characters', 'k'.repeat(257)],
])('a key that is %s is refused', async (_what, key) => {
  const before = await countEmails();
  const response = await send(key);
  expect([response.statusCode, response.json()]).toMatchObject([
    400,
    { name: 'invalid_idempotency_key', details: [{ field: 'Idempotency-Key' }] },
  ]);
  expect(await countEmails()).toBe(before);
});

test('a key of 256 characters is accepted', async () => {
  expect((await send('k'.repeat(256))).statusCode).toBe(200);
});
