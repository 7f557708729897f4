import { isHardReason, type RefusalReason } from '../sending/refusal-advice.ts';
import { type RefusedCommand, refusalReason } from '../sending/refusal-reason.ts';
import { decodeText, firstField, type HeaderSection, readHeaderSection } from './header-fields.ts';
import { commandIn, statusIn } from './report-text.ts';

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

/** Maximum recipients read per report. */
export const MAX_RECIPIENT_REPORTS = 200;

const MAX_TEXT_LENGTH = 1_000;

const MAX_ADDRESS_LENGTH = 320;

/**
 * Parses a message/delivery-status part; null when it reports no recipient. Never throws. `sentTo`: the only recipient of the message as far as
 * it is known, for reports that name none.
 */
export function readDeliveryStatus(content: Buffer, sentTo: string | null = null): DeliveryReport | null {
  const groups = readGroups(content);
  const recipients = groups
    .map((group) => readRecipient(group, sentTo))
    .filter((report) => report !== null)
    .slice(0, MAX_RECIPIENT_REPORTS);
  if (recipients.length === 0) return null;
  const reportingMta = groups.map((group) => typedValue(readField(group, 'reporting-mta'))).find((mta) => mta !== null);
  return {
    kind: 'delivery-status',
    isStructured: true,
    reportingMta: reportingMta ?? null,
    recipients,
    originalMessageId: null,
  };
}

/** Splits fields into groups at blank lines; some servers add MIME fields to each. */
export function readGroups(content: Buffer): HeaderSection[] {
  return content
    .toString('latin1')
    .split(/\r?\n(?:[ \t]*\r?\n)+/)
    .slice(0, MAX_RECIPIENT_REPORTS + 2)
    .map((group) => readHeaderSection(Buffer.from(`${group.replace(/^\s+/, '')}\n\n`, 'latin1')));
}

function readRecipient(group: HeaderSection, sentTo: string | null): RecipientReport | null {
  const finalRecipient = addressIn(typedValue(readField(group, 'final-recipient')));
  const originalRecipient = addressIn(typedValue(readField(group, 'original-recipient')));
  const diagnosis = readField(group, 'diagnostic-code') ?? readSupplement(group);
  const stated = readField(group, 'status');
  // Some servers name only the local part. The return address names the recipient then.
  const isRecipient = RECIPIENT_FIELDS.some((name) => firstField(group, name) !== null) || diagnosis !== null;
  const action = toAction(readField(group, 'action')) ?? (isRecipient ? actionOfStatus(stated) : null);
  if (action === null || !isRecipient) return null;
  const diagnosticCode = typedValue(diagnosis);
  const report = {
    finalRecipient,
    originalRecipient,
    action,
    status: toStatus(stated, diagnosticCode, action),
    diagnosticCode,
    replyCode: toReplyCode(diagnosis),
    remoteMta: typedValue(readField(group, 'remote-mta')),
    command: commandIn(diagnosticCode ?? ''),
  };
  return withReason(report, CATEGORIES[readField(group, 'x-powermta-bouncecategory')?.toLowerCase() ?? ''], sentTo);
}

/** Exchange without a Diagnostic-Code: `X-Supplementary-Info: <192.0.2.7 #5.0.0 smtp; 550 "Unknown User">`. Null when it is missing. */
function readSupplement(group: HeaderSection): string | null {
  const said = /^<[^<>;]{0,300}?(smtp *;.*?)>?$/i.exec(readField(group, 'x-supplementary-info') ?? '')?.[1];
  return said ?? null;
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

export function withReason(
  report: Omit<RecipientReport, 'reason' | 'bounce'>,
  category: RefusalReason = 'unknown',
  sentTo: string | null = null,
): RecipientReport {
  const { action } = report;
  if (action !== 'failed' && action !== 'delayed') return { ...report, reason: null, bounce: null };
  const worded = findReason(report, report.originalRecipient ?? report.finalRecipient ?? sentTo);
  const reason = worded === 'unknown' ? category : worded;
  return { ...report, reason, bounce: action === 'failed' && isHardReason(reason) ? 'hard' : 'soft' };
}

/** A status that the refusing server did not give is another server's summary, which its words outweigh. */
function findReason(
  { status, diagnosticCode, replyCode: code, command }: Omit<RecipientReport, 'reason' | 'bounce'>,
  recipient: string | null,
): RefusalReason {
  const isSummary = diagnosticCode !== null && command === 'recipient' && !diagnosticCode.includes(status);
  const worded = isSummary
    ? refusalReason({ code: null, status: null, text: diagnosticCode, command, recipient })
    : 'unknown';
  if (worded !== 'unknown') return worded;
  // The words of a summary gave no reason; they are not searched twice.
  return refusalReason({ code, status, text: isSummary ? null : diagnosticCode, command, recipient });
}

/** Returns whether a status is that of a class only. */
export function isGeneral(status: string): boolean {
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
export function toStatus(
  value: string | null,
  diagnosticCode: string | null,
  action: RecipientReport['action'],
): string {
  const stated = /^[#([<]{0,2}([245]\.\d{1,3}\.\d{1,3})(?!\d)/.exec(value ?? '')?.[1];
  const isFailure = action === 'failed' || action === 'delayed';
  const diagnosed = isFailure ? statusIn(diagnosticCode ?? '', true) : null;
  if (diagnosed !== null && !isGeneral(diagnosed)) return diagnosed;
  if (stated !== undefined) return stated;
  const replied = /^([245])\d\d(?!\d)/.exec(diagnosticCode ?? '')?.[1];
  return `${replied ?? CLASS_OF_ACTION[action]}.0.0`;
}

export const CLASS_OF_ACTION = { failed: 5, delayed: 4, delivered: 2, relayed: 2, expanded: 2 } as const;

/** Other systems have error numbers that are not SMTP replies (seen: `X-LOCAL; 500 (err.nosuchuser)`). */
export function toReplyCode(diagnosis: string | null): number | null {
  const code = /^(?:smtp *; *)?([245]\d\d)(?!\d)/i.exec(diagnosis ?? '')?.[1];
  return code === undefined ? null : Number(code);
}

/** Removes the type of `rfc822; joe@example.com` (RFC 3464 §2.1.2). */
export function typedValue(value: string | null): string | null {
  const content = value?.replace(/^[a-z0-9-]{1,40} *; */i, '') ?? '';
  return content === '' ? null : content;
}

export function addressIn(value: string | null): string | null {
  const address = (/<([^<>]*)>/.exec(value ?? '')?.[1] ?? value ?? '').trim();
  return address.includes('@') && address.length <= MAX_ADDRESS_LENGTH && !/\s/.test(address) ? address : null;
}

export function readField(section: HeaderSection, name: string): string | null {
  return toValue(decodeText(firstField(section, name)?.raw ?? ''));
}

/** Returns the text on one line, cut; null when it is empty. */
export function toValue(text: string): string | null {
  const value = text.replace(/[\s\p{Cc}]+/gu, ' ');
  return value.trim() === '' ? null : value.slice(0, MAX_TEXT_LENGTH).toWellFormed().trim();
}
