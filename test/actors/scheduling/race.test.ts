import { expect, test } from 'vitest';
import { releaseDue } from '../../../actors/scheduling/release-due.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { insertScheduled, wrongTotals } from '../../support/rows/outgoing-rows.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

const ROUNDS = 25;
const MAILS_OF_ROUND = 20;

const gateway = openForFile(() => openTestGateway());

test('500 cancellations race two schedulers: each mail is cancelled or sent, as the response says, and never both', async () => {
  const box = await gateway.mailbox();
  const schedulers = [testActorContext(gateway.actor), testActorContext(gateway.actor)];
  const cancelled = new Map<string, boolean>();
  for (let round = 0; round < ROUNDS; round++) {
    const ids = await insertScheduled(
      gateway.actor,
      Array.from({ length: MAILS_OF_ROUND }, () => ({ workspaceId: box.workspaceId, inSeconds: -1 })),
    );
    const cancellations = ids.map(async (id) => {
      const response = await gateway.call(box.apiKey, 'DELETE', `/emails/${id}`);
      const { message } = response.json();
      const isCancelled = response.statusCode === 200;
      expect([response.statusCode, message]).toEqual(
        isCancelled ? [200, 'Scheduled email cancelled'] : [400, 'Cannot delete a sent email.'],
      );
      cancelled.set(id, isCancelled);
    });
    // The schedulers come in after some of the cancellations, each round after others.
    await Promise.all([
      ...cancellations,
      ...schedulers.map(async (context, n) => {
        await Promise.race(cancellations.slice((round * (n + 1)) % MAILS_OF_ROUND));
        for (let count = 1; count > 0; ) count = await releaseDue(context, {});
      }),
    ]);
    for (const context of schedulers) await releaseDue(context, {});
  }

  const { rows } = await gateway.actor.pool.query<{
    id: string;
    type: string;
    status: string;
    due: number;
    kinds: string[];
  }>(
    `select e.id, e.type, e.status,
       (select count(*) from recipient r where r.workspace_id = $1 and r.email_id = e.id and r.next_attempt_at is not null) as due,
       array(select v.kind from event v where v.workspace_id = $1 and v.email_id = e.id and v.kind <> 'email.threaded') as kinds
     from email e where e.workspace_id = $1`,
    [box.workspaceId],
  );
  expect(rows).toHaveLength(ROUNDS * MAILS_OF_ROUND);
  for (const { id, ...email } of rows)
    expect(email).toEqual(
      cancelled.get(id) === true
        ? { type: 'scheduled', status: 'cancelled', due: 0, kinds: ['email.cancelled'] }
        : { type: 'sent', status: 'pending', due: 1, kinds: ['email.sent'] },
    );
  const wins = [...cancelled.values()].filter(Boolean).length;
  expect(wins).toBeGreaterThan(25);
  expect(wins).toBeLessThan(475);
  expect(await wrongTotals(gateway.actor, box.workspaceId)).toEqual([]);
});
