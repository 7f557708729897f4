import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { readWebhookConfig, type WebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import { linkTo } from '../../core/endpoints/payload-facts.ts';
import { buildSelectedPayload } from '../../core/endpoints/payload-query.ts';
import { buildMailPayload, isRawNeeded } from '../../core/endpoints/webhook-payload.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as bodies from '../../db/queries/endpoints/delivery-body.ts';
import { readMailSizes } from '../../db/queries/endpoints/pulled-mail.ts';
import type { OperationContext } from '../context.ts';
import { batchBySize, loadRawSources } from '../emails/attachments.ts';
import { readPayloadTexts } from '../emails/html-text.ts';
import { readSenderFacts } from '../emails/sender-facts.ts';
import { buildInTurns, LARGE_BYTES, loadInTurns } from './build-in-turns.ts';
import { type DeliverySummary, loadDeliveries } from './deliveries.ts';
import { loadEndpoints } from './endpoints.ts';
import { findLinkHolder } from './payload-queries.ts';

/** The body of a webhook request. */
export interface DeliveryPayload {
  body: Buffer;
  /** the URL it is posted to */
  url: string;
  /** whether the endpoint changed after the last attempt, so that its body may have differed */
  isEndpointChanged: boolean;
}

/** A delivery of an email to a webhook, with the valid configuration of its endpoint. */
type MailDelivery = bodies.DeliveryBodyParts & { config: WebhookConfig };

/**
 * Builds the body that an attempt of each delivery would send now, with the code that sends it, one after another, and returns what `keep` keeps
 * of it. Bodies are not stored; equal input gives equal bytes. Null where the user has no such webhook delivery, or its endpoint or email is
 * gone. A statement reads several emails or events as long as they are small, and payload queries run together.
 */
export async function buildDeliveryPayloads<Kept>(
  context: OperationContext,
  deliveryIds: readonly string[],
  keep: (payload: DeliveryPayload) => Kept,
): Promise<(Kept | null)[]> {
  const { database, workspaceId } = context;
  const kept = new Map<string, Kept>();
  const deliveries = (await loadDeliveries(context, deliveryIds)).filter((delivery) => delivery !== null);
  const ofMail = deliveries.filter(({ event }) => event === null).map(({ id }) => id);
  const found =
    ofMail.length === 0
      ? []
      : await asWorkspace(database, workspaceId, (transaction) =>
          bodies.findDeliveryBodyParts(transaction, workspaceId, ofMail),
        );
  const byEmail = Map.groupBy(
    found.flatMap((parts) => {
      const config = usableConfig(context, parts.endpoint);
      return config === null ? [] : [{ ...parts, config }];
    }),
    ({ emailId }) => emailId,
  );
  const emailIds = [...byEmail.keys()];
  const sizes = await asWorkspace(database, workspaceId, (transaction) =>
    readMailSizes(transaction, workspaceId, emailIds),
  );
  const readSize = (id: string) => sizes.get(id) ?? 0;
  for (const batch of batchBySize(emailIds, readSize)) {
    const deliveriesOfBatch = batch.flatMap((id) => byEmail.get(id) ?? []);
    const bytes = batch.reduce((sum, id) => sum + readSize(id), 0);
    const build = () =>
      buildMailBodies(context, { deliveries: deliveriesOfBatch, bytes }, (id, payload) => kept.set(id, keep(payload)));
    await (bytes < LARGE_BYTES ? build() : loadInTurns(workspaceId, build));
  }
  const ofEvents = deliveries.filter(({ event }) => event !== null);
  for (let at = 0; at < ofEvents.length; at += EVENTS_BATCH) {
    const batch = ofEvents.slice(at, at + EVENTS_BATCH);
    await context.room.borrow(() => buildEventBodies(context, batch, (id, payload) => kept.set(id, keep(payload))));
  }
  return deliveryIds.map((id) => kept.get(id) ?? null);
}

/** `bytes`: of the emails of the deliveries. */
async function buildMailBodies(
  context: OperationContext,
  { deliveries, bytes }: { deliveries: readonly MailDelivery[]; bytes: number },
  use: (deliveryId: string, payload: DeliveryPayload) => void,
): Promise<void> {
  const { database, workspaceId, settings } = context;
  const emailIds = [...new Set(deliveries.map(({ emailId }) => emailId))];
  const mails = await context.room.load(bytes, () =>
    asWorkspace(database, workspaceId, (transaction) =>
      bodies.findDeliveryContents(transaction, workspaceId, emailIds),
    ),
  );
  const built = (delivery: MailDelivery, body: Buffer): void => {
    const { deliveryId, lastAttemptAt, endpoint, config } = delivery;
    const isEndpointChanged = lastAttemptAt !== null && endpoint.updatedAt > lastAttemptAt;
    use(deliveryId, { body, url: config.url, isEndpointChanged });
  };
  const rest: (MailDelivery & { mail: bodies.DeliveryContentRow })[] = [];
  const present = deliveries.flatMap((delivery) => {
    const mail = mails.get(delivery.emailId);
    return mail === undefined ? [] : [{ ...delivery, mail }];
  });
  const selected = await buildSelectedBodies(context, present);
  for (const delivery of present) {
    const body = selected.get(delivery.deliveryId);
    if (body === undefined) rest.push(delivery);
    else built(delivery, body);
  }
  const needing = [...new Set(rest.filter(isRawNeeded).map(({ emailId }) => emailId))];
  const raws = needing.length === 0 ? [] : await loadRawSources(context, needing, null);
  const rawOf = new Map(needing.map((id, at) => [id, raws[at] ?? null]));
  const linkKey = deriveDownloadLinkKey(settings.secretKey);
  for (const { mail, ...delivery } of rest) {
    const { endpoint, config, emailId } = delivery;
    const raw = isRawNeeded({ endpoint, config, mail }) ? (rawOf.get(emailId) ?? null) : null;
    const { publicUrl } = settings;
    const removed = await readPayloadTexts(mail);
    const sender = readSenderFacts(mail.authentication);
    const linkHolder = findLinkHolder(context, endpoint.id);
    const parts = { delivery, endpoint, config, mail, removed, sender, raw, publicUrl, linkKey, linkHolder };
    built(delivery, await buildInTurns(workspaceId, buildMailPayload(parts), context.caller.gone));
  }
}

/** Events whose bodies are in memory together. */
const EVENTS_BATCH = 20;

async function buildEventBodies(
  context: OperationContext,
  deliveries: readonly DeliverySummary[],
  use: (deliveryId: string, payload: DeliveryPayload) => void,
): Promise<void> {
  const payloads = await context.buildEventPayloads(
    context,
    deliveries.map(({ id }) => id),
  );
  const endpointIds = [...new Set(deliveries.map(({ endpointId }) => endpointId))];
  const endpoints = new Map(
    (await loadEndpoints(context, endpointIds)).map((endpoint, at) => [endpointIds[at], endpoint]),
  );
  for (const [at, { id, endpointId, lastAttemptAt }] of deliveries.entries()) {
    const endpoint = endpoints.get(endpointId) ?? null;
    const payload = payloads[at];
    const config = endpoint === null ? null : usableConfig(context, endpoint);
    if (payload?.verdict !== 'built' || endpoint === null || config === null) continue;
    const isEndpointChanged = lastAttemptAt !== null && endpoint.updatedAt > lastAttemptAt;
    use(id, { body: payload.body, url: config.url, isEndpointChanged });
  }
}

/** Returns the bodies of deliveries whose endpoint has a payload query that fits, by their ids. Each query runs once for all its deliveries. */
async function buildSelectedBodies(
  context: OperationContext,
  deliveries: readonly (MailDelivery & { mail: bodies.DeliveryContentRow })[],
): Promise<Map<string, Buffer>> {
  const { publicUrl, secretKey } = context.settings;
  const linkKey = deriveDownloadLinkKey(secretKey);
  const { workspaceId } = context;
  const asking = deliveries.flatMap((delivery) => {
    const { payloadQuery: query, filter, webhookFormat } = delivery.endpoint;
    return query === null || webhookFormat !== 'native' ? [] : [{ delivery, query: { query, filter } }];
  });
  const found = new Map<string, Buffer>();
  for (const group of Map.groupBy(asking, ({ query }) => JSON.stringify(query)).values()) {
    const [first] = group;
    if (first === undefined) continue;
    const subjects = group.map(({ delivery: { emailId, createdAt, endpoint, mail } }) => ({
      subject: { emailId, receivedAt: mail.created_at },
      links: { from: createdAt, holder: findLinkHolder(context, endpoint.id) },
    }));
    const results = await context.payloadQueries.selectAll(context, first.query, subjects);
    for (const [at, { delivery }] of group.entries()) {
      const selected = results[at];
      if (selected == null) continue;
      const { deliveryId, createdAt: timestamp, endpoint, config } = delivery;
      const linkHolder = findLinkHolder(context, endpoint.id);
      const makeRawLink = (id: string) =>
        linkTo({ publicUrl, linkKey, linkHolder, workspaceId, email: { id }, timestamp }, 'raw');
      const { maxPayloadOctets } = config;
      const facts = { selected, timestamp, endpoint, maxPayloadOctets, rawLinkOf: makeRawLink };
      found.set(deliveryId, await buildInTurns(workspaceId, buildSelectedPayload(facts), context.caller.gone));
    }
  }
  return found;
}

function usableConfig({ log }: OperationContext, endpoint: { id: string; config: unknown }): WebhookConfig | null {
  try {
    return readWebhookConfig(endpoint.config);
  } catch (error) {
    log.error({ err: error, endpointId: endpoint.id }, 'endpoints: the stored configuration is invalid');
    return null;
  }
}
