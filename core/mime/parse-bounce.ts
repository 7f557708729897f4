import { textOfHtml } from '../html/text-of-html.ts';
import { isHardReason, type RefusalReason } from '../sending/refusal-advice.ts';
import { type RefusedCommand, refusalReason } from '../sending/refusal-reason.ts';
import { decodeCharset } from '../shared/text.ts';
import { decodeAttachment } from './attachment.ts';
import { decodeText, endOfHeaderSection, firstField, type HeaderSection, readHeaderSection } from './header-fields.ts';
import { parseMessageId } from './message-id.ts';
import { type Leaf, readParts } from './message-parts.ts';
import {
  commandIn,
  type Diagnosis,
  diagnoseSubject,
  isFromDaemon,
  kindOfText,
  readStatement,
  statementOf,
  statusIn,
} from './report-text.ts';
import { readServiceNotification } from './ses-notification.ts';

/** A DSN's report on one recipient (RFC 3464 §2.3). Texts are decoded and on one line. */
export interface RecipientReport {
  /** without type and angle brackets; null when missing */
  finalRecipient: string | null;
  /** the address that we sent to; null when missing */
  originalRecipient: string | null;
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** such as `5.1.1` (RFC 3463): that of the diagnostic code, else the reported one, else a general one */
  status: string;
  /** without its type; null when missing */
  diagnosticCode: string | null;
  /** reply code in the diagnostic code; null when it is not an SMTP reply */
  replyCode: number | null;
  remoteMta: string | null;
  /** null: no failure */
  reason: RefusalReason | null;
  /** the command that was refused; null when unknown */
  command: RefusedCommand | null;
  /** `hard`: the address can receive no mail; `soft`: not delivered or delayed for another reason; null: no failure */
  bounce: 'hard' | 'soft' | null;
}

/** A delivery status notification (RFC 3464). */
export interface DeliveryReport {
  kind: 'delivery-status';
  /** whether it has a machine-readable part; otherwise it was read from its text */
  isStructured: boolean;
  reportingMta: string | null;
  /** at most {@link MAX_RECIPIENT_REPORTS} */
  recipients: RecipientReport[];
  /** id of the reported message, from the copy in the report; null when there is none */
  originalMessageId: string | null;
}

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

/** Maximum recipients read per report. */
const MAX_RECIPIENT_REPORTS = 200;
/** Maximum bytes read of a report's machine-readable part; enough for 200 recipients with long texts. */
const MAX_REPORT_BYTES = 262_144;
/** Maximum bytes read of a report's text. */
const MAX_STATEMENT_BYTES = 65_536;
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
 * Returns the report in a message: that of its machine-readable part (RFC 6522, or the bare part that some servers send), and if it has
 * none and came to a return address, that of its text. Null when there is none. It is trusted only if it came to a valid return address.
 * Rejects when the bytes cannot be split into parts.
 */
export async function readMailReport(
  bytes: Buffer,
  { isAtReturnAddress = false }: { isAtReturnAddress?: boolean } = {},
): Promise<MailReport | null> {
  const { leaves } = await readParts(bytes);
  const report = readStructured(bytes, leaves) ?? (isAtReturnAddress ? await readUnstructured(bytes, leaves) : null);
  if (report === null || report.kind === 'automatic-reply') return report;
  const returned = returnedHeader(bytes, leaves);
  const originalMessageId = returned === null ? null : parseMessageId(firstField(returned, 'message-id')?.raw ?? '');
  if (report.kind === 'delivery-status') return { ...report, originalMessageId };
  const returnPath = returned === null ? null : addressIn(valueOf(returned, 'return-path'));
  return { ...report, originalMessageId, originalMailFrom: report.originalMailFrom ?? returnPath };
}

/** Returns what a report is about. */
export function kindOfReport(report: MailReport | null): ReportKind {
  if (report === null) return 'unknown';
  if (report.kind !== 'delivery-status') return report.kind;
  const actions = report.recipients.map(({ action }) => action);
  return actions.includes('failed') ? 'bounce' : actions.includes('delayed') ? 'delay' : 'delivered';
}

function readStructured(bytes: Buffer, leaves: readonly Leaf[]): MailReport | null {
  for (const leaf of leaves) {
    if (!isReportPart(leaf.contentType)) continue;
    const content = contentOf(bytes, leaf);
    const report = STATUS_TYPES.has(leaf.contentType) ? readDeliveryStatus(content) : readFeedback(content);
    if (report?.kind === 'delivery-status') return withText(report, statementIn(bytes, leaves));
    if (report !== null) return report;
  }
  return null;
}

/** Adds what only the text says: the server's words when the machine-readable part has none, and the refused command. */
function withText(report: DeliveryReport, statement: string): DeliveryReport {
  if (statement === '') return report;
  const read = readStatement(statement);
  const recipients = report.recipients.map((recipient) => {
    if (recipient.bounce === null) return recipient;
    const address = recipient.finalRecipient ?? recipient.originalRecipient ?? '';
    const said = read.diagnosisOf(address);
    return withReceiversRules(report.reportingMta, {
      ...recipient,
      diagnosticCode: recipient.diagnosticCode ?? (said.text === '' ? null : said.text),
      replyCode: recipient.replyCode ?? (recipient.diagnosticCode === null ? said.code : null),
      status:
        isGeneral(recipient.status) && recipient.diagnosticCode === null
          ? (said.status ?? recipient.status)
          : recipient.status,
      command: said.command,
    });
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
): RecipientReport {
  const found = withReason(report);
  const isRule = /^inbound-smtp\.[a-z0-9-]{1,40}\.amazonaws\.com$/i.test(reportingMta ?? '');
  return isRule && found.bounce === 'hard' ? { ...found, reason: 'recipient_rejected', bounce: 'soft' } : found;
}

/** Returns the report that has no machine-readable part; null when the message is none. */
async function readUnstructured(bytes: Buffer, leaves: readonly Leaf[]): Promise<MailReport | null> {
  const header = readHeaderSection(bytes);
  const statement = statementIn(bytes, leaves);
  const report = readUserFeedback(header, returnedHeader(bytes, leaves)) ?? readNotification(statement);
  if (report !== null) return report;
  const embedded = readEmbedded(statement) ?? readEmbeddedPart(bytes, leaves);
  if (embedded !== null) return withText(embedded, statement);
  const kind = kindOfText(header, statement, returnedHeader(bytes, leaves) !== null);
  if (kind === 'automatic-reply') return { kind };
  const said = readStatement(statement).diagnoses();
  if (isFromDaemon(header) && said.every(({ reason }) => reason === 'unknown')) {
    // A gateway may pass on the report of another server with a covering note.
    const passedOn = leaves.find(({ contentType }) => contentType === 'message/rfc822');
    const content = passedOn === undefined ? null : contentOf(bytes, passedOn);
    const inner = content === null ? null : readStructured(content, (await readParts(content)).leaves);
    if (inner !== null) return inner;
  }
  if (kind === null) return null;
  const action = kind === 'delay' ? 'delayed' : 'failed';
  const subject = said.every(({ reason }) => reason === 'unknown') ? diagnoseSubject(header) : null;
  const diagnoses = subject === null ? said : said.map(({ address }) => ({ ...subject, address }));
  return deliveryReport(diagnoses.map((one) => recipientOf(one, action)));
}

function deliveryReport(recipients: RecipientReport[]): DeliveryReport {
  return { kind: 'delivery-status', isStructured: false, reportingMta: null, recipients, originalMessageId: null };
}

/** Feedback in other formats: of Outlook.com (Junk Mail Reporting Program), and of Apple Mail for its user who unsubscribes. */
function readUserFeedback(header: HeaderSection, returned: HeaderSection | null): FeedbackReport | null {
  const complaining = returned === null ? null : valueOf(returned, 'x-hmxmroriginalrecipient');
  if (complaining !== null) return feedback('abuse', [complaining]);
  return /^true$/i.test(valueOf(header, 'x-apple-unsubscribe') ?? '') ? feedback('opt-out', []) : null;
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

function recipientOf(
  { address, text, code, status, reason, command }: Diagnosis,
  action: 'failed' | 'delayed',
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
    bounce: action === 'failed' && isHardReason(reason) ? 'hard' : 'soft',
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
    const text = contentOf(bytes, leaf).toString('latin1').trimStart();
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
    leaf === undefined ? '' : decodeCharset(contentOf(bytes, leaf).subarray(0, MAX_STATEMENT_BYTES), leaf.charset);
  const statement = statementOf(leaf?.contentType === 'text/html' ? (textOfHtml(text) ?? '') : text);
  if (statement !== '' || leaves.some(({ contentType }) => contentType.startsWith('message/'))) return statement;
  // Broken MIME (seen: a boundary that is not folded) hides the text.
  const start = endOfHeaderSection(bytes);
  return statementOf(bytes.toString('latin1', start, start + MAX_STATEMENT_BYTES));
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
  return {
    kind: 'delivery-status',
    isStructured: true,
    reportingMta: reportingMta ?? null,
    recipients,
    originalMessageId: null,
  };
}

/** Parses a message/feedback-report part; null when it has no type. Never throws. */
export function readFeedback(content: Buffer): FeedbackReport | null {
  // Here, blank lines do not separate groups of fields.
  const fields = readGroups(content).flatMap((group) => group.fields);
  const section: HeaderSection = { fields, isTruncated: false, hidesFrom: false };
  const feedbackType = valueOf(section, 'feedback-type')?.toLowerCase() ?? null;
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
    originalMailFrom: addressIn(valueOf(section, 'original-mail-from')),
    originalRecipients: [...new Set(recipients)].slice(0, MAX_RECIPIENT_REPORTS),
    originalMessageId: null,
  };
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
  const diagnosis = valueOf(group, 'diagnostic-code');
  const stated = valueOf(group, 'status');
  // Some servers name only the local part. The return address names the recipient then.
  const isRecipient = RECIPIENT_FIELDS.some((name) => firstField(group, name) !== null) || diagnosis !== null;
  const action = toAction(valueOf(group, 'action')) ?? (isRecipient ? actionOfStatus(stated) : null);
  if (action === null || !isRecipient) return null;
  const diagnosticCode = typedValue(diagnosis);
  const report = {
    finalRecipient,
    originalRecipient,
    action,
    status: toStatus(stated, diagnosticCode, action),
    diagnosticCode,
    replyCode: toReplyCode(diagnosis),
    remoteMta: typedValue(valueOf(group, 'remote-mta')),
    command: commandIn(diagnosticCode ?? ''),
  };
  return withReason(report, CATEGORIES[valueOf(group, 'x-powermta-bouncecategory')?.toLowerCase() ?? '']);
}

const RECIPIENT_FIELDS = ['final-recipient', 'original-recipient'] as const;

/** PowerMTA's own reading of the words, from its bounce patterns, which its operator can change. */
const CATEGORIES: Readonly<Record<string, RefusalReason>> = {
  'bad-mailbox': 'user_unknown',
  'bad-domain': 'host_unknown',
  'inactive-mailbox': 'mailbox_disabled',
  'quota-issues': 'mailbox_full',
  'spam-related': 'spam',
  'policy-related': 'policy',
  'virus-related': 'virus',
  'content-related': 'content_rejected',
  'relaying-issues': 'relay_denied',
  'invalid-sender': 'sender_rejected',
  'message-expired': 'expired',
  'no-answer-from-host': 'network_error',
  'bad-connection': 'network_error',
  'routing-errors': 'network_error',
};

function withReason(
  report: Omit<RecipientReport, 'reason' | 'bounce'>,
  category: RefusalReason = 'unknown',
): RecipientReport {
  const { action } = report;
  if (action !== 'failed' && action !== 'delayed') return { ...report, reason: null, bounce: null };
  const worded = reasonOf(report);
  const reason = worded === 'unknown' ? category : worded;
  return { ...report, reason, bounce: action === 'failed' && isHardReason(reason) ? 'hard' : 'soft' };
}

/** A status that the refusing server did not give is another server's summary, which its words outweigh. */
function reasonOf({
  status,
  diagnosticCode,
  replyCode: code,
  command,
}: Omit<RecipientReport, 'reason' | 'bounce'>): RefusalReason {
  const isSummary = diagnosticCode !== null && command === 'recipient' && !diagnosticCode.includes(status);
  const worded = isSummary ? refusalReason({ code: null, status: null, text: diagnosticCode, command }) : 'unknown';
  return worded === 'unknown' ? refusalReason({ code, status, text: diagnosticCode, command }) : worded;
}

/** Returns whether a status is that of a class only. */
function isGeneral(status: string): boolean {
  return status.endsWith('.0.0');
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

/** Returns the action that a status implies, for servers that leave the Action out; null when it has no class. */
function actionOfStatus(status: string | null): RecipientReport['action'] | null {
  const replied = /^[#([<]{0,2}([245])\.\d/.exec(status ?? '')?.[1];
  return replied === undefined ? null : replied === '5' ? 'failed' : replied === '4' ? 'delayed' : 'delivered';
}

/**
 * The diagnostic code repeats the server that refused the message; the status may only be general. Seen: no Status at all
 * (`X-LOCAL; 500 (err.nosuchuser)`), and comments after it.
 */
function toStatus(value: string | null, diagnosticCode: string | null, action: RecipientReport['action']): string {
  const stated = /^[#([<]{0,2}([245]\.\d{1,3}\.\d{1,3})(?!\d)/.exec(value ?? '')?.[1];
  const isFailure = action === 'failed' || action === 'delayed';
  const diagnosed = isFailure ? statusIn(diagnosticCode ?? '', true) : null;
  if (diagnosed !== null && !isGeneral(diagnosed)) return diagnosed;
  if (stated !== undefined) return stated;
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
  return toValue(decodeText(firstField(section, name)?.raw ?? ''));
}

/** Returns the text on one line, cut; null when it is empty. */
function toValue(text: string): string | null {
  const value = text.replace(/[\s\p{Cc}]+/gu, ' ');
  return value.trim() === '' ? null : value.slice(0, MAX_TEXT_LENGTH).toWellFormed().trim();
}
