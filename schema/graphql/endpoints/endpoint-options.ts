import { invalidConfiguration } from '../../../operations/endpoints/endpoints.ts';
import { builder } from '../builder.ts';
import { AttachmentMode, SignatureScheme, WebhookFormat, WebhookPayload } from './endpoint-enums.ts';

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

/** What every endpoint may be given. */
const options = (t: InputFieldBuilder) => ({
  description: t.string({ description: 'What you want to say about it, at most 1,000 characters; null: nothing.' }),
  isActive: t.boolean({ description: 'Whether mail goes there; absent when it is made: it does.' }),
});

/** How mail is posted, by the fields of whatever input. */
export const webhookOptions = (t: InputFieldBuilder) => ({
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
  attachments: t.field({ type: AttachmentMode, description: 'How attachments are sent; null: CONTENT.' }),
});

/** How copies are made, by the fields of whatever input. */
export const forwardingOptions = (t: InputFieldBuilder) => ({
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
