import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAcceptor } from '../../../actors/receiving/accept-message.ts';
import { checkRecipient } from '../../../actors/receiving/check-recipient.ts';
import { type FailureReportOptions, reportFailures } from '../../../actors/receiving/report-failures.ts';
import { readMailReport } from '../../../core/mime/parse-bounce.ts';
import { type IdentifierKind, makeIdentifier } from '../../../core/shared/identifiers.ts';
import { createByteStore } from '../../../db/byte-store.ts';
import type { Database } from '../../../db/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/cluster/database.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertSentMail, listRecipients, recipientCheck } from '../../support/rows/sent-mail.ts';
import { MESSAGE_COLUMNS, type MessageColumns, readStoredMessage } from '../../support/rows/stored-message.ts';
import { eventually, openReportActors } from '../../support/servers/report-actors.ts';

const log = pino({ level: 'silent' });
const givenUp = { status: 'failed', lastCode: 452, lastStatus: '4.2.2', lastText: 'Mailbox full' } as const;

let test_: TestDatabase;
let database: Database;
let mailbox: TestMailbox;
let domain: string;

beforeAll(async () => {
  test_ = await createTestDatabase();
  database = test_.open('postroom_actor');
});
afterAll(() => test_.drop());
beforeEach(async () => {
  await database.pool.query('delete from recipient');
  domain = `${randomBytes(4).toString('hex')}.test`;
  mailbox = await createMailbox(database, { domain, address: `hello@${domain}` });
});

function makeOptions(claimant = 'one', hasRoom = true): FailureReportOptions {
  const bytes = createByteStore({ database, log });
  const acceptor = createAcceptor({
    database,
    makeId: (kind: IdentifierKind) => makeIdentifier(kind, new Date(), randomBytes(10)),
    claimant,
    hasRoom: async () => hasRoom,
    ahead: null,
    queue: { hasRoom: () => false, noteAccept: () => undefined, add: () => undefined },
    bytes,
    fault: () => undefined,
  });
  const check = (recipient: string) => checkRecipient(recipientCheck(database), recipient, '');
  return { database, bytes, log, claimant, mailHostname: 'mx.test', acceptor, checkRecipient: check };
}

/** What came in for the user, and the report that it holds. */
async function received(workspaceId = mailbox.workspaceId) {
  const { rows } = await database.pool.query<
    MessageColumns & { reverse_path: string; recipient: string; own_address: string }
  >(
    `select ${MESSAGE_COLUMNS}, r.reverse_path, r.recipient, r.own_address from reception r join raw_message m on m.id = r.raw_id
     where r.workspace_id = $1 order by r.accepted_at, r.email_id`,
    [workspaceId],
  );
  return Promise.all(
    rows.map(async ({ packed, sha256, size_bytes, ...row }) => {
      const bytes = readStoredMessage({ packed, sha256, size_bytes });
      return { ...row, report: await readMailReport(bytes) };
    }),
  );
}

async function reportedAt(emailId: string) {
  return (await listRecipients(database, emailId)).map((recipient) => recipient['reported_at'] !== null);
}

test('the sender gets one DSN for the failed recipients of an email, and none for others', async () => {
  const sent = await insertSentMail(database, mailbox, {
    recipients: [
      { address: 'a@elsewhere.test', ...givenUp },
      { address: 'b@elsewhere.test', ...givenUp },
      { address: 'c@elsewhere.test', status: 'bounced', lastStatus: '5.1.1' },
      { address: 'd@elsewhere.test' },
      { address: 'e@elsewhere.test', status: 'pending' },
    ],
  });
  await database.pool.query(
    `insert into sending_attempt (workspace_id, recipient_id, number, started_at, host)
     values ($1, $2, 1, now(), 'mx1.elsewhere.test'), ($1, $2, 2, now(), 'mx2.elsewhere.test')`,
    [mailbox.workspaceId, sent.recipientIds[0]],
  );
  expect(await reportFailures(makeOptions())).toBe(2);
  const about = { action: 'failed', status: '4.2.2', diagnosticCode: '452 Mailbox full' };
  expect(await received()).toEqual([
    {
      reverse_path: '',
      recipient: mailbox.address,
      own_address: mailbox.address,
      report: expect.objectContaining({
        originalMessageId: sent.messageId,
        recipients: [
          expect.objectContaining({ ...about, finalRecipient: 'a@elsewhere.test', remoteMta: 'mx2.elsewhere.test' }),
          expect.objectContaining({ ...about, finalRecipient: 'b@elsewhere.test', remoteMta: null }),
        ],
      }),
    },
  ]);
  expect(await reportedAt(sent.emailId)).toEqual([true, true, false, false, false]);
  expect(await reportFailures(makeOptions())).toBe(0);
  expect(await received()).toHaveLength(1);
});

test('a process that died between sending a DSN and noting it sends no second one', async () => {
  const sent = await insertSentMail(database, mailbox, { recipients: [{ address: 'a@elsewhere.test', ...givenUp }] });
  for (const claimant of ['one', 'two']) {
    await reportFailures(makeOptions(claimant));
    await database.pool.query('update recipient set reported_at = null where email_id = $1', [sent.emailId]);
  }
  expect(await received()).toHaveLength(1);
});

test('two concurrent processes send one DSN', async () => {
  await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      insertSentMail(database, mailbox, { recipients: [{ address: `a${n}@elsewhere.test`, ...givenUp }] }),
    ),
  );
  const counts = await Promise.all(['one', 'two', 'three'].map((claimant) => reportFailures(makeOptions(claimant))));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(8);
  expect(await received()).toHaveLength(8);
});

test('a DSN waits while there is no room for mail', async () => {
  const sent = await insertSentMail(database, mailbox, { recipients: [{ address: 'a@elsewhere.test', ...givenUp }] });
  await reportFailures(makeOptions('one', false));
  expect(await reportedAt(sent.emailId)).toEqual([false]);
  await database.pool.query(`update recipient set claimed_until = now() - interval '1 s'`);
  await reportFailures(makeOptions());
  expect(await reportedAt(sent.emailId)).toEqual([true]);
  expect(await received()).toHaveLength(1);
});

test('a sender whose address accepts no mail gets no DSN and is not tried again', async () => {
  const { workspaceId } = mailbox;
  const off = await createMailbox(database, { workspaceId, domain, address: `off@${domain}`, isActive: false });
  const emails = [
    await insertSentMail(database, off, { recipients: [{ address: 'a@elsewhere.test', ...givenUp }] }),
    await insertSentMail(database, mailbox, {
      from: `no-reply@${domain}`,
      recipients: [{ address: 'b@elsewhere.test', ...givenUp }],
    }),
    await insertSentMail(database, mailbox, {
      from: (await insertSentMail(database, mailbox)).returnAddress(),
      recipients: [{ address: 'c@elsewhere.test', ...givenUp }],
    }),
  ];
  expect(await reportFailures(makeOptions())).toBe(3);
  for (const { emailId } of emails) expect(await reportedAt(emailId)).toEqual([true]);
  expect(await received()).toEqual([]);
});

test('a new owner of the domain gets no DSN about mail of its previous owner', async () => {
  const sent = await insertSentMail(database, mailbox, { recipients: [{ address: 'a@elsewhere.test', ...givenUp }] });
  const { workspaceId } = mailbox;
  for (const table of ['verified_domain_name', 'email_address_name', 'email_address', 'domain'])
    await database.pool.query(`delete from ${table} where workspace_id = $1`, [workspaceId]);
  const heir = await createMailbox(database, { domain, address: mailbox.address });
  await reportFailures(makeOptions());
  expect(await received(heir.workspaceId)).toEqual([]);
  expect(await received(workspaceId)).toEqual([]);
  expect(await reportedAt(sent.emailId)).toEqual([true]);
});

test('the running actor sends the DSN by itself, as received mail in the thread of the original', async () => {
  const actors = await openReportActors();
  try {
    const box = await actors.mailbox();
    const sent = await insertSentMail(actors.database, box, {
      subject: 'Dinner',
      recipients: [{ address: 'a@elsewhere.test', ...givenUp }],
    });
    actors.bus.wake('threading.assign.wake', { workspaceId: box.workspaceId, emailIds: [sent.emailId] });
    const messages = async () => {
      const { rows } = await actors.database.pool.query(
        `select type, subject, from_address, thread_id from email where workspace_id = $1 and thread_id is not null order by created_at`,
        [box.workspaceId],
      );
      return rows;
    };
    await eventually(async () => (await messages()).length === 2);
    const [original, report] = await messages();
    expect(report).toEqual({
      type: 'received',
      subject: 'Undelivered mail: Dinner',
      from_address: 'MAILER-DAEMON@mx.test',
      thread_id: original?.thread_id,
    });
    // It came to a mailbox, so it is no report that anything hangs on.
    expect(await listRecipients(actors.database, sent.emailId)).toMatchObject([{ status: 'failed' }]);
    expect(await actors.suppressions(box.workspaceId)).toEqual([]);
  } finally {
    await actors.close();
  }
});
