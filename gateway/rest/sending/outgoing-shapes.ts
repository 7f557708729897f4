import { z } from 'zod';
import { secret } from '../../../core/accounts/secret-fields.ts';
import { encodeContent, type GivenAttachment } from '../../../core/sending/outgoing-attachments.ts';
import { invalid } from '../../../operations/context.ts';
import type { NewEmail } from '../../../operations/sending/check-outgoing.ts';
import {
  type Idempotency,
  MAX_KEY_LENGTH,
  type Receipt,
  readIdempotency,
} from '../../../operations/sending/idempotency.ts';
import { sentMetadata } from '../../../schema/input-shapes.ts';
import { instant } from '../shapes.ts';

/** `address` or `Name <address>`, several separated by commas, or a list. */
export const addresses = z
  .union([z.string(), z.array(z.string())])
  .meta({ description: '`address` or `Name <address>`, several separated by commas, or a list.' });

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

export const attachment = z
  .object({
    filename: z.string().nullish(),
    content: attachmentContent,
    content_type: z.string().nullish(),
    contentType: z.string().nullish().meta({ deprecated: true, description: 'Alias of `content_type`.' }),
    content_id: z.string().nullish().meta({ description: 'Content-ID that the HTML refers to as `cid:`.' }),
    contentId: z.string().nullish().meta({ deprecated: true, description: 'Alias of `content_id`.' }),
    path: z.string().nullish().meta({ description: 'Not supported: Postroom does not fetch files.' }),
  })
  .meta({ id: 'OutgoingAttachment', required: ['content'] });

const tag = z.object({ name: z.string(), value: z.string() });

/** Fields that new emails and replies share. */
export const contentShape = {
  html: z.string().nullish(),
  text: z.string().nullish().meta({ description: 'Either `html` or `text` is required.' }),
  cc: addresses.nullish(),
  bcc: addresses.nullish(),
  reply_to: addresses.nullish(),
  replyTo: addresses.nullish().meta({ deprecated: true, description: 'Alias of `reply_to`.' }),
  headers: z.record(z.string(), z.string()).nullish(),
  attachments: z.array(attachment).nullish(),
  tags: z.array(tag).nullish(),
  metadata: sentMetadata,
  scheduled_at: z.string().nullish().meta({
    description:
      'ISO 8601, or a phrase such as `tomorrow at 9am`. In a date with dots, such as 05.06.2027, the day comes first; an ambiguous date with slashes is rejected.',
  }),
  scheduledAt: z.string().nullish().meta({ deprecated: true, description: 'Alias of `scheduled_at`.' }),
  timezone: z.string().nullish().meta({ description: 'IANA time zone of `scheduled_at`. The default is UTC.' }),
  claim_token: z
    .string()
    .nullish()
    .meta({ ...secret, description: 'Token of your claim of the thread. If the claim is lost, the response is 409.' }),
};

// The shape allows missing fields, because operations report them with the messages that clients know.
export const sendBody = z
  .object({
    from: z.string().nullish().meta({ description: '`address` or `Name <address>`, on one of your verified domains.' }),
    to: addresses.nullish(),
    subject: z.string().nullish(),
    ...contentShape,
    list_unsubscribe: z
      .union([z.boolean(), z.object({ list: z.string().nullish() })])
      .nullish()
      .meta({
        description:
          'Adds List-Unsubscribe with a one-click link (RFC 8058) for the only recipient. `true`: from the list `default`; `{"list":"news"}`: from that list. A recipient who unsubscribed gets no more mail of the list, but other mail.',
      }),
  })
  .meta({
    id: 'SendEmail',
    required: ['from', 'to', 'subject'],
    // zod omits `examples` from shapes that preprocess a value.
    'x-examples': [
      {
        from: 'Support <support@example.com>',
        to: ['ada@example.org'],
        subject: 'Your order',
        html: '<p>It is on its way.</p>',
        text: 'It is on its way.',
        attachments: [{ filename: 'receipt.txt', content: 'VHdvIHBlYXJz', content_type: 'text/plain' }],
        tags: [{ name: 'kind', value: 'order' }],
        metadata: { order: 4711 },
      },
      {
        from: 'support@example.com',
        to: 'ada@example.org',
        subject: 'A reminder',
        text: 'Tomorrow is the day.',
        scheduled_at: 'tomorrow at 9am',
        timezone: 'Europe/Berlin',
      },
    ],
  });

/** Converts a body to an email. Throws validation for attachments by URL. `path` is prepended to the names of fields. */
export function newEmailOf(body: z.infer<typeof sendBody>, path = ''): NewEmail {
  const { from, to, cc, bcc, subject, html, text, headers, tags, metadata, timezone } = body;
  const attachments = (body.attachments ?? []).map((given, index) =>
    attachmentOf(given, `${path}attachments.${index}`),
  );
  const replyTo = body.reply_to ?? body.replyTo;
  const scheduledAt = body.scheduled_at ?? body.scheduledAt;
  const listUnsubscribe = body.list_unsubscribe;
  const claimToken = body.claim_token;
  const content = { html, text, headers, attachments, tags, metadata, scheduledAt, timezone, claimToken };
  return { from, to, cc, bcc, replyTo, subject, listUnsubscribe, ...content };
}

/** Converts an attachment; `field` is its place in the body. Throws validation for those by URL. */
export function attachmentOf(given: z.infer<typeof attachment>, field: string): GivenAttachment {
  if (given.path != null && given.path !== '') throw invalid(NO_PATH, `${field}.path`);
  if (given.content == null) throw invalid(NO_CONTENT, `${field}.content`);
  return {
    filename: given.filename ?? null,
    content: given.content,
    contentType: given.content_type ?? given.contentType ?? null,
    contentId: given.content_id ?? given.contentId ?? null,
  };
}

const NO_PATH = 'Postroom does not fetch attachments from a path or URL. Send the file base64-encoded in `content`.';
const NO_CONTENT = 'An attachment needs `content`: the file, base64-encoded.';

const ids = {
  id: z.string(),
  message_id: z.string().meta({ description: 'Message-ID (RFC 5322).' }),
  messageId: z.string(),
};
/** Legacy names of the email's ID. */
export const providerIds = { provider_message_id: z.string(), aws_message_id: z.string(), awsMessageId: z.string() };

const awaitingApproval = z
  .object({
    status: z.literal('awaiting_approval'),
    expires_at: instant.meta({ description: 'When it is rejected if it was not approved.' }),
  })
  .meta({ description: 'Only for an email that waits for approval, because a send policy asks for it.' });

export const sentAnswer = z
  .object({
    ...ids,
    status: z.enum(['sent', 'queued']).meta({ description: '`queued`: it waits for approval, and was not sent.' }),
    ...providerIds,
    approval: awaitingApproval.optional(),
  })
  .meta({ id: 'SentEmail' });

export const scheduledAnswer = z
  .object({ ...ids, status: z.literal('scheduled'), scheduled_at: instant, timezone: z.string() })
  .meta({ id: 'ScheduledEmail' });

/** Converts the receipt of one email that is sent now, or waits for approval, to the response. */
export function sentBodyOf(receipt: Receipt): z.infer<typeof sentAnswer> {
  const until = receipt.emails[0]?.awaitsApprovalUntil;
  if (until === undefined) return { ...idsOf(receipt), status: 'sent', ...providerIdsOf(receipt) };
  const approval = { status: 'awaiting_approval' as const, expires_at: until };
  return { ...idsOf(receipt), status: 'queued', ...providerIdsOf(receipt), approval };
}

/** Converts the receipt of one scheduled email to the response; null if the email is sent now, or waits for approval. */
export function scheduledBodyOf(receipt: Receipt): z.infer<typeof scheduledAnswer> | null {
  return receipt.emails[0]?.awaitsApprovalUntil === undefined ? timedBodyOf(receipt) : null;
}

/** Like scheduledBodyOf, also for an email that waits for approval and has a time. */
export function timedBodyOf(receipt: Receipt): z.infer<typeof scheduledAnswer> | null {
  const { scheduledAt = null, timezone } = receipt.emails[0] ?? {};
  if (scheduledAt === null) return null;
  return { ...idsOf(receipt), status: 'scheduled', scheduled_at: scheduledAt, timezone: timezone ?? 'UTC' };
}

/** The IDs of an email that is sent now, or of a reply. */
export function providerIdsOf(receipt: Receipt): { [Name in keyof typeof providerIds]: string } {
  const { id } = idsOf(receipt);
  return { provider_message_id: id, aws_message_id: id, awsMessageId: id };
}

function idsOf(receipt: Receipt): { [Name in keyof typeof ids]: string } {
  const [email] = receipt.emails;
  if (email === undefined) throw new Error('a receipt without an email');
  return { id: email.id, message_id: email.messageId, messageId: email.messageId };
}

/** Maximum size of a body, which can contain attachments in base64; bytes. */
export const MAIL_BODY_LIMIT = 40_000_000;

export const idempotencyHeader = z.object({
  'idempotency-key': z.string().optional().meta({
    minLength: 1,
    maxLength: MAX_KEY_LENGTH,
    description: 'For 24 hours, the same request with the same key returns the first response.',
  }),
});

/**
 * Reads the Idempotency-Key header; null without it. `asked` identifies the request: the validated body, whose fields have a fixed order
 * however the client wrote them. Throws validation.
 */
export function idempotencyOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  operation: string,
  asked: unknown,
): Idempotency | null {
  return readIdempotency({ key: headers['idempotency-key'] ?? null, field: 'Idempotency-Key' }, operation, asked);
}
