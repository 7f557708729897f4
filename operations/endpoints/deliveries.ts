import type { DeliveryStatus } from '../../core/endpoints/delivery.ts';
import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { readWebhookConfig, type WebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import { buildMailPayload, isRawNeeded } from '../../core/endpoints/mail-payload.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asUser } from '../../db/connection/database.ts';
import { readDeliveryBodyParts } from '../../db/queries/endpoints/delivery-body.ts';
import * as lists from '../../db/queries/endpoints/delivery-list.ts';
import * as pages from '../../db/queries/endpoints/delivery-page.ts';
import type { DeliveryAttempt, DeliverySummary } from '../../db/queries/endpoints/delivery-row.ts';
import { isAskable, type OperationContext } from '../context.ts';
import { readRawSource } from '../emails/attachments.ts';
import { retryEmail } from './retries.ts';

export type { DeliveryAttempt, DeliverySummary } from '../../db/queries/endpoints/delivery-row.ts';

export type Delivery = lists.Delivery;

/** What a list is asked for; absent puts no condition. */
export interface DeliveryQuery {
  status?: DeliveryStatus | null | undefined;
}

/** A page of what was delivered to an endpoint, newest first, with the exact total. Throws not_found. */
export function listEndpointDeliveries(
  context: OperationContext,
  endpointId: string,
  query: DeliveryQuery,
  page: Page,
): Promise<{ deliveries: Delivery[]; total: number }> {
  return asUser(context.database, context.userId, async (transaction) => {
    const { userId } = context;
    const found = isAskable(endpointId)
      ? await transaction
          .selectFrom('endpoint')
          .select(['id', 'type'])
          .where('user_id', '=', userId)
          .where('id', '=', endpointId)
          .executeTakeFirst()
      : undefined;
    if (found === undefined) throw new UserError('not_found', 'Endpoint not found');
    return lists.listDeliveries(transaction, userId, { endpointId, type: found.type }, query.status ?? null, page);
  });
}

/** A page of the deliveries of an email, newest first, with the exact total; sent mail has none. Throws not_found. */
export function listEmailDeliveries(
  context: OperationContext,
  emailId: string,
  query: DeliveryQuery,
  page: Page,
): Promise<{ deliveries: Delivery[]; total: number }> {
  return asUser(context.database, context.userId, async (transaction) => {
    const { userId } = context;
    const found = isAskable(emailId)
      ? await transaction
          .selectFrom('email')
          .select('id')
          .where('user_id', '=', userId)
          .where('id', '=', emailId)
          .executeTakeFirst()
      : undefined;
    if (found === undefined) throw new UserError('not_found', 'Email not found');
    return lists.listDeliveries(transaction, userId, { emailId }, query.status ?? null, page);
  });
}

/** The deliveries of each endpoint or email behind and before two places, newest first; inverted: oldest first. */
export async function pageDeliveries(
  { database, userId }: OperationContext,
  owners: pages.DeliveryOwners,
  { status = null }: DeliveryQuery,
  page: KeysetPage,
): Promise<DeliverySummary[][]> {
  const found = await asUser(database, userId, (transaction) =>
    pages.pageDeliveries(transaction, userId, owners, status, page),
  );
  const byOwner = Map.groupBy(found, (one) => (owners.kind === 'endpoint' ? one.endpointId : one.emailId));
  return owners.ids.map((id) => byOwner.get(id) ?? []);
}

/** How many deliveries each endpoint or email has. */
export async function countDeliveries(
  { database, userId }: OperationContext,
  owners: pages.DeliveryOwners,
  { status = null }: DeliveryQuery,
): Promise<number[]> {
  const counts = await asUser(database, userId, (transaction) =>
    pages.countDeliveries(transaction, userId, owners, status),
  );
  return owners.ids.map((id) => counts.get(id) ?? 0);
}

/** One for each id, null where the user has none. */
export async function loadDeliveries(
  { database, userId }: OperationContext,
  ids: readonly string[],
): Promise<(DeliverySummary | null)[]> {
  const found = await asUser(database, userId, (transaction) =>
    pages.findDeliveries(transaction, userId, ids.filter(isAskable)),
  );
  const byId = new Map(found.map((delivery) => [delivery.id, delivery]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** The attempts of each delivery, oldest first. */
export async function loadDeliveryAttempts(
  { database, userId }: OperationContext,
  deliveryIds: readonly string[],
): Promise<DeliveryAttempt[][]> {
  const found = await asUser(database, userId, (transaction) => pages.findAttempts(transaction, userId, deliveryIds));
  const byDelivery = Map.groupBy(found, ({ deliveryId }) => deliveryId);
  return deliveryIds.map((id) => byDelivery.get(id) ?? []);
}

/** The ids of those whom the forwarded copies of each delivery go to; none of webhooks. */
export async function findForwardRecipients(
  { database, userId }: OperationContext,
  deliveryIds: readonly string[],
): Promise<string[][]> {
  const found = await asUser(database, userId, (transaction) =>
    pages.findForwardRecipients(transaction, userId, deliveryIds),
  );
  const byDelivery = Map.groupBy(found, ({ deliveryId }) => deliveryId);
  return deliveryIds.map((id) => (byDelivery.get(id) ?? []).map((recipient) => recipient.id));
}

/**
 * Delivers the email of a delivery that did not succeed to its endpoint again. Answers the id of the delivery: a new one, or this one while it
 * is pending. Throws not_found, validation, conflict.
 */
export async function retryDelivery(context: OperationContext, deliveryId: string): Promise<string> {
  const [delivery] = await loadDeliveries(context, [deliveryId]);
  if (delivery == null) throw new UserError('not_found', 'Delivery not found');
  const [again = deliveryId] = await retryEmail(context, delivery.emailId, { endpointId: null, deliveryId });
  return again;
}

/** The body of a webhook's request. */
export interface DeliveryPayload {
  body: Buffer;
  /** where it is posted to */
  url: string;
  /** whether the endpoint was changed after the last try, so that the body of that try may have been another */
  isEndpointChanged: boolean;
}

/**
 * The body of the request that a try would send now, by the code that sends it: bodies are not kept, and the same parts give the same
 * octets. Null when the user has no such delivery, it is none of a webhook, or its endpoint or its email is gone.
 */
export async function buildDeliveryPayload(
  context: OperationContext,
  deliveryId: string,
): Promise<DeliveryPayload | null> {
  const { database, userId, settings } = context;
  if (!isAskable(deliveryId)) return null;
  const parts = await asUser(database, userId, (transaction) => readDeliveryBodyParts(transaction, userId, deliveryId));
  const config = parts === null ? null : usableConfig(context, parts.endpoint);
  if (parts === null || config === null) return null;
  const { endpoint, mail, lastAttemptAt } = parts;
  const raw = isRawNeeded({ endpoint, config, mail }) ? await readRawSource(context, parts.emailId, null) : null;
  const text = buildMailPayload({
    delivery: parts,
    endpoint,
    config,
    mail,
    raw,
    publicUrl: settings.publicUrl,
    linkKey: deriveDownloadLinkKey(settings.secretKey),
  });
  return {
    body: Buffer.from(text),
    url: config.url,
    isEndpointChanged: lastAttemptAt !== null && endpoint.updatedAt > lastAttemptAt,
  };
}

function usableConfig({ log }: OperationContext, endpoint: { id: string; config: unknown }): WebhookConfig | null {
  try {
    return readWebhookConfig(endpoint.config);
  } catch (error) {
    log.error({ err: error, endpointId: endpoint.id }, 'endpoint configuration cannot be used');
    return null;
  }
}
