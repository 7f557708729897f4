import { LEASE_SECONDS } from '../../db/claim.ts';
import {
  type ClaimedDeliveryRow,
  claimDeliveriesSql,
  releaseLeasesSql,
  renewLeasesSql,
} from '../../db/queries/delivery-claim.ts';
import type { ActorContext } from '../actor.ts';
import type { DeliveryJob } from './job.ts';

/** Takes up to `limit` due deliveries, longest due first, none of the endpoints in `except`. */
export async function claimDeliveries(
  context: ActorContext,
  limit: number,
  except: readonly string[],
): Promise<DeliveryJob[]> {
  const { rows } = await context.database.pool.query<ClaimedDeliveryRow>({
    name: 'delivery-claim',
    text: claimDeliveriesSql,
    values: [context.name, limit, except],
  });
  return rows.map((row) => ({
    userId: row.user_id,
    deliveryId: row.id,
    emailId: row.email_id,
    endpointId: row.endpoint_id,
    attempts: row.attempts,
    attemptsAllowed: row.attempts_allowed,
    createdAt: row.created_at,
    threadId: row.thread_id,
    threadPosition: row.thread_position,
    sizeOctets: row.size_octets ?? 0,
  }));
}

/** Holds on to deliveries whose attempts take long. */
export async function renewLeases(context: ActorContext, jobs: readonly DeliveryJob[]): Promise<void> {
  if (jobs.length === 0) return;
  await context.database.pool.query({
    name: 'delivery-renew-leases',
    text: renewLeasesSql,
    values: [context.name, jobs.map((job) => job.userId), jobs.map((job) => job.deliveryId), LEASE_SECONDS],
  });
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

/** Gives single deliveries back; those that come in one turn of the event loop go together. */
export interface LeaseReleaser {
  /** Resolves when that is done or has failed: then the lease runs out by itself. */
  release(job: DeliveryJob): Promise<void>;
}

export function createLeaseReleaser(context: ActorContext): LeaseReleaser {
  let gathered: { jobs: DeliveryJob[]; done: Promise<void> } | null = null;
  const releaseGathered = async () => {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const jobs = gathered?.jobs ?? [];
    gathered = null;
    try {
      await releaseLeases(context, jobs);
    } catch (error) {
      context.log.warn({ err: error, count: jobs.length }, 'delivery: leases could not be given back');
    }
  };
  return {
    release(job) {
      if (gathered === null) {
        const jobs: DeliveryJob[] = [];
        gathered = { jobs, done: Promise.resolve() };
        gathered.done = releaseGathered();
      }
      gathered.jobs.push(job);
      return gathered.done;
    },
  };
}
