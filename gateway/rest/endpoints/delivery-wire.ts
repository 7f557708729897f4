import { z } from 'zod';
import { DELIVERY_ATTEMPT_OUTCOMES, DELIVERY_CAUSES, DELIVERY_STATUSES } from '../../../core/endpoints/delivery.ts';
import { RECIPIENT_STATUSES } from '../../../core/smtp/delivery-status.ts';
import type { Delivery } from '../../../operations/endpoints/deliveries.ts';
import { instant, wireInstant } from '../shapes.ts';

export const deliveryStatus = z.enum(DELIVERY_STATUSES);

/** A delivery record, and what was seen of each of its attempts. */
export const deliveryBody = z
  .object({
    id: z.string(),
    emailId: z.string(),
    endpointId: z.string(),
    deliveryType: z.enum(['webhook', 'email_forward']),
    status: deliveryStatus,
    attempts: z.number().int(),
    lastAttemptAt: instant.nullable(),
    responseData: z
      .unknown()
      .meta({ description: '`error` and `statusCode` of the last attempt. Null before the first attempt.' }),
    createdAt: instant,
    completedAt: instant.nullable(),
    nextAttemptAt: instant.nullable().meta({ description: 'Null if there is no next attempt.' }),
    cause: z.enum(DELIVERY_CAUSES).meta({ description: 'What started this delivery.' }),
    attemptLog: z.array(
      z.object({
        number: z.number().int(),
        startedAt: instant,
        durationMs: z.number().int(),
        outcome: z.enum(DELIVERY_ATTEMPT_OUTCOMES),
        statusCode: z.number().int().nullable(),
        error: z.string().nullable(),
        requestHeaders: z
          .record(z.string(), z.string())
          .meta({ description: 'Request headers. Secrets are redacted.' }),
        responseBody: z.string().nullable().meta({ description: 'First 4,096 bytes of the response body.' }),
      }),
    ),
    recipients: z
      .array(
        z.object({
          address: z.string(),
          status: z.enum(RECIPIENT_STATUSES),
          code: z.number().int().nullable().meta({ description: 'SMTP reply code.' }),
          enhancedStatus: z.string().nullable().meta({ description: 'Enhanced status code (RFC 3463).' }),
          text: z.string().nullable(),
          settledAt: instant.nullable(),
        }),
      )
      .meta({ description: 'Recipients of a forwarded copy. Empty for webhooks.' }),
  })
  .meta({ id: 'Delivery' });

export function deliveryBodyOf(delivery: Delivery): z.infer<typeof deliveryBody> {
  return {
    id: delivery.id,
    emailId: delivery.emailId,
    endpointId: delivery.endpointId,
    deliveryType: delivery.type === 'webhook' ? 'webhook' : 'email_forward',
    status: delivery.status,
    attempts: delivery.attempts,
    lastAttemptAt: wireInstant(delivery.lastAttemptAt),
    responseData: delivery.responseData,
    createdAt: wireInstant(delivery.createdAt),
    completedAt: wireInstant(delivery.completedAt),
    nextAttemptAt: delivery.status === 'pending' ? wireInstant(delivery.nextAttemptAt) : null,
    cause: delivery.cause,
    attemptLog: delivery.attemptLog.map((attempt) => ({ ...attempt, startedAt: wireInstant(attempt.startedAt) })),
    recipients: delivery.recipients.map((recipient) => ({
      ...recipient,
      settledAt: wireInstant(recipient.settledAt),
    })),
  };
}
