import { LEASE_SECONDS } from '../../db/claim.ts';
import {
  type ClaimedDeliveryRow,
  claimOfLanesSql,
  type DeliveryLaneRow,
  listLanesSql,
  releaseLeasesSql,
  renewLeasesSql,
} from '../../db/queries/endpoints/delivery-claim.ts';
import type { ActorContext } from '../actor.ts';
import { createGroupCommit } from '../work/group-commit.ts';
import { type DeliveryJob, jobOf, type Lane } from './job.ts';

/** Before every lane. */
export const FIRST_LANE: Lane = { userId: '', endpointId: '' };

/** The next lanes with pending deliveries behind that one; `isDue` where at least one may be taken or is held. */
export async function listLanes(
  context: ActorContext,
  { userId, endpointId }: Lane,
  limit: number,
): Promise<(Lane & { isDue: boolean })[]> {
  const { rows } = await context.database.pool.query<DeliveryLaneRow>({
    name: 'delivery-list-lanes',
    text: listLanesSql,
    values: [userId, endpointId, limit],
  });
  return rows.map((row) => ({ userId: row.user_id, endpointId: row.endpoint_id, isDue: row.is_due }));
}

/** Takes due deliveries of these lanes, of each up to as many as it says, longest due first. */
export async function claimOfLanes(
  context: ActorContext,
  lanes: readonly (Lane & { wanted: number })[],
): Promise<DeliveryJob[]> {
  const askedAt = performance.now();
  const { rows } = await context.database.pool.query<ClaimedDeliveryRow>({
    name: 'delivery-claim-of-lanes',
    text: claimOfLanesSql,
    values: [
      context.name,
      lanes.map(({ userId }) => userId),
      lanes.map(({ endpointId }) => endpointId),
      lanes.map(({ wanted }) => wanted),
    ],
  });
  return rows.map((row) => jobOf(row, askedAt + LEASE_SECONDS * 1_000));
}

const RENEWAL_BATCH = 500;

/** Holds on to deliveries whose attempts take long; those that are not ours any more keep their old end. */
export async function renewLeases(context: ActorContext, jobs: readonly DeliveryJob[]): Promise<void> {
  for (let at = 0; at < jobs.length; at += RENEWAL_BATCH) {
    const batch = jobs.slice(at, at + RENEWAL_BATCH);
    const askedAt = performance.now();
    const { rows } = await context.database.pool.query<{ id: string }>({
      name: 'delivery-renew-leases',
      text: renewLeasesSql,
      values: [context.name, batch.map((job) => job.userId), batch.map((job) => job.deliveryId), LEASE_SECONDS],
    });
    const held = new Set(rows.map(({ id }) => id));
    for (const job of batch) if (held.has(job.deliveryId)) job.leaseUntil = askedAt + LEASE_SECONDS * 1_000;
  }
}

/** Gives deliveries back that were not begun. */
export async function releaseLeases(context: ActorContext, jobs: readonly DeliveryJob[]): Promise<void> {
  if (jobs.length === 0) return;
  await context.database.pool.query({
    name: 'delivery-release-leases',
    text: releaseLeasesSql,
    values: [context.name, jobs.map((job) => job.userId), jobs.map((job) => job.deliveryId)],
  });
}

const RELEASE_BATCH = 1_000;
/** Jobs that end together are released together; milliseconds. */
const RELEASE_GATHER_MS = 2;

/** Releases single deliveries. */
export interface LeaseReleaser {
  /** Resolves when the lease is released, or when that failed: then the lease runs out by itself. */
  release(job: DeliveryJob): Promise<void>;
}

export function createLeaseReleaser(context: ActorContext): LeaseReleaser {
  const releases = createGroupCommit<DeliveryJob, void>({
    limits: { items: RELEASE_BATCH },
    gatherMs: RELEASE_GATHER_MS,
    async write(jobs) {
      await releaseLeases(context, jobs);
      return jobs.map(() => undefined);
    },
  });
  return {
    async release(job) {
      try {
        await releases.add(job);
      } catch (error) {
        context.log.warn({ err: error, deliveryId: job.deliveryId }, 'delivery: a lease could not be given back');
      }
    },
  };
}
