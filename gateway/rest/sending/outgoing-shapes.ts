import { z } from 'zod';
import type { NewEmail } from '../../../operations/sending/check-outgoing.ts';
import { newEmailShape, readNewEmail } from '../../../operations/sending/email-input.ts';
import {
  type Idempotency,
  MAX_KEY_LENGTH,
  type Receipt,
  readIdempotency,
} from '../../../operations/sending/idempotency.ts';
import { makeReader, wireInput } from '../capability-shapes.ts';
import { instant } from '../shapes.ts';

/** The body of POST /emails, also as one of a batch. */
export const sendBody = wireInput(newEmailShape, 'snake');
const readBody = makeReader(newEmailShape, 'snake') as (body: unknown) => Parameters<typeof readNewEmail>[0];

/** Converts a body to an email. Throws validation for attachments by URL. `path` is prepended to the names of fields. */
export function readEmail(body: object, path = ''): NewEmail {
  return readNewEmail(readBody(body), path);
}

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

export const sentResponse = z
  .object({
    ...ids,
    status: z.enum(['sent', 'queued']).meta({ description: '`queued`: it waits for approval, and was not sent.' }),
    ...providerIds,
    approval: awaitingApproval.optional(),
  })
  .meta({ id: 'SentEmail' });

export const scheduledResponse = z
  .object({ ...ids, status: z.literal('scheduled'), scheduled_at: instant, timezone: z.string() })
  .meta({ id: 'ScheduledEmail' });

/** Converts the receipt of one email that is sent now, or waits for approval, to the response. */
export function writeSent(receipt: Receipt): z.infer<typeof sentResponse> {
  const until = receipt.emails[0]?.awaitsApprovalUntil;
  if (until === undefined) return { ...writeIds(receipt), status: 'sent', ...writeProviderIds(receipt) };
  const approval = { status: 'awaiting_approval' as const, expires_at: until };
  return { ...writeIds(receipt), status: 'queued', ...writeProviderIds(receipt), approval };
}

/** Converts the receipt of one scheduled email to the response; null if the email is sent now, or waits for approval. */
export function writeScheduled(receipt: Receipt): z.infer<typeof scheduledResponse> | null {
  return receipt.emails[0]?.awaitsApprovalUntil === undefined ? writeTimed(receipt) : null;
}

/** Like writeScheduled, also for an email that waits for approval and has a time. */
export function writeTimed(receipt: Receipt): z.infer<typeof scheduledResponse> | null {
  const { scheduledAt = null, timezone } = receipt.emails[0] ?? {};
  if (scheduledAt === null) return null;
  return { ...writeIds(receipt), status: 'scheduled', scheduled_at: scheduledAt, timezone: timezone ?? 'UTC' };
}

/** The IDs of an email that is sent now, or of a reply. */
export function writeProviderIds(receipt: Receipt): { [Name in keyof typeof providerIds]: string } {
  const { id } = writeIds(receipt);
  return { provider_message_id: id, aws_message_id: id, awsMessageId: id };
}

function writeIds(receipt: Receipt): { [Name in keyof typeof ids]: string } {
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
export function readIdempotencyHeader(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  operation: string,
  asked: unknown,
): Idempotency | null {
  return readIdempotency({ key: headers['idempotency-key'] ?? null, field: 'Idempotency-Key' }, operation, asked);
}
