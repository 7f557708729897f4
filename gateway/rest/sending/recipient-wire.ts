import { z } from 'zod';
import { RECIPIENT_STATUSES, SENDING_OUTCOMES } from '../../../core/smtp/delivery-status.ts';
import type { EmailDetails } from '../../../operations/emails/emails.ts';
import { instant, wireInstant } from '../shapes.ts';

const attemptBody = z
  .object({
    number: z.number().int(),
    started_at: instant,
    finished_at: instant.nullable().meta({ description: 'Null while the attempt is running.' }),
    outcome: z.enum(SENDING_OUTCOMES).nullable().meta({
      description: '`deferred` is retried. `interrupted` was ended by a restart of the service and does not count.',
    }),
    host: z.string().nullable().meta({
      description: 'Host name of the server. Null if none was reached, or if the server is a relay or internal.',
    }),
    remote_address: z.string().nullable().meta({ description: 'IP address of the server.' }),
    tls: z.boolean().nullable().meta({ description: 'Whether the connection used TLS.' }),
    code: z.number().int().nullable().meta({ description: 'SMTP code of the reply.' }),
    enhanced_status: z.string().nullable().meta({ description: 'Enhanced status code of the reply (RFC 3463).' }),
    text: z.string().nullable().meta({ description: 'Text of the reply, or the error.' }),
  })
  .meta({ id: 'SendingAttempt' });

export const recipientBody = z
  .object({
    address: z.string(),
    status: z.enum(RECIPIENT_STATUSES).meta({
      description:
        '`bounced`: rejected permanently, possibly after it was accepted. `failed`: given up after five days of retries.',
    }),
    attempts: z.number().int().meta({ description: 'Number of attempts, without interrupted ones.' }),
    last_response: z.string().nullable().meta({ description: 'Last reply of a server, or of a bounce report.' }),
    enhanced_status: z.string().nullable().meta({ description: 'Enhanced status code of the last reply (RFC 3463).' }),
    next_attempt_at: instant.nullable(),
    settled_at: instant.nullable().meta({ description: 'When delivery succeeded or failed.' }),
    log: z.array(attemptBody).meta({ description: 'All attempts, oldest first.' }),
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
