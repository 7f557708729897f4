import { createHash, hash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Acceptor, type AcceptRequest, createAcceptor } from '../../../actors/receiving/accept-message.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { Database } from '../../../db/connection/database.ts';
import type { Reception } from '../../../db/queries/emails/reception-claim.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { MESSAGE_COLUMNS, type MessageColumns, readStoredMessage } from '../../support/rows/stored-message.ts';

let test_: TestDatabase;
let actor: Database;
let hello: TestMailbox;
let other: TestMailbox;
let stranger: TestMailbox;
let acceptor: Acceptor;
const kept = new Map<string, Buffer>();
let handedOn: { bytes: Buffer; receptions: Reception[] }[];

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
  hello = await createMailbox(actor, { domain: 'a.test', address: 'hello@a.test' });
  other = await createMailbox(actor, { workspaceId: hello.workspaceId, domain: 'a.test', address: 'other@a.test' });
  stranger = await createMailbox(actor, { domain: 'b.test', address: 'hello@b.test' });
});
afterAll(() => test_.drop());
beforeEach(async () => {
  handedOn = [];
  acceptor = makeAcceptor({});
  await actor.pool.query('delete from reception; delete from raw_message; delete from smtp_offer;');
});

const queue: Parameters<typeof createAcceptor>[0]['queue'] = {
  hasRoom: () => true,
  noteAccept: () => undefined,
  add(queued) {
    const receptions = queued.map(({ reception }) => reception);
    handedOn.push({ bytes: kept.get(receptions[0]?.rawId ?? '') ?? Buffer.alloc(0), receptions });
  },
};

function makeAcceptor(changes: Partial<Parameters<typeof createAcceptor>[0]>): Acceptor {
  return createAcceptor({
    database: actor,
    makeId: (kind) => makeIdentifier(kind, new Date(), randomBytes(10)),
    claimant: 'receiving-1',
    hasRoom: async () => true,
    ahead: null,
    queue,
    bytes: { keep: (rawId, bytes) => void kept.set(rawId, bytes) },
    fault: () => undefined,
    ...changes,
  });
}

function offerTo(...mailboxes: TestMailbox[]): AcceptRequest {
  return {
    reversePath: 'sender@elsewhere.test',
    recipients: mailboxes.map(({ workspaceId, addressId, domainId, address }) => ({
      recipient: address,
      workspaceId,
      addressId,
      domainId,
      ownAddress: address,
    })),
    remoteAddress: '192.0.2.1',
    helo: 'mx.elsewhere.test',
    isTls: true,
    traceFields: 'Received: from mx.elsewhere.test\r\n',
  };
}

async function accept(bytes: Uint8Array, request = offerTo(hello)): Promise<string[]> {
  const reply = await acceptor.accept(request, bytes);
  if (reply.verdict !== 'accepted') throw new Error(reply.text);
  return reply.emailIds;
}

async function count(table: string): Promise<number> {
  const { rows } = await actor.pool.query<{ count: number }>(`select count(*) from ${table}`);
  return rows[0]?.count ?? -1;
}

test('an accepted message is stored, with bytes, envelope and lease, before the reply', async () => {
  const bytes = Buffer.from('Subject: a\r\n\r\n\0\xff\r\n', 'latin1');
  const [emailId] = await accept(bytes);
  const { rows } = await actor.pool.query(
    `select r.*, m.packed as bytes, encode(m.sha256, 'hex') as sha256, m.size_bytes, claimed_until > now() + interval '25 s' as is_leased
     from reception r join raw_message m on m.id = r.raw_id`,
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({
    workspace_id: hello.workspaceId,
    email_id: emailId,
    reverse_path: 'sender@elsewhere.test',
    recipient: 'hello@a.test',
    own_address: 'hello@a.test',
    address_id: hello.addressId,
    domain_id: hello.domainId,
    remote_address: '192.0.2.1',
    helo: 'mx.elsewhere.test',
    is_tls: true,
    trace_fields: 'Received: from mx.elsewhere.test\r\n',
    parsed_at: null,
    claimed_by: 'receiving-1',
    is_leased: true,
    tries: 1,
    bytes,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    size_bytes: bytes.length,
  });
  expect(handedOn).toHaveLength(1);
  expect(handedOn[0]?.bytes).toEqual(bytes);
  expect(handedOn[0]?.receptions[0]).toMatchObject({ emailId, rawId: rows[0].raw_id, acceptedAt: rows[0].accepted_at });
});

test('the same bytes from the same sender to the same recipient return the first id and store nothing', async () => {
  const first = await accept(Buffer.from('same'));
  const second = await accept(Buffer.from('same'));
  expect(second).toEqual(first);
  expect([await count('reception'), await count('raw_message'), await count('smtp_offer')]).toEqual([1, 1, 1]);
  expect(handedOn).toHaveLength(1);
});

test('another sender, other bytes or another recipient create another message', async () => {
  const ids = [
    await accept(Buffer.from('same')),
    await accept(Buffer.from('same'), { ...offerTo(hello), reversePath: '' }),
    await accept(Buffer.from('other')),
    await accept(Buffer.from('same'), offerTo(other)),
    await accept(Buffer.from('same'), offerTo(stranger)),
  ];
  expect(new Set(ids.flat()).size).toBe(5);
  expect(await count('reception')).toBe(5);
});

test('identical messages that are offered at the same moment become one message', async () => {
  for (const commitsInFlight of [1, 3]) {
    acceptor = makeAcceptor({ commitsInFlight });
    const bytes = Buffer.from(`twins ${commitsInFlight}`);
    const ids = await Promise.all(Array.from({ length: 12 }, () => accept(bytes)));
    expect(new Set(ids.flat()).size).toBe(1);
  }
  expect([await count('reception'), await count('raw_message')]).toEqual([2, 2]);
});

test('one message to two addresses of one tenant and to another tenant is three emails over one copy of the bytes', async () => {
  const ids = await accept(Buffer.from('to all'), offerTo(hello, other, stranger));
  expect(new Set(ids).size).toBe(3);
  expect([await count('reception'), await count('raw_message')]).toEqual([3, 1]);
  const { rows } = await actor.pool.query('select workspace_id, email_id, recipient from reception');
  expect(rows).toContainEqual({ workspace_id: stranger.workspaceId, email_id: ids[2], recipient: 'hello@b.test' });
  expect(handedOn[0]?.receptions.map((reception) => reception.emailId)).toEqual(ids);
});

test('a repeated offer with one more recipient returns the known id and stores the new one only', async () => {
  const [known] = await accept(Buffer.from('grows'));
  const ids = await accept(Buffer.from('grows'), offerTo(other, hello));
  expect(ids[1]).toBe(known);
  expect(ids[0]).not.toBe(known);
  expect(await count('reception')).toBe(2);
  expect(handedOn[1]?.receptions).toHaveLength(1);
});

test('a recipient named twice in one transaction gets one email', async () => {
  const ids = await accept(Buffer.from('twice'), offerTo(hello, hello));
  expect(ids[0]).toBe(ids[1]);
  expect(await count('reception')).toBe(1);
});

test('two hundred concurrent messages are all durable, with every byte as it was sent', async () => {
  const messages = Array.from({ length: 200 }, (_, n) => randomBytes(n * 150));
  const ids = await Promise.all(messages.map((bytes) => accept(bytes)));
  const { rows } = await actor.pool.query<MessageColumns & { email_id: string }>(
    `select r.email_id, ${MESSAGE_COLUMNS}
     from reception r join raw_message m on m.id = r.raw_id`,
  );
  const stored = new Map(rows.map((row) => [row.email_id, hash('sha256', readStoredMessage(row), 'hex')]));
  expect(stored.size).toBe(200);
  messages.forEach((bytes, n) => {
    expect(stored.get(ids[n]?.[0] ?? '')).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  expect(handedOn.length).toBe(200);
});

test('one invalid message in a group of fifty fails alone', async () => {
  const poisoned = offerTo(hello);
  for (const recipient of poisoned.recipients) recipient.workspaceId = 'usr_\0';
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, (_, n) => accept(Buffer.from(`member ${n}`), n === 17 ? poisoned : offerTo(hello))),
  );
  expect(results.flatMap((result, n) => (result.status === 'rejected' ? [n] : []))).toEqual([17]);
  expect(await count('reception')).toBe(49);
});

test('NUL and half surrogates in what the client says about itself do not lose the message', async () => {
  const request = { ...offerTo(hello), helo: 'a\0b\ud800', traceFields: 'Received: \0\r\n' };
  await accept(Buffer.from('odd greeting'), request);
  const { rows } = await actor.pool.query('select helo, trace_fields from reception');
  expect(rows).toEqual([{ helo: 'a\ufffdb\ufffd', trace_fields: 'Received: \ufffd\r\n' }]);
});

test('messages that come during a commit are committed together', async () => {
  const statements: number[] = [];
  acceptor = makeAcceptor({ fault: (point) => void (point === 'receiving.after-commit' && statements.push(1)) });
  await Promise.all(Array.from({ length: 65 }, (_, n) => accept(Buffer.from(`crowd ${n}`))));
  expect(statements.length).toBe(2);
});

test('without disk space the reply is 452 4.3.1 and nothing is stored', async () => {
  acceptor = makeAcceptor({ hasRoom: async () => false });
  const reply = await acceptor.accept(offerTo(hello), Buffer.from('no room'));
  expect(reply).toMatchObject({ verdict: 'refused', code: 452, enhancedCode: '4.3.1' });
  expect(await count('raw_message')).toBe(0);
});

test('a full parser leaves the row unclaimed for the next sweep', async () => {
  acceptor = makeAcceptor({ queue: { ...queue, hasRoom: () => false } });
  await accept(Buffer.from('later'));
  const { rows } = await actor.pool.query('select claimed_by, claimed_until, tries from reception');
  expect(rows).toEqual([{ claimed_by: null, claimed_until: null, tries: 0 }]);
});

test('a broken connection fails the group at once, and the same bytes offered again create one row', async () => {
  const killer = test_.open(null);
  const lost = await killer.pool.connect();
  await lost.query('begin; lock table raw_message in access exclusive mode');
  const responses = Promise.allSettled([accept(Buffer.from('lost'))]);
  await waitFor(async () => {
    const { rows } = await killer.pool.query<{ pid: number }>(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
  expect((await responses)[0]?.status).toBe('rejected');
  await lost.query('rollback');
  lost.release();
  await accept(Buffer.from('lost'));
  expect([await count('reception'), await count('raw_message')]).toEqual([1, 1]);
});

test('callers get an error at our time limit while the tables cannot be written', async () => {
  const owner = test_.open(null);
  const lock = await owner.pool.connect();
  await lock.query('begin; lock table reception in access exclusive mode');
  const responses = await Promise.allSettled(Array.from({ length: 150 }, (_, n) => accept(Buffer.from(`locked ${n}`))));
  expect(responses.every((response) => response.status === 'rejected')).toBe(true);
  await lock.query('rollback');
  lock.release();
  expect(await count('raw_message')).toBe(0);
  await accept(Buffer.from('locked 0'));
});

test('callers get an error at our time limit while every connection is in use', async () => {
  const busy = test_.open('postroom_actor');
  const held = await Promise.all(Array.from({ length: 6 }, () => busy.pool.connect()));
  acceptor = makeAcceptor({ database: busy });
  const responses = await Promise.allSettled(Array.from({ length: 70 }, (_, n) => accept(Buffer.from(`busy ${n}`))));
  expect(responses.every((response) => response.status === 'rejected')).toBe(true);
  for (const client of held) client.release();
  await accept(Buffer.from('busy 0'));
});

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
