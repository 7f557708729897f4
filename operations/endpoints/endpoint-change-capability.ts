import { z } from 'zod';
import { secret, secretUrl } from '../../core/accounts/secret-fields.ts';
import { DEFAULT_SUBSCRIPTION } from '../../core/endpoints/endpoint-events.ts';
import { asArgument, graphqlText, named, nameType, required, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineChange, defineList, defineRead, OF_ENDPOINTS } from '../capability/capability.ts';
import { searchText } from '../capability/field-shapes.ts';
import type { OperationContext } from '../context.ts';
import { configSecrets } from '../domains/email-address-capability.ts';
import { type EndpointChange, updateEndpoint } from './endpoint-changes.ts';
import type { SubscriptionInput } from './endpoint-subscription.ts';
import {
  attachmentMode,
  deliveryOrdering,
  endpointNaming,
  endpointResource,
  endpointSubscription,
  endpointType,
  FORMAT_NAMES,
  type FormatName,
  formats,
  signatureScheme,
  webhookFormat,
  webhookPayload,
} from './endpoint-types.ts';
import {
  countEndpoints,
  createEndpoint,
  invalidConfiguration,
  listEndpoints,
  pageEndpoints,
  readEndpoint,
} from './endpoints.ts';

const target = { argument: 'id', argumentDescription: 'ID of the endpoint.' } as const;

/** Fields that REST takes for any type; core/endpoints/endpoint-config.ts checks `config` by type. */
const restFields = {
  name: endpointNaming.name,
  config: required(z.unknown()).meta({
    ...configSecrets,
    type: 'object',
    // Without it, generated clients take it for an object without fields.
    additionalProperties: true,
    description:
      'webhook: `url`, `timeout`, `retryAttempts`, `headers`, `signatureScheme`, `payload`, `maxPayloadOctets`, `attachments`; email: `forwardTo`; email_group: `emails`; both: `preserveHeaders`, `subjectPrefix`, `fromAddress`, `senderName`, `includeAttachments`',
  }),
  webhookFormat: z
    .enum(FORMAT_NAMES)
    .optional()
    .meta({ description: '`inbound`, `discord` and `slack` are aliases of `native`, `chat_a` and `chat_b`.' }),
  description: endpointNaming.description,
  isActive: z.boolean().optional(),
  ...endpointSubscription,
};

/** Returns the format that a request names, and the name for its response. */
function readFormat(formatName: FormatName | undefined) {
  return { format: formatName === undefined ? {} : { webhookFormat: formats[formatName] }, formatName };
}

const mutation = { what: 'Create and change endpoints', access: 'endpoints', summary: '', errors: [] } as const;
/** An endpoint shows mail to its receiver from the first on. */
const creation = { ...mutation, access: 'endpointsAndRead' } as const;
const describedName = 'Name of the endpoint, 1 to 255 characters.';
const kept = 'Omit or pass null to keep the current value.';
const optionalText = z.string().nullish();
const newName = endpointNaming.name.meta({ description: describedName });
const changedName = endpointNaming.name.optional().meta({ description: `${describedName} ${kept}` });

/** Options of all endpoints in GraphQL. */
const options = {
  description: endpointNaming.description.meta({
    description: 'Your note about the endpoint, up to 1,000 characters. Null for none.',
  }),
  isActive: z.boolean().optional().meta({
    description: 'Whether the endpoint receives mail. The default for a new endpoint is true.',
  }),
};

const header = nameType(
  z.object({
    name: z.string().meta({
      description: 'Up to 126 characters. Headers that Postroom or HTTP sets are not allowed.',
    }),
    value: z.string().meta({ ...secret, description: 'Up to 998 characters.' }),
  }),
  { input: 'CustomHeaderInput', description: 'A custom header of webhook requests.' },
);

const wholeNumber = z.number().int().nullish();

/** Options of webhooks in GraphQL, for the inputs that create and update them. Null means the default. */
const webhookOptions = {
  ...options,
  format: webhookFormat.optional().meta({
    description: 'Format of the requests. The default for a new endpoint is NATIVE.',
  }),
  timeoutSeconds: wholeNumber.meta({
    description: 'Timeout of an attempt in seconds, 1 to 300. Null sets the default of 30.',
  }),
  retryAttempts: wholeNumber.meta({
    description: 'Number of retries after the first attempt, 0 to 10. Null sets the default of 3.',
  }),
  headers: z.array(header).nullish().meta({ description: 'Custom headers, up to 50. Null for none.' }),
  signatureScheme: signatureScheme.nullish().meta({
    description: 'Value of the X-Service-Signature header. Null sets the default, TOKEN.',
  }),
  payload: webhookPayload.nullish().meta({
    description: 'Structure of the JSON of format NATIVE. Null sets the default, NESTED.',
  }),
  maxPayloadOctets: wholeNumber.meta({
    description: 'Maximum size of a request body in bytes, 10,000 to 25,000,000. Null sets the default of 4,000,000.',
  }),
  attachments: attachmentMode.nullish().meta({
    description: 'How requests include attachments. Null sets the default, CONTENT.',
  }),
  events: endpointSubscription.events.nullable().meta({
    description:
      'Kinds of events to post, such as `email.bounced`, `*` for all, or prefixes such as `email.*`. `email.received` is posted for mail that is routed to the endpoint. Null sets the default, `["email.received"]`.',
  }),
  filter: endpointSubscription.filter.meta({
    description: 'Posts only events about these domains and addresses. Null for all.',
  }),
  payloadQuery: endpointSubscription.payloadQuery.meta({
    description:
      'GraphQL selection on the type Event, whose result becomes `data` of the payload, up to 10,000 characters. Null for the default payload.',
  }),
  ordering: deliveryOrdering.nullish().meta({
    description: 'Which deliveries wait for earlier ones. Null sets the default, NONE.',
  }),
  allowActions: z.boolean().nullish().meta({
    description: 'Whether a response may contain actions for Postroom to run. Null sets the default, false.',
  }),
  since: endpointSubscription.since.meta({
    description:
      'Cursor of an event, after which events are posted. Null: an endpoint that subscribes or is enabled starts with new events.',
  }),
};

/** Options of endpoints that forward in GraphQL, for the inputs that create and update them. Null means the default. */
const forwardingOptions = {
  ...options,
  preserveHeaders: z.boolean().nullish().meta({
    description:
      'Whether to forward the original message with its signatures instead of a new one. Null sets the default, false.',
  }),
  includeAttachments: z.boolean().nullish().meta({
    description: 'Whether copies include attachments. Null sets the default, true.',
  }),
  subjectPrefix: optionalText.meta({
    description: 'Text before the subject of copies, up to 255 characters. Null for none.',
  }),
  fromAddress: optionalText.meta({
    description: 'Your address that copies are sent from. Null uses the address that received the mail.',
  }),
  senderName: optionalText.meta({ description: 'Sender name of copies. Null uses that of the original sender.' }),
};

type Options<Shape extends Record<string, z.ZodType>> = { [Field in keyof Shape]?: z.output<Shape[Field]> };

/** Returns the given options as the stored config names them. Throws validation for headers that are given twice. */
function webhookConfig({ timeoutSeconds, headers, ...input }: Options<typeof webhookOptions>): Record<string, unknown> {
  const { retryAttempts, signatureScheme: scheme, payload, maxPayloadOctets, attachments } = input;
  return given({
    timeout: timeoutSeconds,
    retryAttempts,
    headers: headers == null ? headers : headersByName(headers),
    signatureScheme: scheme,
    payload,
    maxPayloadOctets,
    attachments,
  });
}

/** Like webhookConfig, for endpoints that forward, without the target addresses. */
function forwardingConfig(input: Options<typeof forwardingOptions>): Record<string, unknown> {
  const { preserveHeaders, includeAttachments, subjectPrefix, fromAddress, senderName } = input;
  return given({ preserveHeaders, includeAttachments, subjectPrefix, fromAddress, senderName });
}

function headersByName(headers: readonly { name: string; value: string }[]): Record<string, string> {
  const names = headers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw invalidConfiguration(`Header is given twice: ${twice}`, 'headers');
  return Object.fromEntries(headers.map(({ name, value }) => [name, value]));
}

/** Returns the given options of what is posted; null is the default. */
function readSubscription(input: Options<typeof webhookOptions>): SubscriptionInput {
  const { events, filter, payloadQuery: query, ordering, allowActions, since } = input;
  return {
    events: events === null ? [...DEFAULT_SUBSCRIPTION.events] : events,
    filter,
    payloadQuery: query,
    ordering: ordering === null ? DEFAULT_SUBSCRIPTION.ordering : ordering,
    allowActions: allowActions === null ? DEFAULT_SUBSCRIPTION.allowActions : allowActions,
    since,
  };
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Creates an endpoint with a config in which null means the default. */
function create(
  context: OperationContext,
  config: Record<string, unknown>,
  input: Omit<Parameters<typeof createEndpoint>[1], 'config'>,
) {
  return createEndpoint(context, {
    ...input,
    config: Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null)),
  });
}

function update(context: OperationContext, id: string, config: Record<string, unknown>, input: EndpointChange) {
  return updateEndpoint(context, id, {
    ...input,
    configChange: Object.keys(config).length === 0 ? undefined : config,
  });
}

const naming = ({ name, description, isActive }: Options<typeof options> & { name: string }) => ({
  name,
  description,
  isActive,
});
const changedNaming = ({ name, description, isActive }: Options<typeof options> & { name?: string | undefined }) => ({
  name,
  description,
  isActive,
});

export const endpointCapability: Capability = {
  feature: 'Endpoints',
  what: 'Endpoints',
  ...OF_ENDPOINTS,
  resource: endpointResource,
  operations: [
    defineChange({
      ...creation,
      kind: 'create',
      operationId: 'createEndpoint',
      summary: 'Create an endpoint',
      description: 'The fields of `config` depend on `type`. A webhook gets a verification token and a signing secret.',
      input: z.object({ ...restFields, type: endpointType }),
      example: {
        name: 'my program',
        type: 'webhook',
        config: { url: 'https://hooks.example.com/mail', timeout: 30, retryAttempts: 3 },
      },
      async run(context, { webhookFormat: name, ...input }) {
        const { format, formatName } = readFormat(name);
        return { ...(await createEndpoint(context, { ...input, ...format })), formatName };
      },
    }),
    defineList({
      what: 'List and read endpoints',
      access: 'read',
      operationId: 'listEndpoints',
      field: 'endpoints',
      summary: 'List endpoints',
      description: 'Returns endpoints with their delivery statistics.',
      graphqlDescription: 'Your endpoints.',
      isPagedByItem: false,
      filter: z.object({
        type: graphqlText(endpointType.optional(), 'Matches endpoints of this type.').meta({
          description: 'Returns endpoints of this type only.',
        }),
        isActive: graphqlText(z.boolean().optional(), 'True matches active endpoints only, false the others.').meta({
          description: '`true` returns active endpoints, `false` the others.',
        }),
        active: restOnly(z.boolean().optional()).meta({ description: 'Alias of `isActive`.' }),
        orderBy: graphqlText(
          asArgument(
            named(
              oneOf(['newest', 'oldest'], {
                name: 'EndpointOrder',
                description: 'Order of a list of endpoints.',
                values: {
                  newest: 'By the time they were created, newest first.',
                  oldest: 'By the time they were created, oldest first.',
                },
              }).default('newest'),
              { restName: 'sortBy' },
            ),
          ),
          'Order of the list. A cursor is valid in its order only.',
        ).meta({ description: 'Sort order.' }),
        search: graphqlText(
          searchText.optional(),
          'Part of the name or configuration, case-insensitive, up to 100 characters.',
        ).meta({ description: 'Part of the name or configuration.' }),
      }),
      orderField: 'orderBy',
      page: (context, { orderBy: order, ...query }, page) => pageEndpoints(context, { ...query, order }, page),
      count: countEndpoints,
      async list(context, { orderBy: order, active, isActive = active, ...query }, page) {
        const { endpoints, total } = await listEndpoints(context, { ...query, isActive, order }, page);
        return { rows: endpoints, total };
      },
    }),
    defineRead({
      what: 'List and read endpoints',
      access: 'read',
      operationId: 'getEndpoint',
      field: 'endpoint',
      summary: 'Retrieve an endpoint',
      description: 'Returns the endpoint with its latest deliveries, and the addresses and domains that use it.',
      graphqlDescription: 'Returns the endpoint with this ID, or null if the account has no such endpoint.',
      target,
      read: readEndpoint,
    }),
    defineChange({
      ...mutation,
      kind: 'update',
      // The response shows the whole endpoint, with its secrets.
      access: 'endpointsAndRead',
      operationId: 'updateEndpoint',
      putOperationId: 'putEndpoint',
      summary: 'Update an endpoint',
      description:
        'Omitted fields keep their values. `config` replaces the whole configuration, except for the verification token and the signing secret.',
      target,
      input: z.object({
        ...restFields,
        name: restFields.name.optional(),
        config: restFields.config.optional(),
        type: endpointType.optional().meta({
          description: 'Must be the type of the endpoint, which cannot be changed.',
        }),
        isActive: restFields.isActive.meta({
          description: '`true` also enables an endpoint that Postroom disabled.',
        }),
      }),
      inputName: 'UpdateEndpoint',
      example: { config: { url: 'https://hooks.example.com/v2/mail' }, isActive: true },
      async run(context, { webhookFormat: name, ...change }, id) {
        const { format, formatName } = readFormat(name);
        return { ...(await updateEndpoint(context, id, { ...change, ...format })), formatName };
      },
    }),
    defineChange({
      ...creation,
      kind: 'create',
      field: 'createWebhookEndpoint',
      returns: 'WebhookEndpoint',
      shows: ['WebhookEndpoint.signingSecrets'],
      description: 'Creates an endpoint that posts mail to a URL, with a verification token and a signing secret.',
      input: z.object({
        name: newName,
        url: z.string().meta({
          ...secretUrl,
          description: 'HTTPS URL, or HTTP on localhost. Private networks are not allowed.',
        }),
        ...webhookOptions,
      }),
      run: (context, { url, format, ...input }) =>
        create(
          context,
          { url, ...webhookConfig(input) },
          { ...naming(input), type: 'webhook', webhookFormat: format, ...readSubscription(input) },
        ),
    }),
    defineChange({
      ...creation,
      kind: 'create',
      field: 'createEmailEndpoint',
      returns: 'EmailEndpoint',
      description: 'Creates an endpoint that forwards a copy of mail to one address.',
      input: z.object({
        name: newName,
        forwardTo: z.string().meta({ description: 'Address that receives the copies.' }),
        ...forwardingOptions,
      }),
      run: (context, { forwardTo, ...input }) =>
        create(context, { ...forwardingConfig(input), forwardTo }, { ...naming(input), type: 'email' }),
    }),
    defineChange({
      ...creation,
      kind: 'create',
      field: 'createEmailGroupEndpoint',
      returns: 'EmailGroupEndpoint',
      description: 'Creates an endpoint that forwards copies of mail to several addresses.',
      input: z.object({
        name: newName,
        addresses: z.array(z.string()).meta({
          description: 'Addresses that receive the copies, 1 to 50, without duplicates.',
        }),
        ...forwardingOptions,
      }),
      run: (context, { addresses: emails, ...input }) =>
        create(context, { ...forwardingConfig(input), emails }, { ...naming(input), type: 'email_group' }),
    }),
    defineChange({
      ...mutation,
      kind: 'update',
      field: 'updateWebhookEndpoint',
      returns: 'WebhookEndpoint',
      description: 'Updates a webhook endpoint. Enabling the endpoint or changing its target resets its failures.',
      target,
      input: z.object({
        name: changedName,
        url: z
          .string()
          .optional()
          .meta({
            ...secretUrl,
            description: `HTTPS URL, or HTTP on localhost. Private networks are not allowed. ${kept}`,
          }),
        ...webhookOptions,
      }),
      run: (context, { url, format, ...input }, id) =>
        update(
          context,
          id,
          { ...webhookConfig(input), ...(url === undefined ? {} : { url }) },
          { ...changedNaming(input), type: 'webhook', webhookFormat: format, ...readSubscription(input) },
        ),
    }),
    defineChange({
      ...mutation,
      kind: 'update',
      field: 'updateEmailEndpoint',
      returns: 'EmailEndpoint',
      description: 'Updates an email endpoint.',
      target,
      input: z.object({
        name: changedName,
        forwardTo: z
          .string()
          .optional()
          .meta({ description: `Address that receives the copies. ${kept}` }),
        ...forwardingOptions,
      }),
      run: (context, { forwardTo, ...input }, id) =>
        update(
          context,
          id,
          { ...forwardingConfig(input), ...(forwardTo === undefined ? {} : { forwardTo }) },
          { ...changedNaming(input), type: 'email' },
        ),
    }),
    defineChange({
      ...mutation,
      kind: 'update',
      field: 'updateEmailGroupEndpoint',
      returns: 'EmailGroupEndpoint',
      description: 'Updates an email group endpoint.',
      target,
      input: z.object({
        name: changedName,
        addresses: z
          .array(z.string())
          .optional()
          .meta({
            description: `Addresses that receive the copies, 1 to 50, without duplicates; replaces the whole list. ${kept}`,
          }),
        ...forwardingOptions,
      }),
      run: (context, { addresses: emails, ...input }, id) =>
        update(
          context,
          id,
          { ...forwardingConfig(input), ...(emails === undefined ? {} : { emails }) },
          { ...changedNaming(input), type: 'email_group' },
        ),
    }),
  ],
};
