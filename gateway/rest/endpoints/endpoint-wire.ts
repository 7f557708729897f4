import { z } from 'zod';
import { secret } from '../../../core/accounts/secret-fields.ts';
import { ENDPOINT_TYPES, WEBHOOK_FORMATS } from '../../../core/endpoints/endpoint-config.ts';
import { ENDPOINT_ORDERINGS } from '../../../core/endpoints/endpoint-events.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { configSecrets } from '../../../operations/domains/email-address-capability.ts';
import type { Endpoint, EndpointDetails } from '../../../operations/endpoints/endpoints.ts';
import { instant, wireInstant } from '../shapes.ts';
import { deliveryBody, writeDelivery } from './deliveries.ts';

export const endpointType = z.enum(ENDPOINT_TYPES);

/** Our names of the formats, and those of the reference service. */
export const FORMAT_NAMES = [...WEBHOOK_FORMATS, 'inbound', 'discord', 'slack'] as const;

const endpointFields = {
  id: z.string(),
  name: z.string(),
  type: endpointType,
  webhookFormat: z.enum(FORMAT_NAMES).meta({
    description:
      '`native`, `chat_a` or `chat_b`. The response to a request that names the format repeats that name, such as `discord`.',
  }),
  config: z.record(z.string(), z.unknown()).meta(configSecrets),
  isActive: z.boolean(),
  isDisabled: z.boolean().meta({ description: 'Whether Postroom disabled the endpoint.' }),
  inactiveReason: z.string().nullable().meta({ description: 'Why Postroom disabled the endpoint.' }),
  description: z.string().nullable(),
  events: z
    .array(z.string())
    .meta({ description: 'Kinds of events that are posted, `*`, or prefixes such as `email.*`.' }),
  filter: z
    .object({ domains: z.array(z.string()), addresses: z.array(z.string()) })
    .nullable()
    .meta({ description: 'Names of the domains and addresses whose events are posted. Null for all.' }),
  payloadQuery: z
    .string()
    .nullable()
    .meta({ description: 'GraphQL selection whose result is the payload. Null for the default payload.' }),
  ordering: z.enum(ENDPOINT_ORDERINGS),
  allowActions: z.boolean(),
  userId: z.string(),
  createdAt: instant,
  updatedAt: instant,
  groupEmails: z.array(z.string()).nullable(),
  deliveryStats: z.object({
    total: z.number().int(),
    successful: z.number().int(),
    failed: z.number().int(),
    lastDelivery: instant.nullable(),
  }),
};
export const endpointBody = z.object(endpointFields).meta({ id: 'Endpoint' });
export const endpointDetails = z
  .object({
    ...endpointFields,
    signingSecret: z
      .string()
      .nullable()
      .meta({ ...secret, description: 'Standard Webhooks secret. Null if the endpoint is no webhook.' }),
    signingSecrets: z
      .array(z.object({ secret: z.string().meta(secret), validUntil: instant.nullable() }))
      .meta({ description: 'Secrets that sign requests: the current one, and the previous one for 24 hours.' }),
    recentDeliveries: z.array(deliveryBody),
    associatedEmails: z.array(
      z.object({ id: z.string(), address: z.string(), isActive: z.boolean(), createdAt: instant }),
    ),
    catchAllDomains: z.array(z.object({ id: z.string(), domain: z.string(), status: z.string() })),
  })
  .meta({ id: 'EndpointDetails' });

export const formats = {
  native: 'native',
  chat_a: 'chat_a',
  chat_b: 'chat_b',
  inbound: 'native',
  discord: 'chat_a',
  slack: 'chat_b',
} as const;

export function endpointBodyOf(endpoint: Endpoint, userId: string): z.infer<typeof endpointBody> {
  const { stats } = endpoint;
  const emails = endpoint.config['emails'];
  return {
    id: endpoint.id,
    name: endpoint.name,
    type: endpoint.type,
    webhookFormat: endpoint.webhookFormat,
    config: endpoint.config,
    isActive: endpoint.isActive,
    isDisabled: !endpoint.isActive && endpoint.inactiveReason !== null,
    inactiveReason: endpoint.inactiveReason,
    description: endpoint.description,
    events: [...endpoint.events],
    filter: endpoint.filter,
    payloadQuery: endpoint.payloadQuery,
    ordering: endpoint.ordering,
    allowActions: endpoint.allowActions,
    userId,
    createdAt: wireInstant(endpoint.createdAt),
    updatedAt: wireInstant(endpoint.updatedAt),
    groupEmails: endpoint.type === 'email_group' && Array.isArray(emails) ? emails.map(String) : null,
    deliveryStats: {
      total: stats.total,
      successful: stats.successful,
      failed: stats.failed,
      lastDelivery: wireInstant(stats.lastDeliveryAt),
    },
  };
}

/** `format` is the name that the request gave its format; it is repeated. */
export function endpointDetailsOf(
  endpoint: EndpointDetails,
  context: OperationContext,
  format?: (typeof FORMAT_NAMES)[number],
): z.infer<typeof endpointDetails> {
  const body = endpointBodyOf(endpoint, context.userId);
  return {
    ...body,
    webhookFormat: format ?? body.webhookFormat,
    signingSecret: endpoint.signingSecrets[0]?.secret ?? null,
    signingSecrets: endpoint.signingSecrets.map(({ secret, validUntil }) => ({
      secret,
      validUntil: wireInstant(validUntil),
    })),
    recentDeliveries: endpoint.recentDeliveries.map((delivery) => writeDelivery(context, delivery)),
    associatedEmails: endpoint.addresses.map((address) => ({ ...address, createdAt: wireInstant(address.createdAt) })),
    catchAllDomains: endpoint.catchAllDomains.map(({ id, name, status }) => ({ id, domain: name, status })),
  };
}
