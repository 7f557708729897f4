import type { Transaction } from 'kysely';
import { alignedPercent, dmarcAdvice } from '../core/dmarc-advice.ts';
import type { DmarcPolicy, DmarcRecord } from '../core/dmarc-report.ts';
import { UserError } from '../core/errors.ts';
import type { Page } from '../core/page.ts';
import { asUser } from '../db/database.ts';
import * as lists from '../db/queries/dmarc-list.ts';
import type { Tables } from '../db/tables.ts';
import { isAskable, type OperationContext } from './context.ts';

export type DmarcReport = lists.StoredDmarcReport;

/** What the reports of the last {@link SUMMARY_DAYS} days say of a domain. */
export interface DmarcSummary {
  domain: string;
  since: Date;
  until: Date;
  reportCount: number;
  messages: number;
  /** of these, those that passed DMARC */
  aligned: number;
  /** one digit; null without messages */
  alignedPercent: number | null;
  /** as receivers saw it last; null without reports */
  policy: DmarcPolicy | null;
  /** those of most mail first, at most 100 */
  sources: lists.DmarcSource[];
  /** what is missing before the next stricter policy, in words */
  advice: string;
  /** whether the sources are those of a part of the mail only */
  isTruncated: boolean;
}

export const SUMMARY_DAYS = 30;
const DAY_MS = 86_400_000;

/** A page of a domain's reports, the newest time first, with the exact total. Throws not_found. */
export function listDmarcReports(
  context: OperationContext,
  domainId: string,
  page: Page,
): Promise<{ reports: DmarcReport[]; total: number }> {
  return onDomain(context, domainId, (transaction) =>
    lists.listDmarcReports(transaction, context.userId, domainId, page),
  );
}

/** One report with its records. Throws not_found. */
export function readDmarcReport(
  context: OperationContext,
  domainId: string,
  id: string,
): Promise<DmarcReport & { records: DmarcRecord[] }> {
  return onDomain(context, domainId, async (transaction) => {
    const found = isAskable(id) ? await lists.findDmarcReport(transaction, context.userId, domainId, id) : null;
    if (found === null) throw new UserError('not_found', 'DMARC report not found');
    return found;
  });
}

/** Throws not_found. */
export function summarizeDmarc(context: OperationContext, domainId: string): Promise<DmarcSummary> {
  const until = context.now();
  const since = new Date(until.getTime() - SUMMARY_DAYS * DAY_MS);
  return onDomain(context, domainId, async (transaction, domain) => {
    const summed = await lists.sumDmarcReports(transaction, context.userId, domainId, since);
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
  { database, userId }: OperationContext,
  domainId: string,
  work: (transaction: Transaction<Tables>, name: string) => Promise<T>,
): Promise<T> {
  return asUser(database, userId, async (transaction) => {
    const name = isAskable(domainId) ? await lists.findDomainName(transaction, userId, domainId) : null;
    if (name === null) throw new UserError('not_found', 'Domain not found');
    return work(transaction, name);
  });
}
