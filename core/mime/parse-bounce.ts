import { suppressesAddress } from '../sending/suppression.ts';
import type { RecipientStatus } from '../smtp/delivery-status.ts';
import { decodeAttachment } from './attachment.ts';
import { decodeText, firstField, type HeaderSection, readHeaderSection } from './header-fields.ts';
import { parseMessageId } from './message-id.ts';
import { type Leaf, readParts } from './message-parts.ts';

/** What a DSN says of one recipient (RFC 3464 §2.3). Texts are decoded and in one line. */
export interface RecipientReport {
  /** without its type and angle brackets; null when it is not given */
  finalRecipient: string | null;
  /** as we gave it to the first server; null when it is not given */
  originalRecipient: string | null;
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** `5.1.1` (RFC 3463); taken from the diagnostic code, or in general, where the report has none */
  status: string;
  /** without its type; null when it is not given */
  diagnosticCode: string | null;
  /** the reply code of the diagnostic code; null when it is no reply of an SMTP server */
  replyCode: number | null;
  remoteMta: string | null;
  /** `hard`: failed for good, class 5; `soft`: given up or delayed, class 4; null: nothing has failed */
  bounce: 'hard' | 'soft' | null;
}

/** A delivery status notification (RFC 3464). */
export interface DeliveryReport {
  kind: 'delivery-status';
  reportingMta: string | null;
  /** at most {@link MAX_RECIPIENT_REPORTS} */
  recipients: RecipientReport[];
  /** the id of the message that is reported, from the copy that the report returns; null when it returns none */
  originalMessageId: string | null;
}

/** A complaint or another word of feedback (RFC 5965, RFC 6591). */
export interface FeedbackReport {
  kind: 'feedback';
  /** lower case: `abuse`, `fraud`, `virus`, `not-spam`, `auth-failure`, `other`, ... */
  feedbackType: string;
  /** whether somebody complains of the message, by RFC 5965 §7.3; the other types report faults or take complaints back */
  isComplaint: boolean;
  /** the reverse-path of the reported message, in which our return address may stand; null when it is not given */
  originalMailFrom: string | null;
  /** recipients of the reported message as far as they are not hidden */
  originalRecipients: string[];
  originalMessageId: string | null;
}

export type MailReport = DeliveryReport | FeedbackReport;

/** Recipients of one report that are read. */
const MAX_RECIPIENT_REPORTS = 200;
/** Bytes of a report's machine-readable part that are looked at; 200 recipients with long texts fit. */
const MAX_REPORT_BYTES = 262_144;
const MAX_TEXT_LENGTH = 1_000;
const MAX_ADDRESS_LENGTH = 320;

const COMPLAINTS = new Set(['abuse', 'fraud', 'virus', 'other', 'miscategorized', 'opt-out', 'opt-out-list']);

/** Whether a part of this type (lower case) is the machine-readable part of a report. */
export function isReportPart(contentType: string): boolean {
  return REPORT_TYPES.has(contentType);
}

const STATUS_TYPES: ReadonlySet<string> = new Set(['message/delivery-status', 'message/global-delivery-status']);
const REPORT_TYPES: ReadonlySet<string> = new Set([...STATUS_TYPES, 'message/feedback-report']);

/**
 * The report that a message holds (RFC 6522, or the bare part as some agents send it); null when it holds none. Whether to believe it
 * is for the return address to say. Rejects when the bytes cannot be split into parts.
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

/** Reads the content of a message/delivery-status part; null when it reports no recipient. Never throws. */
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

/** Reads the content of a message/feedback-report part; null when it names no type. Never throws. */
export function readFeedback(content: Buffer): FeedbackReport | null {
  // Blank lines among the fields are no ends here.
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
 * Where a recipient stands after a report of it; null when it stays where it is. Only a hard bounce moves it: what is delayed or given
 * up elsewhere was taken by the first server all the same. A second report finds the work done.
 */
export function statusAfterReport(current: RecipientStatus, report: RecipientReport): 'bounced' | null {
  return report.bounce === 'hard' && (current === 'pending' || current === 'delivered') ? 'bounced' : null;
}

/** Whether the address of a recipient that bounced takes no mail at all. */
export function suppressedByReport(report: RecipientReport): boolean {
  return report.bounce === 'hard' && suppressesAddress({ code: report.replyCode, status: report.status });
}

/** A recipient of the message that a report comes back for. */
export interface ReportedRecipient {
  id: string;
  address: string;
  /** whether it shared the SMTP transaction of the one that the return address was made for, or is that one */
  isReportable: boolean;
}

/**
 * Which of a message's recipients each recipient report speaks of: the one whose address it gives; when it gives an address that is none
 * of theirs, as behind a forwarding, the one that the return address was made for, unless another of the reports names that one. Only
 * those can be meant that shared the SMTP transaction: whoever got the message knows its return address.
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

/** Which of a message's recipients complain: those that are named, else the one that the return address was made for. */
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

/** The header section of the message that the report returns, whole or as header fields only (RFC 6522 §3, §4). */
function returnedHeader(bytes: Buffer, leaves: readonly Leaf[]): HeaderSection | null {
  const leaf = leaves.find((candidate) =>
    ['message/rfc822', 'message/global', 'text/rfc822-headers', 'message/global-headers'].includes(
      candidate.contentType,
    ),
  );
  return leaf === undefined ? null : readHeaderSection(contentOf(bytes, leaf));
}

/** Groups of fields with blank lines between them; the mailer of some agents puts MIME fields in each. */
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

/** Seen: no Status at all (`X-LOCAL; 500 (err.nosuchuser)`), and comments behind it. */
function toStatus(value: string | null, diagnosticCode: string | null, action: RecipientReport['action']): string {
  const stated = /^([245]\.\d{1,3}\.\d{1,3})(?!\d)/.exec(value ?? '')?.[1];
  if (stated !== undefined) return stated;
  const diagnosed = /(?:^|[\s-])([245]\.\d{1,3}\.\d{1,3})(?:\s|$)/.exec(diagnosticCode ?? '')?.[1];
  if (diagnosed !== undefined) return diagnosed;
  const replied = /^([245])\d\d(?!\d)/.exec(diagnosticCode ?? '')?.[1];
  return `${replied ?? CLASS_OF_ACTION[action]}.0.0`;
}

const CLASS_OF_ACTION = { failed: 5, delayed: 4, delivered: 2, relayed: 2, expanded: 2 } as const;

/** Other agents number their errors too (seen: `X-LOCAL; 500 (err.nosuchuser)`), which are no replies of SMTP. */
function toReplyCode(diagnosis: string | null): number | null {
  const code = /^(?:smtp *; *)?([245]\d\d)(?!\d)/i.exec(diagnosis ?? '')?.[1];
  return code === undefined ? null : Number(code);
}

/** `rfc822; joe@example.com` without its type (RFC 3464 §2.1.2). */
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
