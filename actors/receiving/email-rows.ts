import type { DmarcReport } from '../../core/domains/dmarc-report.ts';
import { receivedEventId } from '../../core/events/received-event.ts';
import { receivedMessageId } from '../../core/mime/message-id.ts';
import { PARSER_VERSION } from '../../core/mime/parse-message.ts';
import { baseSubject } from '../../core/mime/subject.ts';
import { emailParties } from '../../core/search/email-parties.ts';
import type { IdentifierKind } from '../../core/shared/identifiers.ts';
import type { NewDmarcReport } from '../../db/queries/domains/dmarc-write.ts';
import type { Reception } from '../../db/queries/emails/reception-claim.ts';
import type { EmailRows } from '../../db/queries/emails/store-received.ts';
import type { ParseOutcome } from './parse-messages.ts';

/** Characters of search text kept of one email. */
const MAX_SEARCH_TEXT = 8_000;

/**
 * Returns the rows of a received email. Without a usable Message-ID it gets `<EMAILID@hostname>`, so that every email can be replied to and
 * referred to.
 */
export function emailRows(
  reception: Pick<Reception, 'workspaceId' | 'emailId' | 'recipient'> &
    Partial<Pick<Reception, 'replyAddressId' | 'imported' | 'screening'>>,
  outcome: Pick<ParseOutcome, 'message' | 'authentication'>,
  mailHostname: string,
): EmailRows {
  const { message } = outcome;
  const { from, to, cc } = message.addresses;
  const sender = from?.addresses[0];
  const toAddresses = to?.addresses.map((mailbox) => mailbox.address) ?? [];
  const ccAddresses = cc?.addresses.map((mailbox) => mailbox.address) ?? [];
  return {
    workspace_id: reception.workspaceId,
    email_id: reception.emailId,
    event_id: receivedEventId(reception.emailId),
    message_id: receivedMessageId(message.messageId, reception.emailId, mailHostname),
    subject: message.subject,
    base_subject: baseSubject(message.subject),
    from_name: sender?.name ?? null,
    from_address: sender?.address ?? '',
    from_text: from?.text ?? '',
    to_addresses: toAddresses,
    cc_addresses: ccAddresses,
    preview: message.preview,
    date: message.date?.toISOString() ?? null,
    attachment_count: message.attachments.length,
    headers: message.headers,
    addresses: message.addresses,
    in_reply_to: message.inReplyTo,
    reference_ids: message.references,
    text_body: message.textBody,
    html_body: message.htmlBody,
    cleaned_text: message.cleanedText === message.textBody?.trim() ? null : message.cleanedText,
    cleaned_html: message.cleanedHtml,
    removed_parts: message.removedParts,
    attachments: message.attachments,
    authentication: outcome.authentication,
    injection: message.injection,
    ...(reception.screening == null ? {} : { screening: reception.screening }),
    priority: message.priority,
    is_truncated: message.isTruncated,
    parse_error: message.parseError,
    parser_version: PARSER_VERSION,
    search_text: [message.subject, from?.text ?? '', reception.recipient, ...toAddresses, ...ccAddresses]
      .join('\n')
      .slice(0, MAX_SEARCH_TEXT)
      .toWellFormed()
      .toLowerCase(),
    parties: emailParties(from?.addresses.map((mailbox) => mailbox.address) ?? []),
    ...(reception.replyAddressId == null && reception.imported == null ? {} : { is_unusual: true as const }),
  };
}

/** Returns the row of a report that arrived with this reception. */
export function dmarcRow(
  { workspaceId, emailId }: Pick<Reception, 'workspaceId' | 'emailId'>,
  report: DmarcReport,
  makeId: (kind: IdentifierKind) => string,
): NewDmarcReport {
  return {
    workspace_id: workspaceId,
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
