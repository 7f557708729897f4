import type { RecipientStatus } from '../smtp/delivery-status.ts';
import type { RecipientReport } from './delivery-status-part.ts';
import type { FeedbackReport } from './parse-bounce.ts';

/**
 * Returns the new status of a reported recipient; null when it does not change. A failure changes it, a delay does not. A second report
 * has no effect.
 */
export function statusAfterReport(current: RecipientStatus, report: RecipientReport): 'bounced' | null {
  return report.action === 'failed' && (current === 'pending' || current === 'delivered') ? 'bounced' : null;
}

/**
 * Returns whether the address of a bounced recipient should be suppressed: an unknown user or host, whatever the codes say. A server that
 * gave up after temporary refusals of an unknown user says so in a report of a failure, too.
 */
export function suppressedByReport(report: RecipientReport): boolean {
  return report.action === 'failed' && report.bounce === 'hard';
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
