import type { Transaction } from 'kysely';
import { alignedPercent, dmarcAdvice } from '../../core/domains/dmarc-advice.ts';
import type { DmarcPolicy, DmarcRecord } from '../../core/domains/dmarc-report.ts';
import { DAY_MS } from '../../core/shared/durations.ts';
import { UserError } from '../../core/shared/errors.ts';
import type { KeysetPage, Page } from '../../core/shared/page.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import type { Tables } from '../../db/entities/tables.ts';
import * as lists from '../../db/queries/domains/dmarc-list.ts';
import { isValidId, type OperationContext } from '../context.ts';

export type DmarcReport = lists.StoredDmarcReport;

/** Summary of the reports on a domain of the last {@link SUMMARY_DAYS} days. */
export interface DmarcSummary {
  domain: string;
  since: Date;
  until: Date;
  reportCount: number;
  messages: number;
  /** of these, the number that passed DMARC */
  aligned: number;
  /** one decimal; null without messages */
  alignedPercent: number | null;
  /** as the latest report saw it; null without reports */
  policy: DmarcPolicy | null;
  /** most mail first, at most 100 */
  sources: lists.DmarcSource[];
  /** the next step towards a stricter policy, as text */
  advice: string;
  /** whether the sources cover only part of the mail */
  isTruncated: boolean;
}

export const SUMMARY_DAYS = 30;

/** Returns a page of a domain's reports, newest first, with the exact total. Throws not_found. */
export function listDmarcReports(
  context: OperationContext,
  domainId: string,
  page: Page,
): Promise<{ rows: DmarcReport[]; total: number }> {
  return onDomain(context, domainId, (transaction) =>
    lists.listDmarcReports(transaction, context.workspaceId, domainId, page),
  );
}

/** Returns a page of reports for each domain, newest first; inverted: oldest first. */
export async function pageDmarcReports(
  { database, workspaceId }: OperationContext,
  domainIds: readonly string[],
  page: KeysetPage,
): Promise<DmarcReport[][]> {
  const byDomain = await asWorkspace(database, workspaceId, (transaction) =>
    lists.pageReportsOfDomains(transaction, workspaceId, domainIds, page),
  );
  return domainIds.map((id) => byDomain.get(id) ?? []);
}

/** Returns the number of reports on each domain. */
export async function countDmarcReports(
  { database, workspaceId }: OperationContext,
  domainIds: readonly string[],
): Promise<number[]> {
  const counts = await asWorkspace(database, workspaceId, (transaction) =>
    lists.countReportsOfDomains(transaction, workspaceId, domainIds),
  );
  return domainIds.map((id) => counts.get(id) ?? 0);
}

/** Returns one report per id, null where the user has none. */
export async function loadDmarcReports(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<(DmarcReport | null)[]> {
  const reports = await asWorkspace(database, workspaceId, (transaction) =>
    lists.findDmarcReports(transaction, workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(reports.map((report) => [report.id, report]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Returns a page of records for each report, in report order. */
export async function loadDmarcRecords(
  { database, workspaceId }: OperationContext,
  reportIds: readonly string[],
  page: Page,
): Promise<DmarcRecord[][]> {
  const byReport = await asWorkspace(database, workspaceId, (transaction) =>
    lists.findDmarcRecords(transaction, workspaceId, reportIds, page),
  );
  return reportIds.map((id) => byReport.get(id) ?? []);
}

/** Returns a report with its records. Throws not_found. */
export function readDmarcReport(
  context: OperationContext,
  domainId: string,
  id: string,
): Promise<lists.WholeDmarcReport> {
  return onDomain(context, domainId, async (transaction) => {
    const [found] = isValidId(id) ? await lists.readDmarcReports(transaction, context.workspaceId, [id]) : [];
    if (found?.domainId !== domainId) throw new UserError('not_found', 'DMARC report not found');
    return found;
  });
}

/** Returns one report per id with its records, null where the user has none. */
export async function readDmarcReports(
  { database, workspaceId }: OperationContext,
  ids: readonly string[],
): Promise<(lists.WholeDmarcReport | null)[]> {
  const reports = await asWorkspace(database, workspaceId, (transaction) =>
    lists.readDmarcReports(transaction, workspaceId, ids.filter(isValidId)),
  );
  const byId = new Map(reports.map((report) => [report.id, report]));
  return ids.map((id) => byId.get(id) ?? null);
}

/** Throws not_found. */
export function summarizeDmarc(context: OperationContext, domainId: string): Promise<DmarcSummary> {
  const until = context.now();
  const since = new Date(until.getTime() - SUMMARY_DAYS * DAY_MS);
  return onDomain(context, domainId, async (transaction, domain) => {
    const summed = await lists.sumDmarcReports(transaction, context.workspaceId, domainId, since);
    const { reportCount, messages, aligned, begin, end, policy } = summed.totals;
    const days = begin === null || end === null ? 0 : Math.round((end.getTime() - begin.getTime()) / DAY_MS);
    const worst =
      summed.worst === null
        ? null
        : { sourceIp: summed.worst.sourceIp, failed: summed.worst.count - summed.worst.alignedCount };
    return {
      domain,
      since,
      until,
      reportCount,
      messages,
      aligned,
      alignedPercent: alignedPercent({ messages, aligned }),
      policy,
      sources: summed.sources,
      advice: dmarcAdvice({ domain, policy: policy?.p ?? null, reportCount, days, messages, aligned, worst }),
      isTruncated: summed.isTruncated,
    };
  });
}

function onDomain<T>(
  { database, workspaceId }: OperationContext,
  domainId: string,
  work: (transaction: Transaction<Tables>, name: string) => Promise<T>,
): Promise<T> {
  return asWorkspace(database, workspaceId, async (transaction) => {
    const name = isValidId(domainId) ? await lists.findDomainName(transaction, workspaceId, domainId) : null;
    if (name === null) throw new UserError('not_found', 'Domain not found');
    return work(transaction, name);
  });
}
