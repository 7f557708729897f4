import { invalid } from '../../../operations/context.ts';
import type { NewEmail } from '../../../operations/sending/check-outgoing.ts';
import { builder } from '../builder.ts';

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

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>;

const MAILBOXES = 'each `address` or `Name <address>`. Up to 50 in To, Cc and Bcc combined.';

/** What an email and an answer have in common. */
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

/** An email that opens a conversation. */
export function emailFields(t: InputBuilder) {
  return {
    from: t.string({
      required: true,
      description: '`address` or `Name <address>`, on one of your verified domains.',
    }),
    to: t.stringList({ required: true, description: `To recipients: ${MAILBOXES}` }),
    subject: t.string({ required: true, description: 'One line of up to 998 characters.' }),
    ...contentFields(t),
  };
}

/** Of mutations that send. */
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

/** What emailFields and contentFields come in as. */
type Given = typeof BatchEmailInput.$inferInput;
type EmailInput = { [Field in keyof Given]?: Given[Field] | null | undefined };

/** The email that is asked for. Throws validation. */
export function newEmailOf(input: EmailInput, path = ''): NewEmail {
  const { headers, attachments, ...email } = input;
  return {
    ...email,
    headers: headers == null ? null : headersOf(headers, path),
    attachments: (attachments ?? []).map(({ filename, content, contentType, contentId }) => ({
      filename: filename ?? null,
      content,
      contentType: contentType ?? null,
      contentId: contentId ?? null,
    })),
  };
}

/** An object without prototype, so that a name such as `__proto__` is one like any other. */
function headersOf(fields: readonly { name: string; value: string }[], path: string): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (const { name, value } of fields) {
    if (Object.hasOwn(headers, name)) throw invalid(`Header is given twice: ${name}`, `${path}headers`);
    headers[name] = value;
  }
  return headers;
}
