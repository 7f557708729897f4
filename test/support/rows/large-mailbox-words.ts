import { buildWords } from '../../../actors/scheduling/build-words.ts';
import { type Database, openDatabase } from '../../../db/connection/database.ts';
import { testActorContext } from '../stages/actor-context.ts';

/** Emails that are put into segments at once: as many as of a burst of mail. */
const EMAILS_AT_ONCE = 10_000;
const LIMITS = { newCount: 1, newSeconds: 0, changedCount: 1, goneCount: 1, changedSeconds: 0 };

/**
 * Puts the words of all emails of a mailbox that was filled by fillLargeMailbox into segments, oldest first, as the scheduling actor does with
 * mail that arrives. The URL is of the database's owner. Takes some minutes for 1,000,000.
 */
export async function fillLargeMailboxWords(ownerUrl: string, workspaceId: string): Promise<void> {
  const actor = openDatabase({
    url: ownerUrl,
    // As owner: a login of its own would change the password of the role, which the service that runs uses.
    role: null,
    poolSize: 2,
    applicationName: 'bench',
    onError: () => undefined,
    statementTimeoutMs: null,
  });
  try {
    for (let last = ''; ; ) {
      const { rows } = await actor.pool.query<{ last: string | null }>(
        `with taken as materialized (
           select id, created_at from email where workspace_id = $1 and id > $2 order by id limit $3
         ), noted as (
           insert into unindexed_email (workspace_id, email_id, state, created_at) select $1, id, 'new', created_at from taken
         )
         select max(id) as last from taken`,
        [workspaceId, last, EMAILS_AT_ONCE],
      );
      if (rows[0]?.last == null) break;
      last = rows[0].last;
      await buildWords(testActorContext(actor), { limits: LIMITS }, { isStopping: () => false });
    }
    await actor.pool.query(
      `delete from word_block b using word_segment s
      where s.workspace_id = $1 and s.retired_at is not null and b.workspace_id = s.workspace_id and b.segment_id = s.id`,
      [workspaceId],
    );
    await actor.pool.query('delete from word_segment where workspace_id = $1 and retired_at is not null', [
      workspaceId,
    ]);
  } finally {
    await actor.close();
  }
}

/** As many emails as may be unindexed while 500 arrive in a second. */
const TAIL = 500;

/** Has the words of the newest emails read from the emails themselves, as searches do with mail that just arrived. */
export async function leaveTail({ pool }: Database, workspaceId: string): Promise<void> {
  await pool.query(
    `insert into unindexed_email (workspace_id, email_id, state, created_at)
     select workspace_id, id, 'changed', created_at from email where workspace_id = $1 order by created_at desc, id desc limit $2
     on conflict do nothing`,
    [workspaceId, TAIL],
  );
  await pool.query('analyze unindexed_email');
}
