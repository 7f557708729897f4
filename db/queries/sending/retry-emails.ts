import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

/**
 * Queues the recipients of sent emails that bounced or failed again, due now. Leaves out recipients that are suppressed now, emails in the
 * trash, emails whose bytes are gone, and, for a key with a send policy, what it did not send itself. Returns the ids of the emails that have
 * such recipients.
 */
export async function retryEmails(
  transaction: Transaction<Tables>,
  { workspaceId, keyId }: { workspaceId: string; keyId: string | null },
  emailIds: readonly string[],
): Promise<string[]> {
  if (emailIds.length === 0) return [];
  // Emails before recipients, as everywhere.
  const { rows: locked } = await sql<{ id: string }>`
    select e.id from email e
    where e.workspace_id = ${workspaceId} and e.id = any (${emailIds}::text[]) and e.type = 'sent' and e.raw_id is not null and e.trashed_at is null
      and (e.api_key_id = ${keyId} or not exists (
        select from send_policies_of(${workspaceId}, array_remove(array[${keyId}::text], null)) k where k.send_policy is not null))
    order by e.id for no key update`.execute(transaction);
  const { rows } = await sql<{ emailId: string }>`
    update recipient r set status = 'pending', attempts = 0, queued_at = (select postroom_now()), next_attempt_at = (select postroom_now()),
      claimed_by = null, claimed_until = null, last_code = null, last_status = null, last_text = null, refusal_reason = null,
      settled_at = null, reported_at = null
    where r.workspace_id = ${workspaceId} and r.email_id = any (${locked.map(({ id }) => id)}::text[]) and r.status in ('bounced', 'failed')
      and not exists (select from suppression s where s.workspace_id = ${workspaceId} and s.list in ('', r.list)
        and s.address = lower(r.address))
    returning r.email_id as "emailId"`.execute(transaction);
  const ids = [...new Set(rows.map(({ emailId }) => emailId))];
  if (ids.length > 0)
    await sql`select from refresh_sent_emails(${ids.map(() => workspaceId)}::text[], ${ids}::text[])`.execute(
      transaction,
    );
  return ids;
}
