import { textOfHtml } from '../html/text-of-html.ts';
import { isHardReason } from '../sending/refusal-advice.ts';
import { decodeCharset } from '../shared/text.ts';
import { decodeAttachment } from './attachment.ts';
import {
  addressIn,
  CLASS_OF_ACTION,
  type DeliveryReport,
  isGeneral,
  MAX_RECIPIENT_REPORTS,
  type RecipientReport,
  readDeliveryStatus,
  readField,
  readGroups,
  toReplyCode,
  toStatus,
  toValue,
  typedValue,
  withReason,
} from './delivery-status-part.ts';
import { decodeText, endOfHeaderSection, firstField, type HeaderSection, readHeaderSection } from './header-fields.ts';
import { parseMessageId } from './message-id.ts';
import { type Leaf, readParts } from './message-parts.ts';
import {
  type Diagnosis,
  diagnoseSubject,
  extractStatement,
  isFromDaemon,
  kindOfText,
  readStatement,
} from './report-text.ts';
import { readServiceNotification } from './ses-notification.ts';

/** A complaint or other feedback (RFC 5965, RFC 6591). */
export interface FeedbackReport {
  kind: 'feedback';
  /** whether it has a machine-readable part */
  isStructured: boolean;
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

/** A reply that a program wrote for its user, such as one about a vacation (RFC 3834). */
interface AutomaticReply {
  kind: 'automatic-reply';
}

export type MailReport = DeliveryReport | FeedbackReport | AutomaticReply;

/** What a message at a return address is. */
export type ReportKind = 'bounce' | 'delay' | 'delivered' | 'feedback' | 'automatic-reply' | 'unknown';

/** Maximum bytes read of a report's machine-readable part; enough for 200 recipients with long texts. */
const MAX_REPORT_BYTES = 262_144;
/** Maximum bytes read of a report's text. */
const MAX_STATEMENT_BYTES = 65_536;
const COMPLAINTS = new Set(['abuse', 'fraud', 'virus', 'other', 'miscategorized', 'opt-out', 'opt-out-list']);

/** Returns whether a part of this type (lower case) is the machine-readable part of a report. */
export function isReportPart(contentType: string): boolean {
  return REPORT_TYPES.has(contentType);
}

const STATUS_TYPES: ReadonlySet<string> = new Set(['message/delivery-status', 'message/global-delivery-status']);
const REPORT_TYPES: ReadonlySet<string> = new Set([...STATUS_TYPES, 'message/feedback-report']);

/**
 * Returns the report in a message: that of its machine-readable part (RFC 6522, or the bare part that some servers send), and if it has
 * none and came to a return address, that of its text. Null when there is none. It is trusted only if it came to a valid return address.
 * Rejects when the bytes cannot be split into parts.
 */
export async function readMailReport(
  bytes: Buffer,
  { isAtReturnAddress = false }: { isAtReturnAddress?: boolean } = {},
): Promise<MailReport | null> {
  const { leaves } = await readParts(bytes);
  const returned = returnedHeader(bytes, leaves);
  const report =
    readStructured(bytes, leaves, returned) ??
    (isAtReturnAddress ? await readUnstructured(bytes, leaves, returned) : null);
  if (report === null || report.kind === 'automatic-reply') return report;
  const originalMessageId = returned === null ? null : parseMessageId(firstField(returned, 'message-id')?.raw ?? '');
  if (report.kind === 'delivery-status') return { ...report, originalMessageId };
  const returnPath = returned === null ? null : addressIn(readField(returned, 'return-path'));
  return { ...report, originalMessageId, originalMailFrom: report.originalMailFrom ?? returnPath };
}

/** Returns what a report is about. */
export function kindOfReport(report: MailReport | null): ReportKind {
  if (report === null) return 'unknown';
  if (report.kind !== 'delivery-status') return report.kind;
  const actions = report.recipients.map(({ action }) => action);
  return actions.includes('failed') ? 'bounce' : actions.includes('delayed') ? 'delay' : 'delivered';
}

function readStructured(bytes: Buffer, leaves: readonly Leaf[], returned: HeaderSection | null): MailReport | null {
  for (const leaf of leaves) {
    if (!isReportPart(leaf.contentType)) continue;
    const content = readContent(bytes, leaf);
    const sentTo = readSentTo(bytes, returned);
    const report = STATUS_TYPES.has(leaf.contentType) ? readDeliveryStatus(content, sentTo) : readFeedback(content);
    if (report?.kind === 'delivery-status') return withText(report, statementIn(bytes, leaves), sentTo);
    if (report !== null) return report;
  }
  return null;
}

/** Returns the only recipient whom the report's own header or that of the returned message names; null when there are several or none. */
function readSentTo(bytes: Buffer, returned: HeaderSection | null): string | null {
  return onlyAddress(readFailed(bytes) ?? (returned === null ? null : readField(returned, 'to')));
}

/** Returns whom Exim and Gmail name in a field of the report as those who bounced. */
function readFailed(bytes: Buffer): string | null {
  return readField(readHeaderSection(bytes), 'x-failed-recipients');
}

function onlyAddress(value: string | null): string | null {
  return value === null || value.includes(',') ? null : addressIn(value);
}

/** Adds what only the text says: the server's words when the machine-readable part has none, and the refused command. */
function withText(report: DeliveryReport, statement: string, sentTo: string | null): DeliveryReport {
  if (statement === '') return report;
  const read = readStatement(statement, sentTo);
  const recipients = report.recipients.map((recipient) => {
    if (recipient.bounce === null) return recipient;
    const address = recipient.finalRecipient ?? recipient.originalRecipient ?? '';
    const said = read.diagnoseAddress(address);
    const reported = {
      ...recipient,
      diagnosticCode: recipient.diagnosticCode ?? (said.text === '' ? null : said.text),
      replyCode: recipient.replyCode ?? (recipient.diagnosticCode === null ? said.code : null),
      status:
        isGeneral(recipient.status) && recipient.diagnosticCode === null
          ? (said.status ?? recipient.status)
          : recipient.status,
      command: said.command,
    };
    return withReceiversRules(report.reportingMta, reported, sentTo);
  });
  return { ...report, recipients };
}

/**
 * Amazon SES accepts the mail of all addresses of a domain. What it reports later are rules of the receiver, who chooses the words; its
 * template says that the mailbox does not exist.
 */
function withReceiversRules(
  reportingMta: string | null,
  report: Omit<RecipientReport, 'reason' | 'bounce'>,
  sentTo: string | null,
): RecipientReport {
  const found = withReason(report, 'unknown', sentTo);
  const isRule = /^inbound-smtp\.[a-z0-9-]{1,40}\.amazonaws\.com$/i.test(reportingMta ?? '');
  return isRule && found.bounce === 'hard' ? { ...found, reason: 'recipient_rejected', bounce: 'soft' } : found;
}

/** Returns the report that has no machine-readable part; null when the message is none. */
async function readUnstructured(
  bytes: Buffer,
  leaves: readonly Leaf[],
  returned: HeaderSection | null,
): Promise<MailReport | null> {
  const header = readHeaderSection(bytes);
  const statement = statementIn(bytes, leaves);
  const report = readUserFeedback(header, returned) ?? readNotification(statement);
  if (report !== null) return report;
  const embedded = readEmbedded(statement) ?? readEmbeddedPart(bytes, leaves);
  const sentTo = readSentTo(bytes, returned);
  if (embedded !== null) return withText(embedded, statement, sentTo);
  const kind = kindOfText(header, statement, returned !== null);
  if (kind === 'automatic-reply') return { kind };
  const said = readStatement(statement, sentTo, onlyAddress(readFailed(bytes))).diagnoses();
  if (isFromDaemon(header) && said.every(({ reason }) => reason === 'unknown')) {
    // A gateway may pass on the report of another server with a covering note.
    const passedOn = leaves.find(({ contentType }) => contentType === 'message/rfc822');
    const content = passedOn === undefined ? null : readContent(bytes, passedOn);
    const inner = content === null ? null : await readMailReport(content);
    if (inner !== null) return inner;
  }
  if (kind === null) return null;
  const action = kind === 'delay' ? 'delayed' : kind === 'delivered' ? kind : 'failed';
  const subject = said.every(({ reason }) => reason === 'unknown') ? diagnoseSubject(header) : null;
  const diagnoses = subject === null ? said : said.map(({ address }) => ({ ...subject, address }));
  return deliveryReport(diagnoses.map((one) => readRecipient(one, action)));
}

function deliveryReport(recipients: RecipientReport[]): DeliveryReport {
  return { kind: 'delivery-status', isStructured: false, reportingMta: null, recipients, originalMessageId: null };
}

/** Feedback in other formats: of Outlook.com (Junk Mail Reporting Program), and of Apple Mail for its user who unsubscribes. */
function readUserFeedback(header: HeaderSection, returned: HeaderSection | null): FeedbackReport | null {
  const complaining = returned === null ? null : readField(returned, 'x-hmxmroriginalrecipient');
  if (complaining !== null) return feedback('abuse', [complaining]);
  return /^true$/i.test(readField(header, 'x-apple-unsubscribe') ?? '') ? feedback('opt-out', []) : null;
}

function feedback(feedbackType: string, addresses: readonly string[]): FeedbackReport {
  const originalRecipients = addresses.map(addressIn).filter((address) => address !== null);
  return {
    kind: 'feedback',
    isStructured: false,
    feedbackType,
    isComplaint: COMPLAINTS.has(feedbackType),
    originalMailFrom: null,
    originalRecipients: originalRecipients.slice(0, MAX_RECIPIENT_REPORTS),
    originalMessageId: null,
  };
}

function readNotification(statement: string): MailReport | null {
  const notification = readServiceNotification(statement);
  if (notification === null) return null;
  if (notification.kind === 'Complaint')
    return feedback(
      'abuse',
      notification.recipients.map(({ address }) => address),
    );
  const action = notification.kind === 'Bounce' ? 'failed' : 'delivered';
  return deliveryReport(
    notification.recipients.slice(0, MAX_RECIPIENT_REPORTS).map(({ address, status, diagnosticCode }) => {
      const diagnosis = diagnosticCode === null ? null : toValue(diagnosticCode);
      return withReason({
        finalRecipient: addressIn(address),
        originalRecipient: null,
        action,
        status: toStatus(status, diagnosis, action),
        diagnosticCode: typedValue(diagnosis),
        replyCode: toReplyCode(diagnosis),
        remoteMta: null,
        command: null,
      });
    }),
  );
}

/** Of SMTP (RFC 5321 §4.2.3), while some servers number their own errors in the same range. */
const TEMPORARY_CODES: ReadonlySet<number> = new Set([421, 450, 451, 452, 454, 455]);

function readRecipient(
  { address, text, code, status, reason, command }: Diagnosis,
  action: 'failed' | 'delayed' | 'delivered',
): RecipientReport {
  return {
    finalRecipient: address,
    originalRecipient: null,
    action,
    status: status ?? (code === null ? `${CLASS_OF_ACTION[action]}.0.0` : `${Math.trunc(code / 100)}.0.0`),
    diagnosticCode: text === '' ? null : text,
    replyCode: code,
    remoteMta: null,
    reason,
    command,
    // Words beside a temporary code say nothing permanent.
    bounce:
      action === 'delivered'
        ? null
        : action === 'failed' && isHardReason(reason) && (status !== null || !TEMPORARY_CODES.has(code ?? 0))
          ? 'hard'
          : 'soft',
  };
}

/** Returns the report whose fields are in the text itself, as some servers send it. */
function readEmbedded(statement: string): DeliveryReport | null {
  const start = /^(?:Reporting-MTA|Final-Recipient|Action): /im.exec(statement)?.index;
  if (start === undefined || !/^Action: /im.test(statement)) return null;
  const report = readDeliveryStatus(Buffer.from(statement.slice(start), 'latin1'));
  return report === null ? null : { ...report, isStructured: false };
}

/** Returns the report whose fields are in a text part of their own, labeled as plain text. */
function readEmbeddedPart(bytes: Buffer, leaves: readonly Leaf[]): DeliveryReport | null {
  for (const leaf of leaves.slice(1, MAX_EMBEDDED_PARTS)) {
    if (leaf.contentType !== 'text/plain') continue;
    const text = readContent(bytes, leaf).toString('latin1').trimStart();
    const report = /^(?:Reporting-MTA|Final-Recipient|Action):/i.test(text) ? readEmbedded(text) : null;
    if (report !== null) return report;
  }
  return null;
}

/** Parts among which the fields of a report are searched. */
const MAX_EMBEDDED_PARTS = 5;

/** Returns what the server wrote: the text before the copy of the original message. */
function statementIn(bytes: Buffer, leaves: readonly Leaf[]): string {
  const leaf =
    leaves.find(({ contentType }) => contentType === 'text/plain') ??
    leaves.find(({ contentType }) => contentType === 'text/html');
  const text =
    leaf === undefined ? '' : decodeCharset(readContent(bytes, leaf).subarray(0, MAX_STATEMENT_BYTES), leaf.charset);
  const statement = extractStatement(leaf?.contentType === 'text/html' ? (textOfHtml(text) ?? '') : text);
  if (statement !== '' || leaves.some(({ contentType }) => contentType.startsWith('message/'))) return statement;
  // Broken MIME (seen: a boundary that is not folded) hides the text.
  const start = endOfHeaderSection(bytes);
  return extractStatement(bytes.toString('latin1', start, start + MAX_STATEMENT_BYTES));
}

/** Parses a message/feedback-report part; null when it has no type. Never throws. */
export function readFeedback(content: Buffer): FeedbackReport | null {
  // Here, blank lines do not separate groups of fields.
  const fields = readGroups(content).flatMap((group) => group.fields);
  const section: HeaderSection = { fields, isTruncated: false, hidesFrom: false };
  const feedbackType = readField(section, 'feedback-type')?.toLowerCase() ?? null;
  if (feedbackType === null) return null;
  const recipients = fields
    .filter((field) => field.name === 'original-rcpt-to')
    .map((field) => addressIn(decodeText(field.raw)))
    .filter((address) => address !== null);
  return {
    kind: 'feedback',
    isStructured: true,
    feedbackType,
    isComplaint: COMPLAINTS.has(feedbackType),
    originalMailFrom: addressIn(readField(section, 'original-mail-from')),
    originalRecipients: [...new Set(recipients)].slice(0, MAX_RECIPIENT_REPORTS),
    originalMessageId: null,
  };
}

function readContent(bytes: Buffer, leaf: Leaf): Buffer {
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
  return leaf === undefined ? null : readHeaderSection(readContent(bytes, leaf));
}
