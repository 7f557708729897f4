import { type EndpointChange, updateEndpoint } from '../../../operations/endpoints/endpoint-changes.ts';
import { createEndpoint, type Endpoint } from '../../../operations/endpoints/endpoints.ts';
import { endpointNamingShape } from '../../shapes/endpoint.ts';
import { parseInput } from '../../shapes/input.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded, type GraphContext } from '../context.ts';
import { EmailEndpoint, EmailGroupEndpoint, WebhookEndpoint } from './endpoint.ts';
import { forwardingConfig, forwardingOptions, webhookConfig, webhookOptions } from './endpoint-options.ts';

const describedName = 'Name of the endpoint, 1 to 255 characters.';
const kept = 'Omit or pass null to keep the current value.';

const changed = { id: { required: true, description: 'ID of the endpoint.' } } as const;

builder.mutationFields((t) => ({
  createWebhookEndpoint: t.fieldWithInput({
    type: WebhookEndpoint,
    access: { ...access.manage, shows: ['WebhookEndpoint.signingSecrets'] },
    description: 'Creates an endpoint that posts mail to a URL, with a verification token and a signing secret.',
    input: {
      name: t.input.string({ required: true, description: describedName }),
      url: t.input.string({
        required: true,
        description: 'HTTPS URL, or HTTP on localhost. Private networks are not allowed.',
      }),
      ...webhookOptions(t.input),
    },
    errors: { dataField: { name: 'endpoint' } },
    resolve: (_root, { input: { format, ...input } }, context) =>
      create(context, { ...input, type: 'webhook', webhookFormat: format ?? undefined, config: webhookConfig(input) }),
  }),
  createEmailEndpoint: t.fieldWithInput({
    type: EmailEndpoint,
    access: access.manage,
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
    access: access.manage,
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
    access: access.manage,
    description: 'Updates a webhook endpoint. Enabling the endpoint or changing its target resets its failures.',
    input: {
      id: t.input.id(changed.id),
      name: t.input.string({ description: `${describedName} ${kept}` }),
      url: t.input.string({
        description: `HTTPS URL, or HTTP on localhost. Private networks are not allowed. ${kept}`,
      }),
      ...webhookOptions(t.input),
    },
    errors: { dataField: { name: 'endpoint' } },
    resolve: (_root, { input: { format, url, ...input } }, context) =>
      update(context, input, {
        type: 'webhook',
        webhookFormat: format ?? undefined,
        configChange: { ...webhookConfig(input), ...(url == null ? {} : { url }) },
      }),
  }),
  updateEmailEndpoint: t.fieldWithInput({
    type: EmailEndpoint,
    access: access.manage,
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
    access: access.manage,
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
}

async function create(context: GraphContext, { name, description, isActive, ...input }: Naming & NewConfig) {
  const { type, webhookFormat, config } = input;
  const endpoint = await createEndpoint(context.operations, {
    ...parseInput(endpointNamingShape, { name, description }),
    type,
    webhookFormat,
    // What is null has its default.
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
