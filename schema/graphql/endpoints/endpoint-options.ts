import { invalidConfiguration } from '../../../operations/endpoints/endpoints.ts';
import { builder } from '../builder.ts';
import { AttachmentMode, SignatureScheme, WebhookFormat, WebhookPayload } from './endpoint-enums.ts';

type InputFieldBuilder = Parameters<Parameters<typeof builder.inputType<'X', Record<string, never>>>[1]['fields']>[0];

const CustomHeaderInput = builder.inputType('CustomHeaderInput', {
  description: 'A custom header of webhook requests.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'Up to 126 characters. Headers that Postroom or HTTP sets are not allowed.',
    }),
    value: t.string({ required: true, description: 'Up to 998 characters.' }),
  }),
});

/** What every endpoint may be given. */
const options = (t: InputFieldBuilder) => ({
  description: t.string({ description: 'Your note about the endpoint, up to 1,000 characters. Null for none.' }),
  isActive: t.boolean({ description: 'Whether the endpoint receives mail. The default for a new endpoint is true.' }),
});

/** How mail is posted, by the fields of whatever input. */
export const webhookOptions = (t: InputFieldBuilder) => ({
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
});

/** How copies are made, by the fields of whatever input. */
export const forwardingOptions = (t: InputFieldBuilder) => ({
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

/** The config, by the keys that it is stored under, as far as the input names it. Throws validation. */
export function webhookConfig(input: WebhookOptions): Record<string, unknown> {
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

/** As webhookConfig, of endpoints that forward; whom to is the caller's to add. */
export function forwardingConfig(input: ForwardingOptions): Record<string, unknown> {
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
