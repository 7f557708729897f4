import { DEFAULT_SUBSCRIPTION } from '../../../core/endpoints/endpoint-events.ts';
import { type EndpointChange, updateEndpoint } from '../../../operations/endpoints/endpoint-changes.ts';
import type { SubscriptionInput } from '../../../operations/endpoints/endpoint-subscription.ts';
import { createEndpoint, type Endpoint, invalidConfiguration } from '../../../operations/endpoints/endpoints.ts';
import { endpointNamingShape, endpointSubscriptionShape, parseInput } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded, type GraphContext } from '../context.ts';
import { secret, secretUrl } from '../secret.ts';
import {
  AttachmentMode,
  DeliveryOrdering,
  EmailEndpoint,
  EmailGroupEndpoint,
  SignatureScheme,
  WebhookEndpoint,
  WebhookFormat,
  WebhookPayload,
} from './endpoint.ts';

type InputFieldBuilder = Parameters<Parameters<typeof builder.inputType<'X', Record<string, never>>>[1]['fields']>[0];

const CustomHeaderInput = builder.inputType('CustomHeaderInput', {
  description: 'A custom header of webhook requests.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'Up to 126 characters. Headers that Postroom or HTTP sets are not allowed.',
    }),
    value: t.string({ required: true, description: 'Up to 998 characters.', extensions: secret }),
  }),
});

export const EventFilterInput = builder.inputType('EventFilterInput', {
  description: 'Domains and addresses whose events an endpoint is posted; at least one.',
  fields: (t) => ({
    domains: t.stringList({ description: 'IDs or names of your domains, up to 100.' }),
    addresses: t.stringList({ description: 'IDs of your addresses, or the addresses, up to 100.' }),
  }),
});

/** Options of all endpoints. */
const options = (t: InputFieldBuilder) => ({
  description: t.string({ description: 'Your note about the endpoint, up to 1,000 characters. Null for none.' }),
  isActive: t.boolean({ description: 'Whether the endpoint receives mail. The default for a new endpoint is true.' }),
});

/** Options of webhook endpoints, for the inputs that create and update them. */
const webhookOptions = (t: InputFieldBuilder) => ({
  ...options(t),
  format: t.field({
    type: WebhookFormat,
    description: 'Format of the requests. The default for a new endpoint is NATIVE.',
  }),
  timeoutSeconds: t.int({ description: 'Timeout of an attempt in seconds, 1 to 300. Null sets the default of 30.' }),
  retryAttempts: t.int({
    description: 'Number of retries after the first attempt, 0 to 10. Null sets the default of 3.',
  }),
  headers: t.field({ type: [CustomHeaderInput], description: 'Custom headers, up to 50. Null for none.' }),
  signatureScheme: t.field({
    type: SignatureScheme,
    description: 'Value of the X-Service-Signature header. Null sets the default, TOKEN.',
  }),
  payload: t.field({
    type: WebhookPayload,
    description: 'Structure of the JSON of format NATIVE. Null sets the default, NESTED.',
  }),
  maxPayloadOctets: t.int({
    description: 'Maximum size of a request body in bytes, 10,000 to 25,000,000. Null sets the default of 4,000,000.',
  }),
  attachments: t.field({
    type: AttachmentMode,
    description: 'How requests include attachments. Null sets the default, CONTENT.',
  }),
  events: t.stringList({
    description:
      'Kinds of events to post, such as `email.bounced`, `*` for all, or prefixes such as `email.*`. `email.received` is posted for mail that is routed to the endpoint. Null sets the default, `["email.received"]`.',
  }),
  filter: t.field({
    type: EventFilterInput,
    description: 'Posts only events about these domains and addresses. Null for all.',
  }),
  payloadQuery: t.string({
    description:
      'GraphQL selection on the type Event, whose result becomes `data` of the payload, up to 10,000 characters. Null for the default payload.',
  }),
  ordering: t.field({
    type: DeliveryOrdering,
    description: 'Which deliveries wait for earlier ones. Null sets the default, NONE.',
  }),
  allowActions: t.boolean({
    description: 'Whether a response may contain actions for Postroom to run. Null sets the default, false.',
  }),
  since: t.string({
    description:
      'Cursor of an event, after which events are posted. Null: an endpoint that subscribes or is enabled starts with new events.',
  }),
});

/** Options of endpoints that forward, for the inputs that create and update them. */
const forwardingOptions = (t: InputFieldBuilder) => ({
  ...options(t),
  preserveHeaders: t.boolean({
    description:
      'Whether to forward the original message with its signatures instead of a new one. Null sets the default, false.',
  }),
  includeAttachments: t.boolean({ description: 'Whether copies include attachments. Null sets the default, true.' }),
  subjectPrefix: t.string({
    description: 'Text before the subject of copies, up to 255 characters. Null for none.',
  }),
  fromAddress: t.string({
    description: 'Your address that copies are sent from. Null uses the address that received the mail.',
  }),
  senderName: t.string({ description: 'Sender name of copies. Null uses that of the original sender.' }),
});

interface WebhookOptions {
  url?: string;
  timeoutSeconds?: number | null | undefined;
  retryAttempts?: number | null | undefined;
  headers?: { name: string; value: string }[] | null | undefined;
  signatureScheme?: string | null | undefined;
  payload?: string | null | undefined;
  maxPayloadOctets?: number | null | undefined;
  attachments?: string | null | undefined;
}

/** Converts the given options to the keys of the stored config. Throws validation. */
function webhookConfig(input: WebhookOptions): Record<string, unknown> {
  const { url, timeoutSeconds, retryAttempts, headers, signatureScheme, payload, maxPayloadOctets, attachments } =
    input;
  return given({
    url,
    timeout: timeoutSeconds,
    retryAttempts,
    headers: headers == null ? headers : headersByName(headers),
    signatureScheme,
    payload,
    maxPayloadOctets,
    attachments,
  });
}

interface ForwardingOptions {
  preserveHeaders?: boolean | null | undefined;
  includeAttachments?: boolean | null | undefined;
  subjectPrefix?: string | null | undefined;
  fromAddress?: string | null | undefined;
  senderName?: string | null | undefined;
}

/** Like webhookConfig, for endpoints that forward; the caller adds the target addresses. */
function forwardingConfig(input: ForwardingOptions): Record<string, unknown> {
  const { preserveHeaders, includeAttachments, subjectPrefix, fromAddress, senderName } = input;
  return given({ preserveHeaders, includeAttachments, subjectPrefix, fromAddress, senderName });
}

/** Converts headers to the object that REST uses. Throws validation for duplicate names. */
function headersByName(headers: readonly { name: string; value: string }[]): Record<string, string> {
  const names = headers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw invalidConfiguration(`Header is given twice: ${twice}`, 'headers');
  return Object.fromEntries(headers.map(({ name, value }) => [name, value]));
}

interface SubscriptionOptions {
  since?: string | null | undefined;
  events?: string[] | null | undefined;
  filter?: { domains?: string[] | null | undefined; addresses?: string[] | null | undefined } | null | undefined;
  payloadQuery?: string | null | undefined;
  ordering?: Endpoint['ordering'] | null | undefined;
  allowActions?: boolean | null | undefined;
}

/** Converts the given options to those of REST; null is the default. Throws validation. */
function subscription(input: SubscriptionOptions): SubscriptionInput {
  const { events, filter, payloadQuery, ordering, allowActions, since } = input;
  return parseInput(endpointSubscriptionShape, {
    events: events === null ? [...DEFAULT_SUBSCRIPTION.events] : events,
    filter:
      filter == null ? filter : { domains: filter.domains ?? undefined, addresses: filter.addresses ?? undefined },
    payloadQuery,
    ordering: ordering === null ? DEFAULT_SUBSCRIPTION.ordering : ordering,
    allowActions: allowActions === null ? DEFAULT_SUBSCRIPTION.allowActions : allowActions,
    since: since ?? undefined,
  });
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const describedName = 'Name of the endpoint, 1 to 255 characters.';
const kept = 'Omit or pass null to keep the current value.';

const changed = { id: { required: true, description: 'ID of the endpoint.' } } as const;

builder.mutationFields((t) => ({
  createWebhookEndpoint: t.fieldWithInput({
    type: WebhookEndpoint,
    access: { ...access.endpoints, shows: ['WebhookEndpoint.signingSecrets'] },
    description: 'Creates an endpoint that posts mail to a URL, with a verification token and a signing secret.',
    input: {
      name: t.input.string({ required: true, description: describedName }),
      url: t.input.string({
        extensions: secretUrl,
        required: true,
        description: 'HTTPS URL, or HTTP on localhost. Private networks are not allowed.',
      }),
      ...webhookOptions(t.input),
    },
    errors: { dataField: { name: 'endpoint' } },
    resolve: (_root, { input: { format, ...input } }, context) =>
      create(context, {
        ...input,
        type: 'webhook',
        webhookFormat: format ?? undefined,
        config: webhookConfig(input),
        subscription: subscription(input),
      }),
  }),
  createEmailEndpoint: t.fieldWithInput({
    type: EmailEndpoint,
    access: access.endpoints,
    description: 'Creates an endpoint that forwards a copy of mail to one address.',
    input: {
      name: t.input.string({ required: true, description: describedName }),
      forwardTo: t.input.string({ required: true, description: 'Address that receives the copies.' }),
      ...forwardingOptions(t.input),
    },
    errors: { dataField: { name: 'endpoint' } },
    resolve: (_root, { input }, context) =>
      create(context, { ...input, type: 'email', config: { ...forwardingConfig(input), forwardTo: input.forwardTo } }),
  }),
  createEmailGroupEndpoint: t.fieldWithInput({
    type: EmailGroupEndpoint,
    access: access.endpoints,
    description: 'Creates an endpoint that forwards copies of mail to several addresses.',
    input: {
      name: t.input.string({ required: true, description: describedName }),
      addresses: t.input.stringList({
        required: true,
        description: 'Addresses that receive the copies, 1 to 50, without duplicates.',
      }),
      ...forwardingOptions(t.input),
    },
    errors: { dataField: { name: 'endpoint' } },
    resolve: (_root, { input }, context) =>
      create(context, {
        ...input,
        type: 'email_group',
        config: { ...forwardingConfig(input), emails: input.addresses },
      }),
  }),
  updateWebhookEndpoint: t.fieldWithInput({
    type: WebhookEndpoint,
    access: access.endpoints,
    description: 'Updates a webhook endpoint. Enabling the endpoint or changing its target resets its failures.',
    input: {
      id: t.input.id(changed.id),
      name: t.input.string({ description: `${describedName} ${kept}` }),
      url: t.input.string({
        extensions: secretUrl,
        description: `HTTPS URL, or HTTP on localhost. Private networks are not allowed. ${kept}`,
      }),
      ...webhookOptions(t.input),
    },
    errors: { dataField: { name: 'endpoint' } },
    resolve: (_root, { input: { format, url, ...input } }, context) =>
      update(context, input, {
        type: 'webhook',
        webhookFormat: format ?? undefined,
        ...subscription(input),
        configChange: { ...webhookConfig(input), ...(url == null ? {} : { url }) },
      }),
  }),
  updateEmailEndpoint: t.fieldWithInput({
    type: EmailEndpoint,
    access: access.endpoints,
    description: 'Updates an email endpoint.',
    input: {
      id: t.input.id(changed.id),
      name: t.input.string({ description: `${describedName} ${kept}` }),
      forwardTo: t.input.string({ description: `Address that receives the copies. ${kept}` }),
      ...forwardingOptions(t.input),
    },
    errors: { dataField: { name: 'endpoint' } },
    resolve: (_root, { input: { forwardTo, ...input } }, context) =>
      update(context, input, {
        type: 'email',
        configChange: { ...forwardingConfig(input), ...(forwardTo == null ? {} : { forwardTo }) },
      }),
  }),
  updateEmailGroupEndpoint: t.fieldWithInput({
    type: EmailGroupEndpoint,
    access: access.endpoints,
    description: 'Updates an email group endpoint.',
    input: {
      id: t.input.id(changed.id),
      name: t.input.string({ description: `${describedName} ${kept}` }),
      addresses: t.input.stringList({
        description: `Addresses that receive the copies, 1 to 50, without duplicates; replaces the whole list. ${kept}`,
      }),
      ...forwardingOptions(t.input),
    },
    errors: { dataField: { name: 'endpoint' } },
    resolve: (_root, { input: { addresses, ...input } }, context) =>
      update(context, input, {
        type: 'email_group',
        configChange: { ...forwardingConfig(input), ...(addresses == null ? {} : { emails: addresses }) },
      }),
  }),
}));

interface Naming {
  name: string;
  description?: string | null | undefined;
  isActive?: boolean | null | undefined;
}

interface NewConfig {
  type: Endpoint['type'];
  config: Record<string, unknown>;
  webhookFormat?: Endpoint['webhookFormat'] | undefined;
  subscription?: SubscriptionInput;
}

async function create(context: GraphContext, { name, description, isActive, ...input }: Naming & NewConfig) {
  const { type, webhookFormat, config, subscription } = input;
  const endpoint = await createEndpoint(context.operations, {
    ...parseInput(endpointNamingShape, { name, description }),
    type,
    webhookFormat,
    ...subscription,
    // Null means the default.
    config: Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null)),
    isActive: isActive ?? undefined,
  });
  forgetLoaded(context);
  return endpoint;
}

type ChangedNaming = { [Field in keyof Naming]?: Naming[Field] | null | undefined } & { id: string };

async function update(context: GraphContext, input: ChangedNaming, { configChange, ...change }: EndpointChange) {
  const { id, name, description, isActive } = input;
  const naming = parseInput(endpointNamingShape.partial(), { name: name ?? undefined, description });
  const endpoint = await updateEndpoint(context.operations, id, {
    ...naming,
    ...change,
    isActive: isActive ?? undefined,
    configChange: Object.keys(configChange ?? {}).length === 0 ? undefined : configChange,
  });
  forgetLoaded(context);
  return endpoint;
}
