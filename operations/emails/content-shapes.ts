import { z } from 'zod';
import { REMOVED_KINDS } from '../../core/mime/reply-text.ts';
import { named, nameType } from '../../core/shared/field-notes.ts';
import { type BodyText, LargeText } from '../../core/shared/large-text.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';

/** A large one is written as JSON piece by piece (gateway/http/json-stream.ts). */
export const bodyText = z
  .custom<BodyText>((value) => typeof value === 'string' || value instanceof LargeText)
  .meta({ type: 'string' });

/** Bodies, headers and attachments of emails in GraphQL, which reads each of them only if it is requested. */

const number = z.number().int();
const maybe = z.string().nullable();

export const mailboxShape = nameType(
  z.object({
    name: maybe.meta({ description: 'Display name, decoded. Null if there is none.' }),
    address: z.string().meta({
      description:
        '`ada@example.org`. In received mail this is what the sender wrote, which may not be a valid address.',
    }),
  }),
  { type: 'Mailbox', description: 'An email address with an optional display name (RFC 5322 §3.4).' },
);

export const attachmentShape = nameType(
  z.object({
    filename: z.string().meta({
      description:
        'File name given by the sender, or one derived from the type; never empty. Not safe to use as a path.',
    }),
    contentType: z.string().meta({ description: 'Content type given by the sender, such as `application/pdf`.' }),
    size: number.meta({ description: 'Size in bytes, decoded.' }),
    contentId: named(maybe, { graphqlType: 'String' }).meta({
      description: 'Content-ID as `<local@host>`; the HTML refers to it as `cid:local@host`. Null if there is none.',
    }),
    contentDisposition: named(
      oneOf(['attachment', 'inline'], {
        name: 'AttachmentDisposition',
        description: 'How an attachment should be displayed (RFC 2183).',
        values: {
          attachment: 'As a separate file.',
          inline: 'Inside the text, as an image that the HTML refers to.',
        },
      }).nullable(),
      { graphqlName: 'disposition' },
    ).meta({ description: 'How the attachment should be displayed. Null if not specified.' }),
    index: number.meta({ description: 'Position in the email, starting at 0.' }),
    downloadUrl: named(z.string(), { graphqlType: 'URL' }).meta({
      description: 'URL of the file. Requires the same API key.',
    }),
  }),
  { type: 'Attachment', description: 'An attachment of an email.' },
);

const header = nameType(
  z.object({
    name: z.string().meta({ description: 'In lowercase.' }),
    value: z.string().meta({ description: 'Decoded, on one line.' }),
  }),
  { type: 'HeaderField', description: 'A header of an email.' },
);

const removedPart = nameType(
  z.object({
    kind: oneOf(REMOVED_KINDS, {
      name: 'RemovedPartKind',
      description: 'What a removed part of a text is.',
      values: {
        quote: 'Quoted or forwarded mail, and the lines that introduce it.',
        signature: 'A signature, a note of the mail program, or a disclaimer.',
      },
    }).meta({ description: 'What the part is.' }),
    start: number.meta({
      description:
        'Offset of its first character in `text`, or in `html` of an email without text. In UTF-16 code units.',
    }),
    end: number.meta({ description: 'Offset after its last character.' }),
  }),
  { type: 'RemovedPart', description: 'A part of the body that the cleaned body does not contain.' },
);

export const contentShape = nameType(
  z.object({
    text: maybe.meta({ description: 'The plain-text body as received. Null if there is none.' }),
    html: maybe.meta({
      description: 'The HTML body as received. Display it in a sandbox only. Null if there is none.',
    }),
    cleanedText: maybe.meta({
      description:
        'The text the author typed: the plain-text body without quotes and signature. Null if there is none.',
    }),
    quotedText: maybe.meta({
      description: 'The quoted mail that the cleaned body does not contain, as text. Null if there is none.',
    }),
    signature: maybe.meta({
      description: 'The signature that the cleaned body does not contain, as text. Null if there is none.',
    }),
    removedParts: z.array(removedPart).meta({
      description:
        'Where `text`, or `html` of an email without text, has quoted mail and signatures that the cleaned body does not contain. In order.',
    }),
    cleanedHtml: maybe.meta({
      description:
        'The HTML body of received mail without quotes, signature and anything that can run, load or mislead. Null if there is none or it is too long to sanitize.',
    }),
    headers: z.array(header).meta({ description: 'Headers in the order of the message, up to 1,000.' }),
    inReplyTo: z.array(z.string()).meta({ description: 'Message-IDs in the In-Reply-To header.' }),
    references: z.array(z.string()).meta({ description: 'Message-IDs in the References header, oldest first.' }),
    priority: oneOf(['high', 'normal', 'low'], {
      name: 'EmailPriority',
      description: 'Priority set by the sender.',
      values: { high: 'High priority.', normal: 'Normal priority.', low: 'Low priority.' },
    })
      .nullable()
      .meta({ description: 'Priority set by the sender. Null if none is set.' }),
    isTruncated: z.boolean().meta({
      description:
        'Whether parts of the message are missing here because it exceeds a limit. The raw source is complete.',
    }),
    parseError: maybe.meta({
      description: 'Why only the headers could be parsed. Null if everything was parsed. The raw source is complete.',
    }),
  }),
  { type: 'EmailContent', description: 'Bodies and headers of an email. Only the requested fields are read.' },
);
