import { sql, type Transaction } from 'kysely';
import { DAY_MS } from '../../../core/shared/durations.ts';
import type { Tables } from '../../entities/tables.ts';
import { listWholeHours, WHOLE_DOMAIN } from '../emails/email-counter.ts';

/** Emails created in the last 24 hours, 7 and 30 days, by whole hours. */
export interface RecentEmails {
  lastDay: number;
  lastWeek: number;
  lastMonth: number;
}

/** Whose mail is counted: that of domains, by name, or of addresses. */
export type CountedOwners = { domains: readonly string[] } | { addresses: readonly string[] };

/** By the name of the domain, or by the address; those without mail are left out. */
export async function countRecentEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  owners: CountedOwners,
  now: Date,
): Promise<Map<string, RecentEmails>> {
  const ofDomains = 'domains' in owners;
  const owner = ofDomains ? sql.ref('c.own_domain') : sql.ref('c.own_address');
  const isCounted = ofDomains
    ? sql`c.own_address = ${WHOLE_DOMAIN} and c.own_domain = any (${owners.domains}::text[])`
    : sql`c.own_address = any (${owners.addresses}::text[])`;
  const spans = DAYS.flatMap((days) =>
    listWholeHours(new Date(now.getTime() - days * DAY_MS)).map(
      ({ grain, from, until }) => sql`(${days}::integer, ${grain}::text, ${from}::timestamptz, ${until}::timestamptz)`,
    ),
  );
  const { rows } = await sql<{ owner: string; days: number; count: number }>`
    select ${owner} as owner, s.days, sum(c.count)::bigint as count
    from (values ${sql.join(spans)}) s (days, grain, since, until)
    join email_counter c on c.workspace_id = ${workspaceId} and c.grain = s.grain and c.begins_at >= s.since
      and (s.until is null or c.begins_at < s.until) and ${isCounted}
    group by 1, 2`.execute(transaction);
  const counts = new Map<string, RecentEmails>();
  for (const { owner: name, days, count } of rows) {
    const so = counts.get(name) ?? NONE;
    counts.set(name, { ...so, [FIELDS[days as 1 | 7 | 30]]: Number(count) });
  }
  return counts;
}

export const NONE: RecentEmails = { lastDay: 0, lastWeek: 0, lastMonth: 0 };

const DAYS = [1, 7, 30] as const;
const FIELDS = { 1: 'lastDay', 7: 'lastWeek', 30: 'lastMonth' } as const;
