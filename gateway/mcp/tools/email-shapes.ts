import { z } from 'zod';
import { EMAIL_STATUSES } from '../../../core/emails/email-status.ts';
import type { Attachment } from '../../../core/mime/attachment.ts';
import { extractFrom } from '../../../core/mime/extracts.ts';
import { MAX_SEARCHED, readSeenText } from '../../../core/screening/seen-text.ts';
import { refusalShape } from '../../../core/sending/refusal-advice.ts';
import { textBeginning, wholeText } from '../../../core/shared/large-text.ts';
import { RECIPIENT_STATUSES } from '../../../core/smtp/delivery-status.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { type EmailDetails, type EmailSummary, readEmail } from '../../../operations/emails/emails.ts';
import { inTurn } from '../../../operations/emails/html-text.ts';
import { extractsBody, writeExtracts } from '../../rest/emails/email-wait.ts';
import { emailListItem, makeEmailBody, makeEmailListItem } from '../../rest/emails/email-wire.ts';
import { examinedEmailBody, NO_FINDINGS, readSenderFindings } from '../../rest/emails/sender-findings.ts';
import { attachmentUri } from '../attachment-parts.ts';
import { shortText, type TextPart, textPart } from '../bounded-text.ts';
import { anyObjectOrNull, listedAs, listedInWords } from '../json-schema.ts';
import { nameFields, untrustedShape } from '../shapes.ts';

/** Characters of a subject, and of a sender or participant, in a result. */
export const MAX_SUBJECT = 500;
export const MAX_SENDER = 320;
/** Addresses of one field, attachments, and recipients in a result. */
const MAX_LISTED_ADDRESSES = 10;
const MAX_ADDRESSES = 100;
const MAX_ATTACHMENTS = 100;
const MAX_RECIPIENTS = 100;
/** Codes and links in a result. */
const MAX_EXTRACTS = 50;
const MAX_URL = 2_000;

const item = emailListItem.shape;
const { id, type, created_at, sent_at, scheduled_at, is_read, is_archived } = item;
const emailFields = {
  id,
  type,
  created_at,
  sent_at,
  scheduled_at,
  is_read,
  is_archived,
  is_test: z.boolean(),
  thread_id: z.string().nullable(),
  guard_status: z.enum(['blocked', 'review']).nullable(),
  status: z.enum(EMAIL_STATUSES),
};
const listedFields = { ...emailFields, attachment_count: item.attachment_count };
const { from, from_name, to, cc, subject, preview } = item;
const listedUntrusted = { from, from_name, to, cc, subject, preview };

/** An email in a list. */
export const listedEmail = z
  .object({ ...listedFields, untrusted: untrustedShape(listedUntrusted) })
  .meta(
    listedInWords(
      `${nameFields(listedFields)} \`guard_status\` is not null while a guard rule holds it. \`untrusted\`: ${nameFields(listedUntrusted)}`,
    ),
  );

export function toListedEmail(email: EmailSummary): z.input<typeof listedEmail> {
  const listed = makeEmailListItem(email, null);
  return {
    ...listed,
    status: email.status,
    untrusted: {
      from: shortText(listed.from, MAX_SENDER),
      from_name: listed.from_name === null ? null : shortText(listed.from_name, MAX_SENDER),
      to: listAddresses(listed.to, MAX_LISTED_ADDRESSES),
      cc: listAddresses(listed.cc, MAX_LISTED_ADDRESSES),
      subject: shortText(listed.subject, MAX_SUBJECT),
      preview: listed.preview,
    },
  };
}

const examined = examinedEmailBody.shape;
const verdictWords = listedInWords('Who vouches for the sender: `verdict`, `domain`, `text`.');

const listedRecipient = z.object({
  address: z.string(),
  status: z.enum(RECIPIENT_STATUSES),
  last_response: z.string().nullable(),
  refusal: refusalShape.nullable(),
});

/** An opened email. */
export const openedEmail = z.object({
  ...emailFields,
  sender_verdict: examined.sender_verdict.unwrap().meta(verdictWords).nullable(),
  body: z.enum(['text', 'html']),
  is_seen_text: z
    .boolean()
    .meta({ description: '`text` is only what a person sees, because some of it is aimed at you.' }),
  has_html: z.boolean(),
  next_offset: z.int().nullable(),
  attachments: z.array(
    z
      .object({ index: z.int(), size: z.int(), uri: z.string() })
      .meta(listedInWords('`index` for read_attachment, `size`, `uri`.')),
  ),
  metadata: z.unknown().meta(anyObjectOrNull),
  is_complete: z.boolean().meta({ description: 'False: more addresses or attachments.' }),
  raw_uri: z.string(),
  untrusted: untrustedShape(
    {
      from: examined.from,
      to: examined.to,
      cc: examined.cc,
      reply_to: examined.reply_to,
      subject: examined.subject,
      text: z.string(),
      attachments: z.array(z.object({ index: z.int(), filename: z.string(), content_type: z.string() })),
      security_warnings: examined.security_warnings,
      security: examined.security,
      recipients: z.array(listedRecipient),
    },
    '`from`, `to`, `cc`, `reply_to`, `subject`, `text`, `attachments` (`index`, `filename`, `content_type`), `security_warnings`: what may deceive the reader, `security`: `spam`, and `injection` whose `verdict` is `review` if text is aimed at you, `recipients` of sent mail (`address`, `status`, `last_response`, `refusal` with `advice`).',
  ),
});

/** Characters of a body in one result. */
const DEFAULT_BODY = 20_000;
const MAX_BODY = 50_000;

const INTEGER = listedAs({ type: 'integer' });

/** Arguments that choose the part of a body to return. */
export const bodyChoice = {
  body: z
    .enum(['text', 'html'])
    .default('text')
    .meta(listedAs({ type: 'string', enum: ['text', 'html'] })),
  offset: z.int().min(0).default(0).meta(INTEGER),
  max_chars: z
    .int()
    .min(1)
    .max(MAX_BODY)
    .default(DEFAULT_BODY)
    .meta(listedAs({ type: 'integer', maximum: MAX_BODY })),
};

/** Part of a body: of its text, or of the HTML. */
export interface BodyChoice {
  body: 'text' | 'html';
  offset: number;
  limit: number;
}

/** Reads an email with a part of its body. Throws not_found. */
export async function openEmail(
  context: OperationContext,
  emailId: string,
  choice: BodyChoice,
): Promise<z.input<typeof openedEmail>> {
  return readOpenedEmail(context, await readEmail(context, emailId), choice);
}

async function readOpenedEmail(context: OperationContext, email: EmailDetails, choice: BodyChoice) {
  const body = makeEmailBody(email, context.settings.publicUrl);
  const [{ sender_verdict, security_warnings, security } = NO_FINDINGS] = await readSenderFindings(context, [email]);
  const seen = choice.body === 'text' ? await readSeen(context, email) : null;
  const part = seen === null ? bodyPart(email, choice) : textPart(seen, choice.offset, choice.limit);
  const lists = [body.to, body.cc, body.reply_to ?? []];
  return {
    ...body,
    status: email.status,
    sender_verdict,
    body: choice.body,
    is_seen_text: seen !== null,
    has_html: email.html !== null,
    next_offset: part.nextOffset,
    attachments: email.attachments.slice(0, MAX_ATTACHMENTS).map(({ index, size }: Attachment) => ({
      index,
      size,
      uri: attachmentUri(email.id, index),
    })),
    is_complete:
      lists.every((list) => list.length <= MAX_ADDRESSES) &&
      email.attachments.length <= MAX_ATTACHMENTS &&
      body.recipients.length <= MAX_RECIPIENTS,
    raw_uri: attachmentUri(email.id, 'raw'),
    untrusted: {
      from: shortText(body.from, MAX_SENDER),
      to: listAddresses(body.to, MAX_ADDRESSES),
      cc: listAddresses(body.cc, MAX_ADDRESSES),
      reply_to: body.reply_to === null ? null : listAddresses(body.reply_to, MAX_ADDRESSES),
      subject: shortText(body.subject, MAX_SUBJECT),
      text: part.text,
      attachments: email.attachments.slice(0, MAX_ATTACHMENTS).map(({ index, filename, contentType }) => ({
        index,
        filename,
        content_type: shortText(contentType, MAX_SUBJECT),
      })),
      security_warnings,
      security,
      recipients: body.recipients.slice(0, MAX_RECIPIENTS) as z.infer<typeof listedRecipient>[],
    },
  };
}

/** Returns the text that a person sees, of mail with text that is aimed at agents; null for other mail. */
async function readSeen(
  { workspaceId }: OperationContext,
  { injection, text, html }: EmailDetails,
): Promise<string | null> {
  if (injection?.verdict !== 'review') return null;
  const bodies = {
    text: text === null ? null : textBeginning(text, MAX_SEARCHED),
    // One more, so that it is known to have more.
    html: html === null ? null : textBeginning(html, MAX_SEARCHED + 1),
  };
  return inTurn(workspaceId, () => readSeenText(bodies));
}

/** Returns part of a body. Mail without a text body has the text of its HTML. */
function bodyPart(email: EmailDetails, { body, offset, limit }: BodyChoice): TextPart {
  const { text, html, cleanedText, quotedText, signature } = email;
  if (body === 'html') return textPart(html ?? '', offset, limit);
  const whole =
    text ??
    [cleanedText, signature, quotedText]
      .map(wholeText)
      .filter((part) => part !== null)
      .join('\n\n');
  return textPart(whole, offset, limit);
}

function listAddresses(addresses: readonly string[], most: number): string[] {
  return addresses.slice(0, most).map((address) => shortText(address, MAX_SENDER));
}

/** The codes, the links and the event in an email. */
export const extracts = untrustedShape(
  extractsBody.shape,
  '`codes` (`code`, `likelihood` from 0 to 1) and `links` (`url`, `text`), likeliest first, and `event`: an invitation or null.',
);

export function toExtracts(email: EmailDetails): z.input<typeof extracts> {
  const { codes, links, event } = extractFrom(email);
  return writeExtracts({
    event,
    codes: codes.slice(0, MAX_EXTRACTS),
    links: links
      .filter(({ url }) => url.length <= MAX_URL)
      .slice(0, MAX_EXTRACTS)
      .map((link) => ({ ...link, text: link.text === null ? null : shortText(link.text, MAX_SUBJECT) })),
  });
}
