import { isAuditKind, type PostedKind } from '../../core/events/event-kinds.ts';
import { auditResource } from '../../operations/accounts/audit-capability.ts';
import { loadAuditEntries } from '../../operations/accounts/audit-log.ts';
import type { OperationContext } from '../../operations/context.ts';
import { readDmarcReports } from '../../operations/domains/dmarc-reports.ts';
import { readDomains } from '../../operations/domains/domains.ts';
import { readEmails } from '../../operations/emails/emails.ts';
import { readDeliveries } from '../../operations/endpoints/deliveries.ts';
import { loadEndpoints } from '../../operations/endpoints/endpoints.ts';
import type { FeedEvent } from '../../operations/events/events.ts';
import { readThreads } from '../../operations/threads/threads.ts';
import { writeDmarcReport } from '../rest/domains/dmarc-reports.ts';
import { makeDomainDetails } from '../rest/domains/domain-wire.ts';
import { makeEmailBody } from '../rest/emails/email-wire.ts';
import { readSenderFindings } from '../rest/emails/sender-findings.ts';
import { writeDelivery } from '../rest/endpoints/deliveries.ts';
import { writeEndpoint } from '../rest/endpoints/endpoints.ts';
import { readApprovals } from '../rest/sending/approvals.ts';
import { makeThreadBody } from '../rest/threads/threads.ts';
import { plainWireObject } from '../rest/wire-object.ts';

/** An event of the feed, or of the audit log. */
export type PostableEvent = Omit<FeedEvent, 'kind'> & { kind: PostedKind };

/** What an event is about. */
type EventSubject = Record<string, unknown>;

type Subjects = Promise<(EventSubject | null)[]>;

/** What events are about. */
type SubjectKind = 'auditEntry' | 'dmarcReport' | 'thread' | 'delivery' | 'email' | 'endpoint' | 'domain';

/**
 * Returns the subject of each event in its current state, as its GET route shows it; events about a recipient have it as `recipient`. Null
 * where it was deleted. An endpoint is shown without its secrets, because it is shown to others. Subjects of one kind are read together.
 */
export async function readEventSubjects(context: OperationContext, events: readonly PostableEvent[]): Subjects {
  const subjects = new Map<PostableEvent, EventSubject | null>();
  for (const [kind, group] of Map.groupBy(events, subjectKind)) {
    const read = kind === null ? [] : await readers[kind](context, group);
    for (const [at, event] of group.entries()) subjects.set(event, read[at] ?? null);
  }
  return events.map((event) => subjects.get(event) ?? null);
}

function subjectKind({
  kind,
  emailId,
  threadId,
  deliveryId,
  endpointId,
  domainId,
  data,
}: PostableEvent): SubjectKind | null {
  if (isAuditKind(kind)) return 'auditEntry';
  if (kind.startsWith('dmarc.') && typeof data['dmarcReportId'] === 'string' && domainId !== null) return 'dmarcReport';
  if (kind.startsWith('thread.') && threadId !== null) return 'thread';
  if (deliveryId !== null) return 'delivery';
  if (emailId !== null) return 'email';
  if (endpointId !== null) return 'endpoint';
  return domainId === null ? null : 'domain';
}

const auditObject = plainWireObject(auditResource, 'snake');

const readers: Readonly<
  Record<SubjectKind, (context: OperationContext, events: readonly PostableEvent[]) => Subjects>
> = {
  async auditEntry(context, events) {
    const entries = await loadAuditEntries(
      context,
      events.map(({ id }) => id.replace(/^evt_/, 'aud_')),
    );
    return entries.map((entry) => (entry === null ? null : auditObject.writeRow(context, entry)));
  },
  async dmarcReport(context, events) {
    const ids = events.map(({ data }) => String(data['dmarcReportId']));
    const reports = await readDmarcReports(context, ids);
    return events.map(({ domainId }, at) => {
      const report = reports[at];
      return report?.domainId !== domainId ? null : writeDmarcReport(context, report);
    });
  },
  async thread(context, events) {
    const { publicUrl } = context.settings;
    const threads = await readThreads(context, given(events, 'threadId'));
    return threads.map((thread) => (thread === null ? null : makeThreadBody(thread, publicUrl)));
  },
  async delivery(context, events) {
    const deliveries = await readDeliveries(context, given(events, 'deliveryId'));
    return deliveries.map((delivery) => (delivery === null ? null : writeDelivery(context, delivery)));
  },
  email: readEmailSubjects,
  async endpoint(context, events) {
    const endpoints = await loadEndpoints(context, given(events, 'endpointId'));
    return endpoints.map((endpoint) => {
      if (endpoint === null) return null;
      const { headers: _, verificationToken: __, ...config } = endpoint.config;
      return writeEndpoint(context, { ...endpoint, config });
    });
  },
  async domain(context, events) {
    const domains = await readDomains(context, given(events, 'domainId'));
    return domains.map((domain) => (domain === null ? null : makeDomainDetails(domain, context.workspaceId)));
  },
};

/** Returns the id of the event of an entry of the audit log. */
export function makeAuditEventId(entryId: string): string {
  return entryId.replace(/^aud_/, 'evt_');
}

function given(
  events: readonly PostableEvent[],
  field: 'threadId' | 'deliveryId' | 'endpointId' | 'domainId' | 'emailId',
): string[] {
  return events.map((event) => event[field] ?? '');
}

async function readEmailSubjects(context: OperationContext, events: readonly PostableEvent[]): Subjects {
  const { publicUrl } = context.settings;
  const ids = [...new Set(given(events, 'emailId'))];
  const emails = (await readEmails(context, ids)).filter((email) => email !== null);
  const findings = await readSenderFindings(context, emails);
  const approvals = await readApprovals(context, emails);
  const shown = new Map(
    emails.map((email, at) => {
      const body = makeEmailBody(email, publicUrl);
      return [email.id, { body, details: { ...body, ...findings[at], approval: approvals[at] ?? null } }];
    }),
  );
  return events.map(({ emailId, data: { recipient } }) => {
    const email = shown.get(emailId ?? '');
    if (email === undefined) return null;
    if (typeof recipient !== 'string') return email.details;
    const known = email.body.recipients.find(({ address }) => address === recipient);
    return { ...email.details, recipient: known ?? { address: recipient } };
  });
}
