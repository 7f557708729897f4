import { invalid } from '../../../operations/context.ts';
import type { NewEmail } from '../../../operations/sending/check-outgoing.ts';
import { forwardEmail } from '../../../operations/sending/forward-email.ts';
import { type Receipt, readIdempotency } from '../../../operations/sending/idempotency.ts';
import { sendReply } from '../../../operations/sending/replies.ts';
import { sendEmail } from '../../../operations/sending/send-email.ts';
import { limitEntries, sentMetadata } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, enumValues } from '../builder.ts';
import { SuppressedRecipient } from '../client-errors.ts';
import { forgetLoaded } from '../context.ts';
import { EmailNode, ThreadNode } from '../nodes.ts';
import { secret } from '../secret.ts';

const AttachmentInput = builder.inputType('AttachmentInput', {
  description: 'An attachment. An email can have up to 20, and 10 MB of bodies and attachments in total, decoded.',
  fields: (t) => ({
    filename: t.string({ description: 'Up to 255 characters. By default it is derived from the type.' }),
    content: t.string({ required: true, description: 'Base64, or a `data:` URL with base64.' }),
    contentType: t.string({
      description: 'Content type such as `application/pdf`. By default it is derived from the file name.',
    }),
    contentId: t.string({
      description:
        'Content-ID that the HTML refers to as `cid:`. The attachment is then shown inside the text. Must be unique in the email.',
    }),
  }),
});

const TagInput = builder.inputType('TagInput', {
  description: 'A name-value pair to identify the email. Recipients do not see it.',
  fields: (t) => ({
    name: t.string({ required: true, description: '1 to 64 characters.' }),
    value: t.string({ required: true, description: 'Up to 256 characters.' }),
  }),
});

const HeaderInput = builder.inputType('HeaderInput', {
  description: 'A custom header.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: 'Each name once, case-insensitive. Headers that Postroom writes are not allowed.',
    }),
    value: t.string({ required: true, description: 'One line of up to 998 characters.' }),
  }),
});

export const ListUnsubscribeInput = builder.inputType('ListUnsubscribeInput', {
  description: 'The list that a recipient can unsubscribe from.',
  fields: (t) => ({
    list: t.string({
      description: 'Up to 64 letters, digits, spaces, dots, hyphens and underscores. The default is `default`.',
    }),
  }),
});

export type InputBuilder = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>;

const MAILBOXES = 'each `address` or `Name <address>`. Up to 50 in To, Cc and Bcc combined.';

/** Fields that new emails, replies and forwarded emails share. */
export function contentFields(t: InputBuilder) {
  return {
    cc: t.stringList({ description: `Cc recipients: ${MAILBOXES}` }),
    bcc: t.stringList({ description: `Bcc recipients: ${MAILBOXES}` }),
    replyTo: t.stringList({ description: 'Addresses to reply to instead of the sender, up to 10.' }),
    text: t.string({ description: 'The plain-text body. Either text or html is required.' }),
    html: t.string({ description: 'The HTML body. Either text or html is required.' }),
    headers: t.field({ type: [HeaderInput], description: 'Custom headers, up to 50.' }),
    attachments: t.field({ type: [AttachmentInput], description: 'Attachments, up to 20.' }),
    tags: t.field({ type: [TagInput], description: 'Tags, up to 20.' }),
    scheduledAt: t.string({
      description:
        'Send time: ISO 8601 or an English phrase such as `tomorrow at 9am`, one minute to one year ahead. In dates with dots the day comes first. Omit to send now.',
    }),
    timezone: t.string({ description: 'IANA time zone of scheduledAt, such as `Europe/Berlin`. The default is UTC.' }),
  };
}

/** The field of the metadata, for emails and drafts. */
export function metadataField(t: InputBuilder) {
  return {
    metadata: t.field({
      type: 'JSON',
      description:
        'An object that is stored with the email, and that replies to it carry as `metadata`; up to 4,096 bytes of JSON. Recipients do not see it.',
    }),
  };
}

/** The field of the claim, for mutations that can answer a thread. */
export function claimField(t: InputBuilder) {
  return {
    claimToken: t.string({
      extensions: secret,
      description:
        'Token of your claim of the thread that the email answers. Returns Conflict with the code CLAIM_LOST if the claim is lost.',
    }),
  };
}

/** Fields of a new email. */
function emailFields(t: InputBuilder) {
  return {
    from: t.string({
      required: true,
      description: '`address` or `Name <address>`, on one of your verified domains.',
    }),
    to: t.stringList({ required: true, description: `To recipients: ${MAILBOXES}` }),
    subject: t.string({ required: true, description: 'One line of up to 998 characters.' }),
    ...contentFields(t),
    ...metadataField(t),
    ...claimField(t),
    listUnsubscribe: t.field({
      type: ListUnsubscribeInput,
      description: 'Adds List-Unsubscribe with a one-click link (RFC 8058) for the only recipient.',
    }),
  };
}

/** The field of the idempotency key, for mutations that send. */
export function idempotencyField(t: InputBuilder) {
  return {
    idempotencyKey: t.string({
      description:
        'A unique key of 1 to 256 characters. For 24 hours, the same request with the same key returns the first response and sends nothing again.',
    }),
  };
}

export const BatchEmailInput = builder.inputType('BatchEmailInput', {
  description: 'An email in a batch.',
  fields: emailFields,
});

/** The input of emailFields and contentFields. */
type Given = typeof BatchEmailInput.$inferInput;
type EmailInput = { [Field in keyof Given]?: Given[Field] | null | undefined };

/** Converts the input to an email. Throws validation; `path` is prepended to the names of fields. */
export function newEmailOf(input: EmailInput, path = ''): NewEmail {
  const { headers, attachments, metadata, ...email } = input;
  return {
    ...email,
    metadata: readMetadata(metadata, path),
    headers: headers == null ? null : headersOf(headers, path),
    attachments: (attachments ?? []).map(({ filename, content, contentType, contentId }) => ({
      filename: filename ?? null,
      content,
      contentType: contentType ?? null,
      contentId: contentId ?? null,
    })),
  };
}

/** Throws validation. */
export function readMetadata(given: unknown, path = ''): Record<string, unknown> | null | undefined {
  const read = sentMetadata.safeParse(given);
  if (!read.success) throw invalid(read.error.issues[0]?.message ?? 'must be an object', `${path}metadata`);
  return read.data;
}

/** Returns an object without a prototype, so that `__proto__` is an ordinary header name. */
export function headersOf(fields: readonly { name: string; value: string }[], path = ''): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (const { name, value } of fields) {
    if (Object.hasOwn(headers, name)) throw invalid(`Header is given twice: ${name}`, `${path}headers`);
    headers[name] = value;
  }
  return headers;
}

/** The field of the idempotency key, for error messages. */
const KEY = 'idempotencyKey';

const ReplyAudience = builder.enumType('ReplyAudience', {
  description: 'Recipients of a reply if `to` is omitted.',
  values: enumValues({
    sender: 'The Reply-To addresses of the original, or else its sender.',
    all: 'Also the other recipients of the original, except your own addresses.',
  }),
});

const ReplyPayload = builder.objectRef<Receipt>('ReplyToEmailPayload').implement({
  description: 'A reply that was sent or scheduled.',
  fields: (t) => ({
    email: t.field({ type: EmailNode, description: 'The reply.', resolve: emailIdOf }),
    originalEmail: t.field({
      type: EmailNode,
      nullable: true,
      description: 'The email that was answered. Null if it was deleted in the meantime.',
      resolve: ({ repliedTo }) => repliedTo?.emailId ?? null,
    }),
    originalThread: t.field({
      type: ThreadNode,
      nullable: true,
      description: 'The thread that was answered. Null if the original has none yet.',
      resolve: ({ repliedTo }) => repliedTo?.threadId ?? null,
    }),
  }),
});

builder.mutationFields((t) => ({
  sendEmail: t.fieldWithInput({
    type: EmailNode,
    access: access.send,
    description:
      'Sends an email, or schedules it if scheduledAt is set. Returns as soon as the email is stored; query its recipients for their delivery status.',
    errors: { types: [SuppressedRecipient], dataField: { name: 'email' } },
    input: { ...emailFields(t.input), ...idempotencyField(t.input) },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      limitEntries(input);
      const idempotency = readIdempotency({ key: idempotencyKey, field: KEY }, 'send', input);
      const { receipt } = await sendEmail(context.operations, newEmailOf(input), idempotency);
      forgetLoaded(context);
      return emailIdOf(receipt);
    },
  }),
  replyToEmail: t.fieldWithInput({
    type: ReplyPayload,
    access: access.send,
    description: 'Replies to an email or to the latest message of a thread. The reply joins the thread.',
    errors: { types: [SuppressedRecipient], directResult: true },
    input: {
      id: t.input.id({ required: true, description: 'ID of an email or a thread.' }),
      from: t.input.string({
        required: true,
        description: '`address` or `Name <address>`, on one of your verified domains.',
      }),
      fromName: t.input.string({ description: 'Sender name, if from does not include one.' }),
      to: t.input.stringList({ description: 'Recipients, instead of those of the original.' }),
      audience: t.input.field({
        type: ReplyAudience,
        description: 'Recipients of the reply if to is omitted. The default is SENDER.',
      }),
      subject: t.input.string({ description: 'Subject. The default is `Re: ` and the subject of the original.' }),
      ...contentFields(t.input),
      ...metadataField(t.input),
      ...claimField(t.input),
      ...idempotencyField(t.input),
    },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      limitEntries(input);
      const { id, fromName, audience } = input;
      const idempotency = readIdempotency({ key: idempotencyKey, field: KEY }, 'reply', input);
      const reply = { ...newEmailOf(input), fromName, audience: audience ?? undefined };
      const { receipt } = await sendReply(context.operations, id, reply, idempotency);
      forgetLoaded(context);
      return receipt;
    },
  }),
}));

function emailIdOf(receipt: Receipt): string {
  const [email] = receipt.emails;
  if (email === undefined) throw new Error('a receipt without an email');
  return email.id;
}

builder.mutationField('forwardEmail', (t) => {
  const { attachments: _, ...fields } = contentFields(t.input);
  return t.fieldWithInput({
    type: EmailNode,
    access: access.send,
    description:
      'Forwards a received or sent email, as mail programs do: a new email that quotes the original and starts its own thread.',
    errors: { types: [SuppressedRecipient], dataField: { name: 'email' } },
    input: {
      id: t.input.id({ required: true, description: 'ID of the email to forward.' }),
      from: t.input.string({
        required: true,
        description: '`address` or `Name <address>`, on one of your verified domains.',
      }),
      to: t.input.stringList({ required: true, description: 'Recipients, each `address` or `Name <address>`.' }),
      subject: t.input.string({ description: 'Subject. The default is `Fwd: ` and the subject of the original.' }),
      ...fields,
      ...metadataField(t.input),
      text: t.input.string({ description: 'Text above the original. The default is none.' }),
      html: t.input.string({
        description: 'HTML above the original. By default it is created from text, if the original has HTML.',
      }),
      withAttachments: t.input.boolean({ description: 'Whether to include the attachments. The default is true.' }),
      ...idempotencyField(t.input),
    },
    resolve: async (_root, { input: { idempotencyKey, ...input } }, context) => {
      limitEntries(input);
      const idempotency = readIdempotency({ key: idempotencyKey, field: 'idempotencyKey' }, 'forward', input);
      const { attachments: __, ...email } = newEmailOf(input);
      const attachments = input.withAttachments === false ? ('none' as const) : ('all' as const);
      const { receipt } = await forwardEmail(context.operations, input.id, { ...email, attachments }, idempotency);
      forgetLoaded(context);
      const [sent] = receipt.emails;
      if (sent === undefined) throw new Error('a receipt without an email');
      return sent.id;
    },
  });
});
