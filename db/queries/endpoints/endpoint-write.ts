import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

/** What routed to an endpoint and no longer does. */
export interface DetachedUse {
  addresses: string[];
  domains: string[];
  guardRuleCount: number;
}

/** Locks the statistics until the transaction ends. Call it before the endpoint is locked, as in deleteStatistics. */
export async function lockStatistics(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
): Promise<void> {
  await transaction
    .selectFrom('endpoint_stat')
    .select('endpoint_id')
    .where('workspace_id', '=', workspaceId)
    .where('endpoint_id', '=', endpointId)
    .forUpdate()
    .execute();
}

/** Resets the endpoint's failures. */
export async function forgetFailures(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
): Promise<void> {
  await transaction
    .updateTable('endpoint_stat')
    .set({ failing_since: null })
    .where('workspace_id', '=', workspaceId)
    .where('endpoint_id', '=', endpointId)
    .where('failing_since', 'is not', null)
    .execute();
}

/** Call it before the endpoint is locked: transactions that count attempts lock statistics first. */
export async function deleteStatistics(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
): Promise<void> {
  await transaction
    .deleteFrom('endpoint_stat')
    .where('workspace_id', '=', workspaceId)
    .where('endpoint_id', '=', endpointId)
    .execute();
}

/**
 * Removes the endpoint from addresses, catch-alls and guard rules, which stay: mail to the addresses and to the whole domains is stored,
 * and rules match without routing anywhere. Domains are locked before addresses, as in the deletion of a domain.
 */
export async function detachEndpoint(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
  now: Date,
): Promise<DetachedUse> {
  const domains = await transaction
    .updateTable('domain')
    .set({ catch_all_endpoint_id: null, updated_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('catch_all_endpoint_id', '=', endpointId)
    .returning('name')
    .execute();
  const { rows: addresses } = await sql<{ address: string }>`
    update email_address set endpoint_id = null, webhook_id = null, updated_at = ${now}
    where workspace_id = ${workspaceId} and coalesce(endpoint_id, webhook_id) = ${endpointId}
    returning address`.execute(transaction);
  const rules = await transaction
    .updateTable('guard_rule')
    .set({ endpoint_id: null, updated_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirst();
  return {
    addresses: addresses.map(({ address }) => address).toSorted(),
    domains: domains.map(({ name }) => name).toSorted(),
    guardRuleCount: Number(rules.numUpdatedRows),
  };
}

/** Maximum deliveries that are ended with their endpoint; the delivery actor ends the others when they fall due. */
const MAX_ENDED = 10_000;

/** A delivery that was ended without another attempt. */
export interface EndedDelivery {
  id: string;
  emailId: string | null;
  /** null: mail that is routed to the endpoint */
  eventSeq: number | null;
  attempts: number;
}

/** Ends the deliveries to an endpoint that wait for their next attempt. One in progress ends by itself. Returns those ended. */
export async function endDeliveries(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
  error: string,
): Promise<EndedDelivery[]> {
  const { rows } = await sql<EndedDelivery>`
    update delivery d set status = 'failed', next_attempt_at = null, completed_at = (select postroom_now()), claimed_by = null,
      claimed_until = null, response_data = jsonb_build_object('error', ${error}::text, 'statusCode', null)
    where d.workspace_id = ${workspaceId} and d.status = 'pending' and d.id = any(array(
      select p.id from delivery p
      where p.workspace_id = ${workspaceId} and p.endpoint_id = ${endpointId} and p.status = 'pending'
        and (p.next_attempt_at is not null or p.order_key is not null)
        and (p.claimed_until is null or p.claimed_until < (select postroom_now()))
      limit ${MAX_ENDED} for update skip locked))
    returning d.id, d.email_id as "emailId", d.event_seq as "eventSeq", d.attempts`.execute(transaction);
  return rows;
}
