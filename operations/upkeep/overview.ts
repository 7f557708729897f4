import { asWorkspace } from '../../db/connection/transaction.ts';
import * as counts from '../../db/queries/upkeep/overview-counts.ts';
import { invalid, type OperationContext } from '../context.ts';

export {
  MAX_COUNTED,
  MAX_DEFERRED,
  MAX_DELIVERABILITY_DOMAINS,
  MAX_SAMPLED_DELIVERIES,
  MAX_TIMED_DELIVERIES,
} from '../../db/queries/upkeep/overview-counts.ts';

import { DAY_MS, HOUR_MS } from '../../core/shared/durations.ts';

/** Whole hours up to now, including the current one. */
export interface Span {
  from: Date;
  until: Date;
}

/** Mail counts of one hour, by current status. */
export interface HourOfMail {
  /** UTC */
  beginsAt: Date;
  received: number;
  /** all sent mail, including mail still in the queue */
  sent: number;
  /** of these */
  delivered: number;
  bounced: number;
  failed: number;
  /** received, and currently held by a guard rule */
  held: number;
}

/** 90 days. */
export const MAX_OVERVIEW_HOURS = 2_160;

/** Throws validation. */
export function overviewSpan({ now }: OperationContext, hours: number): Span {
  if (!Number.isInteger(hours) || hours < 1 || hours > MAX_OVERVIEW_HOURS)
    throw invalid(`hours must be 1 to ${MAX_OVERVIEW_HOURS}`, 'hours');
  const until = now();
  const present = Math.floor(until.getTime() / HOUR_MS) * HOUR_MS;
  return { from: new Date(present - (hours - 1) * HOUR_MS), until };
}

/** Returns every hour of the span, oldest first, including hours without mail. */
export async function readHours(
  { database, workspaceId }: OperationContext,
  { from, until }: Span,
): Promise<HourOfMail[]> {
  const rows = await asWorkspace(database, workspaceId, (transaction) =>
    counts.readHourlyCounts(transaction, workspaceId, from),
  );
  const hours = new Map<number, HourOfMail>();
  for (let at = from.getTime(); at <= until.getTime(); at += HOUR_MS)
    hours.set(at, { beginsAt: new Date(at), received: 0, sent: 0, delivered: 0, bounced: 0, failed: 0, held: 0 });
  for (const row of rows) {
    const hour = hours.get(row.beginsAt.getTime());
    if (hour !== undefined) addTo(hour, row);
  }
  return [...hours.values()];
}

function addTo(hour: HourOfMail, { type, status, isHeld, count }: counts.HourlyCount): void {
  if (isHeld) hour.held += count;
  else if (type === 'received') hour.received += count;
  // Scheduled mail has not been sent.
  else if (type === 'sent') {
    hour.sent += count;
    if (status === 'delivered' || status === 'bounced' || status === 'failed') hour[status] += count;
  }
}

/** Sums the hours by days of UTC, oldest first. The first day has only the hours of the span. */
export function groupByDay(hours: readonly HourOfMail[]): HourOfMail[] {
  const days = new Map<number, HourOfMail[]>();
  for (const hour of hours) {
    const day = Math.floor(hour.beginsAt.getTime() / DAY_MS) * DAY_MS;
    days.set(day, [...(days.get(day) ?? []), hour]);
  }
  return [...days].map(([day, own]) => ({ beginsAt: new Date(day), ...sumTotals(own) }));
}

/** Returns the results of the user's sending domains, most mail first. */
export function readDeliverability(
  { database, workspaceId }: OperationContext,
  { from }: Span,
): Promise<counts.DomainDeliverability[]> {
  return asWorkspace(database, workspaceId, (transaction) => counts.readDeliverability(transaction, workspaceId, from));
}

/** Sums the hours. */
export function sumTotals(hours: readonly HourOfMail[]): Omit<HourOfMail, 'beginsAt'> {
  const sum = (field: keyof Omit<HourOfMail, 'beginsAt'>) => hours.reduce((total, hour) => total + hour[field], 0);
  return {
    received: sum('received'),
    sent: sum('sent'),
    delivered: sum('delivered'),
    bounced: sum('bounced'),
    failed: sum('failed'),
    held: sum('held'),
  };
}

export function readRecentWebhooks(
  { database, workspaceId }: OperationContext,
  { from }: Span,
): Promise<counts.RecentWebhooks> {
  return asWorkspace(database, workspaceId, (transaction) => counts.readRecentWebhooks(transaction, workspaceId, from));
}

/** Periods of more hours have their webhook times per day. */
export const MAX_HOURLY_TIMES = 168;

/** Returns how long webhooks took per hour, or in longer periods per day of UTC, oldest first. */
export function readWebhookTimes(
  { database, workspaceId }: OperationContext,
  { from, until }: Span,
): Promise<counts.WebhookTimes[]> {
  const isShort = until.getTime() - from.getTime() <= MAX_HOURLY_TIMES * HOUR_MS;
  const span = { from, until, intervalMs: isShort ? HOUR_MS : DAY_MS };
  return asWorkspace(database, workspaceId, (transaction) => counts.readWebhookTimes(transaction, workspaceId, span));
}

export function readWaitingMail({ database, workspaceId }: OperationContext): Promise<counts.WaitingMail> {
  return asWorkspace(database, workspaceId, (transaction) => counts.readWaitingMail(transaction, workspaceId));
}
