import { readForwardingConfig, readWebhookConfig } from '../../../core/endpoints/endpoint-config.ts';
import type { SigningSecret } from '../../../core/endpoints/webhook-signature.ts';
import type { KeysetPage } from '../../../core/shared/page.ts';
import {
  countUsingAddresses,
  type Endpoint,
  findCatchAllDomains,
  pageUsingAddresses,
  type UsingAddress,
  validSecrets,
} from '../../../operations/endpoints/endpoints.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DomainNode, EmailAddressNode, EndpointInterface, endpointTypeName } from '../nodes.ts';
import { AttachmentMode, SignatureScheme, WebhookFormat, WebhookPayload } from './endpoint-enums.ts';

const EndpointStats = builder.objectRef<Endpoint['stats']>('EndpointStats').implement({
  description: 'What became of the deliveries to an endpoint since it was made. Tests are not counted.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'Deliveries that came to an end.' }),
    successful: t.exposeInt('successful', { description: 'Those that were taken.' }),
    failed: t.exposeInt('failed', { description: 'Those that were given up.' }),
    lastDeliveryAt: t.expose('lastDeliveryAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last of them ended; null: none did yet.',
    }),
  }),
});

const addressesOf = loadByOwner(({ reads }, endpointIds, page: KeysetPage) =>
  pageUsingAddresses(reads, endpointIds, page),
);
const addressCountOf = loadByOwner(({ reads }, endpointIds) => countUsingAddresses(reads, endpointIds));
const catchAllDomainsOf = loadByOwner(({ reads }, endpointIds) => findCatchAllDomains(reads, endpointIds));

/** Assumed by the limit on costs. */
const USUAL_DOMAINS = 3;

EndpointInterface.implement({
  description: 'Where received mail goes: a program, a chat room, or other people’s mailboxes.',
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: (endpoint) => endpointTypeName(endpoint),
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'What you call it.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'What you wrote about it; null: nothing.',
    }),
    isActive: t.exposeBoolean('isActive', { description: 'Whether mail goes there; else it is only stored.' }),
    inactiveReason: t.exposeString('inactiveReason', {
      nullable: true,
      description:
        'Why the service has switched it off; null: it has not. An update with isActive: true switches it on again.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    stats: t.expose('stats', { type: EndpointStats, description: 'What became of the deliveries to it.' }),
    emailAddresses: t.connection(
      {
        type: EmailAddressNode,
        description: 'Your addresses that lead to it, newest first.',
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
        description: 'A page of the addresses that lead to an endpoint.',
        fields: (c) => ({
          totalCount: c.int({
            description: 'How many there are on all pages; counted only when it is asked for.',
            resolve: (page) => page.count(),
          }),
        }),
      },
      { name: 'EndpointAddressEdge', description: 'An address that leads to an endpoint.' },
    ),
    catchAllDomains: t.field({
      type: [DomainNode],
      description: 'Your domains whose mail to unknown addresses goes there, by name.',
      complexity: { field: 1, multiplier: USUAL_DOMAINS },
      resolve: ({ id }, _args, context) => catchAllDomainsOf(context, id, null),
    }),
  }),
});

const isOfType = (type: Endpoint['type']) => (value: unknown) => (value as Partial<Endpoint> | null)?.type === type;

const CustomHeader = builder.objectRef<{ name: string; value: string }>('CustomHeader').implement({
  description: 'A header field of your own that requests to a webhook bear.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'As you wrote it.' }),
    value: t.exposeString('value', { description: 'As you wrote it.' }),
  }),
});

const SigningSecretRef = builder.objectRef<SigningSecret>('SigningSecret').implement({
  description: 'A secret that requests to a webhook are signed with (Standard Webhooks).',
  fields: (t) => ({
    secret: t.exposeString('secret', { description: 'As `whsec_...`.' }),
    validUntil: t.expose('validUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when; null: until another takes its place.',
    }),
  }),
});

const configOf = (endpoint: Endpoint) => readWebhookConfig(endpoint.config);

export const WebhookEndpoint = builder.objectRef<Endpoint>('WebhookEndpoint').implement({
  description: 'Mail is posted to a URL.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface],
  isTypeOf: isOfType('webhook'),
  fields: (t) => ({
    url: t.field({ type: 'URL', description: 'Where to.', resolve: (endpoint) => configOf(endpoint).url }),
    format: t.expose('webhookFormat', { type: WebhookFormat, description: 'What is posted of a mail.' }),
    timeoutSeconds: t.int({
      description: 'How long an attempt may take, 1 to 300; at most 120 are waited.',
      resolve: (endpoint) => configOf(endpoint).timeout,
    }),
    retryAttempts: t.int({
      description: 'Further tries after the first, 0 to 10.',
      resolve: (endpoint) => configOf(endpoint).retryAttempts,
    }),
    headers: t.field({
      type: [CustomHeader],
      description: 'Header fields of your own, at most 50.',
      resolve: (endpoint) => Object.entries(configOf(endpoint).headers).map(([name, value]) => ({ name, value })),
    }),
    signatureScheme: t.field({
      type: SignatureScheme,
      description: 'What X-Service-Signature holds.',
      resolve: (endpoint) => configOf(endpoint).signatureScheme,
    }),
    payload: t.field({
      type: WebhookPayload,
      description: 'The form of the JSON of format NATIVE.',
      resolve: (endpoint) => configOf(endpoint).payload,
    }),
    maxPayloadOctets: t.int({
      description: 'Octets of a request’s body at most, 10,000 to 25,000,000; beyond them parts of the mail give way.',
      resolve: (endpoint) => configOf(endpoint).maxPayloadOctets,
    }),
    attachments: t.field({
      type: AttachmentMode,
      description: 'How attachments are sent.',
      resolve: (endpoint) => configOf(endpoint).attachments,
    }),
    verificationToken: t.string({
      description: 'What X-Webhook-Verification-Token holds, so that the receiver can tell us from others.',
      resolve: (endpoint) => configOf(endpoint).verificationToken,
    }),
    signingSecrets: t.field({
      type: [SigningSecretRef],
      description: 'All that requests are signed with: the one in force first, then its predecessor for a day.',
      resolve: (endpoint, _args, { reads }) => validSecrets(reads, endpoint),
    }),
  }),
});

const forwardingOf = (endpoint: Endpoint) => readForwardingConfig(endpoint.config);

const ForwardingEndpoint = builder.interfaceRef<Endpoint>('ForwardingEndpoint').implement({
  description: 'Copies of mail go to other mailboxes.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface],
  fields: (t) => ({
    preserveHeaders: t.boolean({
      description: 'Whether the original itself goes on, with its own signatures, instead of a new message of yours.',
      resolve: (endpoint) => forwardingOf(endpoint).preserveHeaders,
    }),
    includeAttachments: t.boolean({
      description: 'Whether copies have the attachments.',
      resolve: (endpoint) => forwardingOf(endpoint).includeAttachments,
    }),
    subjectPrefix: t.string({
      nullable: true,
      description: 'What stands before the subject of copies; null: nothing.',
      resolve: (endpoint) => forwardingOf(endpoint).subjectPrefix,
    }),
    fromAddress: t.field({
      type: 'AddrSpec',
      nullable: true,
      description: 'From which address of yours copies come; null: from the one that took the mail.',
      resolve: (endpoint) => forwardingOf(endpoint).fromAddress,
    }),
    senderName: t.string({
      nullable: true,
      description: 'Under which name copies come; null: the sender’s, with your address.',
      resolve: (endpoint) => forwardingOf(endpoint).senderName,
    }),
  }),
});

export const EmailEndpoint = builder.objectRef<Endpoint>('EmailEndpoint').implement({
  description: 'A copy of mail goes to one address.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface, ForwardingEndpoint],
  isTypeOf: isOfType('email'),
  fields: (t) => ({
    forwardTo: t.field({
      type: 'AddrSpec',
      description: 'Whom it goes to.',
      resolve: (endpoint) => forwardingOf(endpoint).addresses[0] ?? '',
    }),
  }),
});

export const EmailGroupEndpoint = builder.objectRef<Endpoint>('EmailGroupEndpoint').implement({
  description: 'Copies of mail go to several addresses.',
  interfaces: [builder.nodeInterfaceRef(), EndpointInterface, ForwardingEndpoint],
  isTypeOf: isOfType('email_group'),
  fields: (t) => ({
    addresses: t.field({
      type: ['AddrSpec'],
      description: 'Whom they go to, at most 50.',
      resolve: (endpoint) => forwardingOf(endpoint).addresses,
    }),
  }),
});
