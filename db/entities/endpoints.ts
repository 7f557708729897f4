import { defineEntity, p } from '@mikro-orm/core';
import { DELIVERY_ATTEMPT_OUTCOMES, DELIVERY_CAUSES, DELIVERY_STATUSES } from '../../core/endpoints/delivery.ts';
import { ENDPOINT_TYPES, WEBHOOK_FORMATS } from '../../core/endpoints/endpoint-config.ts';
import { ENDPOINT_ORDERINGS, type EventFilter } from '../../core/endpoints/endpoint-events.ts';
import type { PostedKind } from '../../core/events/event-kinds.ts';

export const EndpointSchema = defineEntity({
  name: 'Endpoint',
  tableName: 'endpoint',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    name: p.text(),
    type: p.enum(ENDPOINT_TYPES),
    webhookFormat: p.enum(WEBHOOK_FORMATS).default('native'),
    config: p.json<Record<string, unknown>>(),
    /** Standard Webhooks secret (whsec_...), encrypted under SECRET_KEY; null for endpoints that are not webhooks */
    secretCiphertext: p.text().nullable(),
    isActive: p.boolean().default(true),
    inactiveReason: p.text().nullable(),
    description: p.text().nullable(),
    /** see core/endpoints/endpoint-events.ts */
    events: p.array().defaultRaw(`'{email.received}'`),
    filter: p.json<EventFilter>().nullable(),
    payloadQuery: p.text().nullable(),
    ordering: p.enum(ENDPOINT_ORDERINGS).default('none'),
    allowActions: p.boolean().default(false),
    /** the API key that set it up; null: a person */
    setByKeyId: p.text().nullable(),
    /** the person who set it up, or who created that key; null: none, or not known */
    setByPersonId: p.text().nullable(),
    /** what it may do: the scopes of that key, then and now; null: everything */
    grantedScopes: p.array().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});
export class Endpoint extends EndpointSchema.class {}
EndpointSchema.setClass(Endpoint);

/** Counters of deliveryStats, in a separate table so that counting never rewrites the configuration. */
export const EndpointStatSchema = defineEntity({
  name: 'EndpointStat',
  tableName: 'endpoint_stat',
  properties: {
    workspaceId: p.text().primary(),
    endpointId: p.text().primary(),
    total: p.bigint('number').defaultRaw('0'),
    successful: p.bigint('number').defaultRaw('0'),
    failed: p.bigint('number').defaultRaw('0'),
    lastDeliveryAt: p.datetime(3).nullable(),
    /** since when all attempts have failed; null: the last one succeeded */
    failingSince: p.datetime(3).nullable(),
  },
});

/**
 * Up to which event of the feed an endpoint has its deliveries. Only endpoints that subscribe to more than email.received have a row
 * (core/endpoints/endpoint-events.ts).
 */
export const EndpointSubscriptionSchema = defineEntity({
  name: 'EndpointSubscription',
  tableName: 'endpoint_subscription',
  properties: {
    workspaceId: p.text().primary(),
    endpointId: p.text().primary(),
    eventSeq: p.bigint('number'),
  },
});

export const DeliverySchema = defineEntity({
  name: 'Delivery',
  tableName: 'delivery',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    /** null for an event that is about no email */
    emailId: p.text().nullable(),
    endpointId: p.text(),
    deliveryType: p.enum(ENDPOINT_TYPES),
    /** values at the creation of the delivery, so that every attempt sends the same bytes although threads may merge */
    threadId: p.text().nullable(),
    threadPosition: p.integer().nullable(),
    /** the event that is posted; null: mail that is routed to the endpoint */
    eventSeq: p.bigint('number').nullable(),
    eventKind: p.text().$type<PostedKind>().nullable(),
    /** its turn among deliveries to the endpoint, see core/endpoints/delivery-order.ts; null: it waits for no other */
    orderKey: p.text().nullable(),
    orderPosition: p.text().nullable(),
    cause: p.enum(DELIVERY_CAUSES).default('route'),
    /**
     * for a forwarded copy: its bytes, which are sent to the recipients with this delivery_id, and whether its return address is null, like
     * that of the original
     */
    forwardRawId: p.text().nullable(),
    isNullSender: p.boolean().nullable(),
    status: p.enum(DELIVERY_STATUSES).default('pending'),
    /** number of attempts; an interrupted one is recorded but not counted */
    attempts: p.integer().default(0),
    attemptsAllowed: p.integer(),
    nextAttemptAt: p.datetime(3).nullable(),
    lastAttemptAt: p.datetime(3).nullable(),
    claimedBy: p.text().nullable(),
    claimedUntil: p.datetime(3).nullable(),
    /** {error: string|null, statusCode: number|null} of the last attempt */
    responseData: p.json<unknown>().nullable(),
    /** for a webhook: the last attempt, in the format of delivery_earlier_attempt */
    lastAttempt: p.json<unknown>().nullable(),
    /** what became of the actions in the response (ActionLog of core/endpoints/actions.ts); null: it had none */
    actions: p.json<unknown>().nullable(),
    createdAt: p.datetime(3),
    completedAt: p.datetime(3).nullable(),
  },
  uniques: [
    // The delivery that has the turn of its key.
    {
      name: 'delivery_turn',
      properties: ['workspaceId', 'endpointId', 'orderKey'],
      where: `(status = 'pending') AND (order_key IS NOT NULL) AND (next_attempt_at IS NOT NULL)`,
    },
    // However often a part of the feed is read, each event has one first delivery per endpoint.
    { name: 'delivery_event', properties: ['workspaceId', 'endpointId', 'eventSeq'], where: `cause = 'event'` },
  ],
  indexes: [
    { name: 'delivery_email', properties: ['workspaceId', 'emailId'] },
    {
      name: 'delivery_of_event',
      properties: ['workspaceId', 'endpointId', 'eventSeq'],
      where: `event_seq IS NOT NULL`,
    },
    // Removed with their events (retention); the others go with their emails.
    { name: 'delivery_without_email', properties: ['workspaceId', 'eventSeq'], where: `email_id IS NULL` },
    {
      name: 'delivery_endpoint',
      columns: [{ name: 'workspaceId' }, { name: 'endpointId' }, { name: 'createdAt' }, { name: 'id' }],
    },
    // Failed deliveries and waiting forwards, for lists of busy endpoints; waiting webhooks are found by their lane.
    {
      name: 'delivery_failed',
      columns: [{ name: 'workspaceId' }, { name: 'endpointId' }, { name: 'createdAt' }, { name: 'id' }],
      where: `status = 'failed'`,
    },
    // Copies that are not in the sending queue yet. Then next_attempt_at is null until their recipients are settled.
    {
      name: 'delivery_forward_due',
      properties: ['nextAttemptAt'],
      where: `(status = 'pending') AND (delivery_type <> 'webhook')`,
    },
    {
      name: 'delivery_forward_pending',
      columns: [{ name: 'workspaceId' }, { name: 'endpointId' }, { name: 'createdAt' }, { name: 'id' }],
      where: `(status = 'pending') AND (delivery_type <> 'webhook')`,
    },
    // Webhooks by endpoint: all deliveries of an endpoint that does not respond are skipped together.
    {
      name: 'delivery_lane_due',
      properties: ['workspaceId', 'endpointId', 'nextAttemptAt'],
      where: `(status = 'pending') AND (delivery_type = 'webhook')`,
    },
    // Deliveries that wait for their turn.
    {
      name: 'delivery_waiting_turn',
      properties: ['workspaceId', 'endpointId', 'orderKey', 'orderPosition', 'id'],
      where: `(status = 'pending') AND (order_key IS NOT NULL) AND (next_attempt_at IS NULL)`,
    },
  ],
});

const deliveryAttempt = {
  workspaceId: p.text().primary(),
  deliveryId: p.text().primary(),
  number: p.integer().primary(),
  startedAt: p.datetime(3),
  durationMs: p.integer(),
  outcome: p.enum(DELIVERY_ATTEMPT_OUTCOMES),
  statusCode: p.integer().nullable(),
  error: p.text().nullable(),
  /** first 4,096 bytes of the response, decoded as UTF-8 */
  responseBody: p.text().nullable(),
  /** header fields sent, without secrets */
  requestHeaders: p.json<unknown>(),
};

/** Attempts before the last one. The last one is in the delivery's row, because most deliveries need only one. */
export const DeliveryEarlierAttemptSchema = defineEntity({
  name: 'DeliveryEarlierAttempt',
  tableName: 'delivery_earlier_attempt',
  properties: deliveryAttempt,
});

/** All attempts. A view with the rights of the role that reads it; created in db/migrations. */
export const DeliveryAttemptSchema = defineEntity({
  name: 'DeliveryAttempt',
  tableName: 'delivery_attempt',
  view: true,
  expression: 'select * from delivery_earlier_attempt',
  properties: deliveryAttempt,
});
