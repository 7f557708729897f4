import type { DeliveryStatus } from '../../core/endpoints/delivery.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as lists from '../../db/queries/endpoints/delivery-list.ts';
import * as pages from '../../db/queries/endpoints/delivery-page.ts';
import type { DeliveryAttempt, DeliverySummary } from '../../db/queries/endpoints/delivery-row.ts';
import { emailNotFound, isValidId, type OperationContext } from '../context.ts';
import { retryEmail, retryEvent } from './retries.ts';

export type { DeliveryAttempt, DeliverySummary } from '../../db/queries/endpoints/delivery-row.ts';

import { waitUntilParsed } from '../emails/pending-emails.ts';

export type Delivery = lists.Delivery;

/** Filters of the list; omitted filters match all. */
export interface DeliveryQuery {
  status?: DeliveryStatus | null | undefined;
}

/** Returns a page of an endpoint's deliveries, newest first, with the exact total. Throws not_found. */
export function listEndpointDeliveries(
  context: OperationContext,
  endpointId: string,
  query: DeliveryQuery,
  page: Page,
): Promise<{ rows: Delivery[]; total: number }> {
  return asWorkspace(context.database, context.workspaceId, async (transaction) => {
    const { workspaceId } = context;
    const found = isValidId(endpointId)
      ? await transaction
          .selectFrom('endpoint')
          .select(['id', 'type'])
          .where('workspace_id', '=', workspaceId)
          .where('id', '=', endpointId)
          .executeTakeFirst()
      : undefined;
    if (found === undefined) throw new UserError('not_found', 'Endpoint not found');
    return listRows(transaction, workspaceId, { endpointId, type: found.type }, query, page);
  });
}

/**
 * Returns a page of an email's deliveries, newest first, with the exact total; sent mail has none. Throws not_found.
 */
export function listEmailDeliveries(
  context: OperationContext,
  emailId: string,
  query: DeliveryQuery,
  page: Page,
): Promise<{ rows: Delivery[]; total: number }> {
  const list = () =>
    asWorkspace(context.database, context.workspaceId, async (transaction) => {
      const { workspaceId } = context;
      const found = isValidId(emailId)
        ? await transaction
            .selectFrom('email')
            .select('id')
            .where('workspace_id', '=', workspaceId)
            .where('id', '=', emailId)
            .executeTakeFirst()
        : undefined;
      if (found === undefined) throw emailNotFound();
      return listRows(transaction, workspaceId, { emailId }, query, page);
    });
  return waitUntilParsed(context, [emailId], list);
}

async function listRows(
  transaction: Parameters<typeof lists.listDeliveries>[0],
  workspaceId: string,
  owner: Parameters<typeof lists.listDeliveries>[2],
  { status = null }: DeliveryQuery,
  page: Page,
): Promise<{ rows: Delivery[]; total: number }> {
  const { deliveries, total } = await lists.listDeliveries(transaction, workspaceId, owner, status, page);
  return { rows: deliveries, total };
}

/** Returns a page of deliveries of each endpoint or email, newest first; inverted: oldest first. */
export async function pageDeliveries(
  { database, workspaceId }: OperationContext,
  owners: pages.DeliveryOwners,
  { status = null }: DeliveryQuery,
  page: KeysetPage,
): Promise<DeliverySummary[][]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    pages.pageDeliveries(transaction, workspaceId, owners, status, page),
  );
  const byOwner = Map.groupBy(found, (one) => (owners.kind === 'endpoint' ? one.endpointId : one.emailId));
  return owners.ids.map((id) => byOwner.get(id) ?? []);
}

/** Returns the number of deliveries of each endpoint or email. */
export async function countDeliveries(
  { database, workspaceId }: OperationContext,
  owners: pages.DeliveryOwners,
  { status = null }: DeliveryQuery,
): Promise<number[]> {
  const counts = await asWorkspace(database, workspaceId, (transaction) =>
    pages.countDeliveries(transaction, workspaceId, owners, status),
  );
  return owners.ids.map((id) => counts.get(id) ?? 0);
}

/** Returns one delivery per id, null where the user has none. */
export async function loadDeliveries(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<(DeliverySummary | null)[]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    pages.findDeliveries(transaction, workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(found.map((delivery) => [delivery.id, delivery]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Returns a delivery with its attempts. Throws not_found. */
export async function readDelivery(context: OperationContext, deliveryId: string): Promise<Delivery> {
  const [delivery = null] = await readDeliveries(context, [deliveryId]);
  if (delivery === null) throw deliveryNotFound();
  return delivery;
}

/** Returns one delivery per id with its attempts, null where the user has none. */
export async function readDeliveries(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<(Delivery | null)[]> {
  const asked = ids.filter(isValidId);
  if (asked.length === 0) return ids.map(() => null);
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    lists.readDeliveries(transaction, workspaceId, asked),
  );
  const byId = new Map(found.map((delivery) => [delivery.id, delivery]));
  return ids.map((id) => byId.get(id) ?? null);
}

function deliveryNotFound(): UserError {
  return new UserError('not_found', 'Delivery not found');
}

/** Returns the attempts of each delivery, oldest first. */
export async function loadDeliveryAttempts(
  { database, workspaceId }: OperationContext,
  deliveryIds: readonly string[],
): Promise<DeliveryAttempt[][]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    pages.findAttempts(transaction, workspaceId, deliveryIds),
  );
  const byDelivery = Map.groupBy(found, ({ deliveryId }) => deliveryId);
  return deliveryIds.map((id) => byDelivery.get(id) ?? []);
}

/** Returns the recipient ids of the forwarded copies of each delivery; none for webhooks. */
export async function findForwardRecipients(
  { database, workspaceId }: OperationContext,
  deliveryIds: readonly string[],
): Promise<string[][]> {
  const found = await asWorkspace(database, workspaceId, (transaction) =>
    pages.findForwardRecipients(transaction, workspaceId, deliveryIds),
  );
  const byDelivery = Map.groupBy(found, ({ deliveryId }) => deliveryId);
  return deliveryIds.map((id) => (byDelivery.get(id) ?? []).map((recipient) => recipient.id));
}

/**
 * Delivers the email or event of an unsuccessful delivery to its endpoint again. Returns the id of the new delivery, or of this
 * one while it is pending. Throws not_found, validation, conflict.
 */
export async function retryDelivery(context: OperationContext, deliveryId: string): Promise<string> {
  const [delivery] = await loadDeliveries(context, [deliveryId]);
  if (delivery == null) throw deliveryNotFound();
  if (delivery.event !== null) return retryEvent(context, delivery);
  const [again = deliveryId] = await retryEmail(context, delivery.emailId ?? '', { endpointId: null, deliveryId });
  return again;
}
