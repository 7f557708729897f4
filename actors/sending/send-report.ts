import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { parseSmtpReply, type SmtpReply } from '../../core/smtp/delivery-status.ts';
import { describeConnectionError, isTimeout } from './connection-error.ts';

/** What the server replied in one transaction. */
export interface SendReport {
  /** recipients that the server accepted, as far as the dialogue got */
  accepted: string[];
  /** rejected ones */
  refused: Map<string, SmtpReply>;
  end: SendEnd;
}

export type SendEnd =
  /** the message was accepted */
  | { kind: 'taken'; reply: SmtpReply }
  | { kind: 'refused'; phase: 'connection' | 'sender' | 'data' | 'message'; reply: SmtpReply }
  /** no recipient was left */
  | { kind: 'all-refused' }
  /** the server announced a smaller limit (RFC 1870) */
  | { kind: 'too-large' }
  /** `isMessageOut`: the whole message was written, so the server may have accepted it */
  | { kind: 'lost' | 'late' | 'interrupted'; text: string; isMessageOut: boolean };

/** Why we ended a step ourselves: this process stops, or it lost its claim on a recipient. */
export type Interruption = 'stopped' | 'lapsed';

/** What ended a step: an error of nodemailer, our time limit, or an interruption. */
export type StepError = SMTPConnection.SMTPError | 'late' | Interruption;

export const INTERRUPTED = {
  stopped: 'Interrupted: the service was stopped',
  lapsed: 'Interrupted: another process may have taken over',
} as const satisfies Record<Interruption, string>;

export function isInterruption(error: StepError): error is Interruption {
  return error === 'stopped' || error === 'lapsed';
}

/** An envelope on which nodemailer notes the result of each recipient. */
export interface TrackedEnvelope {
  from: string;
  to: string[];
  size: number;
  use8BitMime: boolean;
  accepted?: string[];
  rejectedErrors?: SMTPConnection.SMTPError[];
}

/** How a transaction ended; null means no error, `response` is the reply to the final dot. */
export function toSendEnd(error: StepError | null, response: string, isMessageOut: boolean): SendEnd {
  if (error === null) {
    const reply = parseSmtpReply(response);
    return { kind: 'taken', reply: reply ?? { code: 250, enhancedStatus: null, text: '' } };
  }
  if (isInterruption(error)) return { kind: 'interrupted', text: INTERRUPTED[error], isMessageOut };
  if (error === 'late' || isTimeout(error))
    return { kind: 'late', text: 'The server did not respond in time', isMessageOut };
  const reply = findReply(error);
  if (error.rejectedErrors !== undefined) return { kind: 'all-refused' };
  if (reply !== null) return { kind: 'refused', phase: toPhase(error), reply };
  if (error.code === 'EMESSAGE' && error.command === 'MAIL FROM') return { kind: 'too-large' };
  return { kind: 'lost', text: describeConnectionError(error), isMessageOut };
}

function toPhase(error: SMTPConnection.SMTPError): 'connection' | 'sender' | 'data' | 'message' {
  if (error.command === 'MAIL FROM') return 'sender';
  if (error.command === 'DATA') return error.code === 'EMESSAGE' ? 'message' : 'data';
  return 'connection';
}

/** The negative replies to RCPT, by recipient. */
export function listRefusals(envelope: TrackedEnvelope): Map<string, SmtpReply> {
  const refused = new Map<string, SmtpReply>();
  for (const error of envelope.rejectedErrors ?? []) {
    const reply = findReply(error);
    if (error.recipient !== undefined && reply !== null) refused.set(error.recipient, reply);
  }
  return refused;
}

/** The reply that an error of nodemailer contains. */
export function findReply(error: SMTPConnection.SMTPError): SmtpReply | null {
  return error.response === undefined ? null : parseSmtpReply(error.response);
}
