import type { DeliveryStatus } from '../../core/endpoints/delivery.ts';
import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { readWebhookConfig, type WebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import { buildMailPayload, isRawNeeded } from '../../core/endpoints/mail-payload.ts';
import { buildSelectedPayload } from '../../core/endpoints/payload-query.ts';
import { linkTo } from '../../core/endpoints/webhook-payload.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asUser } from '../../db/connection/transaction.ts';
import { type DeliveryBodyParts, readDeliveryBodyParts } from '../../db/queries/endpoints/delivery-body.ts';
import * as lists from '../../db/queries/endpoints/delivery-list.ts';
import * as pages from '../../db/queries/endpoints/delivery-page.ts';
import type { DeliveryAttempt, DeliverySummary } from '../../db/queries/endpoints/delivery-row.ts';
import { emailNotFound, isValidId, type OperationContext } from '../context.ts';
import { readRawSource } from '../emails/attachments.ts';
import { loadEndpoints } from './endpoints.ts';
import { retryEmail, retryEvent } from './retries.ts';

export type { DeliveryAttempt, DeliverySummary } from '../../db/queries/endpoints/delivery-row.ts';

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
): Promise<{ deliveries: Delivery[]; total: number }> {
  return asUser(context.database, context.userId, async (transaction) => {
    const { userId } = context;
    const found = isValidId(endpointId)
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

/**
 * Returns a page of an email's deliveries, newest first, with the exact total; sent mail has none. Throws not_found.
 */
export function listEmailDeliveries(
  context: OperationContext,
  emailId: string,
  query: DeliveryQuery,
  page: Page,
): Promise<{ deliveries: Delivery[]; total: number }> {
  return asUser(context.database, context.userId, async (transaction) => {
    const { userId } = context;
    const found = isValidId(emailId)
      ? await transaction
          .selectFrom('email')
          .select('id')
          .where('user_id', '=', userId)
          .where('id', '=', emailId)
          .executeTakeFirst()
      : undefined;
    if (found === undefined) throw emailNotFound();
    return lists.listDeliveries(transaction, userId, { emailId }, query.status ?? null, page);
  });
}

/** Returns a page of deliveries of each endpoint or email, newest first; inverted: oldest first. */
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

/** Returns the number of deliveries of each endpoint or email. */
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

/** Returns one delivery per id, null where the user has none. */
export async function loadDeliveries(
  { database, userId }: OperationContext,
  ids: readonly string[],
): Promise<(DeliverySummary | null)[]> {
  const found = await asUser(database, userId, (transaction) =>
    pages.findDeliveries(transaction, userId, ids.filter(isValidId)),
  );
  const byId = new Map(found.map((delivery) => [delivery.id, delivery]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Returns a delivery with its attempts. Throws not_found. */
export async function readDelivery({ database, userId }: OperationContext, deliveryId: string): Promise<Delivery> {
  const delivery = isValidId(deliveryId)
    ? await asUser(database, userId, (transaction) => lists.readDelivery(transaction, userId, deliveryId))
    : null;
  if (delivery === null) throw deliveryNotFound();
  return delivery;
}

function deliveryNotFound(): UserError {
  return new UserError('not_found', 'Delivery not found');
}

/** Returns the attempts of each delivery, oldest first. */
export async function loadDeliveryAttempts(
  { database, userId }: OperationContext,
  deliveryIds: readonly string[],
): Promise<DeliveryAttempt[][]> {
  const found = await asUser(database, userId, (transaction) => pages.findAttempts(transaction, userId, deliveryIds));
  const byDelivery = Map.groupBy(found, ({ deliveryId }) => deliveryId);
  return deliveryIds.map((id) => byDelivery.get(id) ?? []);
}

/** Returns the recipient ids of the forwarded copies of each delivery; none for webhooks. */
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

/** The body of a webhook request. */
export interface DeliveryPayload {
  body: Buffer;
  /** the URL it is posted to */
  url: string;
  /** whether the endpoint changed after the last attempt, so that its body may have differed */
  isEndpointChanged: boolean;
}

/**
 * Builds the body that an attempt would send now, with the code that sends it. Bodies are not stored; equal input gives
 * equal bytes. Returns null when the user has no such webhook delivery, or its endpoint or email is gone.
 */
export async function buildDeliveryPayload(
  context: OperationContext,
  deliveryId: string,
): Promise<DeliveryPayload | null> {
  const { database, userId, settings } = context;
  if (!isValidId(deliveryId)) return null;
  const [delivery] = await loadDeliveries(context, [deliveryId]);
  if (delivery?.event != null) return buildEventDeliveryPayload(context, delivery);
  const parts = await asUser(database, userId, (transaction) => readDeliveryBodyParts(transaction, userId, deliveryId));
  const config = parts === null ? null : usableConfig(context, parts.endpoint);
  if (parts === null || config === null) return null;
  const { endpoint, mail, lastAttemptAt } = parts;
  const changed = { url: config.url, isEndpointChanged: lastAttemptAt !== null && endpoint.updatedAt > lastAttemptAt };
  const selected = await buildSelectedBody(context, { ...parts, config });
  if (selected !== null) return { body: selected, ...changed };
  const raw = isRawNeeded({ endpoint, config, mail }) ? await readRawSource(context, parts.emailId, null) : null;
  const body = buildMailPayload({
    delivery: parts,
    endpoint,
    config,
    mail,
    raw,
    publicUrl: settings.publicUrl,
    linkKey: deriveDownloadLinkKey(settings.secretKey),
  });
  return { body, ...changed };
}

async function buildEventDeliveryPayload(
  context: OperationContext,
  { id, endpointId, lastAttemptAt }: DeliverySummary,
): Promise<DeliveryPayload | null> {
  const built = await context.buildEventPayload(context, id);
  const [endpoint] = await loadEndpoints(context, [endpointId]);
  const config = endpoint == null ? null : usableConfig(context, endpoint);
  if (built.verdict === 'gone' || endpoint == null || config === null) return null;
  const isEndpointChanged = lastAttemptAt !== null && endpoint.updatedAt > lastAttemptAt;
  return { body: built.body, url: config.url, isEndpointChanged };
}

/** Null when the endpoint has no payload query, or it does not fit. */
async function buildSelectedBody(
  context: OperationContext,
  { createdAt: timestamp, endpoint, config, mail, emailId }: DeliveryBodyParts & { config: WebhookConfig },
): Promise<Buffer | null> {
  const { payloadQuery: query, filter } = endpoint;
  if (query === null || endpoint.webhookFormat !== 'native') return null;
  const subject = { emailId, receivedAt: mail.created_at };
  const selected = await context.payloadQueries.select(context, { query, filter }, subject, timestamp);
  if (selected === null) return null;
  const { publicUrl, secretKey } = context.settings;
  const linkKey = deriveDownloadLinkKey(secretKey);
  const { userId } = context;
  return buildSelectedPayload({
    selected,
    timestamp,
    endpoint,
    maxPayloadOctets: config.maxPayloadOctets,
    rawLinkOf: (id) => linkTo({ publicUrl, linkKey, userId, email: { id }, timestamp }, 'raw'),
  });
}

function usableConfig({ log }: OperationContext, endpoint: { id: string; config: unknown }): WebhookConfig | null {
  try {
    return readWebhookConfig(endpoint.config);
  } catch (error) {
    log.error({ err: error, endpointId: endpoint.id }, 'endpoints: the stored configuration is invalid');
    return null;
  }
}
