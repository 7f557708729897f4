import { hash, randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Acceptor, type AcceptRequest, createAcceptor } from '../../../actors/receiving/accept-message.ts';
import type { ReadAhead } from '../../../actors/receiving/take-messages.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { type IdentifierKind, makeIdentifier } from '../../../core/shared/identifiers.ts';
import { createByteStore } from '../../../db/byte-store.ts';
import type { Database } from '../../../db/connection/database.ts';
import { insertReplyAddress } from '../../../db/queries/domains/reply-address-state.ts';
import { removeOldOffers } from '../../../db/queries/emails/accept-group.ts';
import { removeEmails } from '../../../db/queries/upkeep/remove-emails.ts';
import { receivingMetrics } from '../../../schema/metrics.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

let testDatabase: TestDatabase;
let database: Database;
let hello: TestMailbox;
let other: TestMailbox;

const makeId = (kind: IdentifierKind) => makeIdentifier(kind, new Date(), randomBytes(10));

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
});
afterAll(() => testDatabase.drop());
beforeEach(async () => {
  const domain = `${randomBytes(4).toString('hex')}.test`;
  hello = await createMailbox(database, { domain, address: `hello@${domain}` });
  other = await createMailbox(database, { workspaceId: hello.workspaceId, domain, address: `other@${domain}` });
  await database.pool.query(`update clock set shift = '0'`);
});

/** Reads each message before its commit, however long it takes. */
const reading: ReadAhead = {
  async read({ bytes, emailIds }) {
    const message = await parseMessage(bytes);
    const emailId = emailIds[0] ?? '';
    return { emailId, message, authentication: null, report: null, dmarcReport: null };
  },
  take: () => undefined,
  forget: () => undefined,
};

function openAcceptor(
  way: 'accepted' | 'taken',
  changes: Partial<Parameters<typeof createAcceptor>[0]> = {},
): Acceptor {
  const log = pino({ level: 'silent' });
  const { bus } = testActorContext(database);
  return createAcceptor({
    database,
    makeId,
    claimant: 'receiving-1',
    hasRoom: async () => true,
    ahead:
      way === 'accepted'
        ? null
        : {
            reading,
            taking: {
              database,
              bytes: createByteStore({ database, log }),
              bus,
              log,
              directDelivery: { current: null },
              claimant: 'receiving-1',
              mailHostname: 'mx.test',
              makeId,
            },
          },
    queue: { hasRoom: () => true, noteAccept: () => undefined, add: () => undefined },
    bytes: { keep: () => undefined },
    fault: () => undefined,
    ...changes,
  });
}

function requestTo(...mailboxes: TestMailbox[]): AcceptRequest {
  return {
    reversePath: 'nas@office.test',
    recipients: mailboxes.map(({ workspaceId, addressId, domainId, address }) => ({
      recipient: address,
      workspaceId,
      addressId,
      domainId,
      ownAddress: address,
    })),
    remoteAddress: '192.0.2.1',
    helo: 'nas.office.test',
    isTls: false,
    traceFields: '',
  };
}

const PLAIN = ['From: nas@office.test', 'Subject: Disk 2 fails', '', 'Replace it.'];
const DATED = ['Date: Sat, 28 Nov 2026 10:00:00 +0000', ...PLAIN];
const NAMED = ['Message-ID: <alarm@office.test>', ...PLAIN];
const WHOLE = ['Message-ID: <alarm@office.test>', ...DATED];

const toBytes = (lines: readonly string[]) => Buffer.from(lines.join('\r\n'));

async function pass(interval: string): Promise<void> {
  await database.pool.query('update clock set shift = shift + $1::interval', [interval]);
}

async function run<T>(text: string, values: unknown[] = []): Promise<T[]> {
  const { rows } = await database.pool.query(text, values);
  return rows as T[];
}

async function receptions(): Promise<{ email_id: string; repeat_count: number }[]> {
  return run(`select email_id, repeat_count from reception where workspace_id = $1 order by accepted_at, email_id`, [
    hello.workspaceId,
  ]);
}

async function readRepeated(): Promise<number> {
  const { values } = await receivingMetrics.repeated.get();
  return values[0]?.value ?? 0;
}

describe.each(['accepted', 'taken'] as const)('a message that is %s', (way) => {
  let acceptor: Acceptor;
  beforeEach(() => {
    acceptor = openAcceptor(way);
  });

  async function offer(lines: readonly string[], request = requestTo(hello)) {
    const reply = await acceptor.accept(request, toBytes(lines));
    if (reply.verdict !== 'accepted') throw new Error(reply.text);
    return { ids: reply.emailIds, isRepeated: reply.isRepeated === true };
  }

  test.each([
    ['nothing', PLAIN, '10 minutes', false],
    ['a Date only', DATED, '10 minutes', false],
    ['a Message-ID only', NAMED, '10 minutes', false],
    ['an empty Message-ID', ['Message-ID: ', ...DATED], '10 minutes', false],
    ['nothing, in time', PLAIN, '9 minutes 50 seconds', true],
    ['both', WHOLE, '4 days 23 hours', true],
    ['both, after the retries of every server', WHOLE, '5 days 1 second', false],
    ['both, folded', ['Message-ID:', ' <folded@office.test>', ...DATED], '4 days', true],
  ])('with %s is recognized while its client may repeat it', async (_, lines, later, isRepeated) => {
    const first = await offer(lines);
    expect(first.isRepeated).toBe(false);
    await pass(later);
    const second = await offer(lines);
    expect(second).toEqual(isRepeated ? { ids: first.ids, isRepeated } : { ids: [expect.any(String)], isRepeated });
    expect(await receptions()).toHaveLength(isRepeated ? 1 : 2);
  });

  test('is recognized again after its period restarted', async () => {
    const first = await offer(PLAIN);
    await pass('11 minutes');
    const second = await offer(PLAIN);
    await pass('9 minutes');
    const third = await offer(PLAIN);
    expect(second.ids).not.toEqual(first.ids);
    expect(third).toEqual({ ids: second.ids, isRepeated: true });
  });

  // What is known of it is nothing but a row: the hash of its bytes, without anything that a process chose for itself.
  test.each(['accepted', 'taken'] as const)(
    'is recognized after a restart by one that has messages %s',
    async (next) => {
      const first = await offer(WHOLE);
      const sha256 = hash('sha256', toBytes(WHOLE), 'hex');
      const known = `select from smtp_offer where workspace_id = $1 and email_id = $2 and sha256 = decode($3, 'hex')`;
      expect(await run(known, [hello.workspaceId, first.ids[0], sha256])).toHaveLength(1);
      acceptor = openAcceptor(next, { claimant: 'receiving-2' });
      await pass('4 days');
      expect(await offer(WHOLE)).toEqual({ ids: first.ids, isRepeated: true });
      expect((await receptions()).map(({ repeat_count: count }) => count)).toEqual([1]);
    },
  );

  test('is new when another client sends it', async () => {
    const first = await offer(WHOLE);
    const second = await offer(WHOLE, { ...requestTo(hello), remoteAddress: '192.0.2.2' });
    expect(second.isRepeated).toBe(false);
    expect(second.ids).not.toEqual(first.ids);
  });

  test('is new when the user moved the first one to the trash', async () => {
    const [first = ''] = (await offer(WHOLE)).ids;
    await run(
      `insert into email (workspace_id, id, type, status, created_at, own_address, own_domain, message_id, subject, base_subject, from_address,
         from_text, to_addresses, cc_addresses, preview)
       values ($1, $2, 'received', 'delivered', now(), '', '', '', '', '', '', '', '{}', '{}', '') on conflict do nothing`,
      [hello.workspaceId, first],
    );
    await run('update email set trashed_at = now() where workspace_id = $1 and id = $2', [hello.workspaceId, first]);
    const second = await offer(WHOLE);
    expect(second.isRepeated).toBe(false);
    expect(await offer(WHOLE)).toEqual({ ids: second.ids, isRepeated: true });
    expect(await receptions()).toHaveLength(2);
  });

  test('is new when the user removed the first one', async () => {
    const [first = ''] = (await offer(WHOLE)).ids;
    await run(`update email set thread_id = 'none' where workspace_id = $1 and id = $2`, [hello.workspaceId, first]);
    await run(`update route set outcome = 'stored' where workspace_id = $1`, [hello.workspaceId]);
    if (way === 'taken') {
      const client = await database.pool.connect();
      try {
        expect(await removeEmails(client, hello.workspaceId, [first])).toBe(1);
      } finally {
        client.release();
      }
    } else await run('delete from reception where workspace_id = $1', [hello.workspaceId]);
    const second = await offer(WHOLE);
    expect(second.isRepeated).toBe(false);
    expect((await receptions()).map(({ email_id: id }) => id)).toEqual(second.ids);
  });

  test('to a known recipient and a new one is stored for the new one', async () => {
    const [known] = (await offer(WHOLE)).ids;
    const { ids, isRepeated } = await offer(WHOLE, requestTo(other, hello));
    expect(isRepeated).toBe(false);
    expect(ids[1]).toBe(known);
    expect(await offer(WHOLE, requestTo(other, hello))).toEqual({ ids, isRepeated: true });
    expect((await receptions()).find(({ email_id: id }) => id === known)?.repeat_count).toBe(2);
  });

  test('counts its repetitions in the row and in the metric', async () => {
    const before = await readRepeated();
    await offer(WHOLE);
    for (let time = 0; time < 3; time++) await offer(WHOLE);
    expect((await receptions()).map(({ repeat_count: count }) => count)).toEqual([3]);
    expect((await readRepeated()) - before).toBe(3);
  });

  test('that names a recipient twice is not a repetition', async () => {
    const { ids, isRepeated } = await offer(WHOLE, requestTo(hello, hello));
    expect(new Set(ids).size).toBe(1);
    expect(isRepeated).toBe(false);
    expect((await receptions()).map(({ repeat_count: count }) => count)).toEqual([0]);
  });

  test.each([1, 3])('offered 12 times at once in %i groups is one email', async (commitsInFlight) => {
    acceptor = openAcceptor(way, { commitsInFlight });
    const all = await Promise.all(Array.from({ length: 12 }, () => offer(WHOLE)));
    expect(new Set(all.flatMap(({ ids }) => ids)).size).toBe(1);
    expect(all.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1);
    expect((await receptions()).map(({ repeat_count: count }) => count)).toEqual([11]);
  });

  test.each([1, 3])(
    'offered 12 times at once after its time, in %i groups, is one new email',
    async (commitsInFlight) => {
      const first = await offer(PLAIN);
      await pass('11 minutes');
      acceptor = openAcceptor(way, { commitsInFlight });
      const all = await Promise.all(Array.from({ length: 12 }, () => offer(PLAIN)));
      expect(new Set(all.flatMap(({ ids }) => ids)).size).toBe(1);
      expect(all[0]?.ids).not.toEqual(first.ids);
      expect(await receptions()).toHaveLength(2);
    },
  );
});

test('a repetition to a reply address counts once, and as a new message after its time', async () => {
  const acceptor = openAcceptor('accepted');
  const id = makeId('reply-address' as IdentifierKind);
  const client = await database.pool.connect();
  try {
    await insertReplyAddress(client, hello.workspaceId, {
      id,
      domainId: hello.domainId,
      domain: hello.address.split('@')[1] ?? '',
      deliverTo: hello.address,
      metadata: null,
      threadId: null,
      senders: [],
      maxMessages: 2,
      expiresAt: null,
      createdAt: new Date(),
    });
  } finally {
    client.release();
  }
  const request = requestTo(hello);
  for (const recipient of request.recipients) recipient.replyAddressId = id;
  const replies = [];
  for (const later of ['0', '9 minutes', '2 minutes', '11 minutes']) {
    await pass(later);
    replies.push(await acceptor.accept(request, toBytes(PLAIN)));
  }
  expect(replies.map((reply) => (reply.verdict === 'accepted' ? (reply.isRepeated ?? false) : reply.code))).toEqual([
    false,
    true,
    false,
    550,
  ]);
});

test('offers that expired are removed, others stay', async () => {
  const acceptor = openAcceptor('accepted');
  await acceptor.accept(requestTo(hello), toBytes(PLAIN));
  await acceptor.accept(requestTo(hello), toBytes(WHOLE));
  await pass('1 hour');
  while ((await removeOldOffers(database)) > 0);
  expect(await run('select from smtp_offer where workspace_id = $1', [hello.workspaceId])).toHaveLength(1);
});
