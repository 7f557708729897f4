import { z } from 'zod';
import { secret } from '../../core/accounts/secret-fields.ts';
import { MAX_RECIPIENTS } from '../../core/sending/outgoing-addresses.ts';
import { encodeContent, type GivenAttachment } from '../../core/sending/outgoing-attachments.ts';
import {
  graphqlOnly,
  graphqlText,
  inRest,
  named,
  nameType,
  required,
  restOnly,
} from '../../core/shared/field-notes.ts';
import { snakeCase } from '../../core/shared/word-case.ts';
import { MAX_METADATA_BYTES, metadata } from '../capability/field-shapes.ts';
import { invalid } from '../context.ts';
import type { NewEmail } from './check-outgoing.ts';

/**
 * The fields of an email that clients send, for new emails, replies, forwards and drafts. REST allows missing fields and other forms of the same
 * value, and operations report them with the messages that clients know. GraphQL has lists where REST also takes a text or an object.
 */

const optional = z.string().nullish();

/** An alias in camelCase, which REST takes for clients of other services. */
export function findAlias<Shape extends z.ZodType>(name: string, shape: Shape): Shape {
  return restOnly(shape, name).meta({ deprecated: true, description: `Alias of \`${snakeCase(name)}\`.` }) as Shape;
}

/** `address` or `Name <address>`, several separated by commas, or a list. */
export const addresses = z
  .union([z.string(), z.array(z.string())])
  .meta({ description: '`address` or `Name <address>`, several separated by commas, or a list.' });

/** Addresses, which GraphQL takes as a list. */
export function addressList(graphqlDescription: string, restShape: z.ZodType = addresses.nullish()) {
  return graphqlText(inRest(z.array(z.string()).nullish(), restShape), graphqlDescription);
}

const byteArray = { type: 'array', items: { type: 'integer', minimum: 0, maximum: 255 } } as const;

/** Not a shape of zod for the array, which would take seconds and a gigabyte for a large file. */
const attachmentContent = z
  .unknown()
  .meta({
    description: 'Base64, a `data:` URL with base64, or the bytes as an array of integers from 0 to 255.',
    anyOf: [
      { type: 'string' },
      byteArray,
      {
        type: 'object',
        description: 'A Buffer of Node as JSON.',
        properties: { type: { type: 'string', const: 'Buffer' }, data: byteArray },
        required: ['type', 'data'],
      },
      { type: 'null' },
    ],
  })
  .transform((given, context) => {
    if (given == null) return given;
    const { content, error } = encodeContent(given);
    if (error === undefined) return content;
    context.issues.push({ code: 'custom', message: `content ${error}`, input: null });
    return z.NEVER;
  })
  .optional();

const BASE64 = 'Base64, or a `data:` URL with base64.';

/** No ID of an object. */
const contentId = named(optional, { graphqlType: 'String' });

const attachmentFields = {
  filename: graphqlText(optional, 'Up to 255 characters. By default it is derived from the type.'),
  content: graphqlText(required(inRest(optional, attachmentContent)), BASE64),
  contentType: graphqlText(
    optional,
    'Content type such as `application/pdf`. By default it is derived from the file name.',
  ),
  contentTypeAlias: findAlias('contentType', optional),
  contentId: graphqlText(
    contentId,
    'Content-ID that the HTML refers to as `cid:`. The attachment is then shown inside the text. Must be unique in the email.',
  ).meta({ description: 'Content-ID that the HTML refers to as `cid:`.' }),
  contentIdAlias: findAlias('contentId', optional),
  path: restOnly(optional).meta({ description: 'Not supported: Postroom does not fetch files.' }),
};

const attachment = nameType(
  graphqlText(
    z.object(attachmentFields).meta({ required: ['content'] }),
    'An attachment. An email can have up to 20, and 10 MB of bodies and attachments in total, decoded.',
  ),
  { id: 'OutgoingAttachment', input: 'AttachmentInput' },
);

/** A file of a draft: a new one, or one that it has already, by its ID. */
export const changedAttachment = nameType(
  graphqlText(
    z.object({
      ...attachmentFields,
      filename: graphqlText(optional, 'Of a new one: up to 255 characters.'),
      content: graphqlText(inRest(optional, attachmentContent), 'Of a new one: base64, or a `data:` URL with base64.'),
      contentType: graphqlText(optional, 'Of a new one. By default it is derived from the file name.'),
      contentId: graphqlText(contentId, 'Of a new one: Content-ID that the HTML refers to as `cid:`.').meta({
        description: 'Content-ID that the HTML refers to as `cid:`.',
      }),
      id: optional.meta({ description: 'ID of an attachment of the draft, to keep it.' }),
    }),
    'An attachment of a changed draft: one that it has, by its ID, or a new one with its content.',
  ),
  { id: 'ChangedDraftAttachment', input: 'DraftAttachmentInput' },
);

const tag = nameType(
  graphqlText(
    z.object({
      name: graphqlText(z.string(), '1 to 64 characters.'),
      value: graphqlText(z.string(), 'Up to 256 characters.'),
    }),
    'A name-value pair to identify the email. Recipients do not see it.',
  ),
  { input: 'TagInput' },
);

const header = nameType(
  z.object({
    name: z.string().meta({
      description: 'Each name once, case-insensitive. Headers that Postroom writes are not allowed.',
    }),
    value: z.string().meta({ description: 'One line of up to 998 characters.' }),
  }),
  { input: 'HeaderInput', description: 'A custom header.' },
);

const MAILBOXES = `up to ${MAX_RECIPIENTS}, each \`address\` or \`Name <address>\`.`;

export const attachmentList = graphqlText(z.array(attachment).nullish(), 'Attachments, up to 20.');
export const metadataField = graphqlText(
  inRest(
    z.unknown().nullish(),
    metadata.meta({
      description: `A JSON object that is stored with the email, and that replies to it carry as \`metadata\`; up to ${MAX_METADATA_BYTES} bytes. Recipients do not see it.`,
    }),
  ),
  'An object that is stored with the email, and that replies to it carry as `metadata`; up to 4,096 bytes of JSON. Recipients do not see it.',
);
export const claimToken = graphqlText(
  optional,
  'Token of your claim of the thread that the email answers. Returns Conflict with the code CLAIM_LOST if the claim is lost.',
).meta({ ...secret, description: 'Token of your claim of the thread. If the claim is lost, the response is 409.' });

/** Fields that new emails, replies, forwards and drafts share. */
export const content = {
  html: graphqlText(optional, 'The HTML body. Either text or html is required.'),
  text: graphqlText(optional, 'The plain-text body. Either text or html is required.').meta({
    description: 'Either `html` or `text` is required.',
  }),
  cc: addressList(`Cc recipients: ${MAILBOXES}`),
  bcc: addressList(`Bcc recipients: ${MAILBOXES}`),
  replyTo: addressList('Addresses to reply to instead of the sender, up to 10.'),
  replyToAlias: findAlias('replyTo', addresses.nullish()),
  headers: restOnly(z.record(z.string(), z.string()).nullish()),
  headerList: graphqlOnly(z.array(header).nullish(), 'headers').meta({ description: 'Custom headers, up to 50.' }),
  attachments: attachmentList,
  tags: graphqlText(z.array(tag).nullish(), 'Tags, up to 20.'),
  metadata: metadataField,
  scheduledAt: graphqlText(
    optional,
    'Send time: ISO 8601 or an English phrase such as `tomorrow at 9am`, one minute to one year ahead. In dates with dots the day comes first. Omit to send now.',
  ).meta({
    description:
      'ISO 8601, or a phrase such as `tomorrow at 9am`. In a date with dots, such as 05.06.2027, the day comes first; an ambiguous date with slashes is rejected.',
  }),
  scheduledAtAlias: findAlias('scheduledAt', optional),
  timezone: graphqlText(optional, 'IANA time zone of scheduledAt, such as `Europe/Berlin`. The default is UTC.').meta({
    description: 'IANA time zone of `scheduled_at`. The default is UTC.',
  }),
  claimToken,
};

export const listUnsubscribe = graphqlText(
  inRest(
    nameType(
      z.object({
        list: optional.meta({
          description: 'Up to 64 letters, digits, spaces, dots, hyphens and underscores. The default is `default`.',
        }),
      }),
      { input: 'ListUnsubscribeInput', description: 'The list that a recipient can unsubscribe from.' },
    ).nullish(),
    z
      .union([z.boolean(), z.object({ list: z.string().nullish() })])
      .nullish()
      .meta({
        description:
          'Adds List-Unsubscribe with a one-click link (RFC 8058) for the only recipient. `true`: from the list `default`; `{"list":"news"}`: from that list. A recipient who unsubscribed gets no more mail of the list, but other mail.',
      }),
  ),
  'Adds List-Unsubscribe with a one-click link (RFC 8058) for the only recipient.',
);

const ON_DOMAIN = '`address` or `Name <address>`, on one of your verified domains.';
export const sender = required(optional).meta({ description: ON_DOMAIN });

export const newEmailShape = z
  .object({
    from: sender,
    to: required(addressList(`To recipients: ${MAILBOXES}`)),
    subject: required(graphqlText(optional, 'One line of up to 998 characters.')),
    ...content,
    listUnsubscribe,
  })
  .meta({ required: ['from', 'to', 'subject'] });

type Given<Shape extends Record<string, z.ZodType>> = { [Field in keyof Shape]?: z.output<Shape[Field]> | undefined };

interface EmailInput extends Given<typeof content> {
  from?: string | null | undefined;
  to?: readonly string[] | null | undefined;
  subject?: string | null | undefined;
  listUnsubscribe?: { list?: string | null | undefined } | null | undefined;
}

/** Returns the email of an input. Throws validation for attachments by URL; `path` is prepended to the names of fields. */
export function readNewEmail(input: EmailInput, path = ''): NewEmail {
  const { from, to, cc, bcc, subject, html, text, tags, timezone, claimToken, listUnsubscribe } = input;
  const attachments = (input.attachments ?? []).map((file, index) => readFile(file, `${path}attachments.${index}`));
  const fields = { from, to, cc, bcc, subject, html, text, tags, timezone, claimToken, listUnsubscribe };
  return {
    ...fields,
    attachments,
    replyTo: input.replyTo ?? input.replyToAlias,
    scheduledAt: input.scheduledAt ?? input.scheduledAtAlias,
    headers: readHeaders(input, path),
    metadata: readMetadata(input.metadata, path),
  };
}

type FileInput = Given<typeof attachmentFields>;

/** Returns an attachment; `field` is its place in the input. Throws validation for those by URL, or without content. */
export function readFile(given: FileInput, field: string, withoutContent = NO_CONTENT): GivenAttachment {
  if (given.path != null && given.path !== '') throw invalid(NO_PATH, `${field}.path`);
  if (given.content == null) throw invalid(withoutContent, `${field}.content`);
  return {
    filename: given.filename ?? null,
    content: given.content,
    contentType: given.contentType ?? given.contentTypeAlias ?? null,
    contentId: given.contentId ?? given.contentIdAlias ?? null,
  };
}

const NO_PATH = 'Postroom does not fetch attachments from a path or URL. Send the file base64-encoded in `content`.';
export const NO_CONTENT = 'An attachment needs `content`: the file, base64-encoded.';

/** Throws validation. */
export function readMetadata(given: unknown, path = ''): Record<string, unknown> | null | undefined {
  const read = metadata.safeParse(given);
  if (!read.success) throw invalid(read.error.issues[0]?.message ?? 'must be an object', `${path}metadata`);
  return read.data;
}

/** Returns the headers by name, in an object without a prototype if they are a list, so that `__proto__` is an ordinary name. Throws validation. */
export function readHeaders(
  { headers, headerList }: Pick<EmailInput, 'headers' | 'headerList'>,
  path = '',
): Readonly<Record<string, string>> | null | undefined {
  if (headerList == null) return headerList === undefined ? headers : null;
  const byName = Object.create(null) as Record<string, string>;
  for (const { name, value } of headerList) {
    if (Object.hasOwn(byName, name)) throw invalid(`Header is given twice: ${name}`, `${path}headers`);
    byName[name] = value;
  }
  return byName;
}
