import { createFairQueue, type FairQueue } from '../work/fair-queue.ts';
import { limitPerKey, limitShared, limitSome, limitTotal, type Room } from '../work/limits.ts';
import type { DeliveryJob } from './delivery-job.ts';

/** Limits on deliveries that are attempted at once. */
export interface DeliveryLimits {
  /** in total */
  active: Room;
  /** of large mail, shared between users: its content as text and as a payload takes many times as much */
  large: Room;
  /** per endpoint, so that one that hangs with large mail leaves room for others */
  ofEndpoint: Room;
  /** an endpoint that reached its limit gets more when this many are left, so that its content is read in batches */
  refillOfEndpoint: number;
}

const countBytes = ({ sizeBytes }: DeliveryJob): number => sizeBytes;
const findWorkspace = ({ workspaceId }: DeliveryJob): string => workspaceId;
/** Mail from this size on is large. Bytes. */
const LARGE_BYTES = 1_000_000;
const isLarge = (job: DeliveryJob): boolean => countBytes(job) >= LARGE_BYTES;
const makeKey = ({ endpointId }: DeliveryJob): string => endpointId;

/** The deliveries that wait or run. Endpoints take turns, so that one that hangs or has a long backlog delays no other. */
export function createDeliveryQueue(limits: DeliveryLimits): FairQueue<DeliveryJob> {
  return createFairQueue({
    keyOf: makeKey,
    workspaceOf: findWorkspace,
    limits: [
      limitTotal({ ...limits.active, bytesOf: countBytes }),
      limitSome(
        isLarge,
        limitShared({ ...limits.large, bytesOf: countBytes, workspaceOf: findWorkspace, isFirstAdmitted: true }),
      ),
      limitPerKey({ ...limits.ofEndpoint, refill: limits.refillOfEndpoint, keyOf: makeKey, bytesOf: countBytes }),
    ],
  });
}
