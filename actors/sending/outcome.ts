import { refusalReason } from '../../core/sending/refusal-reason.ts';
import { decideRetry } from '../../core/sending/sending-retry.ts';
import { suppressesAddress } from '../../core/sending/suppression.ts';
import type { RecipientFinish } from '../../db/queries/sending/recipient-finish.ts';
import type { AttemptResult } from './job.ts';

/** What is recorded of an attempt for one recipient. */
export interface Outcome {
  row: RecipientFinish;
  address: string;
  /** of a forwarded copy of a received email */
  isForwarded: boolean;
  /** null when the user gets no event */
  eventKind: 'email.delivered' | 'email.bounced' | 'email.failed' | 'email.delayed' | null;
  /** the text is a server's reply */
  isReply: boolean;
}

/** Returns what to record for a recipient after its attempt. `random`, in [0, 1), is the same for all recipients of a transaction. */
export function toOutcome(result: AttemptResult, random: number): Outcome {
  const { job, outcome, isReply } = result;
  const isCounted = outcome !== 'interrupted';
  const next = nextOf(result, random);
  return {
    address: job.address,
    isForwarded: job.isForwarded,
    isReply,
    eventKind: eventOf(next.status, outcome, job.attempts),
    row: {
      workspace_id: job.workspaceId,
      id: job.recipientId,
      email_id: job.emailId,
      number: job.number,
      attempts_before: job.attempts,
      is_counted: isCounted,
      outcome,
      status: next.status,
      delay_seconds: next.delaySeconds,
      return_id: result.returnId,
      host: result.host,
      remote_address: result.remoteAddress,
      is_tls: result.isTls,
      code: result.code,
      enhanced_status: result.status,
      text: result.text,
      reason: reasonOf(result),
      relayed_ids: outcome === 'delivered' ? (result.relayedIds ?? []) : [],
    },
  };
}

/** Whether to suppress this address: a server said so, or the domain does not exist or accepts no mail. */
export function suppresses({ row, isReply }: Outcome): boolean {
  if (row.outcome !== 'bounced') return false;
  const { code, enhanced_status: status, text } = row;
  return isReply ? suppressesAddress({ code, status, text }) : status?.startsWith('5.1.') === true;
}

/** Null when the server accepted the message, or the service stopped. */
function reasonOf({ outcome, code, status, text }: AttemptResult): RecipientFinish['reason'] {
  return outcome === 'bounced' || outcome === 'deferred' ? refusalReason({ code, status, text }) : null;
}

function nextOf(
  { job, outcome, isHopeless, faultRetrySeconds }: AttemptResult,
  random: number,
): { status: RecipientFinish['status']; delaySeconds: number | null } {
  switch (outcome) {
    case 'delivered':
    case 'bounced':
      return { status: outcome, delaySeconds: null };
    case 'interrupted':
      return { status: 'pending', delaySeconds: null };
    case 'deferred': {
      if (isHopeless === true) return { status: 'failed', delaySeconds: null };
      // An internal fault: the recipient is not given up. A dead row is never claimed, even when it is due.
      if (faultRetrySeconds !== undefined) return { status: 'pending', delaySeconds: faultRetrySeconds ?? 0 };
      const ageSeconds = job.ageSeconds + (performance.now() - job.claimedAt) / 1_000;
      const retry = decideRetry(job.attempts + 1, ageSeconds, random);
      return retry.kind === 'again'
        ? { status: 'pending', delaySeconds: retry.delaySeconds }
        : { status: 'failed', delaySeconds: null };
    }
  }
}

function eventOf(
  status: RecipientFinish['status'],
  outcome: AttemptResult['outcome'],
  attempts: number,
): Outcome['eventKind'] {
  if (status !== 'pending') return `email.${status}`;
  return outcome === 'deferred' && attempts === 0 ? 'email.delayed' : null;
}
