import { type EndpointChange, updateEndpoint } from '../../../operations/endpoints/endpoint-changes.ts';
import { createEndpoint, type Endpoint } from '../../../operations/endpoints/endpoints.ts';
import { endpointNamingShape } from '../../shapes/endpoint.ts';
import { parseInput } from '../../shapes/parse-input.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { forgetLoaded, type GraphContext } from '../context.ts';
import { EmailEndpoint, EmailGroupEndpoint, WebhookEndpoint } from './endpoint.ts';
import { forwardingConfig, forwardingOptions, webhookConfig, webhookOptions } from './endpoint-options.ts';

const describedName = 'What you call it: 1 to 255 characters.';
const kept = 'Null or absent: it stays.';

const changed = { id: { required: true, description: 'Id of the endpoint.' } } as const;

builder.mutationFields((t) => ({
  createWebhookEndpoint: t.fieldWithInput({
    type: WebhookEndpoint,
    access: { ...access.manage, shows: ['WebhookEndpoint.signingSecrets'] },
    description: 'Adds an endpoint that posts mail to a URL. It is given a verification token and a signing secret.',
    input: {
      name: t.input.string({ required: true, description: describedName }),
      url: t.input.string({
        required: true,
        description: 'Where to: HTTPS, or HTTP to localhost; nothing within private networks.',
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
    description: 'Adds an endpoint that sends a copy of mail to one address.',
    input: {
      name: t.input.string({ required: true, description: describedName }),
      forwardTo: t.input.string({ required: true, description: 'Whom copies go to.' }),
      ...forwardingOptions(t.input),
    },
    errors: { dataField: { name: 'endpoint' } },
    resolve: (_root, { input }, context) =>
      create(context, { ...input, type: 'email', config: { ...forwardingConfig(input), forwardTo: input.forwardTo } }),
  }),
  createEmailGroupEndpoint: t.fieldWithInput({
    type: EmailGroupEndpoint,
    access: access.manage,
    description: 'Adds an endpoint that sends copies of mail to several addresses.',
    input: {
      name: t.input.string({ required: true, description: describedName }),
      addresses: t.input.stringList({ required: true, description: 'Whom copies go to: 1 to 50, each once.' }),
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
    description:
      'Changes what is given of an endpoint of that type. One that is switched on, or led elsewhere, starts without failures.',
    input: {
      id: t.input.id(changed.id),
      name: t.input.string({ description: `${describedName} ${kept}` }),
      url: t.input.string({ description: `Where to, as when it is made. ${kept}` }),
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
    description: 'Changes what is given of an endpoint of that type.',
    input: {
      id: t.input.id(changed.id),
      name: t.input.string({ description: `${describedName} ${kept}` }),
      forwardTo: t.input.string({ description: `Whom copies go to. ${kept}` }),
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
    description: 'Changes what is given of an endpoint of that type.',
    input: {
      id: t.input.id(changed.id),
      name: t.input.string({ description: `${describedName} ${kept}` }),
      addresses: t.input.stringList({ description: `All whom copies go to from now on: 1 to 50, each once. ${kept}` }),
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
