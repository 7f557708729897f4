import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { EmailType } from '../../../core/emails/email-status.ts';
import type { DeliveryCause } from '../../../core/endpoints/delivery.ts';
import type { EndpointType } from '../../../core/endpoints/endpoint-config.ts';
import type { EventFilter } from '../../../core/endpoints/endpoint-events.ts';
import { type RouteFacts } from '../../../core/routing/decide-route.ts';
import type { Row, Tables } from '../../entities/tables.ts';
import { GRANTED_CATCH_ALL, GRANTED_ENDPOINTS_OF_ADDRESS } from '../routing/granted-route.ts';

/** A received email to deliver again, locked until the transaction ends, with its current route. */
export interface LockedReceived {
  type: EmailType;
  threadId: string | null;
  threadPosition: number | null;
  /** false until the router has created its first deliveries */
  isRouted: boolean;
  /** null: it is not routed yet */
  outcome: Row<'route'>['outcome'];
  /** of its guard rule, if that held it or failed to decide */
  ruleId: string | null;
  /** when a user released it */
  releasedAt: Date | null;
  /** see core/routing/decide-route.ts */
  verdicts: unknown;
  facts: RouteFacts;
}

/** Null when the workspace has none with that id. For mail that was not received, the other fields mean nothing. */
export function lockReceived(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<LockedReceived | null> {
  return received(transaction, workspaceId, emailId, sql`for no key update of e`);
}

/** The same without a lock. */
export function readReceived(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<LockedReceived | null> {
  return received(transaction, workspaceId, emailId, sql``);
}

async function received(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  lock: RawBuilder<unknown>,
): Promise<LockedReceived | null> {
  const { rows } = await sql<ReceivedRow>`
    select e.type, e.thread_id, e.thread_position, r.decided_at, r.outcome, r.rule_id, r.released_at, r.verdicts, e.own_address,
      exists (select from dmarc_report p where p.workspace_id = ${workspaceId} and p.email_id = e.id) as is_dmarc_report,
      a.is_active as address_is_active, ${sql.raw(GRANTED_ENDPOINTS_OF_ADDRESS)},
      d.is_catch_all_enabled, ${sql.raw(GRANTED_CATCH_ALL)}, d.receive_dmarc_emails
    from email e
    left join route r on r.workspace_id = ${workspaceId} and r.email_id = e.id
    left join email_address a on a.workspace_id = ${workspaceId} and a.id = e.address_id
    left join domain d on d.workspace_id = ${workspaceId} and d.id = e.domain_id
    where e.workspace_id = ${workspaceId} and e.id = ${emailId}
    ${lock}`.execute(transaction);
  const row = rows[0];
  if (row === undefined) return null;
  const { address_is_active: isActive, is_catch_all_enabled: isCatchAllEnabled } = row;
  return {
    type: row.type,
    threadId: row.thread_id,
    threadPosition: row.thread_position,
    isRouted: row.decided_at !== null,
    outcome: row.outcome,
    ruleId: row.rule_id,
    releasedAt: row.released_at,
    verdicts: row.verdicts,
    facts: {
      ownAddress: row.own_address,
      isDmarcReport: row.is_dmarc_report,
      address: isActive === null ? null : { isActive, endpointId: row.endpoint_id, webhookId: row.webhook_id },
      domain:
        isCatchAllEnabled === null
          ? null
          : {
              isCatchAllEnabled,
              catchAllEndpointId: row.catch_all_endpoint_id,
              receivesDmarcEmails: row.receive_dmarc_emails === true,
            },
    },
  };
}

/** Returns the envelope recipient of a received email, and the address that accepted it. */
export async function readRecipient(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<{ recipient: string | null; ownAddress: string }> {
  const row = await transaction
    .selectFrom('email')
    .select(['recipient', 'own_address as ownAddress'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', emailId)
    .executeTakeFirst();
  return row ?? { recipient: null, ownAddress: '' };
}

type ReceivedRow = Pick<Row<'route'>, 'decided_at' | 'outcome' | 'rule_id' | 'released_at' | 'verdicts'> & {
  type: EmailType;
  thread_id: string | null;
  thread_position: number | null;
  own_address: string;
  is_dmarc_report: boolean;
  address_is_active: boolean | null;
  endpoint_id: string | null;
  webhook_id: string | null;
  is_catch_all_enabled: boolean | null;
  catch_all_endpoint_id: string | null;
  receive_dmarc_emails: boolean | null;
};

/** Releases a held email. Returns the time; null when it is not held, or another request was first. */
export async function markReleased(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<Date | null> {
  const { rows } = await sql<{ released_at: Date }>`
    update route set released_at = postroom_now()
    where workspace_id = ${workspaceId} and email_id = ${emailId} and outcome in ('blocked', 'review') and released_at is null
    returning released_at`.execute(transaction);
  return rows[0]?.released_at ?? null;
}

/** An endpoint with what new deliveries need. */
export interface TargetEndpoint {
  id: string;
  type: EndpointType;
  isActive: boolean;
  events: string[];
  filter: EventFilter | null;
  config: unknown;
}

/** Returns those of the endpoints that belong to the workspace. */
export async function findTargets(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointIds: readonly string[],
): Promise<TargetEndpoint[]> {
  if (endpointIds.length === 0) return [];
  return transaction
    .selectFrom('endpoint')
    .select(['id', 'type', 'is_active as isActive', 'events', 'filter', 'config'])
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', endpointIds)
    .execute();
}

/** Protects the endpoint from deletion and replay until the transaction ends. False when it is gone or disabled. */
export async function holdTarget(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
): Promise<boolean> {
  const row = await transaction
    .selectFrom('endpoint')
    .select('is_active')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', endpointId)
    .forShare()
    .executeTakeFirst();
  return row?.is_active === true;
}

/** Returns a delivery of the email itself, not of an event about it; null when it has none with that id. */
export async function findDelivery(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  deliveryId: string,
): Promise<{ endpointId: string; status: 'pending' | 'success' | 'failed' } | null> {
  const row = await transaction
    .selectFrom('delivery')
    .select(['endpoint_id as endpointId', 'status'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', deliveryId)
    .where('email_id', '=', emailId)
    .where('event_seq', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

/** Returns whether the email was ever to be delivered to the endpoint. */
export async function hasDelivery(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  endpointId: string,
): Promise<boolean> {
  const row = await transaction
    .selectFrom('delivery')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('email_id', '=', emailId)
    .where('endpoint_id', '=', endpointId)
    .where('event_seq', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The values of a new delivery, besides its endpoint. */
export interface NewDelivery {
  id: string;
  emailId: string;
  endpointId: string;
  type: EndpointType;
  threadId: string | null;
  threadPosition: number | null;
  attemptsAllowed: number;
  cause: Exclude<DeliveryCause, 'route'>;
}

/**
 * Creates a delivery that is due now, unless one of the email to that endpoint still waits: then that one becomes due now (a forwarded
 * copy that is already in the sending queue, and a delivery that waits for its turn, are unchanged). One that is in hand does not count: its
 * receiver may have it already. The email's row must be locked, and the endpoint protected. Returns the id of the delivery.
 */
export async function deliverNow(
  transaction: Transaction<Tables>,
  workspaceId: string,
  delivery: NewDelivery,
): Promise<string> {
  const { id, emailId, endpointId, type, threadId, threadPosition, attemptsAllowed, cause } = delivery;
  const { rows } = await sql<{ id: string }>`
    with clock_now as materialized (select date_trunc('milliseconds', postroom_now()) as at),
    hurried as (
      update delivery d set next_attempt_at = case when d.next_attempt_at is not null then least(d.next_attempt_at, n.at) end from clock_now n
      where d.workspace_id = ${workspaceId} and d.id = (
        select p.id from delivery p
        where p.workspace_id = ${workspaceId} and p.email_id = ${emailId} and p.endpoint_id = ${endpointId} and p.status = 'pending'
          and p.event_seq is null and (p.claimed_until is null or p.claimed_until <= n.at)
        order by p.created_at, p.id limit 1)
        and d.status = 'pending'
      returning d.id
    ),
    made as (
      insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, thread_id, thread_position, attempts_allowed,
                            cause, next_attempt_at, created_at)
      select ${workspaceId}, ${id}, ${emailId}, ${endpointId}, ${type}, ${threadId}, ${threadPosition}::integer, ${attemptsAllowed}::integer,
             ${cause}, n.at, n.at
      from clock_now n where not exists (select from hurried)
      returning id
    )
    select id from hurried union all select id from made`.execute(transaction);
  return rows[0]?.id ?? id;
}

/**
 * Creates a delivery of the same event that is due now, unless the given one still waits and is not in hand: then that becomes due now.
 * Returns the id of the delivery.
 */
export async function deliverEventNow(
  transaction: Transaction<Tables>,
  workspaceId: string,
  deliveryId: string,
  { id, attemptsAllowed }: Pick<NewDelivery, 'id' | 'attemptsAllowed'>,
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    with clock_now as materialized (select date_trunc('milliseconds', postroom_now()) as at),
    hurried as (
      update delivery d set next_attempt_at = case when d.next_attempt_at is not null then least(d.next_attempt_at, n.at) end
      from clock_now n
      where d.workspace_id = ${workspaceId} and d.id = ${deliveryId} and d.status = 'pending'
        and (d.claimed_until is null or d.claimed_until <= n.at)
      returning d.id
    ),
    made as (
      insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, thread_id, event_seq, event_kind, attempts_allowed, cause,
                            next_attempt_at, created_at)
      select d.workspace_id, ${id}, d.email_id, d.endpoint_id, d.delivery_type, d.thread_id, d.event_seq, d.event_kind,
             ${attemptsAllowed}::integer, 'retry', n.at, n.at
      from delivery d, clock_now n
      where d.workspace_id = ${workspaceId} and d.id = ${deliveryId} and not exists (select from hurried)
      returning id
    )
    select id from hurried union all select id from made`.execute(transaction);
  return rows[0]?.id ?? deliveryId;
}
