import { deriveDownloadLinkKey } from '../../core/endpoints/download-link.ts';
import { readWebhookConfig, type WebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import { buildMailPayload, isRawNeeded } from '../../core/endpoints/payload-of-mail.ts';
import { asUser } from '../../db/connection/database.ts';
import { readDeliveryBodyParts } from '../../db/queries/endpoints/delivery-body.ts';
import { isAskable, type OperationContext } from '../context.ts';
import { readRawSource } from '../emails/raw-source.ts';

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
