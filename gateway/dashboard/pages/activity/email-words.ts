import type { Tone } from '../../parts/status-badge.tsx';

/** What is asked of an email to tell how it stands. */
export interface Standing {
  type: 'RECEIVED' | 'SENT' | 'SCHEDULED';
  status: string;
  guardStatus: string | null;
  isArchived?: boolean;
}

const tones: Record<string, Tone> = {
  PENDING: 'waiting',
  DELIVERED: 'good',
  BOUNCED: 'bad',
  FAILED: 'bad',
  SCHEDULED: 'waiting',
  PAUSED: 'warning',
  CANCELLED: 'quiet',
  SUCCESS: 'good',
  DEFERRED: 'warning',
  INTERRUPTED: 'quiet',
};

/** How far an email came, in a word or two, and whether that is good. */
export function standingOf(email: Standing): { status: string; tone: Tone } {
  if (email.guardStatus === 'BLOCKED') return { status: 'blocked', tone: 'warning' };
  if (email.guardStatus === 'REVIEW') return { status: 'needs review', tone: 'warning' };
  if (email.type === 'RECEIVED')
    return { status: email.isArchived === true ? 'received, archived' : 'received', tone: 'good' };
  return { status: email.status, tone: toneOf(email.status) };
}

/** Of a status of an email, a recipient, a delivery or an attempt. */
export function toneOf(status: string): Tone {
  return tones[status] ?? 'quiet';
}

interface Latest {
  status: string;
  statusCode: number | null;
  type: string;
  attemptCount: number;
}

/** What became of the last delivery of received mail: "webhook 200", "webhook 500, retrying". */
export function deliveryWords({ status, statusCode, type, attemptCount }: Latest): { status: string; tone: Tone } {
  const name = type === 'WEBHOOK' ? 'webhook' : 'copy';
  const code = statusCode === null ? '' : ` ${statusCode}`;
  if (status === 'SUCCESS') return { status: `${name}${code || ' delivered'}`, tone: 'good' };
  if (status === 'FAILED') return { status: `${name} failed${code}`, tone: 'bad' };
  return attemptCount === 0
    ? { status: `${name} pending`, tone: 'waiting' }
    : { status: `${name}${code || ' failed'}, retrying`, tone: 'warning' };
}

/** How many of the recipients of sent mail have it: "2 of 3 delivered"; null: there is one, whose status is that of the email. */
export function recipientWords(recipients: readonly { status: string }[]): string | null {
  if (recipients.length < 2) return null;
  const delivered = recipients.filter(({ status }) => status === 'DELIVERED').length;
  return `${delivered} of ${recipients.length} delivered`;
}

/** "Ada Lovelace" or, without a name, the address. */
export function nameOf(mailbox: { name: string | null; address: string }): string {
  return mailbox.name === null || mailbox.name === '' ? mailbox.address : mailbox.name;
}

/** A subject, and words for none. */
export function subjectOf(email: { subject: string }): string {
  return email.subject.trim() === '' ? '(no subject)' : email.subject;
}

/** As "3.4 MB". */
export function sizeOf(octets: number): string {
  if (octets < 1_000) return `${octets} octets`;
  return octets < 1_000_000 ? `${(octets / 1_000).toFixed(1)} kB` : `${(octets / 1_000_000).toFixed(1)} MB`;
}

/** As "340 ms" or "2.1 s". */
export function durationOf(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}
