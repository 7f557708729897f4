import { UserError } from '../../core/shared/errors.ts';
import type { OperationContext } from '../../operations/context.ts';
import { readDmarcReport } from '../../operations/domains/dmarc-reports.ts';
import { readDomain } from '../../operations/domains/domains.ts';
import { readEmail } from '../../operations/emails/emails.ts';
import { readDelivery } from '../../operations/endpoints/deliveries.ts';
import { loadEndpoints } from '../../operations/endpoints/endpoints.ts';
import type { FeedEvent } from '../../operations/events/events.ts';
import { readThread } from '../../operations/threads/threads.ts';
import { dmarcReportBodyOf } from '../rest/domains/dmarc-reports.ts';
import { domainDetailsOf } from '../rest/domains/domain-wire.ts';
import { emailBodyOf } from '../rest/emails/email-wire.ts';
import { readSenderFindings } from '../rest/emails/sender-findings.ts';
import { writeDelivery } from '../rest/endpoints/deliveries.ts';
import { endpointBodyOf } from '../rest/endpoints/endpoint-wire.ts';
import { readApproval } from '../rest/sending/approvals.ts';
import { threadAnswerOf } from '../rest/threads/threads.ts';

/** What an event is about. */
export type EventSubject = Record<string, unknown>;

/**
 * Returns the subject of an event in its current state, as its GET route shows it; events about a recipient have it as `recipient`. Null
 * when it was deleted. An endpoint is shown without its secrets, because it is shown to others.
 */
export async function readEventSubject(context: OperationContext, event: FeedEvent): Promise<EventSubject | null> {
  try {
    return await subjectOf(context, event);
  } catch (error) {
    if (error instanceof UserError && error.code === 'not_found') return null;
    throw error;
  }
}

async function subjectOf(context: OperationContext, event: FeedEvent): Promise<EventSubject | null> {
  const { emailId, threadId, deliveryId, endpointId, domainId, data } = event;
  const { publicUrl } = context.settings;
  const { dmarcReportId } = data;
  if (event.kind.startsWith('dmarc.') && typeof dmarcReportId === 'string' && domainId !== null) {
    const report = await readDmarcReport(context, domainId, dmarcReportId);
    return { ...dmarcReportBodyOf(report), records: report.records };
  }
  if (event.kind.startsWith('thread.') && threadId !== null)
    return threadAnswerOf(await readThread(context, threadId), publicUrl);
  if (deliveryId !== null) return writeDelivery(context, await readDelivery(context, deliveryId));
  if (emailId !== null) {
    const email = await readEmail(context, emailId);
    const body = emailBodyOf(email, publicUrl);
    const findings = await readSenderFindings(context, email);
    const shown = { ...body, ...findings, approval: await readApproval(context, email) };
    const { recipient } = data;
    if (typeof recipient !== 'string') return shown;
    return {
      ...shown,
      recipient: body.recipients.find(({ address }) => address === recipient) ?? { address: recipient },
    };
  }
  if (endpointId !== null) {
    const [endpoint] = await loadEndpoints(context, [endpointId]);
    if (endpoint == null) return null;
    const { headers: _, verificationToken: __, ...config } = endpoint.config;
    return endpointBodyOf({ ...endpoint, config }, context.userId);
  }
  if (domainId !== null) return domainDetailsOf(await readDomain(context, domainId), context.userId);
  return null;
}
