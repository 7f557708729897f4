import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { REFUSAL_REASON_NAMES, type RefusalReason } from '../../../core/sending/refusal-advice.ts';
import {
  RECIPIENT_STATUSES,
  type RecipientStatus,
  SENDING_OUTCOMES,
  type SendingOutcome,
} from '../../../core/smtp/delivery-status.ts';

/** A recipient of a sent or scheduled email, with every attempt to send to it. */
export interface EmailRecipient {
  address: string;
  status: RecipientStatus;
  /** attempts that count */
  attempts: number;
  /** the last reply of a server, or status of a DSN; null before the first */
  code: number | null;
  enhancedStatus: string | null;
  text: string | null;
  /** why it was refused or deferred; null when it was not */
  refusalReason: RefusalReason | null;
  /** null when there is none: not released yet, or settled */
  nextAttemptAt: Date | null;
  /** when it was delivered, rejected or given up; null while it is pending */
  settledAt: Date | null;
  /** in order */
  log: EmailAttempt[];
}

/** An attempt. */
export interface EmailAttempt {
  number: number;
  startedAt: Date;
  /** null while it is in progress, or when its process died */
  finishedAt: Date | null;
  outcome: SendingOutcome | null;
  /** name and address of the server; null when none was reached */
  host: string | null;
  remoteAddress: string | null;
  isTls: boolean | null;
  code: number | null;
  enhancedStatus: string | null;
  text: string | null;
}

/** The recipients of the email `e`, as JSON for emailRecipients: null for received mail. Those in the header come first, in its order. */
export const emailRecipientsColumn: RawBuilder<unknown> = sql`
  case when e.type <> 'received' then (
    select json_agg(json_build_object('address', r.address, 'status', r.status, 'attempts', r.attempts, 'code', r.last_code,
        'enhancedStatus', r.last_status, 'text', r.last_text, 'refusalReason', r.refusal_reason, 'nextAttemptAt', r.next_attempt_at, 'settledAt', r.settled_at, 'log', (
          select json_agg(json_build_object('number', a.number, 'startedAt', a.started_at, 'finishedAt', a.finished_at, 'outcome', a.outcome,
              'host', a.host, 'remoteAddress', a.remote_address, 'isTls', a.is_tls, 'code', a.code, 'enhancedStatus', a.enhanced_status,
              'text', a.text) order by a.number)
          from sending_attempt a where a.workspace_id = r.workspace_id and a.recipient_id = r.id))
      order by array_position(e.to_addresses || e.cc_addresses, r.address), r.address)
    from recipient r where r.workspace_id = e.workspace_id and r.email_id = e.id) end`;

/** Parses the value of emailRecipientsColumn. */
export function emailRecipients(given: unknown): EmailRecipient[] {
  return recipients.parse(given) ?? [];
}

const nullableDate = z.coerce.date().nullable();
const reply = { code: z.number().nullable(), enhancedStatus: z.string().nullable(), text: z.string().nullable() };
const attempt = z.object({
  number: z.number(),
  startedAt: z.coerce.date(),
  finishedAt: nullableDate,
  outcome: z.enum(SENDING_OUTCOMES).nullable(),
  host: z.string().nullable(),
  remoteAddress: z.string().nullable(),
  isTls: z.boolean().nullable(),
  ...reply,
});
const recipients = z
  .array(
    z.object({
      address: z.string(),
      status: z.enum(RECIPIENT_STATUSES),
      attempts: z.number(),
      ...reply,
      refusalReason: z.enum(REFUSAL_REASON_NAMES).nullable(),
      nextAttemptAt: nullableDate,
      settledAt: nullableDate,
      log: z
        .array(attempt)
        .nullable()
        .transform((log) => log ?? []),
    }),
  )
  .nullable();
