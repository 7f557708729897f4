import { expect, test } from 'vitest';
import type { OperationContext } from '../../../operations/context.ts';
import { updateThread } from '../../../operations/threads/thread-changes.ts';
import {
  countInbox,
  type InboxQuery,
  listThreads,
  pageInbox,
  selectInbox,
} from '../../../operations/threads/threads.ts';
import { openForFile } from '../../support/open-for-file.ts';
import { makeMail, makeReply, newWorkspace, openThreadStage } from '../../support/stages/thread-stage.ts';

const stage = openForFile(() => openThreadStage());

const ALL = { after: null, before: null, isInverted: false, limit: 100 };

/** What the inbox shows for a query, by list, selection and count, which agree. */
async function readInbox(context: OperationContext, query: InboxQuery = {}) {
  const asked = { isOfInbox: true, ...query };
  const listed = (await pageInbox(context, asked, ALL)).map(({ id }) => id);
  expect((await selectInbox(context, asked)).threadIds).toEqual(listed);
  expect(await countInbox(context, asked)).toBe(listed.length);
  return listed;
}

test('the inbox leaves out threads of only sent mail until the first reply, and a search, a label and the REST list show them', async () => {
  const workspaceId = newWorkspace();
  await stage.arrive(workspaceId, [
    makeMail('em_1', 0),
    makeMail('em_2', 1, { type: 'sent', subject: 'Receipt' }),
    makeMail('em_3', 2, { isArchived: true }),
    makeReply(['em_1'], 'em_4', 3, { type: 'sent' }),
  ]);
  const context = stage.makeContext(workspaceId);
  const [received, sent, archived] = await Promise.all(
    ['em_1', 'em_2', 'em_3'].map((id) => stage.findThread(workspaceId, id)),
  );
  expect(await readInbox(context)).toEqual([received]);
  expect(await readInbox(context, { isUnread: true })).toEqual([received]);
  expect(await readInbox(context, { isArchived: 'any' })).toEqual([received, archived, sent]);
  expect(await readInbox(context, { isArchived: true })).toEqual([archived]);
  expect(await readInbox(context, { search: 'in:sent' })).toEqual([received, sent]);
  expect((await listThreads(context, {}, { limit: 100, cursor: null })).threads.map(({ id }) => id)).toEqual([
    received,
    archived,
    sent,
  ]);
  await updateThread(context, sent ?? '', { labels: ['bill'] });
  expect(await readInbox(context, { label: 'bill' })).toEqual([sent]);
  await stage.arrive(workspaceId, [makeReply(['em_2'], 'em_5', 4)]);
  expect(await readInbox(context)).toEqual([sent, received]);
});

test('the inbox of an account with much sent mail is read from its index', async () => {
  const workspaceId = newWorkspace();
  await stage.arrive(workspaceId, [makeMail('em_1', 0)]);
  await stage.owner.pool.query(
    `insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text, message_count,
       received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at)
     select $1, 'th_sent_' || n, '<' || n || '>', 'x', '{}', '{}', 'x', 1, 0, 0, 0, 'em_none', now() + n * interval '1 second', now()
     from generate_series(1, 3000) n`,
    [workspaceId],
  );
  // Autovacuum would do it at some time.
  await stage.owner.pool.query('analyze thread');
  const before = await scanned();
  expect(await pageInbox(stage.makeContext(workspaceId), { isOfInbox: true }, ALL)).toHaveLength(1);
  // Of 3,000 threads; the sweeps of other tests' actors read a few, too.
  expect((await scanned()) - before).toBeLessThan(300);

  /** Entries of the index that searches have read. */
  async function scanned(): Promise<number> {
    await stage.owner.pool.query('select pg_stat_force_next_flush()');
    const { rows } = await stage.owner.pool.query<{ read: number }>(
      `select sum(idx_tup_read)::int as read from pg_stat_user_indexes where relname = 'thread' and indexrelname in ('thread_inbox', 'thread_list')`,
    );
    return rows[0]?.read ?? 0;
  }
});
