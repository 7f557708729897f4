import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

/** Whether mail to that domain (canonical) is received for the workspace. */
export async function ownsDomain(
  transaction: Transaction<Tables>,
  workspaceId: string,
  name: string,
): Promise<boolean> {
  const { rows } = await sql<{ owns: boolean }>`
    select exists (
      select from domain d where d.workspace_id = ${workspaceId} and d.name = ${name} and d.status = 'verified') as owns`.execute(
    transaction,
  );
  return rows[0]?.owns === true;
}

/** Returns addresses of the workspace that receive mail, and domains (`*@domain`) of which every address does; a selection. */
export async function listTakingAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select a.address from email_address a join domain d on d.workspace_id = a.workspace_id and d.id = a.domain_id
    where a.workspace_id = ${workspaceId} and a.is_active and d.status = 'verified'
    union all
    select '*@' || d.name from domain d
    where d.workspace_id = ${workspaceId} and d.status = 'verified' and d.is_catch_all_enabled
    order by 1 limit ${limit}`.execute(transaction);
  return rows.map((row) => row.address);
}

/** A recipient of a sent email. */
export interface SentRecipient {
  id: string;
  address: string;
  /** the domain of its return address */
  domain: string;
}

/** Returns the recipients of a sent email, without forwarded copies; null when the workspace has sent none with that id. */
export async function readSentRecipients(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<{ messageId: string; subject: string; recipients: SentRecipient[] } | null> {
  const { rows } = await sql<{
    message_id: string;
    subject: string;
    id: string | null;
    address: string;
    domain: string;
  }>`
    select e.message_id, e.subject, r.id, r.address, coalesce(r.sender_domain, e.own_domain) as domain
    from email e
    left join recipient r on r.workspace_id = ${workspaceId} and r.email_id = e.id and r.delivery_id is null
    where e.workspace_id = ${workspaceId} and e.id = ${emailId} and e.type = 'sent'
    order by r.created_at, r.id`.execute(transaction);
  const [first] = rows;
  if (first === undefined) return null;
  return {
    messageId: first.message_id,
    subject: first.subject,
    recipients: rows.flatMap(({ id, address, domain }) => (id === null ? [] : [{ id, address, domain }])),
  };
}
