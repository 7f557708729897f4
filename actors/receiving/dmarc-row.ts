import type { DmarcReport } from '../../core/domains/dmarc-report.ts';
import type { IdentifierKind } from '../../core/shared/identifiers.ts';
import type { NewDmarcReport } from '../../db/queries/domains/dmarc-write.ts';
import type { Reception } from '../../db/queries/emails/reception.ts';

/** Returns the row of a report that arrived with this reception. */
export function dmarcRow(
  { userId, emailId }: Pick<Reception, 'userId' | 'emailId'>,
  report: DmarcReport,
  makeId: (kind: IdentifierKind) => string,
): NewDmarcReport {
  return {
    user_id: userId,
    email_id: emailId,
    id: makeId('dmarcReport'),
    event_id: makeId('event'),
    domain: report.policy.domain,
    organization: report.organization,
    report_id: report.reportId,
    begins_at: report.begin.toISOString(),
    ends_at: report.end.toISOString(),
    policy: report.policy,
    records: report.records,
    message_count: report.messageCount,
    aligned_count: report.alignedCount,
    is_truncated: report.isTruncated,
  };
}
