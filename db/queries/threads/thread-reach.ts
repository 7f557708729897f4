import type pg from 'pg';
import type { Reach } from '../../../core/accounts/key-rights.ts';

/** Returns those of the threads of which every message is of these domains and addresses. */
export async function findThreadsWithin(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
  { domains, addresses }: Reach,
): Promise<Set<string>> {
  const { rows } = await client.query<{ id: string }>({
    name: 'threads-within',
    text: `select w.id from threads_within($1, $2::text[], $3::text[], $4::text[]) as w(id)`,
    values: [workspaceId, threadIds, domains.map(({ id }) => id), addresses],
  });
  return new Set(rows.map(({ id }) => id));
}
