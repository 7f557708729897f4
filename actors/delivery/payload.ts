import { buildMailPayload, isRawNeeded as isRawNeededFor } from '../../core/endpoints/mail-payload.ts';
import type { DeliveryContentRow } from '../../db/queries/endpoints/delivery-content.ts';
import type { DeliveryEndpoint, WebhookFacts } from './endpoint-lookup.ts';
import type { DeliveryJob } from './job.ts';

export interface PayloadParts {
  job: Pick<DeliveryJob, 'createdAt' | 'threadId' | 'threadPosition'>;
  endpoint: DeliveryEndpoint;
  webhook: WebhookFacts;
  email: DeliveryContentRow;
  /** the octets of the message; null when they are gone, or not needed (isRawNeeded) */
  raw: Buffer | null;
  /** without a slash at its end */
  publicUrl: string;
  /** see core/endpoints/download-link.ts */
  linkKey: Uint8Array;
}

/** The body of the request by which an email is delivered to a webhook: of real mail and of tests alike. Equal parts give equal text. */
export function buildPayload({ job, endpoint, webhook, email, raw, publicUrl, linkKey }: PayloadParts): string {
  return buildMailPayload({ delivery: job, endpoint, config: webhook.config, mail: email, raw, publicUrl, linkKey });
}

/** Whether the payload of that email for that endpoint is made from the octets of the message. */
export function isRawNeeded({
  endpoint,
  webhook,
  email,
}: Pick<PayloadParts, 'endpoint' | 'webhook' | 'email'>): boolean {
  return isRawNeededFor({ endpoint, config: webhook.config, mail: email });
}
