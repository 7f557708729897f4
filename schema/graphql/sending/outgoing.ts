import { invalid } from '../../../operations/context.ts';
import type { NewEmail } from '../../../operations/sending/check-outgoing.ts';
import { builder } from '../builder.ts';

const AttachmentInput = builder.inputType('AttachmentInput', {
  description: 'A file to send. Bodies and files of an email may have 10 MB together, decoded, and 20 files.',
  fields: (t) => ({
    filename: t.string({ description: 'At most 255 characters; absent: a name by its type.' }),
    content: t.string({ required: true, description: 'Base64, or a `data:` URL with base64.' }),
    contentType: t.string({ description: '`application/pdf`; absent: by the filename.' }),
    contentId: t.string({
      description: 'What the HTML names as `cid:`; with it the file is shown within the text. Each only once.',
    }),
  }),
});

const TagInput = builder.inputType('TagInput', {
  description: 'What you want to know an email by; recipients do not see it.',
  fields: (t) => ({
    name: t.string({ required: true, description: '1 to 64 characters.' }),
    value: t.string({ required: true, description: 'At most 256 characters.' }),
  }),
});

const HeaderInput = builder.inputType('HeaderInput', {
  description: 'A header field of your own.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Each name once, in any case; those that we write cannot be set.' }),
    value: t.string({ required: true, description: 'One line of at most 998 characters.' }),
  }),
});

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>;

const MAILBOXES = 'each `address` or `Name <address>`. To, Cc and Bcc hold 50 at most together.';

/** What an email and an answer have in common. */
export function contentFields(t: InputBuilder) {
  return {
    cc: t.stringList({ description: `Copies, seen by all: ${MAILBOXES}` }),
    bcc: t.stringList({ description: `Copies, unseen by the others: ${MAILBOXES}` }),
    replyTo: t.stringList({ description: 'Where answers shall go instead of the sender; at most 10.' }),
    text: t.string({ description: 'The plain-text body; text or html is required.' }),
    html: t.string({ description: 'The HTML body; text or html is required.' }),
    headers: t.field({ type: [HeaderInput], description: 'At most 50.' }),
    attachments: t.field({ type: [AttachmentInput], description: 'At most 20.' }),
    tags: t.field({ type: [TagInput], description: 'At most 20.' }),
    scheduledAt: t.string({
      description:
        'Send time: ISO 8601, or an English phrase such as `tomorrow at 9am`, from a minute to a year ahead. Dotted dates are day first. Omit to send now.',
    }),
    timezone: t.string({ description: 'IANA zone that scheduledAt is told in, `Europe/Berlin`; absent: UTC.' }),
  };
}

/** An email that opens a conversation. */
export function emailFields(t: InputBuilder) {
  return {
    from: t.string({
      required: true,
      description: '`address` or `Name <address>`, of a verified domain of yours.',
    }),
    to: t.stringList({ required: true, description: `Addressees: ${MAILBOXES}` }),
    subject: t.string({ required: true, description: 'One line of at most 998 characters.' }),
    ...contentFields(t),
  };
}

/** Of mutations that send. */
export function idempotencyField(t: InputBuilder) {
  return {
    idempotencyKey: t.string({
      description:
        'Text of 1 to 256 characters that no other request bears: the same request with the same key is answered as the first time and sends nothing more, for 24 hours.',
    }),
  };
}

export const BatchEmailInput = builder.inputType('BatchEmailInput', {
  description: 'An email of a batch.',
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
