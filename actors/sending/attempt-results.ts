import { asksToSlowDown, outcomeOfReply, type SmtpReply, statusOfReply } from '../../core/smtp/delivery-status.ts';
import type { DestinationVerdict } from './destination-queue.ts';
import type { NoSession } from './open-session.ts';
import type { SendReport } from './send-report.ts';
import type { AttemptResult, SendingJob } from './sending-job.ts';
import type { SmtpSession } from './smtp-session.ts';

// What an SMTP dialogue, or the failure to start one, says about each recipient and about the destination.

/** The results when no session was opened. */
export function toResult(failure: NoSession): Omit<AttemptResult, 'job'> {
  const { outcome, host, remoteAddress, code, status, text } = failure;
  return {
    outcome,
    host,
    remoteAddress,
    code,
    status,
    text,
    isReply: code !== null && host !== null,
    isTls: null,
    returnId: null,
  };
}

/** The result of one recipient of a transaction; `first` is the recipient that its return address was created for. */
export function resultOfSent(
  job: SendingJob,
  { refused, end }: SendReport,
  session: SmtpSession | null,
  first: SendingJob,
): AttemptResult {
  const at = {
    job,
    host: session?.hostName ?? null,
    remoteAddress: session?.remoteAddress ?? null,
    isTls: session?.isTls ?? null,
    returnId: first.recipientId,
  };
  const refusal = refused.get(job.address);
  if (refusal !== undefined) return { ...at, ...ofReply(refusal, outcomeOfReply(refusal, 'recipient')) };
  switch (end.kind) {
    case 'taken':
      return { ...at, ...ofReply(end.reply, 'delivered') };
    case 'refused':
      return { ...at, ...ofReply(end.reply, outcomeOfReply(end.reply, end.phase)) };
    case 'too-large': {
      const text = 'The message is larger than the server takes';
      return { ...at, outcome: 'bounced', isReply: false, code: null, status: '5.3.4', text };
    }
    case 'interrupted':
      return { ...at, outcome: 'interrupted', isReply: false, code: null, status: null, text: end.text };
    case 'late':
    case 'lost': {
      const text = end.isMessageOut ? `${end.text}, after the message was sent: it may have been taken` : end.text;
      return { ...at, outcome: 'deferred', isReply: false, code: null, status: '4.4.2', text };
    }
    case 'all-refused':
      // Another recipient was refused, and there was no reply for this one.
      return {
        ...at,
        outcome: 'deferred',
        isReply: false,
        code: null,
        status: '4.5.0',
        text: 'The server gave no reply',
      };
  }
}

function ofReply(reply: SmtpReply, outcome: ReturnType<typeof outcomeOfReply>) {
  return {
    outcome: outcome ?? ('deferred' as const),
    isReply: true,
    code: reply.code,
    status: statusOfReply(reply),
    text: reply.text,
  };
}

/** An idle session may have ended just then, which says nothing about the message. */
export function isGoneBeforehand({ accepted, refused, end }: SendReport): boolean {
  if (accepted.length > 0 || refused.size > 0) return false;
  if (end.kind === 'lost') return !end.isMessageOut;
  return end.kind === 'refused' && end.reply.code === 421 && end.phase !== 'data' && end.phase !== 'message';
}

/** RFC 5321 §4.5.3.1.10: the server accepted some recipients and wants this one in another transaction. */
export function isTooMany({ refused, end }: SendReport, job: SendingJob): boolean {
  const reply = refused.get(job.address);
  if (reply === undefined || end.kind !== 'taken') return false;
  return reply.code === 452 || (reply.code === 552 && outcomeOfReply(reply, 'recipient') === 'deferred');
}

/** What the transaction showed about the destination. */
export function judgeDestination({ refused, end }: SendReport): DestinationVerdict {
  if (end.kind === 'taken') return 'sent';
  if (end.kind === 'late') return 'slow';
  if (end.kind === 'refused' && asksToSlowDown(end.reply)) return 'slow';
  return [...refused.values()].some(asksToSlowDown) ? 'hesitant' : 'refused';
}
