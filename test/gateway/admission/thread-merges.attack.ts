import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { insertKey } from '../../support/rows/key-rows.ts';
import { insertThread } from '../../support/rows/mail-rows.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { type GatewayProcess, startGatewayProcess } from '../../support/servers/gateway-process.ts';
import { type NatsServer, startNatsServer } from '../../support/servers/nats.ts';
import { findThreadFaults } from '../../support/stages/thread-stage.ts';

/*
 * Threads that are merged by those who may not, by two gateways at once, and by one that is killed meanwhile. Whatever happens, each message is
 * in one thread, and a key that is limited to an address sees the messages of that address and no others.
 */

const AT_ONCE = 20;
const SALES = 'sales@merges.test';
const HOME = 'hello@merges.test';

let database: TestDatabase;
let nats: NatsServer;
let owner: Database;
let actor: Database;
let box: TestMailbox;
let foreign: TestMailbox;
/** sees mail of SALES */
let limitedKey: string;
let gateways: [GatewayProcess, GatewayProcess];
let minutes = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  nats = await startNatsServer();
  owner = database.open(null);
  actor = database.open('postroom_actor');
  box = await createMailbox(owner, { domain: 'merges.test', address: HOME });
  await createMailbox(owner, { workspaceId: box.workspaceId, domain: 'merges.test', address: SALES });
  foreign = await createMailbox(owner, { domain: 'foreign.test', address: 'hello@foreign.test' });
  const scopes = ['read', 'send'] as const;
  limitedKey = (await insertKey(owner, box, { scopes, addresses: [SALES] })).secret;
  gateways = [await start(), await start()];
});
afterAll(async () => {
  await Promise.all((gateways ?? []).map((gateway) => gateway.end('SIGTERM')));
  await nats?.close();
  await database?.drop();
});

const start = () =>
  startGatewayProcess({
    ...database.environment,
    NATS_URL: nats.url,
    RATE_LIMIT_PER_SECOND: '0',
    ALLOW_UNSAFE_WRITES: 'true',
    LOG_LEVEL: 'warn',
  });

interface Made {
  threadId: string;
  emailIds: string[];
}

function makeThread(ownAddress: string, { workspaceId }: TestMailbox = box): Promise<Made> {
  const lastMessageAt = new Date(Date.now() - 86_400_000 + minutes++ * 180_000);
  const participants = ['ada@elsewhere.test', ownAddress];
  return insertThread(owner, {
    workspaceId,
    count: 1,
    lastMessageAt,
    ownAddress,
    participants,
    subject: `Case ${minutes}`,
  });
}

function merge(threadIds: readonly string[], { url }: GatewayProcess = gateways[0], key = box.apiKey) {
  return fetch(`${url}/api/e2/mail/threads/merge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ thread_ids: threadIds }),
  });
}

async function read(path: string, key: string): Promise<{ status: number; body: string }> {
  const response = await fetch(`${gateways[1].url}/api/e2${path}`, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: await response.text() };
}

/** Returns the thread of each message. */
async function listThreads(emailIds: readonly string[]): Promise<(string | null)[]> {
  const { rows } = await owner.pool.query('select id, thread_id from email where id = any ($1)', [emailIds]);
  const places = new Map(rows.map(({ id, thread_id }) => [id, thread_id]));
  return emailIds.map((id) => places.get(id) ?? null);
}

/** What the limited key reads of messages by their ids, and of the thread of both. */
async function expectLimited(threadId: string, seen: readonly string[], hidden: readonly string[]): Promise<void> {
  for (const id of seen) expect((await read(`/emails/${id}`, limitedKey)).status).toBe(200);
  for (const id of hidden) expect((await read(`/emails/${id}`, limitedKey)).status).toBe(404);
  const pages = [
    await read(`/mail/threads/${threadId}`, limitedKey),
    await read('/mail/threads?limit=100', limitedKey),
  ];
  for (const { body } of pages) for (const id of hidden) expect(body).not.toContain(id);
  // A thread with messages of other addresses does not exist for it.
  expect(pages.map(({ status }) => status)).toEqual([404, 200]);
}

async function expectWhole(): Promise<void> {
  for (const { workspaceId } of [box, foreign]) expect(await findThreadFaults(actor, workspaceId)).toEqual([]);
}

describe('who may not', () => {
  test('a limited key merges neither what it sees nor what it does not', async () => {
    const made = [await makeThread(SALES), await makeThread(HOME), await makeThread(SALES)] as const;
    const [seen, hidden, other] = made.map(({ threadId }) => threadId) as [string, string, string];
    const before = await listThreads(made.flatMap(({ emailIds }) => emailIds));
    const statuses = await Promise.all(
      [
        [seen, hidden],
        [hidden, seen],
        [seen, other],
        [seen, 'thr_unknown'],
      ].map(async (ids) => (await merge(ids, gateways[0], limitedKey)).status),
    );
    // The same for a thread that there is and for one that there is not.
    expect(statuses).toEqual([403, 403, 403, 403]);
    expect(await listThreads(made.flatMap(({ emailIds }) => emailIds))).toEqual(before);
    await expectWhole();
  });

  test('threads of another account are not found, whichever side they are on, and nothing moves', async () => {
    const own = await makeThread(HOME);
    const theirs = await makeThread(foreign.address, foreign);
    const emailIds = [...own.emailIds, ...theirs.emailIds];
    const before = await listThreads(emailIds);
    const tries = [
      merge([own.threadId, theirs.threadId]),
      merge([theirs.threadId, own.threadId]),
      merge([own.threadId, theirs.threadId], gateways[1], foreign.apiKey),
      merge([own.threadId, 'thr_unknown']),
    ];
    const responses = await Promise.all(tries.map(async (each) => (await each).json() as Promise<{ message: string }>));
    expect(new Set((await Promise.all(tries)).map(({ status }) => status))).toEqual(new Set([404]));
    // They do not tell a thread of another account from one that does not exist.
    expect(new Set(responses.map(({ message }) => message)).size).toBe(1);
    expect(await listThreads(emailIds)).toEqual(before);
    await expectWhole();
  });
});

test('after a merge by the owner, a limited key reads the messages of its address, and no others', async () => {
  const [mine, hidden] = [await makeThread(SALES), await makeThread(HOME)];
  expect((await merge([hidden.threadId, mine.threadId])).status).toBe(200);
  const [threadId = ''] = await listThreads(mine.emailIds);
  expect(new Set(await listThreads([...mine.emailIds, ...hidden.emailIds]))).toEqual(new Set([threadId]));
  await expectLimited(threadId ?? '', mine.emailIds, hidden.emailIds);
  await expectWhole();
});

test(`${AT_ONCE} merges of the same threads at once, from both sides, by two gateways, end in one thread`, async () => {
  const made = [await makeThread(SALES), await makeThread(HOME), await makeThread(SALES)];
  const ids = made.map(({ threadId }) => threadId);
  const statuses = await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, at) => {
      const [first = '', second = ''] = [ids[at % 3], ids[(at + 1) % 3]];
      return (await merge(at % 2 === 0 ? [first, second] : [second, first], gateways[at % 2])).status;
    }),
  );
  for (const status of statuses) expect([200, 409]).toContain(status);
  // Refused ones are repeated, as their clients do.
  expect((await merge(ids)).status).toBe(200);
  const emailIds = made.flatMap((each) => each.emailIds);
  expect(new Set(await listThreads(emailIds))).toEqual(new Set([ids[0]]));
  for (const id of ids) expect((await read(`/mail/threads/${id}`, box.apiKey)).body).toContain(ids[0]);
  const [first, second, third] = made as [Made, Made, Made];
  await expectLimited(ids[2] ?? '', [...first.emailIds, ...third.emailIds], second.emailIds);
  await expectWhole();
});

test(`a gateway that is killed during ${AT_ONCE} merges leaves each of them done or not begun; repeated, all are done`, async () => {
  const pairs: [Made, Made][] = [];
  for (let at = 0; at < AT_ONCE; at++) pairs.push([await makeThread(SALES), await makeThread(HOME)]);
  const [victim] = gateways;
  let responded = 0;
  const outcomes = await Promise.all(
    pairs.map(([one, other]) =>
      merge([one.threadId, other.threadId], victim).then(
        async ({ status }) => {
          // After the first responses, while the others wait for the lock of the account's threads.
          if (++responded === 3) await victim.end('SIGKILL');
          return status;
        },
        () => 'killed',
      ),
    ),
  );
  expect(outcomes).toContain('killed');
  gateways[0] = await start();
  await expectWhole();
  for (const [at, [one, other]] of pairs.entries()) {
    const homes = await listThreads([...one.emailIds, ...other.emailIds]);
    // What was answered is done.
    if (outcomes[at] === 200) expect(homes).toEqual([one.threadId, one.threadId]);
    else expect([one.threadId, other.threadId]).toEqual(expect.arrayContaining(homes));
    expect((await merge([other.threadId, one.threadId])).status).toBe(200);
    expect(new Set(await listThreads([...one.emailIds, ...other.emailIds]))).toEqual(new Set([one.threadId]));
    await expectLimited(one.threadId, one.emailIds, other.emailIds);
  }
  await expectWhole();
});
