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
import type { Lane } from '../work/in-hand.ts';
import { createLeases, type Leases, leaseEnd } from '../work/leases.ts';
import { type DeliveryJob, makeJob } from './delivery-job.ts';

/** Before every lane. */
export const FIRST_LANE: Lane = { workspaceId: '', key: '' };

/**
 * The next lanes with pending deliveries after that one. `isDue` is set for lanes where a delivery may be claimed or is claimed already.
 */
export async function listLanes(
  context: ActorContext,
  { workspaceId, key }: Lane,
  limit: number,
): Promise<(Lane & { isDue: boolean })[]> {
  const { rows } = await context.database.pool.query<DeliveryLaneRow>({
    name: 'delivery-list-lanes',
    text: listLanesSql,
    values: [workspaceId, key, limit],
  });
  return rows.map((row) => ({ workspaceId: row.workspace_id, key: row.endpoint_id, isDue: row.is_due }));
}

/** Claims due deliveries of these lanes, up to the given number per lane, longest due first. */
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
      lanes.map(({ workspaceId }) => workspaceId),
      lanes.map(({ key }) => key),
      lanes.map(({ wanted }) => wanted),
    ],
  });
  return rows.map((row) => makeJob(row, leaseEnd(askedAt)));
}

/** The leases of claimed deliveries. */
export function createDeliveryLeases({ database, log, name }: ActorContext): Leases<DeliveryJob> {
  return createLeases<DeliveryJob>({
    log,
    actor: 'delivery',
    idOf: ({ deliveryId }) => deliveryId,
    async renew(jobs) {
      const { rows } = await database.pool.query<{ id: string }>({
        name: 'delivery-renew-leases',
        text: renewLeasesSql,
        values: [name, jobs.map((job) => job.workspaceId), jobs.map((job) => job.deliveryId), LEASE_SECONDS],
      });
      return rows.map(({ id }) => id);
    },
    release: (jobs) =>
      database.pool.query({
        name: 'delivery-release-leases',
        text: releaseLeasesSql,
        values: [name, jobs.map((job) => job.workspaceId), jobs.map((job) => job.deliveryId)],
      }),
  });
}
