/** Status of a recipient of a sent message. `failed`: given up without a final reply; `bounced`: permanently rejected. */
export const RECIPIENT_STATUSES = ['pending', 'delivered', 'bounced', 'failed'] as const;
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number];

/** Outcome of an attempt to send. `deferred` is retried; `interrupted` means that the service stopped, and does not count. */
export const SENDING_OUTCOMES = ['delivered', 'deferred', 'bounced', 'interrupted'] as const;
export type SendingOutcome = (typeof SENDING_OUTCOMES)[number];

/** A reply of an SMTP server (RFC 5321 §4.2). */
export interface SmtpReply {
  code: number;
  /** such as `5.1.1` (RFC 3463); null when missing, or when it contradicts the code (RFC 2034 §4) */
  enhancedStatus: string | null;
  /** on one line, without codes */
  text: string;
}

/**
 * Returns what was last said about a recipient as one text; null when nothing was. The text of an SMTP reply has no codes, that of a bounce
 * report often repeats them.
 */
export function lastReplyText(code: number | null, enhancedStatus: string | null, text: string | null): string | null {
  const isStatusQuoted = code === null && enhancedStatus !== null && text?.includes(enhancedStatus) === true;
  const parts = [code, isStatusQuoted ? null : enhancedStatus, text];
  const words = parts.filter((part) => part !== null && part !== '').join(' ');
  return words === '' ? null : words;
}

/** The command that a reply belongs to. `connection` and `greeting` (EHLO, STARTTLS, AUTH) concern us, not the message. */
export type SmtpPhase = 'connection' | 'greeting' | 'sender' | 'recipient' | 'data' | 'message';

/** What an SMTP reply means for a recipient: `deferred` is retried. */
export type SmtpOutcome = 'delivered' | 'deferred' | 'bounced';

/** Maximum stored characters of a reply. */
const MAX_REPLY_LENGTH = 1_000;

/** Parses a reply of one or more lines; null when it is not one. */
export function parseSmtpReply(response: string): SmtpReply | null {
  const lines = response.slice(0, MAX_REPLY_LENGTH * 4).split(/\r?\n/);
  const code = /^[2-5]\d\d(?!\d)/.exec(response)?.[0];
  if (code === undefined) return null;
  let enhancedStatus: string | null = null;
  const texts: string[] = [];
  for (const line of lines) {
    const match = /^(?:\d{3}(?:[ -]|$))?(?:([245]\.\d{1,3}\.\d{1,3})(?:[ \t]|$))?(.*)$/.exec(line);
    const status = match?.[1];
    if (status?.startsWith(code.slice(0, 1)) === true) enhancedStatus ??= status;
    texts.push((match?.[2] ?? '').trim());
  }
  const text = texts
    .join(' ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return { code: Number(code), enhancedStatus, text: text.slice(0, MAX_REPLY_LENGTH).toWellFormed() };
}

/**
 * Returns what a reply means for the recipients it concerns; null when the session continues. The first digit decides (RFC 5321 §4.2.1),
 * with two exceptions. 5yz before the commands of the message is about us or the host, so other hosts and later attempts remain, unless
 * it says that the host accepts no mail at all (521, 556: RFC 7504). 552 to RCPT means 452, too many recipients (RFC 5321 §4.5.3.1.10),
 * unless its status says otherwise.
 */
export function outcomeOfReply(reply: SmtpReply, phase: SmtpPhase): SmtpOutcome | null {
  const kind = Math.trunc(reply.code / 100);
  if (kind === 2) return phase === 'message' ? 'delivered' : null;
  if (kind === 3) return phase === 'message' ? 'deferred' : null;
  if (kind !== 5) return 'deferred';
  if (reply.code === 521 || reply.code === 556) return 'bounced';
  if (phase === 'connection' || phase === 'greeting') return 'deferred';
  const isTooMany = reply.code === 552 && (reply.enhancedStatus === null || reply.enhancedStatus === '5.5.3');
  return phase === 'recipient' && isTooMany ? 'deferred' : 'bounced';
}

/** Returns whether a reply asks for fewer or slower connections to the destination: 421 and 451. */
export function asksToSlowDown(reply: SmtpReply): boolean {
  return reply.code === 421 || reply.code === 451;
}

/** Returns the status of a reply: its own, or the general one of its class (RFC 3463 §3.1), such as `5.0.0`. */
export function statusOfReply(reply: SmtpReply): string {
  return reply.enhancedStatus ?? `${Math.trunc(reply.code / 100)}.0.0`;
}

/** Returns the status of a message from those of its recipients, by precedence: pending, bounced, failed, delivered. */
export function toEmailStatus(recipients: readonly RecipientStatus[]): RecipientStatus {
  const status = PRECEDENCE.find((candidate) => recipients.includes(candidate));
  if (status === undefined) throw new RangeError('a sent message has recipients');
  return status;
}

const PRECEDENCE: readonly RecipientStatus[] = ['pending', 'bounced', 'failed', 'delivered'];
