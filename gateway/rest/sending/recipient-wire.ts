import { z } from 'zod';
import { RECIPIENT_STATUSES, SENDING_OUTCOMES } from '../../../core/smtp/delivery-status.ts';
import type { EmailDetails } from '../../../operations/emails/emails.ts';
import { instant, wireInstant } from '../shapes.ts';

const attemptBody = z
  .object({
    number: z.number().int(),
    started_at: instant,
    finished_at: instant.nullable().meta({ description: 'null while it goes on' }),
    outcome: z
      .enum(SENDING_OUTCOMES)
      .nullable()
      .meta({ description: '`deferred` is tried again, `interrupted` ended with the service and does not count' }),
    host: z.string().nullable().meta({
      description: 'name of the server; null when none was reached, and of a relay or a server of this service',
    }),
    remote_address: z.string().nullable().meta({ description: 'IP address of the server' }),
    tls: z.boolean().nullable().meta({ description: 'whether the connection was encrypted' }),
    code: z.number().int().nullable().meta({ description: 'of the reply' }),
    enhanced_status: z.string().nullable().meta({ description: 'of the reply, RFC 3463' }),
    text: z.string().nullable().meta({ description: 'of the reply, or what went wrong' }),
  })
  .meta({ id: 'SendingAttempt' });

export const recipientBody = z
  .object({
    address: z.string(),
    status: z.enum(RECIPIENT_STATUSES).meta({
      description: '`bounced`: refused for good, also after it was taken; `failed`: given up after five days of trying',
    }),
    attempts: z.number().int().meta({ description: 'tries that count' }),
    last_response: z
      .string()
      .nullable()
      .meta({ description: 'the last word of a server, or of a report that came back' }),
    enhanced_status: z.string().nullable().meta({ description: 'of the last word, RFC 3463' }),
    next_attempt_at: instant.nullable(),
    settled_at: instant.nullable().meta({ description: 'when it was taken, refused or given up' }),
    log: z.array(attemptBody).meta({ description: 'every try, the first one first' }),
  })
  .meta({ id: 'Recipient' });

export function recipientBodyOf(recipient: EmailDetails['recipients'][number]): z.infer<typeof recipientBody> {
  const { address, status, attempts, code, enhancedStatus, text, nextAttemptAt, settledAt, log } = recipient;
  // A reply is told in parts, a report in one piece.
  const said = code === null ? [text] : [code, enhancedStatus, text];
  const lastResponse = said.filter((part) => part !== null && part !== '').join(' ');
  return {
    address,
    status,
    attempts,
    last_response: lastResponse === '' ? null : lastResponse,
    enhanced_status: enhancedStatus,
    next_attempt_at: wireInstant(nextAttemptAt),
    settled_at: wireInstant(settledAt),
    log: log.map((attempt) => ({
      number: attempt.number,
      started_at: wireInstant(attempt.startedAt),
      finished_at: wireInstant(attempt.finishedAt),
      outcome: attempt.outcome,
      host: attempt.host,
      remote_address: attempt.remoteAddress,
      tls: attempt.isTls,
      code: attempt.code,
      enhanced_status: attempt.enhancedStatus,
      text: attempt.text,
    })),
  };
}
