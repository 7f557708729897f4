import { hash } from 'node:crypto';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { EmailStatus, EmailType } from '../../../core/emails/email-status.ts';
import { longestUndo, type SendPolicy } from '../../../core/sending/send-policy.ts';
import type { Tables } from '../../entities/tables.ts';
import { packMessage, unpackMessage } from '../../packed-message.ts';
import { countEmailsSql } from '../emails/email-counter.ts';
import { findPacked } from '../emails/raw-bytes.ts';

/** An email whose schedule may be changed, locked until the transaction ends. */
export interface LockedOutgoing {
  id: string;
  type: EmailType;
  status: EmailStatus;
  scheduledAt: Date | null;
  timezone: string | null;
  createdAt: Date;
  /** where a send policy applied to it: the key that sent it, and the address whose policy applied */
  apiKeyId: string | null;
  policyAddress: string | null;
  /** the sender */
  ownAddress: string;
  /** whom it is sent for; neither: the service, or its key or its sender has got a stricter send policy since */
  scheduledByKeyId: string | null;
  scheduledByPersonId: string | null;
  /** when it was approved; null: it was not */
  approvedAt: Date | null;
  /** time of the statement by PostgreSQL's clock, which decides when mail is due */
  now: Date;
}

/**
 * Locks those of the emails that belong to the workspace until the transaction ends, in id order. The scheduler competes for the rows: an email
 * that it has taken is returned as it left it.
 */
export async function lockOutgoing(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<LockedOutgoing[]> {
  const { rows } = await sql<LockedOutgoing>`
    select e.id, e.type, e.status, e.scheduled_at as "scheduledAt", e.timezone, e.created_at as "createdAt",
      e.api_key_id as "apiKeyId", e.policy_address as "policyAddress", e.own_address as "ownAddress", e.scheduled_by_key_id as "scheduledByKeyId",
      e.scheduled_by_person_id as "scheduledByPersonId",
      (select a.decided_at from approval a where a.workspace_id = ${workspaceId} and a.email_id = e.id and a.decision = 'approved') as "approvedAt", (select postroom_now())::timestamptz(3) as now
    from email e where e.workspace_id = ${workspaceId} and e.id = any (${emailIds}::text[])
    order by e.id for no key update`.execute(transaction);
  return rows;
}

/**
 * Returns the seconds that the send policies of a key and an address make mail wait now, from when it was accepted, or approved if it waited
 * for approval.
 */
export async function readUndoSeconds(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { apiKeyId, policyAddress }: Pick<LockedOutgoing, 'apiKeyId' | 'policyAddress'>,
): Promise<number> {
  const { rows } = await sql<{ policy: SendPolicy | null }>`
    select k.send_policy as policy from send_policies_of(${workspaceId}, array_remove(array[${apiKeyId}::text], null)) k
    union all
    select a.send_policy from email_address_name n join email_address a on a.workspace_id = ${workspaceId} and a.id = n.address_id
    where n.workspace_id = ${workspaceId} and n.address = ${policyAddress}`.execute(transaction);
  return longestUndo(rows.flatMap(({ policy }) => policy ?? []));
}

/** Gives locked emails that are not sent yet another status, and updates the totals of lists. Returns the time of the change. */
export async function setScheduledStatus(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
  status: 'scheduled' | 'paused' | 'cancelled',
): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`
    with before as materialized (
      select * from email where workspace_id = ${workspaceId} and id = any (${emailIds}::text[]) and type = 'scheduled'
    ),
    changed as (
      update email e set status = ${status}, updated_at = (select postroom_now()) from before b
      where e.workspace_id = ${workspaceId} and e.id = b.id returning e.*
    ),
    -- one that waited for approval waits no longer
    undecided as (
      update approval a set decision = 'cancelled', expires_at = null, decided_at = (select date_trunc('milliseconds', postroom_now()))
      from before b where a.workspace_id = ${workspaceId} and a.email_id = b.id and a.decision is null
    ),
    moved as (
      select workspace_id, created_at, own_address, own_domain, type, status, is_read, is_archived, -1 as delta from before
      union all
      select workspace_id, created_at, own_address, own_domain, type, status, is_read, is_archived, 1 from changed
    ),
    counted as (${sql.raw(countEmailsSql('moved'))})
    select max(updated_at) as at from changed`.execute(transaction);
  return rows[0]?.at ?? new Date(Number.NaN);
}

/**
 * Gives a locked email that is not sent yet another time, in the row and in the Date field of its bytes. Returns the time of the change;
 * throws when the bytes have no Date field to change, which is an internal fault.
 */
export async function setSchedule(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  schedule: { at: Date; timezone: string },
): Promise<Date> {
  const { at, timezone } = schedule;
  const date = at.toUTCString().replace('GMT', '+0000');
  if (!(await redate(transaction, workspaceId, emailId, date)))
    throw new Error(`no Date field to change in ${emailId}`);
  const { rows } = await sql<{ updated_at: Date }>`
    with content as (
      update email_content c set headers = (
        select coalesce(jsonb_agg(case when h.field->>0 = 'date' then jsonb_build_array('date', ${date}::text) else h.field end order by h.place), '[]')
        from jsonb_array_elements(c.headers) with ordinality as h(field, place))
      where c.workspace_id = ${workspaceId} and c.email_id = ${emailId}
    )
    update email e set scheduled_at = ${at}, timezone = ${timezone}, date = ${at}, updated_at = (select postroom_now())
    where e.workspace_id = ${workspaceId} and e.id = ${emailId} and e.type = 'scheduled'
    returning e.updated_at`.execute(transaction);
  const [row] = rows;
  if (row === undefined) throw new Error(`${emailId} is not scheduled`);
  return row.updated_at;
}

/**
 * Gives the message of a scheduled email another Date field, which as we compose it has always the same length, so nothing else moves. Returns
 * whether it did: not where the email is not scheduled, its bytes are gone or damaged, or have no such field.
 */
async function redate(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  date: string,
): Promise<boolean> {
  const [packed] = await findPacked(transaction, workspaceId, [emailId]);
  const stored = packed === undefined ? null : await unpackMessage(packed);
  if (stored === null) return false;
  const start = stored.indexOf(DATE_FIELD) + DATE_FIELD.length;
  const isField = start >= DATE_FIELD.length && start < stored.indexOf('\r\n\r\n');
  if (!isField || stored.toString('latin1', start + date.length, start + date.length + 2) !== '\r\n') return false;
  const message = Buffer.from(stored);
  message.write(date, start, 'latin1');
  const { rows } = await sql<{ is_done: boolean }>`
    select replace_scheduled(${workspaceId}, ${emailId}, ${await packMessage(message)}, ${hash('sha256', message, 'buffer')}) as is_done`.execute(
    transaction,
  );
  return rows[0]?.is_done === true;
}

const DATE_FIELD = '\r\nDate: ';

/**
 * Returns the scheduled emails among these, of these keys, or with `ofMembers` of any persons, which the key or person may no longer send, from that
 * address or at all; with `hasStricterPolicy`, all that the keys scheduled, also the paused ones, apart from what was approved.
 */
export async function listScheduledWithoutRight(
  transaction: Transaction<Tables>,
  workspaceId: string,
  {
    keyIds,
    emailIds = [],
    hasStricterPolicy = false,
    ofMembers = false,
  }: { keyIds: readonly string[]; emailIds?: readonly string[]; hasStricterPolicy?: boolean; ofMembers?: boolean },
): Promise<string[]> {
  if (keyIds.length + emailIds.length === 0 && !ofMembers) return [];
  const { rows } = await sql<{ id: string }>`
    select e.id from email e left join lateral sender_now(${workspaceId}, e.scheduled_by_key_id, e.scheduled_by_person_id, e.own_address) s on true
    where e.workspace_id = ${workspaceId} and e.type = 'scheduled'
      and num_nonnulls(e.scheduled_by_key_id, e.scheduled_by_person_id) > 0
      and (e.scheduled_by_key_id = any (${keyIds}::text[]) or e.id = any (${emailIds}::text[])
        or ${ofMembers} and e.scheduled_by_person_id is not null)
      and (e.status = 'scheduled' and s.may_send is not true
        or ${hasStricterPolicy} and e.status in ('scheduled', 'paused') and not exists (
          select from approval a where a.workspace_id = ${workspaceId} and a.email_id = e.id and a.decision = 'approved')) order by e.id`.execute(
    transaction,
  );
  return rows.map(({ id }) => id);
}

/** Returns the scheduled and paused emails from an address, also with a tag (`ann+news@x.test`), of keys and persons. */
export async function listScheduledFrom(
  transaction: Transaction<Tables>,
  workspaceId: string,
  address: string,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select e.id from email e where e.workspace_id = ${workspaceId} and e.type = 'scheduled' and e.status in ('scheduled', 'paused')
      and ${address} in (e.own_address, ${withoutTagSql(sql`e.own_address`)}) order by e.id`.execute(transaction);
  return rows.map(({ id }) => id);
}

/** The address that the policy of an address with a tag is that of. */
const withoutTagSql = (address: RawBuilder<unknown>) => sql`regexp_replace(${address}, '^([^+]+)[+].*@', '\\1@')`;

/** Whose rights count: those of a key, or else of a person; neither: the service acts. */
export interface Sender {
  keyId: string | null;
  personId: string | null;
}

/**
 * Returns whether a key, or a person, may send these emails now, by their senders; `keyId` and `personId` null: the service may. The caller has
 * shared the send rights.
 */
export async function maySendNow(
  transaction: Transaction<Tables>,
  { workspaceId, keyId, personId }: Sender & { workspaceId: string },
  emailIds: readonly string[],
): Promise<boolean> {
  if (keyId === null && personId === null) return true;
  const { rows } = await sql`
    select from (
      select distinct e.own_address from email e where e.workspace_id = ${workspaceId} and e.id = any (${emailIds}::text[])) e
    where not exists (
      select from sender_now(${workspaceId}, ${keyId}, ${keyId === null ? personId : null}, e.own_address) s where s.may_send)`.execute(
    transaction,
  );
  return rows.length === 0;
}

/** Records for whom emails that are not sent yet are sent: a key, or a person; neither: the service. */
export async function setScheduler(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailIds: readonly string[],
  { keyId, personId }: Sender,
): Promise<void> {
  const by = keyId === null ? personId : null;
  await sql`
    update email set scheduled_by_key_id = ${keyId}, scheduled_by_person_id = ${by}
    where workspace_id = ${workspaceId} and id = any (${emailIds}::text[]) and type = 'scheduled'
      and (scheduled_by_key_id, scheduled_by_person_id) is distinct from (${keyId}, ${by})`.execute(transaction);
}

/** Returns whether a key has a send policy now. */
export async function hasSendPolicy(
  transaction: Transaction<Tables>,
  workspaceId: string,
  keyId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from send_policies_of(${workspaceId}, array[${keyId}::text]) k where k.send_policy is not null`.execute(
    transaction,
  );
  return rows.length > 0;
}

/** Returns whether an address, or that of an address with a tag, has a send policy now. */
export async function hasAddressPolicy(
  transaction: Transaction<Tables>,
  workspaceId: string,
  address: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from email_address_name n join email_address a on a.workspace_id = ${workspaceId} and a.id = n.address_id
    where n.workspace_id = ${workspaceId} and n.address in (${address}, ${withoutTagSql(sql`${address}::text`)})
      and a.send_policy is not null`.execute(transaction);
  return rows.length > 0;
}
