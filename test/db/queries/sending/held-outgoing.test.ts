import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../../db/connection/database.ts';
import {
  dropHeld,
  holdDueOutgoing,
  listHeld,
  readWaitingWork,
  sendHeld,
} from '../../../../db/queries/sending/held-outgoing.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';
import { insertScheduled, wrongTotals } from '../../../support/rows/outgoing-rows.ts';
import { createSender, queueMail, type TestSender } from '../../../support/rows/queued-mail.ts';

let testDatabase: TestDatabase;
let owner: Database;
let sender: TestSender;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  owner = testDatabase.open(null);
  sender = await createSender(owner, 'held.test', null);
});
afterAll(() => testDatabase?.drop());

const hold = () => holdDueOutgoing(owner, randomBytes, () => new Date());

async function readStatus(emailId: string): Promise<unknown> {
  const { rows } = await owner.pool.query(
    `select e.type, e.status, array_agg(r.status || case when r.next_attempt_at is null then '' else ' due' end order by r.address) as recipients
     from email e join recipient r on r.workspace_id = e.workspace_id and r.email_id = e.id where e.id = $1 group by e.type, e.status`,
    [emailId],
  );
  return rows[0];
}

test('copies that are not composed yet are counted, and neither composed ones nor webhooks', async () => {
  const { workspaceId } = sender;
  await owner.pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, forward_raw_id, status, attempts_allowed, created_at)
     select $1, 'dlv_' || n, 'eml_0', 'end_0', type, raw, status, 5, now()
     from (values (1, 'email', null, 'pending'), (2, 'email_group', null, 'pending'), (3, 'email', 'raw_0', 'pending'),
                  (4, 'email', null, 'failed'), (5, 'webhook', null, 'pending')) as v(n, type, raw, status)`,
    [workspaceId],
  );
  expect(await readWaitingWork(owner)).toMatchObject({ forwards: 2, webhooks: 1 });
  await owner.pool.query('delete from delivery where workspace_id = $1', [workspaceId]);
});

test('due mail is held, scheduled mail that fell due too; paused and future mail is not', async () => {
  const queued = await queueMail(owner, sender, { to: ['a@else.test', 'b@else.test'] });
  const later = await queueMail(owner, sender, { to: ['c@else.test'] });
  await owner.pool.query(`update recipient set next_attempt_at = now() + interval '1 hour' where email_id = $1`, [
    later,
  ]);
  const { workspaceId } = sender;
  const [past = '', future = '', paused = ''] = await insertScheduled(owner, [
    { workspaceId, inSeconds: -60, to: ['d@else.test'] },
    { workspaceId, inSeconds: 3_600, to: ['e@else.test'] },
    { workspaceId, inSeconds: -60, status: 'paused', to: ['f@else.test'] },
  ]);
  expect(await readWaitingWork(owner)).toMatchObject({ due: 3, scheduled: 2 });

  expect(await hold()).toEqual({ recipients: 3, emails: 2 });
  expect(await readStatus(queued)).toEqual({ type: 'sent', status: 'pending', recipients: ['pending', 'pending'] });
  expect(await readStatus(past)).toEqual({ type: 'sent', status: 'pending', recipients: ['pending'] });
  expect(await readStatus(later)).toEqual({ type: 'sent', status: 'pending', recipients: ['pending due'] });
  expect(await readStatus(future)).toEqual({ type: 'scheduled', status: 'scheduled', recipients: ['pending'] });
  expect(await readStatus(paused)).toEqual({ type: 'scheduled', status: 'paused', recipients: ['pending'] });
  expect(await readWaitingWork(owner)).toMatchObject({ due: 0, scheduled: 1 });
  // Those that wait for a time of their own are not among the held.
  expect((await listHeld(owner)).map(({ address }) => address).toSorted()).toEqual([
    'a@else.test',
    'b@else.test',
    'd@else.test',
  ]);
  expect(await wrongTotals(owner, workspaceId)).toEqual([]);

  expect(await sendHeld(owner, queued)).toEqual({ recipients: 2, emails: 1 });
  expect(await readStatus(queued)).toEqual({
    type: 'sent',
    status: 'pending',
    recipients: ['pending due', 'pending due'],
  });
  expect(await dropHeld(owner, null)).toEqual({ recipients: 1, emails: 1 });
  expect(await readStatus(past)).toEqual({ type: 'sent', status: 'failed', recipients: ['failed'] });
  const { rows } = await owner.pool.query(`select reported_at is not null as told from recipient where email_id = $1`, [
    past,
  ]);
  // Nobody gets a report about mail that may have arrived.
  expect(rows).toEqual([{ told: true }]);
  expect(await listHeld(owner)).toEqual([]);
  expect(await wrongTotals(owner, workspaceId)).toEqual([]);
});

test('mail that may not be sent any more stays scheduled, and what is due behind it is held', async () => {
  const { workspaceId } = sender;
  const refused = await insertScheduled(
    owner,
    Array.from({ length: 501 }, () => ({ workspaceId, inSeconds: -60 })),
  );
  await owner.pool.query(`update email set scheduled_by_key_id = 'key_gone' where id = any ($1)`, [refused]);
  const [behind = ''] = await insertScheduled(owner, [{ workspaceId, inSeconds: -1 }]);
  await hold();
  expect(await readStatus(behind)).toEqual({ type: 'sent', status: 'pending', recipients: ['pending'] });
  expect(await readStatus(refused[0] ?? '')).toMatchObject({ type: 'scheduled', status: 'scheduled' });
});
