import type { ClientBase } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Database } from '../../../../db/connection/database.ts';
import { inTransaction } from '../../../../db/connection/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';
import { wrongTotals } from '../../../support/rows/outgoing-rows.ts';
import { createMailbox, type TestMailbox } from '../../../support/rows/routing-rows.ts';
import { insertSentMail, type SentMail } from '../../../support/rows/sent-mail.ts';
import { waitFor } from '../../../support/wait-for.ts';

type Status = 'pending' | 'delivered' | 'bounced' | 'failed';

let test_: TestDatabase;
let actor: Database;
let mailbox: TestMailbox;

beforeAll(async () => {
  test_ = await createTestDatabase();
  actor = test_.open('postroom_actor');
});
afterAll(() => test_.drop());
let number = 0;
beforeEach(async () => {
  const domain = `box${number++}.test`;
  mailbox = await createMailbox(actor, { domain, address: `hello@${domain}` });
});

const pending = (count: number) =>
  insertSentMail(actor, mailbox, {
    recipients: Array.from({ length: count }, (_, n) => ({ address: `r${n}@elsewhere.test`, status: 'pending' })),
  });

async function settle(client: ClientBase, mail: SentMail, position: number, status: Status): Promise<void> {
  await client.query(
    `update recipient set status = $3, last_text = $4, settled_at = postroom_now() + $5 * interval '1 second'
     where workspace_id = $1 and id = $2`,
    [mailbox.workspaceId, mail.recipientIds[position], status, `${status} ${position}`, position],
  );
}

async function refresh(client: ClientBase, mails: readonly SentMail[], workspaceId = mailbox.workspaceId) {
  const { rows } = await client.query<{ workspace_id: string; email_id: string; thread_id: string; status: Status }>({
    name: 'refresh',
    text: 'select * from refresh_sent_emails($1, $2)',
    values: [mails.map(() => workspaceId), mails.map(({ emailId }) => emailId)],
  });
  return rows;
}

async function emails(workspaceId = mailbox.workspaceId) {
  const { rows } = await actor.pool.query<{ status: Status; failure_reason: string | null; sent_at: Date | null }>(
    'select status, failure_reason, sent_at from email where workspace_id = $1 order by id',
    [workspaceId],
  );
  return rows;
}

const settling = (mail: SentMail, position: number, status: Status) =>
  inTransaction(actor, async (client) => {
    await settle(client, mail, position, status);
    return refresh(client, [mail]);
  });

test.each([
  [['delivered', 'pending'], 'pending', null],
  [['bounced', 'pending'], 'pending', 'bounced 0'],
  [['delivered', 'failed', 'bounced'], 'bounced', 'failed 1'],
  [['delivered', 'failed'], 'failed', 'failed 1'],
  [['delivered', 'delivered'], 'delivered', null],
] as const)('recipients %j make an email %s', async (statuses, status, reason) => {
  const mail = await pending(statuses.length);
  const changed = await inTransaction(actor, async (client) => {
    for (const [position, one] of statuses.entries()) await settle(client, mail, position, one);
    return refresh(client, [mail]);
  });
  const change = { workspace_id: mailbox.workspaceId, email_id: mail.emailId, thread_id: null, status };
  expect(changed).toEqual(status === 'pending' ? [] : [change]);
  const isTaken = statuses.some((one) => one === 'delivered');
  expect(await emails()).toEqual([{ status, failure_reason: reason, sent_at: isTaken ? expect.any(Date) : null }]);
  expect(await wrongTotals(actor, mailbox.workspaceId)).toEqual([]);
});

test('many emails change in one call, and unchanged ones are not returned', async () => {
  const mails = await Promise.all(Array.from({ length: 6 }, () => pending(1)));
  const outcomes: Status[] = ['delivered', 'bounced', 'pending', 'delivered', 'failed', 'pending'];
  await inTransaction(actor, async (client) => {
    for (const [at, mail] of mails.entries()) await settle(client, mail, 0, outcomes[at] ?? 'pending');
    // one of them told twice
    const changed = await refresh(client, [...mails.toReversed(), ...mails.slice(0, 1)]);
    expect(new Map(changed.map((one) => [one.email_id, one.status]))).toEqual(
      new Map(mails.map((mail, at) => [mail.emailId, outcomes[at]] as const).filter(([, one]) => one !== 'pending')),
    );
    expect(changed).toHaveLength(4);
    expect(await refresh(client, mails)).toEqual([]);
  });
  expect(await wrongTotals(actor, mailbox.workspaceId)).toEqual([]);
});

test('an email is refreshed only for its own user, and one without recipients stays', async () => {
  const mail = await pending(1);
  const bare = await insertSentMail(actor, mailbox, { recipients: [], status: 'pending' });
  const other = await createMailbox(actor, { domain: 'other.test', address: 'hello@other.test' });
  await inTransaction(actor, async (client) => {
    await settle(client, mail, 0, 'delivered');
    expect(await refresh(client, [mail], other.workspaceId)).toEqual([]);
    // the pairs, not every user with every email
    const { rows } = await client.query('select * from refresh_sent_emails($1, $2)', [
      [other.workspaceId, mailbox.workspaceId],
      [mail.emailId, bare.emailId],
    ]);
    expect(rows).toEqual([]);
  });
  expect((await emails()).map(({ status }) => status)).toEqual(['pending', 'pending']);
});

describe('two transactions that settle two recipients of one email at once', () => {
  test.each([
    ['delivered', 'bounced', 'bounced'],
    ['bounced', 'delivered', 'bounced'],
    ['delivered', 'delivered', 'delivered'],
    ['failed', 'bounced', 'bounced'],
  ] as const)('first %s, then %s: the email ends %s', async (first, second, status) => {
    const mail = await pending(2);
    const began = Promise.withResolvers<number>();
    let later: Promise<unknown> = Promise.resolve();
    const changed = await inTransaction(actor, async (client) => {
      await settle(client, mail, 0, first);
      const response = await refresh(client, [mail]);
      later = inTransaction(actor, async (own) => {
        await settle(own, mail, 1, second);
        const { rows } = await own.query<{ pid: number }>('select pg_backend_pid() as pid');
        began.resolve(rows[0]?.pid ?? 0);
        return refresh(own, [mail]);
      });
      const pid = await began.promise;
      await waitFor(async () => {
        const { rows } = await actor.pool.query('select cardinality(pg_blocking_pids($1)) as blocking', [pid]);
        expect(rows).toEqual([{ blocking: 1 }]);
      });
      return response;
    });
    expect(changed).toEqual([]);
    expect(await later).toMatchObject([{ email_id: mail.emailId, status }]);
    expect(await emails()).toMatchObject([{ status }]);
    expect(await wrongTotals(actor, mailbox.workspaceId)).toEqual([]);
  });

  test('of many emails, each in its own order, end right and without deadlock', async () => {
    const mails = await Promise.all(Array.from({ length: 60 }, () => pending(4)));
    const statuses: Status[] = ['delivered', 'bounced', 'failed', 'delivered'];
    const allSettled = Promise.withResolvers<void>();
    let settled = 0;
    await Promise.all(
      statuses.map((status, position) =>
        inTransaction(actor, async (client) => {
          for (const mail of mails) await settle(client, mail, position, status);
          settled += 1;
          if (settled === statuses.length) allSettled.resolve();
          await allSettled.promise;
          await refresh(client, position % 2 === 0 ? mails : mails.toReversed());
        }),
      ),
    );
    expect(await emails()).toEqual(
      mails.map(() => ({ status: 'bounced', failure_reason: expect.any(String), sent_at: expect.any(Date) })),
    );
    expect(await wrongTotals(actor, mailbox.workspaceId)).toEqual([]);
  });

  test('of many emails, one by one, leave exact totals', async () => {
    const mails = await Promise.all(Array.from({ length: 12 }, () => pending(2)));
    await Promise.all(
      mails.flatMap((mail, at) => [
        settling(mail, 0, 'delivered'),
        settling(mail, 1, at % 2 === 0 ? 'bounced' : 'delivered'),
      ]),
    );
    const found = await emails();
    expect(found.filter(({ status }) => status === 'bounced')).toHaveLength(6);
    expect(found.filter(({ status }) => status === 'delivered')).toHaveLength(6);
    expect(await wrongTotals(actor, mailbox.workspaceId)).toEqual([]);
  });
});
