import { type EndpointChange, updateEndpoint } from '../../operations/endpoint-changes.ts';
import { createEndpoint, type Endpoint, invalidConfiguration } from '../../operations/endpoints.ts';
import { endpointNamingShape } from '../shapes/endpoint.ts';
import { parseInput } from '../shapes/parse-input.ts';
import { builder } from './builder.ts';
import { forgetLoaded, type GraphContext } from './context.ts';
import { EmailEndpoint, EmailGroupEndpoint, WebhookEndpoint } from './endpoint.ts';
import { AttachmentForm, SignatureScheme, WebhookFormat, WebhookPayload } from './endpoint-enums.ts';

type InputFieldBuilder = Parameters<Parameters<typeof builder.inputType<'X', Record<string, never>>>[1]['fields']>[0];

const CustomHeaderInput = builder.inputType('CustomHeaderInput', {
  description: 'A header field of your own that requests to a webhook shall bear.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'At most 126 characters; none that frames the request, and none of ours.',
    }),
    value: t.string({ required: true, description: 'At most 998 characters.' }),
  }),
});

const describedName = 'What you call it: 1 to 255 characters.';
const kept = 'Null or absent: it stays.';

/** What every endpoint may be given, by the fields of whatever input. */
const options = (t: InputFieldBuilder) => ({
  description: t.string({ description: 'What you want to say about it, at most 1,000 characters; null: nothing.' }),
  isActive: t.boolean({ description: 'Whether mail goes there; absent when it is made: it does.' }),
});

const webhookOptions = (t: InputFieldBuilder) => ({
  ...options(t),
  format: t.field({ type: WebhookFormat, description: 'What is posted of a mail; NATIVE when it is made without.' }),
  timeoutSeconds: t.int({ description: 'How long an attempt may take, 1 to 300; null: 30.' }),
  retryAttempts: t.int({ description: 'Further tries after the first, 0 to 10; null: 3.' }),
  headers: t.field({ type: [CustomHeaderInput], description: 'Header fields of your own, at most 50; null: none.' }),
  signatureScheme: t.field({ type: SignatureScheme, description: 'What X-Service-Signature holds; null: TOKEN.' }),
  payload: t.field({ type: WebhookPayload, description: 'The form of the JSON of format NATIVE; null: NESTED.' }),
  maxPayloadOctets: t.int({
    description: 'Octets of a request’s body at most, 10,000 to 25,000,000; null: 4,000,000.',
  }),
  attachments: t.field({ type: AttachmentForm, description: 'How attachments are sent; null: CONTENT.' }),
});

const forwardingOptions = (t: InputFieldBuilder) => ({
  ...options(t),
  preserveHeaders: t.boolean({
    description:
      'Whether the original itself goes on, with its own signatures, instead of a new message; null: it does not.',
  }),
  includeAttachments: t.boolean({ description: 'Whether copies have the attachments; null: they have.' }),
  subjectPrefix: t.string({
    description: 'What stands before the subject of copies, at most 255 characters; null: nothing.',
  }),
  fromAddress: t.string({
    description: 'An address of yours that copies come from; null: the one that took the mail.',
  }),
  senderName: t.string({ description: 'The name that copies come under; null: the sender’s, with your address.' }),
});

const changed = { id: { required: true, description: 'Id of the endpoint.' } } as const;

builder.mutationFields((t) => ({
  createWebhookEndpoint: t.fieldWithInput({
    type: WebhookEndpoint,
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

/** Those keys of a stored config that the input names. */
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

function forwardingConfig(input: ForwardingOptions): Record<string, unknown> {
  const { preserveHeaders, includeAttachments, subjectPrefix, fromAddress, senderName } = input;
  return given({ preserveHeaders, includeAttachments, subjectPrefix, fromAddress, senderName });
}

/** As REST takes them. Throws validation when a name comes twice, which an object cannot tell. */
function headersByName(headers: readonly { name: string; value: string }[]): Record<string, string> {
  const names = headers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw invalidConfiguration(`Header is given twice: ${twice}`, 'headers');
  return Object.fromEntries(headers.map(({ name, value }) => [name, value]));
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
