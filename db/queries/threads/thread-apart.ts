import type pg from 'pg';
import { type ThreadsApart, threadsApart } from '../../../core/threads/threads-apart.ts';

/** Returns the threads that each of these must stay apart from. */
export async function readThreadsApart(
  client: pg.ClientBase,
  userId: string,
  threadIds: readonly string[],
): Promise<ThreadsApart> {
  if (threadIds.length === 0) return new Map();
  const { rows } = await client.query<{ thread_id: string; other_id: string }>({
    name: 'thread-apart-read',
    text: `select thread_id, other_id from thread_apart where user_id = $1 and thread_id = any ($2::text[])`,
    values: [userId, threadIds],
  });
  return threadsApart(rows.map((row) => [row.thread_id, row.other_id]));
}

/** Records that the threads of each pair must stay apart. */
export async function addThreadsApart(
  client: pg.ClientBase,
  userId: string,
  pairs: readonly (readonly [string, string])[],
): Promise<void> {
  if (pairs.length === 0) return;
  await client.query({
    name: 'thread-apart-add',
    text: `
      insert into thread_apart (user_id, thread_id, other_id)
      select $1, p.one, p.other from unnest($2::text[], $3::text[]) as p(one, other)
      union select $1, p.other, p.one from unnest($2::text[], $3::text[]) as p(one, other)
      on conflict do nothing`,
    values: [userId, pairs.map(([one]) => one), pairs.map(([, other]) => other)],
  });
}
