import { readForwardingConfig, readWebhookConfig } from '../../../core/endpoints/endpoint-config.ts';
import type { EndpointOrdering, EventFilter } from '../../../core/endpoints/endpoint-events.ts';
import type { SigningSecret } from '../../../core/endpoints/webhook-signature.ts';
import type { KeysetCursor, KeysetPage } from '../../../core/shared/page.ts';
import { webhookFormat } from '../../../operations/endpoints/endpoint-capability.ts';
import {
  countEndpoints,
  countUsingAddresses,
  type Endpoint,
  type EndpointQuery,
  findCatchAllDomains,
  pageEndpoints,
  pageUsingAddresses,
  type UsingAddress,
  validSecrets,
} from '../../../operations/endpoints/endpoints.ts';
import { parseInput, searchShape } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { typeFor } from '../capability-shapes.ts';
import { connection, connectionBy, orderedCursors, totalCount } from '../connection.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DomainNode, EmailAddressNode, EndpointInterface, endpointTypeName } from '../nodes.ts';
import { secret, secretUrl } from '../secret.ts';

type Webhook = ReturnType<typeof readWebhookConfig>;

const EndpointTypeEnum = builder.enumType('EndpointType', {
  description: 'Type of an endpoint.',
  values: enumValues<Endpoint['type']>({
    webhook: 'A WebhookEndpoint.',
    email: 'An EmailEndpoint.',
    email_group: 'An EmailGroupEndpoint.',
  }),
});

export const WebhookFormat = typeFor(webhookFormat);

export const WebhookPayload = builder.enumType('WebhookPayload', {
  description: 'Structure of the JSON of webhooks with format NATIVE.',
  values: enumValues<Webhook['payload']>({
    nested: 'An object with the event, the endpoint and the email.',
    flat: 'The email only.',
  }),
});

export const SignatureScheme = builder.enumType('SignatureScheme', {
  description: 'Value of the X-Service-Signature header. Standard Webhooks signatures are always sent as well.',
  values: enumValues<Webhook['signatureScheme']>({
    token: 'The verification token.',
    hmac: 'An HMAC of the body, using the verification token as key.',
  }),
});

export const AttachmentMode = builder.enumType('AttachmentMode', {
  description: 'How webhook requests include attachments.',
  values: enumValues<Webhook['attachments']>({
    content: 'As content, if the payload has room for it, and as a link.',
    link: 'As a link only.',
  }),
});

export const DeliveryOrdering = builder.enumType('DeliveryOrdering', {
  description: 'Which deliveries to an endpoint wait for earlier ones.',
  values: enumValues<EndpointOrdering>({
    none: 'None: deliveries are independent.',
    thread: 'A delivery waits until the earlier ones of its thread are finished.',
    sender: 'A delivery waits until the earlier ones of its sender are finished.',
  }),
});

const EventFilterRef = builder.objectRef<EventFilter>('EventFilter').implement({
  description: 'Domains and addresses whose events an endpoint is posted.',
  fields: (t) => ({
    domains: t.exposeStringList('domains', { description: 'Names of domains.' }),
    addresses: t.expose('addresses', { type: ['AddrSpec'], description: 'Addresses.' }),
  }),
});

const EndpointStats = builder.objectRef<Endpoint['stats']>('EndpointStats').implement({
  description: 'Delivery statistics of an endpoint since it was created. Tests do not count.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'Number of finished deliveries.' }),
    successful: t.exposeInt('successful', { description: 'Number of successful deliveries.' }),
    failed: t.exposeInt('failed', { description: 'Number of failed deliveries.' }),
    lastDeliveryAt: t.expose('lastDeliveryAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last delivery finished. Null if none has.',
    }),
  }),
});

const addressesOf = loadByOwner(({ reads }, endpointIds, page: KeysetPage) =>
  pageUsingAddresses(reads, endpointIds, page),
);
const addressCountOf = loadByOwner(({ reads }, endpointIds) => countUsingAddresses(reads, endpointIds));
const catchAllDomainsOf = loadByOwner(({ reads }, endpointIds) => findCatchAllDomains(reads, endpointIds));

/** Number of rows that the cost limit assumes. */
const USUAL_DOMAINS = 3;

EndpointInterface.implement({
  description: 'A destination of received mail: a program, a chat channel, or other mailboxes.',
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: (endpoint) => endpointTypeName(endpoint),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'ID of the endpoint.' }),
    name: t.exposeString('name', { description: 'Name of the endpoint.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Your note about the endpoint. Null if there is none.',
    }),
    isActive: t.exposeBoolean('isActive', {
      description: 'Whether the endpoint receives mail; otherwise mail is only stored.',
    }),
    inactiveReason: t.exposeString('inactiveReason', {
      nullable: true,
      description:
        'Why Postroom disabled the endpoint. Null if it did not. Update isActive to true to enable it again.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the endpoint was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the endpoint was last changed.' }),
    stats: t.expose('stats', { type: EndpointStats, description: 'Delivery statistics.' }),
    emailAddresses: t.connection(
      {
        type: EmailAddressNode,
        description: 'Your addresses that use the endpoint, newest first.',
        complexity: connectionComplexity,
        resolve: async ({ id }, args, context) => {
          const { edges, pageInfo } = await connection<UsingAddress>(
            args,
            (address) => ({ at: address.createdAt, id: address.id }),
            (page) => addressesOf(context, id, page),
          );
          return {
            edges: edges.map(({ cursor, node }) => ({ cursor, node: node.id })),
            pageInfo,
            count: () => addressCountOf(context, id, null),
          };
        },
      },
      {
        name: 'EndpointAddressConnection',
        description: 'A page of addresses that use an endpoint.',
        fields: (c) => totalCount(c),
      },
      { name: 'EndpointAddressEdge', description: 'An address that uses an endpoint, and its cursor.' },
    ),
    catchAllDomains: t.field({
      type: [DomainNode],
      description: 'Your domains whose catch-all uses the endpoint, sorted by name.',
      complexity: { field: 1, multiplier: USUAL_DOMAINS },
      resolve: ({ id }, _args, context) => catchAllDomainsOf(context, id, null),
    }),
  }),
});

const isOfType = (type: Endpoint['type']) => (value: unknown) => (value as Partial<Endpoint> | null)?.type === type;

const CustomHeader = builder.objectRef<{ name: string; value: string }>('CustomHeader').implement({
  description: 'A custom header of webhook requests.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the header.' }),
    value: t.exposeString('value', { description: 'Value of the header.', extensions: secret }),
  }),
});

const SigningSecretRef = builder.objectRef<SigningSecret>('SigningSecret').implement({
  description: 'A secret that signs webhook requests (Standard Webhooks).',
  fields: (t) => ({
    secret: t.exposeString('secret', { description: 'In the form `whsec_...`.', extensions: secret }),
    validUntil: t.expose('validUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'When the secret expires. Null for the current secret.',
    }),
  }),
});

const configOf = (endpoint: Endpoint) => readWebhookConfig(endpoint.config);

export const WebhookEndpoint = builder.objectRef<Endpoint>('WebhookEndpoint').implement({
  description: 'An endpoint that posts mail to a URL.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface],
  isTypeOf: isOfType('webhook'),
  fields: (t) => ({
    url: t.field({
      type: 'URL',
      description: 'URL of the webhook.',
      extensions: secretUrl,
      resolve: (endpoint) => configOf(endpoint).url,
    }),
    format: t.expose('webhookFormat', { type: WebhookFormat, description: 'Format of the requests.' }),
    timeoutSeconds: t.int({
      description: 'Timeout of an attempt in seconds, 1 to 300; Postroom waits at most 120.',
      resolve: (endpoint) => configOf(endpoint).timeout,
    }),
    retryAttempts: t.int({
      description: 'Number of retries after the first attempt, 0 to 10.',
      resolve: (endpoint) => configOf(endpoint).retryAttempts,
    }),
    headers: t.field({
      type: [CustomHeader],
      description: 'Custom headers, up to 50.',
      resolve: (endpoint) => Object.entries(configOf(endpoint).headers).map(([name, value]) => ({ name, value })),
    }),
    signatureScheme: t.field({
      type: SignatureScheme,
      description: 'Value of the X-Service-Signature header.',
      resolve: (endpoint) => configOf(endpoint).signatureScheme,
    }),
    payload: t.field({
      type: WebhookPayload,
      description: 'Structure of the JSON of format NATIVE.',
      resolve: (endpoint) => configOf(endpoint).payload,
    }),
    maxPayloadOctets: t.int({
      description: 'Maximum size of a request body in bytes, 10,000 to 25,000,000. Larger emails are shortened.',
      resolve: (endpoint) => configOf(endpoint).maxPayloadOctets,
    }),
    attachments: t.field({
      type: AttachmentMode,
      description: 'How requests include attachments.',
      resolve: (endpoint) => configOf(endpoint).attachments,
    }),
    events: t.exposeStringList('events', {
      description: 'Kinds of events that are posted, as REST names them, `*` for all, or prefixes such as `email.*`.',
    }),
    filter: t.expose('filter', {
      type: EventFilterRef,
      nullable: true,
      description: 'Domains and addresses whose events are posted. Null for all.',
    }),
    payloadQuery: t.exposeString('payloadQuery', {
      nullable: true,
      description: 'GraphQL selection on the type Event, whose result is the payload. Null for the default payload.',
    }),
    ordering: t.expose('ordering', { type: DeliveryOrdering, description: 'Which deliveries wait for earlier ones.' }),
    allowActions: t.exposeBoolean('allowActions', {
      description: 'Whether a response may contain actions for Postroom to run.',
    }),
    verificationToken: t.string({
      extensions: secret,
      description: 'Value of the X-Webhook-Verification-Token header, which proves that a request comes from Postroom.',
      resolve: (endpoint) => configOf(endpoint).verificationToken,
    }),
    signingSecrets: t.field({
      type: [SigningSecretRef],
      description: 'Secrets that sign requests: the current one first, then the previous one for 24 hours.',
      resolve: (endpoint, _args, { reads }) => validSecrets(reads, endpoint),
    }),
  }),
});

const forwardingOf = (endpoint: Endpoint) => readForwardingConfig(endpoint.config);

const ForwardingEndpoint = builder.interfaceRef<Endpoint>('ForwardingEndpoint').implement({
  description: 'An endpoint that forwards copies of mail to other mailboxes.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface],
  fields: (t) => ({
    preserveHeaders: t.boolean({
      description: 'Whether the original message is forwarded with its signatures instead of a new one.',
      resolve: (endpoint) => forwardingOf(endpoint).preserveHeaders,
    }),
    includeAttachments: t.boolean({
      description: 'Whether copies include attachments.',
      resolve: (endpoint) => forwardingOf(endpoint).includeAttachments,
    }),
    subjectPrefix: t.string({
      nullable: true,
      description: 'Text before the subject of copies. Null for none.',
      resolve: (endpoint) => forwardingOf(endpoint).subjectPrefix,
    }),
    fromAddress: t.field({
      type: 'AddrSpec',
      nullable: true,
      description: 'Your address that copies are sent from. Null for the address that received the mail.',
      resolve: (endpoint) => forwardingOf(endpoint).fromAddress,
    }),
    senderName: t.string({
      nullable: true,
      description: 'Sender name of copies. Null for that of the original sender.',
      resolve: (endpoint) => forwardingOf(endpoint).senderName,
    }),
  }),
});

export const EmailEndpoint = builder.objectRef<Endpoint>('EmailEndpoint').implement({
  description: 'An endpoint that forwards a copy of mail to one address.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface, ForwardingEndpoint],
  isTypeOf: isOfType('email'),
  fields: (t) => ({
    forwardTo: t.field({
      type: 'AddrSpec',
      description: 'Address that receives the copies.',
      resolve: (endpoint) => forwardingOf(endpoint).addresses[0] ?? '',
    }),
  }),
});

export const EmailGroupEndpoint = builder.objectRef<Endpoint>('EmailGroupEndpoint').implement({
  description: 'An endpoint that forwards copies of mail to several addresses.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface, ForwardingEndpoint],
  isTypeOf: isOfType('email_group'),
  fields: (t) => ({
    addresses: t.field({
      type: ['AddrSpec'],
      description: 'Addresses that receive the copies, up to 50.',
      resolve: (endpoint) => forwardingOf(endpoint).addresses,
    }),
  }),
});

const EndpointFilter = builder.inputType('EndpointFilter', {
  description: 'Filters a list of endpoints. Omit a field or pass null to match all.',
  fields: (t) => ({
    type: t.field({ type: EndpointTypeEnum, description: 'Matches endpoints of this type.' }),
    isActive: t.boolean({ description: 'True matches active endpoints only, false the others.' }),
    search: t.string({ description: 'Part of the name or configuration, case-insensitive, up to 100 characters.' }),
  }),
});

const EndpointOrder = builder.enumType('EndpointOrder', {
  description: 'Order of a list of endpoints.',
  values: enumValues<NonNullable<EndpointQuery['order']>>({
    newest: 'By the time they were created, newest first.',
    oldest: 'By the time they were created, oldest first.',
  }),
});

builder.queryFields((t) => ({
  endpoint: t.field({
    type: EndpointInterface,
    access: access.read,
    nullable: true,
    description: 'Returns the endpoint with this ID, or null if the account has no such endpoint.',
    args: { id: t.arg.id({ required: true, description: 'ID of the endpoint.' }) },
    resolve: (_root, { id }) => id,
  }),
  endpoints: t.connection(
    {
      type: EndpointInterface,
      access: access.read,
      description: 'Your endpoints.',
      args: {
        filter: t.arg({ type: EndpointFilter, description: 'Filters the endpoints.' }),
        orderBy: t.arg({
          type: EndpointOrder,
          defaultValue: 'newest',
          description: 'Order of the list. A cursor is valid in its order only.',
        }),
      },
      complexity: connectionComplexity,
      resolve: async (_root, { filter, orderBy, ...args }, { reads }) => {
        const order = orderBy ?? 'newest';
        const query = {
          type: filter?.type ?? undefined,
          isActive: filter?.isActive ?? undefined,
          order,
          ...parseInput(searchShape, { search: filter?.search ?? undefined }),
        };
        const page = await connectionBy<Endpoint, KeysetCursor>(
          orderedCursors(order),
          args,
          (endpoint) => ({ at: endpoint.createdAt, id: endpoint.id }),
          (span) => pageEndpoints(reads, query, span),
        );
        return { ...page, count: () => countEndpoints(reads, query) };
      },
    },
    {
      name: 'EndpointConnection',
      description: 'A page of endpoints.',
      fields: (c) => totalCount(c),
    },
    { name: 'EndpointEdge', description: 'An endpoint and its cursor.' },
  ),
}));
