import type { DeliveryReport, RecipientReport } from '../../core/mime/delivery-status-part.ts';
import type { FeedbackReport } from '../../core/mime/parse-bounce.ts';
import {
  complainingRecipients,
  reportedRecipients,
  statusAfterReport,
  suppressedByReport,
} from '../../core/mime/report-effects.ts';
import type { ReportEvent, ReportedChange, ReportRecipient } from '../../db/queries/sending/apply-bounce.ts';
import type { SuppressionRecord } from '../../db/queries/sending/suppression-list.ts';

/** The outcome of a report: rows that are written together. */
export interface ReportOutcome {
  changes: ReportedChange[];
  suppressions: Pick<SuppressionRecord, 'address' | 'reason' | 'detail' | 'refusal_reason'>[];
  events: ReportEvent[];
}

/**
 * Returns the outcome of a delivery report. A failure settles its recipient. A delay is recorded and does not change the recipient's
 * status. Applying the same report again changes nothing.
 */
export function outcomeOfDeliveryReport(
  report: DeliveryReport,
  recipients: readonly ReportRecipient[],
  returnId: string,
): ReportOutcome {
  const outcome: ReportOutcome = { changes: [], suppressions: [], events: [] };
  const changed = new Set<string>();
  const reported = reportedRecipients(report.recipients, recipients, returnId);
  for (const [at, one] of report.recipients.entries()) {
    const recipient = reported[at];
    // The first useful word per recipient: a report repeats a recipient for each address that the mail was forwarded to.
    if (recipient == null || changed.has(recipient.id)) continue;
    const text = describeReport(one, report);
    const kind = findKind(one, recipient, text);
    if (kind === null) continue;
    changed.add(recipient.id);
    outcome.changes.push({ id: recipient.id, kind, status: one.status, text, reason: one.reason });
    outcome.events.push({
      kind: `email.${kind}`,
      data: {
        recipient: recipient.address,
        code: one.replyCode,
        status: one.status,
        text,
        bounceType: one.bounce,
        reason: one.reason,
      },
    });
    if (kind === 'bounced' && suppressedByReport(one))
      outcome.suppressions.push({
        address: recipient.address,
        reason: 'bounce',
        detail: text,
        refusal_reason: one.reason,
      });
  }
  return outcome;
}

/** Returns the outcome of a complaint: each recipient that complains is suppressed. */
export function outcomeOfComplaint(
  report: FeedbackReport,
  recipients: readonly ReportRecipient[],
  returnId: string,
): ReportOutcome {
  const outcome: ReportOutcome = { changes: [], suppressions: [], events: [] };
  const text = `Complaint: ${report.feedbackType}`;
  for (const { id, address, isComplainedOf } of complainingRecipients(report, recipients, returnId)) {
    if (isComplainedOf) continue;
    outcome.changes.push({ id, kind: 'complained', status: null, text: null, reason: null });
    outcome.suppressions.push({ address, reason: 'complaint', detail: text, refusal_reason: null });
    outcome.events.push({
      kind: 'email.complained',
      data: { recipient: address, code: null, status: null, text, complaintType: report.feedbackType },
    });
  }
  return outcome;
}

function findKind(report: RecipientReport, recipient: ReportRecipient, text: string): 'bounced' | 'delayed' | null {
  const next = statusAfterReport(recipient.status, report);
  if (next !== null) return next;
  const isOpen = recipient.status === 'pending' || recipient.status === 'delivered';
  const isNews = recipient.lastStatus !== report.status || recipient.lastText !== text;
  return report.action === 'delayed' && isOpen && isNews ? 'delayed' : null;
}

function describeReport({ diagnosticCode, status }: RecipientReport, { reportingMta }: DeliveryReport): string {
  if (diagnosticCode !== null) return diagnosticCode;
  return reportingMta === null ? `Reported with status ${status}` : `Reported by ${reportingMta} with status ${status}`;
}
