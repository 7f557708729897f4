import { createHash, randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcceptRequest, createAcceptor } from '../../../actors/receiving/accept-message.ts';
import type { ParseOutcome } from '../../../actors/receiving/parse-messages.ts';
import { type ParsedReception, type StoreOptions, storeParsed } from '../../../actors/receiving/store-parsed.ts';
import {
  announceTaken,
  type ReadOffer,
  type TakeMessagesOptions,
  takeMessages,
} from '../../../actors/receiving/take-messages.ts';
import { type ParsedMessage, parseMessage, scanHeaders } from '../../../core/mime/parse-message.ts';
import { type IdentifierKind, makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { ThreadableMessage } from '../../../core/threads/threading.ts';
import { createByteStore } from '../../../db/byte-store.ts';
import type { Database } from '../../../db/connection/database.ts';
import { acceptGroup } from '../../../db/queries/emails/accept-group.ts';
import { type Admission } from '../../../db/queries/emails/store-received.ts';
import { analyzeTables } from '../../../db/queries/upkeep/analyze-tables.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { hasCorpora, readThreadSet, shuffled as shuffledBy, threadSets } from '../../support/mail/corpora.ts';
import { readAccountLedger } from '../../support/rows/account-ledger.ts';
import { createMailbox } from '../../support/rows/routing-rows.ts';
import {
  batches,
  canonicalPartition,
  partitionByDefinition,
  randomMail,
  seededRandom,
  shuffled,
} from '../../support/rows/thread-mail.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

let testDatabase: TestDatabase;
let database: Database;
const log = pino({ level: 'silent' });
const CLAIMANT = 'one';

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.open('postroom_actor');
});
afterAll(() => testDatabase.drop());

/** A message that was received, and what its parser made of it. */
interface Received {
  emailId: string;
  ownAddress: string;
  bytes: Buffer;
  message: ParsedMessage;
}

/** An account whose mail is stored one way or the other. */
interface Account {
  workspaceId: string;
  addressId: string;
  domainId: string;
  taking: TakeMessagesOptions;
  storing: StoreOptions;
}

async function openAccount(): Promise<Account> {
  const domain = `${randomBytes(4).toString('hex')}.test`;
  const { workspaceId, addressId, domainId } = await createMailbox(database, { domain, address: `hello@${domain}` });
  let count = 0;
  const makeId = (kind: IdentifierKind) => `${kind}_${String(count++).padStart(8, '0')}`;
  const context = testActorContext(database);
  const shared = { database, log, claimant: CLAIMANT, mailHostname: 'mx.test', makeId };
  const bytes = createByteStore({ database, log });
  return {
    workspaceId,
    addressId,
    domainId,
    taking: { ...shared, bytes, bus: context.bus, directDelivery: { current: null } },
    storing: { ...shared, bytes, now: () => new Date(), random: (length) => randomBytes(length) },
  };
}

function readOffers({ workspaceId, addressId, domainId }: Account, group: readonly Received[]): ReadOffer[] {
  return group.map(({ emailId, ownAddress, bytes, message }) => {
    const outcome: ParseOutcome = {
      emailId,
      message,
      authentication: null,
      report: null,
      dmarcReport: null,
    };
    return {
      startedTick: 0,
      outcome,
      offer: {
        envelope: {
          reversePath: 'sender@elsewhere.test',
          remoteAddress: '192.0.2.1',
          helo: 'elsewhere.test',
          isTls: false,
          traceFields: '',
          recipients: [{ workspaceId, recipient: ownAddress, ownAddress, addressId, domainId }],
        },
        bytes,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        rawId: `raw_${randomBytes(12).toString('hex')}`,
        emailIds: [emailId],
        traceParent: null,
        repeatSeconds: 600,
      },
    };
  });
}

/** Stores a group by the statement, and what that only accepts as mail that is parsed later. Returns how many it took. */
async function storeByStatement(account: Account, group: readonly Received[]): Promise<number> {
  const read = readOffers(account, group);
  const taken = await takeMessages(account.taking, read, true);
  if (taken === null) throw new Error('the group could not be taken');
  await storeRest(
    account,
    read,
    taken.outcomes.map(({ accepted }) => accepted),
  );
  return taken.outcomes.flatMap((outcome) => outcome.taken).length;
}

/** Stores a group as mail that is parsed after its commit. */
async function storeInSteps(account: Account, group: readonly Received[]): Promise<void> {
  const read = readOffers(account, group);
  const outcomes = await acceptGroup(
    database.pool,
    read.map(({ offer }) => offer),
    CLAIMANT,
  );
  await storeRest(
    account,
    read,
    outcomes.map(({ accepted }) => accepted),
  );
}

async function storeRest(
  account: Account,
  read: readonly ReadOffer[],
  accepted: readonly ParsedReception['reception'][][],
): Promise<void> {
  const parsed = read.flatMap(({ outcome }, at) =>
    (accepted[at] ?? []).flatMap((reception) => (outcome === null ? [] : [{ reception, outcome }])),
  );
  if (parsed.length > 0) await storeParsed(account.storing, parsed);
}

function makeReceived(random: () => number, { addresses, ...mail }: ThreadableMessage): Received {
  const bytes = Buffer.from(`Message-ID: ${mail.messageId}\r\n\r\n${mail.emailId}`);
  const [from, ...to] = addresses.map((address) => ({ name: random() < 0.5 ? `Name ${address[0]}` : null, address }));
  const list = (mailboxes: { name: string | null; address: string }[]) => ({
    text: mailboxes.map(({ address }) => address).join(', '),
    addresses: mailboxes,
  });
  const message: ParsedMessage = {
    ...scanHeaders(bytes, ''),
    parseError: null,
    messageId: mail.messageId,
    inReplyTo: [...mail.inReplyTo],
    references: [...mail.references],
    subject: mail.subject,
    date: mail.date,
    addresses: { from: list(from === undefined ? [] : [from]), to: list(to), cc: null, bcc: null, replyTo: null },
  };
  return { emailId: mail.emailId, ownAddress: mail.ownAddress, bytes, message };
}

async function readThreads({ workspaceId }: Account): Promise<Map<string, string>> {
  const { rows } = await database.pool.query<{ id: string; thread_id: string | null }>(
    'select id, thread_id from email where workspace_id = $1',
    [workspaceId],
  );
  return canonicalPartition(new Map(rows.map((row) => [row.id, row.thread_id ?? ''])));
}

describe('mail that one statement takes', () => {
  test('has the same rows as mail that is parsed after its commit, and the threads of the definition', async () => {
    let takenCount = 0;
    let count = 0;
    for (let seed = 0; seed < 24; seed++) {
      const random = seededRandom(7_000 + seed);
      const messages = randomMail(random, {
        count: [12, 40][seed % 2] ?? 0,
        referringShare: [0, 0.2, 0.6][seed % 3] ?? 0,
        days: 40 + (seed % 4) * 400,
      });
      const order = shuffled(messages, random).map((mail, at) => ({
        ...mail,
        emailId: `em_${String(at).padStart(4, '0')}`,
      }));
      const mails = order.map((mail) => makeReceived(random, mail));
      const [whole, stepwise] = [await openAccount(), await openAccount()];
      for (const group of batches(mails, 6, random)) {
        takenCount += await storeByStatement(whole, group);
        count += group.length;
        await storeInSteps(stepwise, group);
      }
      expect(await readThreads(whole), `seed ${seed}`).toEqual(partitionByDefinition(order));
      expect(await readAccountLedger(database, whole.workspaceId), `seed ${seed}`).toEqual(
        await readAccountLedger(database, stepwise.workspaceId),
      );
    }
    // The rest is in a thread in which more changes than its end.
    expect(takenCount / count).toBeGreaterThan(0.2);
  });

  test.skipIf(!hasCorpora).each(threadSets)(
    'of %s, in the order of arrival and shuffled, is stored as after its commit',
    async (name) => {
      const { messages } = await readThreadSet(name);
      const parsed = await Promise.all(
        messages.slice(0, MAX_REAL).map(async ({ bytes }) => ({ bytes, message: await parseMessage(bytes) })),
      );
      for (const seed of [0, 1, 2]) {
        const order = seed === 0 ? parsed : shuffledBy(parsed, seed);
        const [whole, stepwise] = [await openAccount(), await openAccount()];
        const mails = order.map((mail, at) => ({
          ...mail,
          emailId: `em_${String(at).padStart(6, '0')}`,
          ownAddress: 'list@inbox.test',
        }));
        let takenCount = 0;
        for (const group of batches(mails, 12, seededRandom(seed))) {
          takenCount += await storeByStatement(whole, group);
          await storeInSteps(stepwise, group);
        }
        await analyzeTables(database);
        expect(takenCount).toBeGreaterThan(MIN_TAKEN * mails.length);
        expect(await readAccountLedger(database, whole.workspaceId), `order ${seed}`).toEqual(
          await readAccountLedger(database, stepwise.workspaceId),
        );
      }
    },
  );
});

/** Accepts messages that were read at the same time. Returns their ids, and those of the messages that wait for the parser. */
async function acceptTogether(
  account: Account,
  mails: readonly Received[],
  readFacts: (n: number) => Partial<AcceptRequest> = () => ({}),
) {
  const read = readOffers(account, mails);
  const outcomes = new Map(read.map(({ offer, outcome }) => [offer.bytes.toString(), outcome]));
  const accepted: string[] = [];
  const acceptor = createAcceptor({
    database,
    makeId: (kind) => makeIdentifier(kind, new Date(), randomBytes(10)),
    claimant: CLAIMANT,
    hasRoom: () => Promise.resolve(true),
    queue: {
      hasRoom: () => true,
      noteAccept: () => undefined,
      add: (queued) => void accepted.push(...queued.map(({ reception }) => reception.emailId)),
    },
    bytes: account.taking.bytes,
    ahead: {
      taking: account.taking,
      reading: {
        read: async ({ bytes }) => outcomes.get(bytes.toString()) ?? null,
        take: () => undefined,
        forget: () => undefined,
      },
    },
    fault: () => undefined,
  });
  const replies = await Promise.all(
    read.map(({ offer: { envelope, bytes } }, n) =>
      acceptor.accept({ ...envelope, recipients: [...envelope.recipients], ...readFacts(n) } as AcceptRequest, bytes),
    ),
  );
  const ids = replies.map((reply) => (reply.verdict === 'accepted' ? (reply.emailIds[0] ?? '') : ''));
  return { ids, accepted };
}

/** Messages that belong to different threads. */
function separateMails(count: number): Received[] {
  return Array.from({ length: count }, (_, n) =>
    makeReceived(() => 1, {
      emailId: `em_${n}`,
      ownAddress: 'hello@inbox.test',
      messageId: `<${n}@elsewhere.test>`,
      inReplyTo: [],
      references: [],
      subject: `Mail ${n}`,
      baseSubject: `mail ${n}`,
      createdAt: new Date(),
      date: new Date(),
      addresses: [`sender${n}@elsewhere.test`],
    }),
  );
}

async function storedIds({ workspaceId }: Account): Promise<Set<string>> {
  const { rows } = await database.pool.query<{ id: string }>('select id from email where workspace_id = $1', [
    workspaceId,
  ]);
  return new Set(rows.map(({ id }) => id));
}

describe('in a group', () => {
  test('accepts alone a message that PostgreSQL refuses, and takes the others', async () => {
    const account = await openAccount();
    const mails = separateMails(20).map((mail, n) =>
      n === 7 ? { ...mail, message: { ...mail.message, textBody: 'a\0b' } } : mail,
    );
    const { ids, accepted } = await acceptTogether(account, mails);
    expect(accepted).toEqual([ids[7]]);
    expect(await storedIds(account)).toEqual(new Set(ids.filter((_, n) => n !== 7)));
  });

  test('accepts alone a message that may belong to another one, and takes the others', async () => {
    const account = await openAccount();
    const mails = separateMails(20).map((mail, n) =>
      n === 7 ? { ...mail, message: { ...mail.message, references: ['<3@elsewhere.test>'] } } : mail,
    );
    const { ids, accepted } = await acceptTogether(account, mails);
    expect(accepted).toEqual([ids[7]]);
    expect(await storedIds(account)).toEqual(new Set(ids.filter((_, n) => n !== 7)));
  });
});

test('mail that is simulated or imported beside other mail is stored as such', async () => {
  const account = await openAccount();
  const imported = { date: '2003-01-02T03:04:05.000Z', isRead: true, isRouted: false };
  const { ids, accepted } = await acceptTogether(account, separateMails(20), (n) => {
    if (n === 7) return { isTest: true };
    return n === 9 ? { imported } : {};
  });
  expect(new Set(accepted)).toEqual(new Set([ids[7], ids[9]]));
  const { rows } = await database.pool.query<{ email_id: string; is_test: boolean; imported: unknown }>(
    'select email_id, is_test, imported from reception where workspace_id = $1 and (is_test or imported is not null) order by is_test',
    [account.workspaceId],
  );
  expect(rows).toEqual([
    { email_id: ids[9], is_test: false, imported },
    { email_id: ids[7], is_test: true, imported: null },
  ]);
});

/** Messages of each set. */
const MAX_REAL = 150;
/** Share of real mail that the statement takes at least, in groups of up to twelve. */
const MIN_TAKEN = 0.2;

test.each<[Admission, number, boolean]>([
  ['started', 100, false],
  ['claimed', 100, true],
  ['left', 100, true],
  // Its attempt reads it.
  ['started', 300_000, true],
])(
  'the bytes of a message are kept where its attempt will read them: %s, %d bytes',
  async (admission, size, isKept) => {
    const domain = `${randomBytes(4).toString('hex')}.test`;
    const mailbox = await createMailbox(database, {
      domain,
      address: `hello@${domain}`,
      endpointUrl: 'http://127.0.0.1:9/',
    });
    const { workspaceId, addressId, domainId, endpointId } = mailbox;
    const { rows } = await database.pool.query<{ version: string }>('select route_version($1, $2, $3) as version', [
      workspaceId,
      addressId,
      domainId,
    ]);
    const account = await openAccount();
    const started: unknown[] = [];
    const delivery = { id: `dlv_${randomBytes(16).toString('hex')}`, attemptsAllowed: 4, admission };
    const { version = '' } = rows[0] ?? {};
    const route = { version, outcome: 'endpoint', via: 'address', endpointId, reason: null, delivery } as const;
    const taking: TakeMessagesOptions = {
      ...account.taking,
      directDelivery: {
        current: {
          plan: (mails) => Promise.resolve(mails.map(() => route)),
          start: (routed) => started.push(...routed),
          forget: () => undefined,
        },
      },
    };
    const bytes = Buffer.from(`Message-ID: <${domain}>\r\n\r\n${'x'.repeat(size)}`);
    const message = await parseMessage(bytes);
    const emailId = `em_${randomBytes(16).toString('hex')}`;
    const read = readOffers({ ...account, ...mailbox }, [{ emailId, ownAddress: `hello@${domain}`, bytes, message }]);
    const taken = await takeMessages(taking, read, true);
    if (taken === null) throw new Error('the message could not be taken');
    announceTaken(taking, taken);
    expect(started).toHaveLength(1);
    expect(taking.bytes.has(read[0]?.offer.rawId ?? '')).toBe(isKept);
  },
);
