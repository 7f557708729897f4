import type { Tone } from '../../parts/text.tsx';

/** Fields that determine the displayed status of an email. */
export interface Standing {
  type: 'RECEIVED' | 'SENT' | 'SCHEDULED';
  status: string;
  guardStatus: string | null;
  isArchived?: boolean;
  keptApart?: 'SPAM' | 'VIRUS' | null;
}

const tones: Record<string, Tone> = {
  PENDING: 'waiting',
  DELIVERED: 'good',
  BOUNCED: 'bad',
  FAILED: 'bad',
  SCHEDULED: 'waiting',
  PAUSED: 'warning',
  CANCELLED: 'quiet',
  AWAITING_APPROVAL: 'warning',
  REJECTED: 'bad',
  SUCCESS: 'good',
  DEFERRED: 'warning',
  INTERRUPTED: 'quiet',
};

/** Returns the status of an email in one or two words, and its color. */
export function readStanding(email: Standing): { status: string; tone: Tone } {
  if (email.keptApart === 'VIRUS') return { status: 'in quarantine', tone: 'bad' };
  if (email.keptApart === 'SPAM') return { status: 'spam', tone: 'warning' };
  if (email.guardStatus === 'BLOCKED') return { status: 'blocked', tone: 'warning' };
  if (email.guardStatus === 'REVIEW') return { status: 'needs review', tone: 'warning' };
  if (email.type === 'RECEIVED')
    return { status: email.isArchived === true ? 'received, archived' : 'received', tone: 'good' };
  return { status: email.status, tone: chooseTone(email.status) };
}

/** Returns the color of a status of an email, recipient, delivery or attempt. */
export function chooseTone(status: string): Tone {
  return tones[status] ?? 'quiet';
}

type Latest = { status: string; statusCode: number | null; type: string; attemptCount: number };

/** Returns the outcome of the last delivery of received mail: "webhook 200", "webhook 500, retrying". */
export function deliveryWords({ status, statusCode, type, attemptCount }: Latest): { status: string; tone: Tone } {
  const name = type === 'WEBHOOK' ? 'webhook' : 'copy';
  const code = statusCode === null ? '' : ` ${statusCode}`;
  if (status === 'SUCCESS') return { status: `${name}${code || ' delivered'}`, tone: 'good' };
  if (status === 'FAILED') return { status: `${name} failed${code}`, tone: 'bad' };
  return attemptCount === 0
    ? { status: `${name} pending`, tone: 'waiting' }
    : { status: `${name}${code || ' failed'}, retrying`, tone: 'warning' };
}

/** Returns the kind of an event as REST and webhooks write it: "email.bounced" for EMAIL_BOUNCED. */
export function eventKindInWords(kind: string): string {
  return kind.toLowerCase().replace('_', '.');
}

/** Returns how many recipients of sent mail received it: "2 of 3 delivered"; null for one recipient, whose status is that of the email. */
export function recipientWords(recipients: readonly { status: string }[]): string | null {
  if (recipients.length < 2) return null;
  const delivered = recipients.filter(({ status }) => status === 'DELIVERED').length;
  return `${delivered} of ${recipients.length} delivered`;
}

/** Returns the subject, or a placeholder if there is none. */
export function showSubject(email: { subject: string }): string {
  return email.subject.trim() === '' ? '(no subject)' : email.subject;
}

/** Returns a size such as "3.4 MB". */
export function formatSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns a duration such as "340 ms" or "2.1 s". */
export function formatDuration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}
