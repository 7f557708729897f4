import { z } from 'zod';
import { secret, secretUrl } from '../../core/accounts/secret-fields.ts';
import {
  ENDPOINT_TYPES,
  readForwardingConfig,
  readWebhookConfig,
  WEBHOOK_FORMATS,
  WEBHOOK_PAYLOAD_FORMS,
} from '../../core/endpoints/endpoint-config.ts';
import {
  ENDPOINT_ORDERINGS,
  MAX_EVENT_PATTERNS,
  MAX_FILTER_NAMES,
  MAX_PAYLOAD_QUERY_LENGTH,
} from '../../core/endpoints/endpoint-events.ts';
import { graphqlOnly, graphqlText, linkTo, named, nameType, restOnly, usually } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { defineResource } from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import type { OperationContext } from '../context.ts';
import { configSecrets } from '../domains/email-address-capability.ts';
import { type Endpoint, findCatchAllDomains, loadEndpoints, validSecrets } from './endpoints.ts';

/** Endpoints as the interfaces show them. GraphQL has a type for each type of endpoint, REST their `config`. */

const number = z.number().int();
const maybe = z.string().nullable();
const addrSpec = named(z.string(), { graphqlType: 'AddrSpec' });

export const endpointType = oneOf(ENDPOINT_TYPES, {
  name: 'EndpointType',
  description: 'Type of an endpoint.',
  values: { webhook: 'A WebhookEndpoint.', email: 'An EmailEndpoint.', email_group: 'An EmailGroupEndpoint.' },
});

export const webhookFormat = oneOf(WEBHOOK_FORMATS, {
  name: 'WebhookFormat',
  description: 'Format of webhook requests.',
  values: {
    native: 'The whole email as JSON, for programs.',
    chat_a: 'A message for a Discord channel.',
    chat_b: 'A message for a Slack channel.',
  },
});

/** Our names of the formats, and those of the reference service. */
export const FORMAT_NAMES = [...WEBHOOK_FORMATS, 'inbound', 'discord', 'slack'] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

/** The format of each name. */
export const formats = {
  native: 'native',
  chat_a: 'chat_a',
  chat_b: 'chat_b',
  inbound: 'native',
  discord: 'chat_a',
  slack: 'chat_b',
} as const;

export const webhookPayload = oneOf(WEBHOOK_PAYLOAD_FORMS, {
  name: 'WebhookPayload',
  description: 'Structure of the JSON of webhooks with format NATIVE.',
  values: {
    nested: 'An object with the event, the endpoint and the email.',
    flat: 'The email only.',
    resend: 'As the `resend` client has it: the type, the time, and the fields of the email without its body.',
  },
});

export const signatureScheme = oneOf(['token', 'hmac'], {
  name: 'SignatureScheme',
  description: 'Value of the X-Service-Signature header. Standard Webhooks signatures are always sent as well.',
  values: {
    token: 'The verification token.',
    hmac: 'An HMAC of the body, using the verification token as key.',
  },
});

export const attachmentMode = oneOf(['content', 'link'], {
  name: 'AttachmentMode',
  description: 'How webhook requests include attachments.',
  values: {
    content: 'As content, if the payload has room for it, and as a link.',
    link: 'As a link only.',
  },
});

export const deliveryOrdering = oneOf(ENDPOINT_ORDERINGS, {
  name: 'DeliveryOrdering',
  description: 'Which deliveries to an endpoint wait for earlier ones.',
  values: {
    none: 'None: deliveries are independent.',
    thread: 'A delivery waits until the earlier ones of its thread are finished.',
    sender: 'A delivery waits until the earlier ones of its sender are finished.',
  },
});

/** An endpoint; `formatName` is the name that the request gave its format, which REST repeats. */
export interface EndpointRow extends Endpoint {
  formatName?: FormatName | undefined;
}

const stats = nameType(
  graphqlText(
    z.object({
      total: graphqlText(number, 'Number of finished deliveries.'),
      successful: graphqlText(number, 'Number of successful deliveries.'),
      failed: graphqlText(number, 'Number of failed deliveries.'),
      lastDeliveryAt: graphqlText(
        named(z.date().nullable(), { restName: 'lastDelivery' }),
        'When the last delivery finished. Null if none has.',
      ),
    }),
    'Delivery statistics of an endpoint since it was created. Tests do not count.',
  ),
  { type: 'EndpointStats' },
);

/** Domains that the cost limit assumes. */
const USUAL_DOMAINS = 3;

/** What all endpoints have. */
export const endpointResource = defineResource<EndpointRow>()({
  name: 'Endpoint',
  identifier: 'endpoint',
  description: 'A destination of received mail: a program, a chat channel, or other mailboxes.',
  isOfDomain: false,
  shape: z.object({
    name: graphqlText(z.string(), 'Name of the endpoint.'),
    type: restOnly(endpointType),
    webhookFormat: restOnly(z.enum(FORMAT_NAMES)).meta({
      description:
        '`native`, `chat_a` or `chat_b`. The response to a request that names the format repeats that name, such as `discord`.',
    }),
    config: restOnly(z.record(z.string(), z.unknown())).meta(configSecrets),
    isActive: graphqlText(z.boolean(), 'Whether the endpoint receives mail; otherwise mail is only stored.'),
    isDisabled: restOnly(z.boolean()).meta({ description: 'Whether Postroom disabled the endpoint.' }),
    inactiveReason: graphqlText(
      maybe,
      'Why Postroom disabled the endpoint. Null if it did not. Update isActive to true to enable it again.',
    ).meta({ description: 'Why Postroom disabled the endpoint.' }),
    description: graphqlText(maybe, 'Your note about the endpoint. Null if there is none.'),
    events: restOnly(z.array(z.string())).meta({
      description: 'Kinds of events that are posted, `*`, or prefixes such as `email.*`.',
    }),
    filter: restOnly(z.object({ domains: z.array(z.string()), addresses: z.array(z.string()) }).nullable()).meta({
      description: 'Names of the domains and addresses whose events are posted. Null for all.',
    }),
    payloadQuery: restOnly(maybe).meta({
      description: 'GraphQL selection whose result is the payload. Null for the default payload.',
    }),
    ordering: restOnly(z.enum(ENDPOINT_ORDERINGS)),
    allowActions: restOnly(z.boolean()),
    userId: restOnly(z.string()),
    createdAt: graphqlText(z.date(), 'When the endpoint was created.'),
    updatedAt: graphqlText(z.date(), 'When the endpoint was last changed.'),
    groupEmails: restOnly(z.array(z.string()).nullable()),
    stats: graphqlText(named(stats, { restName: 'deliveryStats' }), 'Delivery statistics.'),
    catchAllDomainIds: usually(
      USUAL_DOMAINS,
      linkTo('Domain', graphqlOnly(z.array(z.string())), 'catchAllDomains'),
    ).meta({ description: 'Your domains whose catch-all uses the endpoint, sorted by name.' }),
  }),
  computed: {
    webhookFormat: ({ webhookFormat: format, formatName }) => formatName ?? format,
    isDisabled: ({ isActive, inactiveReason }) => !isActive && inactiveReason !== null,
    userId: (_row, { workspaceId }) => workspaceId,
    groupEmails: ({ type, config: { emails } }) =>
      type === 'email_group' && Array.isArray(emails) ? emails.map(String) : null,
  },
  loaded: {
    catchAllDomainIds: {
      isInLists: false,
      load: (context, rows) =>
        findCatchAllDomains(
          context,
          rows.map(({ id }) => id),
        ),
    },
  },
  load: loadEndpoints,
});

const customHeader = nameType(
  z.object({
    name: z.string().meta({ description: 'Name of the header.' }),
    value: z.string().meta({ ...secret, description: 'Value of the header.' }),
  }),
  { type: 'CustomHeader', description: 'A custom header of webhook requests.' },
);

const eventFilter = nameType(
  z.object({
    domains: z.array(z.string()).meta({ description: 'Names of domains.' }),
    addresses: z.array(addrSpec).meta({ description: 'Addresses.' }),
  }),
  { type: 'EventFilter', description: 'Domains and addresses whose events an endpoint is posted.' },
);

const signingSecret = nameType(
  z.object({
    secret: z.string().meta({ ...secret, description: 'In the form `whsec_...`.' }),
    validUntil: z.date().nullable().meta({ description: 'When the secret expires. Null for the current secret.' }),
  }),
  { type: 'SigningSecret', description: 'A secret that signs webhook requests (Standard Webhooks).' },
);

/** What webhooks have in GraphQL beside the common fields. */
export const webhookShape = z.object({
  url: named(z.string(), { graphqlType: 'URL' }).meta({ ...secretUrl, description: 'URL of the webhook.' }),
  webhookFormat: named(webhookFormat, { graphqlName: 'format' }).meta({ description: 'Format of the requests.' }),
  timeout: named(number, { graphqlName: 'timeoutSeconds' }).meta({
    description: 'Timeout of an attempt in seconds, 1 to 300; Postroom waits at most 120.',
  }),
  retryAttempts: number.meta({ description: 'Number of retries after the first attempt, 0 to 10.' }),
  headerList: named(z.array(customHeader), { graphqlName: 'headers' }).meta({
    description: 'Custom headers, up to 50.',
  }),
  signatureScheme: signatureScheme.meta({ description: 'Value of the X-Service-Signature header.' }),
  payload: webhookPayload.meta({ description: 'Structure of the JSON of format NATIVE.' }),
  maxPayloadOctets: number.meta({
    description: 'Maximum size of a request body in bytes, 10,000 to 25,000,000. Larger emails are shortened.',
  }),
  attachments: attachmentMode.meta({ description: 'How requests include attachments.' }),
  events: z.array(z.string()).meta({
    description: 'Kinds of events that are posted, as REST names them, `*` for all, or prefixes such as `email.*`.',
  }),
  filter: eventFilter.nullable().meta({
    description: 'Domains and addresses whose events are posted. Null for all.',
  }),
  payloadQuery: maybe.meta({
    description: 'GraphQL selection on the type Event, whose result is the payload. Null for the default payload.',
  }),
  ordering: deliveryOrdering.meta({ description: 'Which deliveries wait for earlier ones.' }),
  allowActions: z.boolean().meta({ description: 'Whether a response may contain actions for Postroom to run.' }),
  verificationToken: z.string().meta({
    ...secret,
    description: 'Value of the X-Webhook-Verification-Token header, which proves that a request comes from Postroom.',
  }),
  signingSecrets: z.array(signingSecret).meta({
    description: 'Secrets that sign requests: the current one first, then the previous one for 24 hours.',
  }),
});

/** Returns a field of `webhookShape`. */
export function readWebhookField(endpoint: Endpoint, field: string, context: OperationContext): unknown {
  if (field === 'signingSecrets') return validSecrets(context, endpoint);
  if (field in endpoint) return endpoint[field as keyof Endpoint];
  const config = readWebhookConfig(endpoint.config);
  if (field === 'headerList') return Object.entries(config.headers).map(([name, value]) => ({ name, value }));
  return config[field as keyof typeof config];
}

/** What endpoints that forward have in GraphQL beside the common fields. */
export const forwardingShape = z.object({
  preserveHeaders: z.boolean().meta({
    description: 'Whether the original message is forwarded with its signatures instead of a new one.',
  }),
  includeAttachments: z.boolean().meta({ description: 'Whether copies include attachments.' }),
  subjectPrefix: maybe.meta({ description: 'Text before the subject of copies. Null for none.' }),
  fromAddress: addrSpec.nullable().meta({
    description: 'Your address that copies are sent from. Null for the address that received the mail.',
  }),
  senderName: maybe.meta({ description: 'Sender name of copies. Null for that of the original sender.' }),
});

/** What endpoints have that forward, to one address or to several. */
export const emailShape = z.object({
  forwardTo: addrSpec.meta({ description: 'Address that receives the copies.' }),
});
export const groupShape = z.object({
  addresses: z.array(addrSpec).meta({ description: 'Addresses that receive the copies, up to 50.' }),
});

/** Returns a field of `forwardingShape`, `emailShape` or `groupShape`. */
export function readForwardingField(endpoint: Endpoint, field: string): unknown {
  const config = readForwardingConfig(endpoint.config);
  return field === 'forwardTo' ? (config.addresses[0] ?? '') : config[field as keyof typeof config];
}

/** Characters. */
export const MAX_NAME_LENGTH = 255;
const MAX_DESCRIPTION_LENGTH = 1_000;

/** Name and description of an endpoint of any type. */
export const endpointNaming = {
  name: text.min(1).max(MAX_NAME_LENGTH),
  description: text.max(MAX_DESCRIPTION_LENGTH).nullish(),
};

const filterNames = z.array(text.min(1)).max(MAX_FILTER_NAMES).optional();

export const payloadQuery = text.min(1).max(MAX_PAYLOAD_QUERY_LENGTH);

/** What a webhook is posted, and how. Omitted fields have their defaults, or keep their values in an update. */
export const endpointSubscription = {
  events: z.array(text).min(1).max(MAX_EVENT_PATTERNS).optional().meta({
    description:
      'Kinds of events to post, as `GET /events` names them, or `*` for all, or a prefix such as `email.*`. `email.received` is posted for mail that is routed to the endpoint. The default is `["email.received"]`.',
  }),
  filter: nameType(
    graphqlText(
      z.object({
        domains: graphqlText(filterNames, 'IDs or names of your domains, up to 100.').meta({
          description: 'IDs or names of domains.',
        }),
        addresses: graphqlText(filterNames, 'IDs of your addresses, or the addresses, up to 100.').meta({
          description: 'IDs of addresses, or the addresses.',
        }),
      }),
      'Domains and addresses whose events an endpoint is posted; at least one.',
    ),
    { input: 'EventFilterInput' },
  )
    .nullish()
    .meta({ description: 'Posts only events about one of these domains or addresses. Null for all.' }),
  payloadQuery: payloadQuery.nullish().meta({
    description:
      'GraphQL selection on the type `Event`, whose result becomes `data` of the payload. Null for the default payload.',
  }),
  ordering: z.enum(ENDPOINT_ORDERINGS).optional().meta({
    description:
      'Whether a delivery waits until the earlier ones of its thread or sender to this endpoint are finished. The default is `none`.',
  }),
  allowActions: z
    .boolean()
    .optional()
    .meta({ description: 'Whether a response may contain actions for Postroom to run. The default is `false`.' }),
  since: text.optional().meta({
    description:
      'Cursor of an event, after which events are posted. Without it, an endpoint that subscribes or is enabled starts with new events.',
  }),
};
