import type { QueryConfig } from 'pg';
import { heldForReview } from '../../core/routing/guard-judgement.ts';
import { LEASE_SECONDS } from '../../db/claim.ts';
import { isConnectionLost } from '../../db/connection/database.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import {
  type RouteRecord,
  takeOneUnroutedSql,
  takeUnroutedOfOthersSql,
  takeUnroutedSql,
  type UnroutedRow,
} from '../../db/queries/routing/delivery-route.ts';
import { deliveryMetrics } from '../../schema/metrics.ts';
import { noteStage } from '../mail-spans.ts';
import { setAside } from '../set-aside.ts';
import type { Lane } from '../work/in-hand.ts';
import { decideRoutes, type RoutingParts } from './decide-routes.ts';
import type { DeliveryJob } from './job.ts';
import { type StoredRoutes, storeRoutes } from './store-routes.ts';

export interface RoutedBatch {
  /** received emails with a decision */
  emailCount: number;
  /** whether mail was left for another batch, because the rules of its users are slow */
  isMoreLeft: boolean;
  /** deliveries that this process claimed */
  jobs: DeliveryJob[];
  /** lanes of webhook deliveries that were created and not claimed, one entry per delivery */
  leftTo: Lane[];
  /** deliveries for endpoints that forward */
  forwardCount: number;
  /** emails that wait for a model */
  askCount: number;
}

/**
 * Routes up to `limit` threaded emails, oldest first, and creates their deliveries. A delivery is claimed at once if `mayClaim` allows it,
 * which is called once per delivery, in order. Mail without a destination is marked as routed too. When a batch fails, each of its emails is
 * routed alone; one that cannot be routed is held for review, and one that cannot be held is set aside. Mail of users whose rules just took
 * long is routed when no other mail waits.
 */
export async function routeEmails(
  parts: RoutingParts,
  limit: number,
  mayClaim: (lane: Lane) => boolean,
): Promise<RoutedBatch> {
  const aside = parts.guard.usersAside();
  if (aside.length > 0) {
    const values = [limit, aside];
    const take = { name: 'delivery-take-unrouted-of-others', text: takeUnroutedOfOthersSql, values };
    const batch = await routeTogether(parts, take, mayClaim);
    if (batch.emailCount > 0) return { ...batch, isMoreLeft: true };
  }
  return routeTogether(parts, { name: 'delivery-take-unrouted', text: takeUnroutedSql, values: [limit] }, mayClaim);
}

async function routeTogether(
  parts: RoutingParts,
  take: QueryConfig,
  mayClaim: (lane: Lane) => boolean,
): Promise<RoutedBatch> {
  let taken: UnroutedRow[] = [];
  try {
    return await routeTaken(parts, take, mayClaim, (rows) => {
      taken = rows;
    });
  } catch (error) {
    if (isConnectionLost(error) || taken.length === 0) throw error;
    parts.context.log.error(
      { err: error, count: taken.length },
      'delivery: a batch failed, its mail is routed one by one',
    );
  }
  const alone = [];
  for (const row of taken) alone.push(await routeAlone(parts, row, mayClaim));
  return joined(alone);
}

async function routeAlone(
  parts: RoutingParts,
  { user_id: userId, id }: UnroutedRow,
  mayClaim: (lane: Lane) => boolean,
): Promise<RoutedBatch> {
  const take = { name: 'delivery-take-one-unrouted', text: takeOneUnroutedSql, values: [userId, id] };
  try {
    return await routeTaken(parts, take, mayClaim);
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    parts.context.log.error({ err: error, emailId: id }, 'delivery: mail cannot be routed and is held for review');
  }
  try {
    return await routeTaken({ ...parts, decide: holdAll }, take, mayClaim);
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    await setAside(parts.context, { userId, step: 'route', subjectId: id, error });
    return joined([]);
  }
}

const holdAll: typeof decideRoutes = (_, __, rows) =>
  Promise.resolve({
    decided: rows.map((row) => ({ row, decision: heldForReview(), answers: [] })),
    find: () => undefined,
  });

async function routeTaken(
  parts: RoutingParts & { decide?: typeof decideRoutes },
  take: QueryConfig,
  mayClaim: (lane: Lane) => boolean,
  onTaken?: (rows: UnroutedRow[]) => void,
): Promise<RoutedBatch> {
  const { context, decide = decideRoutes } = parts;
  const askedAt = performance.now();
  const stored = await inTransaction(context.database, async (client) => {
    const { rows } = await client.query<UnroutedRow>(take);
    onTaken?.(rows);
    if (rows.length === 0) return null;
    const { decided, find } = await decide(parts, client, rows);
    return { rows, ...(await storeRoutes(context, client, decided, find, mayClaim)) };
  });
  if (stored === null) return joined([]);
  deliveryMetrics.routeSeconds.observe((performance.now() - askedAt) / 1_000);
  for (const { outcome, user_id: userId, email_id: emailId } of stored.records) {
    deliveryMetrics.routed.inc({ outcome });
    const attributes = { 'postroom.route.outcome': outcome };
    noteStage(context.database, [{ userId, emailId }], { name: 'route', startedTick: askedAt, attributes });
  }
  for (const { userId, lastSeq } of stored.grown) context.bus.publish('event.appended', { userId, lastSeq });
  return batchOf(stored, stored.rows, askedAt + LEASE_SECONDS * 1_000);
}

function batchOf({ records, createdAt }: StoredRoutes, rows: readonly UnroutedRow[], leaseUntil: number): RoutedBatch {
  const sizes = new Map(rows.map((row) => [row.id, row.size_octets ?? 0]));
  return {
    emailCount: records.length,
    isMoreLeft: records.length < rows.length,
    jobs: records.flatMap((record) => jobOf(record, createdAt, sizes, leaseUntil)),
    leftTo: records.flatMap((record) =>
      record.is_claimed || record.endpoint_id === null || record.delivery_type !== 'webhook'
        ? []
        : [{ userId: record.user_id, key: record.endpoint_id }],
    ),
    forwardCount: records.filter(({ delivery_type: type }) => type === 'email' || type === 'email_group').length,
    askCount: records.filter(({ outcome }) => outcome === 'asking').length,
  };
}

function joined(batches: readonly RoutedBatch[]): RoutedBatch {
  return {
    emailCount: sum(batches.map((batch) => batch.emailCount)),
    isMoreLeft: batches.some((batch) => batch.isMoreLeft),
    jobs: batches.flatMap((batch) => batch.jobs),
    leftTo: batches.flatMap((batch) => batch.leftTo),
    forwardCount: sum(batches.map((batch) => batch.forwardCount)),
    askCount: sum(batches.map((batch) => batch.askCount)),
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function jobOf(
  record: RouteRecord,
  createdAt: Map<string, Date>,
  sizes: Map<string, number>,
  leaseUntil: number,
): DeliveryJob[] {
  const at = record.delivery_id === null ? undefined : createdAt.get(record.delivery_id);
  if (record.delivery_id === null || record.endpoint_id === null || at === undefined || !record.is_claimed) return [];
  return [
    {
      userId: record.user_id,
      deliveryId: record.delivery_id,
      emailId: record.email_id,
      endpointId: record.endpoint_id,
      attempts: 0,
      attemptsAllowed: record.attempts_allowed ?? 1,
      createdAt: at,
      threadId: record.thread_id,
      threadPosition: record.thread_position,
      sizeBytes: sizes.get(record.email_id) ?? 0,
      leaseUntil,
    },
  ];
}
