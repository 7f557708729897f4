import { defineEntity, p } from '@mikro-orm/core';
import { DELIVERY_ATTEMPT_OUTCOMES, DELIVERY_CAUSES, DELIVERY_STATUSES } from '../../core/endpoints/delivery.ts';
import { ENDPOINT_TYPES, WEBHOOK_FORMATS } from '../../core/endpoints/endpoint-config.ts';

export const EndpointSchema = defineEntity({
  name: 'Endpoint',
  tableName: 'endpoint',
  properties: {
    userId: p.text().primary(),
    id: p.text().primary(),
    name: p.text(),
    type: p.enum(ENDPOINT_TYPES),
    webhookFormat: p.enum(WEBHOOK_FORMATS).default('native'),
    config: p.json<Record<string, unknown>>(),
    /** Standard Webhooks secret (whsec_...), encrypted under SECRET_KEY; null for endpoints without webhook */
    secretCiphertext: p.text().nullable(),
    isActive: p.boolean().default(true),
    inactiveReason: p.text().nullable(),
    description: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class Endpoint extends EndpointSchema.class {}
EndpointSchema.setClass(Endpoint);

/** Counters of deliveryStats, beside the endpoint so that counting never rewrites its configuration. */
export const EndpointStatSchema = defineEntity({
  name: 'EndpointStat',
  tableName: 'endpoint_stat',
  properties: {
    userId: p.text().primary(),
    endpointId: p.text().primary(),
    total: p.bigint('number').defaultRaw('0'),
    successful: p.bigint('number').defaultRaw('0'),
    failed: p.bigint('number').defaultRaw('0'),
    lastDeliveryAt: p.datetime(3).nullable(),
    /** since when every try failed; null: the last one did not */
    failingSince: p.datetime(3).nullable(),
  },
});

export const DeliverySchema = defineEntity({
  name: 'Delivery',
  tableName: 'delivery',
  properties: {
    userId: p.text().primary(),
    id: p.text().primary(),
    emailId: p.text(),
    endpointId: p.text(),
    deliveryType: p.enum(ENDPOINT_TYPES),
    /** as they were when the delivery was made, so that every attempt sends the same bytes although threads may merge */
    threadId: p.text().nullable(),
    threadPosition: p.integer().nullable(),
    cause: p.enum(DELIVERY_CAUSES).default('route'),
    /**
     * of a forwarded copy: its bytes, which the recipients with this delivery_id are sent, and whether its return address is null (its
     * original's was)
     */
    forwardRawId: p.text().nullable(),
    isNullSender: p.boolean().nullable(),
    status: p.enum(DELIVERY_STATUSES).default('pending'),
    /** tries made; an interrupted attempt is recorded but not counted */
    attempts: p.integer().default(0),
    attemptsAllowed: p.integer(),
    nextAttemptAt: p.datetime(3).nullable(),
    lastAttemptAt: p.datetime(3).nullable(),
    claimedBy: p.text().nullable(),
    claimedUntil: p.datetime(3).nullable(),
    /** {error: string|null, statusCode: number|null} of the last attempt */
    responseData: p.json<unknown>().nullable(),
    /** of a webhook, the last attempt as delivery_earlier_attempt would have it */
    lastAttempt: p.json<unknown>().nullable(),
    createdAt: p.datetime(3),
    completedAt: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'delivery_email', properties: ['userId', 'emailId'] },
    {
      name: 'delivery_endpoint',
      columns: [
        { name: 'userId' },
        { name: 'endpointId' },
        { name: 'createdAt', sort: 'desc' },
        { name: 'id', sort: 'desc' },
      ],
    },
    // What failed, or waits to be forwarded, for lists of an endpoint that has seen much; webhooks that wait are found by their lane.
    {
      name: 'delivery_failed',
      columns: [
        { name: 'userId' },
        { name: 'endpointId' },
        { name: 'createdAt', sort: 'desc' },
        { name: 'id', sort: 'desc' },
      ],
      where: `status = 'failed'`,
    },
    // Copies that are to be handed to the sending queue; next_attempt_at is null once they are, until their recipients are settled.
    {
      name: 'delivery_forward_due',
      properties: ['nextAttemptAt'],
      where: `(status = 'pending') AND (delivery_type <> 'webhook')`,
    },
    {
      name: 'delivery_forward_pending',
      columns: [
        { name: 'userId' },
        { name: 'endpointId' },
        { name: 'createdAt', sort: 'desc' },
        { name: 'id', sort: 'desc' },
      ],
      where: `(status = 'pending') AND (delivery_type <> 'webhook')`,
    },
    // Webhooks by endpoint: what waits for one that hangs is stepped over as a whole.
    {
      name: 'delivery_lane_due',
      properties: ['userId', 'endpointId', 'nextAttemptAt'],
      where: `(status = 'pending') AND (delivery_type = 'webhook')`,
    },
  ],
});

const deliveryAttempt = {
  userId: p.text().primary(),
  deliveryId: p.text().primary(),
  number: p.integer().primary(),
  startedAt: p.datetime(3),
  durationMs: p.integer(),
  outcome: p.enum(DELIVERY_ATTEMPT_OUTCOMES),
  statusCode: p.integer().nullable(),
  error: p.text().nullable(),
  /** first 4,096 bytes of the answer, decoded as UTF-8 */
  responseBody: p.text().nullable(),
  /** header fields sent, without secrets */
  requestHeaders: p.json<unknown>(),
};

/** Attempts before the last one, which stands in the delivery's row: most deliveries need one only. */
export const DeliveryEarlierAttemptSchema = defineEntity({
  name: 'DeliveryEarlierAttempt',
  tableName: 'delivery_earlier_attempt',
  properties: deliveryAttempt,
});

/** All attempts, read with the rights of the role that asks. A view: db/migrations makes it. */
export const DeliveryAttemptSchema = defineEntity({
  name: 'DeliveryAttempt',
  tableName: 'delivery_attempt',
  view: true,
  expression: 'select * from delivery_earlier_attempt',
  properties: deliveryAttempt,
});
