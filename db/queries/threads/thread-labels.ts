import { sql, type Transaction } from 'kysely';
import type pg from 'pg';
import { joinLabels, labelKey } from '../../../core/threads/label.ts';
import type { Tables } from '../../entities/tables.ts';

/** Writes the labels of threads, by thread id. Rows are locked in id order. */
export async function writeLabels(
  client: pg.ClientBase,
  workspaceId: string,
  labels: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  if (labels.size === 0) return;
  const rows = [...labels].map(([id, of]) => ({ id, labels: of, label_keys: of.map(labelKey) }));
  await client.query({
    name: 'thread-labels-write',
    text: `
      with locked as materialized (
        select t.id from jsonb_to_recordset($2::jsonb) as x(id text) join thread t on t.workspace_id = $1 and t.id = x.id
        order by t.id for no key update of t
      )
      update thread t set labels = x.labels, label_keys = x.label_keys, updated_at = (select postroom_now())
      from locked l join jsonb_to_recordset($2::jsonb) as x(id text, labels text[], label_keys text[]) on x.id = l.id
      where t.workspace_id = $1 and t.id = l.id`,
    values: [workspaceId, JSON.stringify(rows)],
  });
}

/** Returns the labels of each thread. */
export async function readLabels(
  client: pg.ClientBase,
  workspaceId: string,
  threadIds: readonly string[],
): Promise<Map<string, string[]>> {
  const { rows } = await client.query<{ id: string; labels: string[] }>({
    name: 'thread-labels-read',
    text: `select id, labels from thread where workspace_id = $1 and id = any ($2::text[])`,
    values: [workspaceId, threadIds],
  });
  return new Map(rows.map((row) => [row.id, row.labels]));
}

/** Gives threads the labels of the threads merged into them. Only holders of lockThreads write labels. */
export async function inheritLabels(
  client: pg.ClientBase,
  workspaceId: string,
  inherited: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const gains = new Map([...inherited].filter(([, labels]) => labels.length > 0));
  if (gains.size === 0) return;
  const present = await readLabels(client, workspaceId, [...gains.keys()]);
  await writeLabels(
    client,
    workspaceId,
    new Map([...present].map(([id, labels]) => [id, joinLabels(labels, gains.get(id) ?? [])])),
  );
}

/** A label of a workspace's threads. */
export interface Label {
  /** in its most frequent spelling */
  name: string;
  threadCount: number;
  /** threads with unread messages */
  unreadThreadCount: number;
}

/** Returns that many labels of the most threads, by name. */
export async function listLabels(
  transaction: Transaction<Tables>,
  workspaceId: string,
  limit: number,
): Promise<Label[]> {
  const { rows } = await sql<{ name: string; threads: number; unread: number }>`
    select name, threads, unread from list_labels(${workspaceId}, ${limit})`.execute(transaction);
  return rows.map((row) => ({
    name: row.name,
    threadCount: Number(row.threads),
    unreadThreadCount: Number(row.unread),
  }));
}
