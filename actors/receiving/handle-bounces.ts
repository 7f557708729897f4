import type { ClientBase } from 'pg';
import type { Logger } from 'pino';
import type { DeliveryReport } from '../../core/mime/delivery-status-part.ts';
import type { FeedbackReport, MailReport } from '../../core/mime/parse-bounce.ts';
import type { IdentifierKind } from '../../core/shared/identifiers.ts';
import { isReturnAddress, readReturnAddress } from '../../core/smtp/return-address.ts';
import type { Database } from '../../db/connection/database.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { isTransient } from '../../db/errors.ts';
import type { Reception } from '../../db/queries/emails/reception-claim.ts';
import { settleForwards } from '../../db/queries/endpoints/forward-settle.ts';
import * as reports from '../../db/queries/sending/apply-bounce.ts';
import { suppressAddresses } from '../../db/queries/sending/suppression-list.ts';
import { outcomeOfComplaint, outcomeOfDeliveryReport } from './bounce-outcome.ts';
import { readMailbox } from './check-recipient.ts';
import type { ParseOutcome } from './parse-messages.ts';

export interface ReportOptions {
  database: Database;
  log: Logger;
  /** the process that holds the leases */
  claimant: string;
  /** see core/smtp/return-address.ts */
  returnAddressKey: Uint8Array;
  makeId: (kind: IdentifierKind) => string;
  /** called after the commit with the last sequence number of a user's event feed */
  onEvents: (workspaceId: string, lastSeq: number) => void;
}

export interface ParsedWithReport {
  reception: Reception;
  outcome: ParseOutcome;
}

/**
 * Applies the trustworthy bounce reports and complaints among parsed messages, and returns the messages to store as mail. A report sent to
 * one of our return addresses is trusted and creates no email: its reception is finished here. If it was read from its text and has a
 * sender, unlike the reports of mail servers (RFC 5321 §4.5.5), it is stored as well, in case it is a person's mail. A complaint sent to
 * an ordinary address is trusted when it contains one of our return addresses, and is stored as well. All other mail is only stored,
 * automatic replies and imported reports too. Safe to run twice. Throws when PostgreSQL is unreachable.
 */
export async function takeReports<T extends ParsedWithReport>(
  options: ReportOptions,
  parsed: readonly T[],
): Promise<T[]> {
  const mail: T[] = [];
  for (const each of parsed) {
    const isNews = each.outcome.report !== null && each.reception.imported === null;
    if (!isNews || !(await isTaken(options, each))) mail.push(each);
  }
  return mail;
}

/** Whether the report was applied and there is nothing to store. */
async function isTaken(options: ReportOptions, { reception, outcome }: ParsedWithReport): Promise<boolean> {
  const believed = outcome.report === null ? null : believe(options, reception, outcome.report);
  if (believed === null) return false;
  try {
    return await apply(options, reception, believed);
  } catch (error) {
    if (isTransient(error)) throw error;
    options.log.error({ err: error, emailId: reception.emailId }, 'report could not be applied, stored as mail');
    return false;
  }
}

interface Believed {
  report: DeliveryReport | FeedbackReport;
  /** the recipient that the return address was made for */
  returnId: string;
  /** whether the message is a report and nothing else, so that it creates no email */
  isOnlyReport: boolean;
}

function believe(options: ReportOptions, reception: Reception, report: MailReport): Believed | null {
  if (report.kind === 'automatic-reply' || (report.kind === 'feedback' && !report.isComplaint)) return null;
  const addressed = findRecipient(options, reception.recipient);
  if (addressed !== null)
    return { report, returnId: addressed, isOnlyReport: report.isStructured || reception.reversePath === '' };
  const borne = report.kind === 'feedback' ? findRecipient(options, report.originalMailFrom ?? '') : null;
  return borne === null ? null : { report, returnId: borne, isOnlyReport: false };
}

function findRecipient({ returnAddressKey }: ReportOptions, address: string): string | null {
  const exact = readMailbox(address)?.exact ?? '';
  return isReturnAddress(exact) ? readReturnAddress(returnAddressKey, exact) : null;
}

async function apply(options: ReportOptions, reception: Reception, believed: Believed): Promise<boolean> {
  const { database, claimant, makeId } = options;
  const { report, returnId, isOnlyReport } = believed;
  const { workspaceId, emailId: receptionId } = reception;
  const { isDone, lastSeq } = await inTransaction(database, async (client) => {
    const recipients = await reports.lockReportRecipients(client, workspaceId, returnId);
    const [first] = recipients;
    if (first === undefined) return { isDone: false, lastSeq: null };
    if (isOnlyReport && !(await reports.finishReportReception(client, workspaceId, receptionId, claimant)))
      return { isDone: true, lastSeq: null };
    const { changes, suppressions, events } =
      report.kind === 'feedback'
        ? outcomeOfComplaint(report, recipients, returnId)
        : outcomeOfDeliveryReport(report, recipients, returnId);
    await reports.changeReported(client, workspaceId, changes);
    await suppressAddresses(
      client,
      suppressions.map((one) => ({
        ...one,
        workspace_id: workspaceId,
        id: makeId('suppression'),
        email_id: first.emailId,
      })),
    );
    const hasBounced = changes.some((change) => change.kind === 'bounced');
    const told = await settle(client, workspaceId, first, { hasBounced, events });
    const stamped = told.map((event) => ({ ...event, id: makeId('event') }));
    return { isDone: isOnlyReport, lastSeq: await reports.appendReportEvents(client, workspaceId, stamped) };
  });
  if (lastSeq !== null) options.onEvents(workspaceId, lastSeq);
  return isDone;
}

/** Updates what depends on the recipients. Returns the events: for a forwarded copy those of its delivery, and complaints. */
async function settle(
  client: ClientBase,
  workspaceId: string,
  { emailId, deliveryId, threadId }: reports.ReportRecipient,
  { hasBounced, events }: { hasBounced: boolean; events: readonly reports.ReportEvent[] },
): Promise<object[]> {
  if (deliveryId === null) {
    if (hasBounced) await reports.refreshReported(client, workspaceId, emailId);
    return events.map((event) => ({ ...event, emailId, threadId }));
  }
  const forwards = hasBounced ? await settleForwards(client, [{ workspaceId, deliveryId }]) : [];
  const complaints = events.filter(({ kind }) => kind === 'email.complained');
  return [
    ...complaints.map((event) => ({ ...event, emailId, threadId, deliveryId })),
    ...forwards.map(({ event }) => event),
  ];
}
