import { sql, type Transaction } from 'kysely';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';
import type { IdempotencyKey } from './outgoing-policy.ts';

/** What is stored under a key; the response is JSON. */
export interface KeptResult {
  operation: string;
  /** hex */
  requestSha256: string;
  response: unknown;
}

/**
 * Stores a response under a key for 24 hours, unless there is one already. Returns the stored one: a caller that reads its own response
 * continues with its request, or resumes an interrupted one.
 */
export async function reserveResult(
  transaction: Transaction<Tables>,
  workspaceId: string,
  key: IdempotencyKey,
  { operation, requestSha256, response }: KeptResult,
): Promise<KeptResult> {
  await sql`
    insert into idempotency_key as k (workspace_id, api_key_id, key, operation, request_sha256, response, created_at)
    values (${workspaceId}, ${key.apiKeyId}, ${key.key}, ${operation}, decode(${requestSha256}, 'hex'), ${JSON.stringify(response)}::jsonb, postroom_now())
    on conflict (workspace_id, api_key_id, key) do update set operation = excluded.operation, request_sha256 = excluded.request_sha256,
      response = excluded.response, created_at = excluded.created_at
    where k.created_at <= postroom_now() - interval '24 hours'`.execute(transaction);
  return (await findKeptResult(transaction, workspaceId, key)) ?? { operation, requestSha256, response };
}

/** Returns what is stored under the key; null when nothing is. */
export async function findKeptResult(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { apiKeyId, key }: IdempotencyKey,
): Promise<KeptResult | null> {
  const { rows } = await sql<KeptResult>`
    select k.operation, encode(k.request_sha256, 'hex') as "requestSha256", k.response from idempotency_key k
    where k.workspace_id = ${workspaceId} and k.api_key_id = ${apiKeyId} and k.key = ${key} and k.created_at > postroom_now() - interval '24 hours'`.execute(
    transaction,
  );
  return rows[0] ?? null;
}

/** Whether an email with that id was received, parsed or not. */
export async function isReceived(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<boolean> {
  const { rows } = await sql<{ is_there: boolean }>`
    select exists (select from reception r where r.workspace_id = ${workspaceId} and r.email_id = ${emailId}) as is_there`.execute(
    transaction,
  );
  return rows[0]?.is_there === true;
}

/** How long a response is replayed for its Idempotency-Key. */
const KEY_AGE_HOURS = 24;

/** Keys removed at once. */
export const REMOVE_KEYS_BATCH = 2_000;

/** Removes a batch of idempotency keys that have expired; returns how many. */
export async function removeOldIdempotencyKeys(database: Database): Promise<number> {
  const { rowCount } = await database.pool.query({
    name: 'remove-old-keys',
    text: `
      delete from idempotency_key where ctid = any (array(
        select ctid from idempotency_key where created_at < (select postroom_now()) - interval '${KEY_AGE_HOURS} hours'
        order by created_at limit ${REMOVE_KEYS_BATCH} for update skip locked))`,
  });
  return rowCount ?? 0;
}
