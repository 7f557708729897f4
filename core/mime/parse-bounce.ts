import { suppressesAddress } from '../sending/suppression.ts';
import type { RecipientStatus } from '../smtp/delivery-status.ts';
import { decodeAttachment } from './attachment.ts';
import { decodeText, firstField, type HeaderSection, readHeaderSection } from './header-fields.ts';
import { parseMessageId } from './message-id.ts';
import { type Leaf, readParts } from './message-parts.ts';

/** A DSN's report on one recipient (RFC 3464 §2.3). Texts are decoded and on one line. */
export interface RecipientReport {
  /** without type and angle brackets; null when missing */
  finalRecipient: string | null;
  /** the address that we sent to; null when missing */
  originalRecipient: string | null;
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** such as `5.1.1` (RFC 3463); if missing, from the diagnostic code, or a general one */
  status: string;
  /** without its type; null when missing */
  diagnosticCode: string | null;
  /** reply code in the diagnostic code; null when it is not an SMTP reply */
  replyCode: number | null;
  remoteMta: string | null;
  /** `hard`: permanent failure, class 5; `soft`: given up or delayed, class 4; null: no failure */
  bounce: 'hard' | 'soft' | null;
}

/** A delivery status notification (RFC 3464). */
export interface DeliveryReport {
  kind: 'delivery-status';
  reportingMta: string | null;
  /** at most {@link MAX_RECIPIENT_REPORTS} */
  recipients: RecipientReport[];
  /** id of the reported message, from the copy in the report; null when there is none */
  originalMessageId: string | null;
}

/** A complaint or other feedback (RFC 5965, RFC 6591). */
export interface FeedbackReport {
  kind: 'feedback';
  /** lower case: `abuse`, `fraud`, `virus`, `not-spam`, `auth-failure`, `other`, ... */
  feedbackType: string;
  /** whether a user complains about the message (RFC 5965 §7.3); other types report faults or withdraw complaints */
  isComplaint: boolean;
  /** reverse-path of the reported message, which may be our return address; null when missing */
  originalMailFrom: string | null;
  /** recipients of the reported message that are not redacted */
  originalRecipients: string[];
  originalMessageId: string | null;
}

export type MailReport = DeliveryReport | FeedbackReport;

/** Maximum recipients read per report. */
const MAX_RECIPIENT_REPORTS = 200;
/** Maximum bytes read of a report's machine-readable part; enough for 200 recipients with long texts. */
const MAX_REPORT_BYTES = 262_144;
const MAX_TEXT_LENGTH = 1_000;
const MAX_ADDRESS_LENGTH = 320;

const COMPLAINTS = new Set(['abuse', 'fraud', 'virus', 'other', 'miscategorized', 'opt-out', 'opt-out-list']);

/** Returns whether a part of this type (lower case) is the machine-readable part of a report. */
export function isReportPart(contentType: string): boolean {
  return REPORT_TYPES.has(contentType);
}

const STATUS_TYPES: ReadonlySet<string> = new Set(['message/delivery-status', 'message/global-delivery-status']);
const REPORT_TYPES: ReadonlySet<string> = new Set([...STATUS_TYPES, 'message/feedback-report']);

/**
 * Returns the report in a message (RFC 6522, or the bare part that some servers send); null when there is none. It is trusted only if it
 * came to a valid return address. Rejects when the bytes cannot be split into parts.
 */
export async function readMailReport(bytes: Buffer): Promise<MailReport | null> {
  const { leaves } = await readParts(bytes);
  for (const leaf of leaves) {
    if (!isReportPart(leaf.contentType)) continue;
    const content = contentOf(bytes, leaf);
    const report = STATUS_TYPES.has(leaf.contentType) ? readDeliveryStatus(content) : readFeedback(content);
    if (report === null) continue;
    const returned = returnedHeader(bytes, leaves);
    const originalMessageId = returned === null ? null : parseMessageId(firstField(returned, 'message-id')?.raw ?? '');
    if (report.kind === 'delivery-status') return { ...report, originalMessageId };
    const returnPath = returned === null ? null : addressIn(valueOf(returned, 'return-path'));
    return { ...report, originalMessageId, originalMailFrom: report.originalMailFrom ?? returnPath };
  }
  return null;
}

/** Parses a message/delivery-status part; null when it reports no recipient. Never throws. */
export function readDeliveryStatus(content: Buffer): DeliveryReport | null {
  const groups = readGroups(content);
  const recipients = groups
    .map(readRecipient)
    .filter((report) => report !== null)
    .slice(0, MAX_RECIPIENT_REPORTS);
  if (recipients.length === 0) return null;
  const reportingMta = groups.map((group) => typedValue(valueOf(group, 'reporting-mta'))).find((mta) => mta !== null);
  return { kind: 'delivery-status', reportingMta: reportingMta ?? null, recipients, originalMessageId: null };
}

/** Parses a message/feedback-report part; null when it has no type. Never throws. */
export function readFeedback(content: Buffer): FeedbackReport | null {
  // Here, blank lines do not separate groups of fields.
  const fields = readGroups(content).flatMap((group) => group.fields);
  const section: HeaderSection = { fields, isTruncated: false };
  const feedbackType = valueOf(section, 'feedback-type')?.toLowerCase() ?? null;
  if (feedbackType === null) return null;
  const recipients = fields
    .filter((field) => field.name === 'original-rcpt-to')
    .map((field) => addressIn(decodeText(field.raw)))
    .filter((address) => address !== null);
  return {
    kind: 'feedback',
    feedbackType,
    isComplaint: COMPLAINTS.has(feedbackType),
    originalMailFrom: addressIn(valueOf(section, 'original-mail-from')),
    originalRecipients: [...new Set(recipients)].slice(0, MAX_RECIPIENT_REPORTS),
    originalMessageId: null,
  };
}

/**
 * Returns the new status of a reported recipient; null when it does not change. Only a hard bounce changes it: mail that is delayed or
 * given up elsewhere was still accepted by the first server. A second report has no effect.
 */
export function statusAfterReport(current: RecipientStatus, report: RecipientReport): 'bounced' | null {
  return report.bounce === 'hard' && (current === 'pending' || current === 'delivered') ? 'bounced' : null;
}

/** Returns whether the address of a bounced recipient should be suppressed. */
export function suppressedByReport(report: RecipientReport): boolean {
  return report.bounce === 'hard' && suppressesAddress({ code: report.replyCode, status: report.status });
}

/** A recipient of the message that a report is about. */
export interface ReportedRecipient {
  id: string;
  address: string;
  /** whether it was in the SMTP transaction of the return address's recipient, or is that recipient */
  isReportable: boolean;
}

/**
 * Assigns each recipient report to a recipient of the message: the one with its address; if it has an unknown address, as after
 * forwarding, the one that the return address was made for, unless another report has that one's address. Only recipients of the same
 * SMTP transaction qualify, because every recipient of the message knows its return address.
 */
export function reportedRecipients<R extends ReportedRecipient>(
  reports: readonly RecipientReport[],
  recipients: readonly R[],
  returnAddressOf: string,
): (R | null)[] {
  const named = reports.map((report) => namedRecipient(report, recipients));
  const own = recipients.find((recipient) => recipient.id === returnAddressOf) ?? null;
  const isOwnNamed = named.includes(own);
  return named
    .map((recipient) => recipient ?? (isOwnNamed ? null : own))
    .map((recipient) => (recipient?.isReportable === true ? recipient : null));
}

function namedRecipient<R extends ReportedRecipient>(report: RecipientReport, recipients: readonly R[]): R | null {
  for (const address of [report.originalRecipient, report.finalRecipient]) {
    const named = recipients.find((recipient) => recipient.address.toLowerCase() === address?.toLowerCase());
    if (named !== undefined) return named;
  }
  return null;
}

/** Returns the recipients who complain: those in the report, else the one that the return address was made for. */
export function complainingRecipients<R extends ReportedRecipient>(
  report: FeedbackReport,
  recipients: readonly R[],
  returnAddressOf: string,
): R[] {
  const addresses = report.originalRecipients.map((address) => address.toLowerCase());
  const named = recipients.filter((recipient) => addresses.includes(recipient.address.toLowerCase()));
  const meant = named.length > 0 ? named : recipients.filter((recipient) => recipient.id === returnAddressOf);
  return meant.filter((recipient) => recipient.isReportable);
}

function contentOf(bytes: Buffer, leaf: Leaf): Buffer {
  const decoded = decodeAttachment(bytes.subarray(leaf.start, leaf.start + leaf.length), leaf.transferEncoding);
  return Buffer.from(decoded.buffer, decoded.byteOffset, Math.min(decoded.byteLength, MAX_REPORT_BYTES));
}

/** Returns the header section of the returned message, whole or header fields only (RFC 6522 §3, §4). */
function returnedHeader(bytes: Buffer, leaves: readonly Leaf[]): HeaderSection | null {
  const leaf = leaves.find((candidate) =>
    ['message/rfc822', 'message/global', 'text/rfc822-headers', 'message/global-headers'].includes(
      candidate.contentType,
    ),
  );
  return leaf === undefined ? null : readHeaderSection(contentOf(bytes, leaf));
}

/** Splits fields into groups at blank lines; some servers add MIME fields to each. */
function readGroups(content: Buffer): HeaderSection[] {
  return content
    .toString('latin1')
    .split(/\r?\n(?:[ \t]*\r?\n)+/)
    .slice(0, MAX_RECIPIENT_REPORTS + 2)
    .map((group) => readHeaderSection(Buffer.from(`${group.replace(/^\s+/, '')}\n\n`, 'latin1')));
}

function readRecipient(group: HeaderSection): RecipientReport | null {
  const finalRecipient = addressIn(typedValue(valueOf(group, 'final-recipient')));
  const originalRecipient = addressIn(typedValue(valueOf(group, 'original-recipient')));
  const action = toAction(valueOf(group, 'action'));
  if (action === null || (finalRecipient === null && originalRecipient === null)) return null;
  const diagnosis = valueOf(group, 'diagnostic-code');
  const diagnosticCode = typedValue(diagnosis);
  const status = toStatus(valueOf(group, 'status'), diagnosticCode, action);
  return {
    finalRecipient,
    originalRecipient,
    action,
    status,
    diagnosticCode,
    replyCode: toReplyCode(diagnosis),
    remoteMta: typedValue(valueOf(group, 'remote-mta')),
    bounce: toBounce(action, status),
  };
}

function toBounce(action: RecipientReport['action'], status: string): RecipientReport['bounce'] {
  if (action === 'failed') return status.startsWith('5') ? 'hard' : 'soft';
  return action === 'delayed' ? 'soft' : null;
}

function toAction(value: string | null): RecipientReport['action'] | null {
  const word = /^[a-z]+/i.exec(value ?? '')?.[0].toLowerCase();
  switch (word) {
    case 'failed':
    case 'delayed':
    case 'delivered':
    case 'relayed':
    case 'expanded':
      return word;
    case undefined:
    default:
      return null;
  }
}

/** Seen: no Status at all (`X-LOCAL; 500 (err.nosuchuser)`), and comments after it. */
function toStatus(value: string | null, diagnosticCode: string | null, action: RecipientReport['action']): string {
  const stated = /^([245]\.\d{1,3}\.\d{1,3})(?!\d)/.exec(value ?? '')?.[1];
  if (stated !== undefined) return stated;
  const diagnosed = /(?:^|[\s-])([245]\.\d{1,3}\.\d{1,3})(?:\s|$)/.exec(diagnosticCode ?? '')?.[1];
  if (diagnosed !== undefined) return diagnosed;
  const replied = /^([245])\d\d(?!\d)/.exec(diagnosticCode ?? '')?.[1];
  return `${replied ?? CLASS_OF_ACTION[action]}.0.0`;
}

const CLASS_OF_ACTION = { failed: 5, delayed: 4, delivered: 2, relayed: 2, expanded: 2 } as const;

/** Other systems have error numbers that are not SMTP replies (seen: `X-LOCAL; 500 (err.nosuchuser)`). */
function toReplyCode(diagnosis: string | null): number | null {
  const code = /^(?:smtp *; *)?([245]\d\d)(?!\d)/i.exec(diagnosis ?? '')?.[1];
  return code === undefined ? null : Number(code);
}

/** Removes the type of `rfc822; joe@example.com` (RFC 3464 §2.1.2). */
function typedValue(value: string | null): string | null {
  const content = value?.replace(/^[a-z0-9-]{1,40} *; */i, '') ?? '';
  return content === '' ? null : content;
}

function addressIn(value: string | null): string | null {
  const address = (/<([^<>]*)>/.exec(value ?? '')?.[1] ?? value ?? '').trim();
  return address.includes('@') && address.length <= MAX_ADDRESS_LENGTH && !/\s/.test(address) ? address : null;
}

function valueOf(section: HeaderSection, name: string): string | null {
  const value = decodeText(firstField(section, name)?.raw ?? '').replace(/[\s\p{Cc}]+/gu, ' ');
  return value.trim() === '' ? null : value.slice(0, MAX_TEXT_LENGTH).toWellFormed().trim();
}
