import { CLAIM_BATCH } from '../../db/claim.ts';
import type { ActorContext, Run } from '../actor.ts';
import { claimOfLanes, FIRST_LANE, listLanes } from './claim-deliveries.ts';
import type { FairQueue } from './fair-queue.ts';
import type { DeliveryJob, Lane } from './job.ts';

export interface DueTakerOptions {
  context: ActorContext;
  queue: FairQueue;
  /** takes claimed deliveries on */
  add: (jobs: DeliveryJob[]) => void;
}

/** Claims due deliveries as far as there is room for them; what there is no room for waits in its rows. */
export interface DueTaker {
  /** Walks over all lanes with due deliveries once. */
  sweep(run: Pick<Run, 'isStopping'>): Promise<void>;
  /** Takes more of lanes that were passed over and have room again. */
  refill(run: Pick<Run, 'isStopping'>): Promise<void>;
  hasRoom(): boolean;
  /** Resolves when no lane that the router may claim for is full, or after a while: then those that are still full are passed over. */
  waitForRoom(): Promise<void>;
  /** Whether the router may claim one more of this endpoint, when it claims for `count` of it already: new mail overtakes no older. */
  mayClaim(endpointId: string, count: number): boolean;
  /** Deliveries of these lanes were made and not claimed. */
  leave(lanes: readonly Lane[]): void;
  /** Steps that are to run when a job of that lane left our hands. */
  needsOf(job: DeliveryJob): readonly ('refill' | 'deliver' | 'route')[];
}

/** Deliveries in hand, in all and of one lane: above these the rest waits in its rows. When half of all is taken, lanes get a fifth. */
const MOST_IN_HAND = 5_000;
const MOST_OF_LANE = 100;
const MOST_OF_LANE_IN_A_CROWD = 20;
/** A lane with more in its rows has others taken when it is down to this share, and then so have those that are down to the second one. */
const FEW = 0.5;
const FEW_ENOUGH = 0.75;
/** Lanes listed by one statement, and deliveries claimed by one. */
const LANES_AT_ONCE = 500;
const CLAIMS_AT_ONCE = 20 * CLAIM_BATCH;
/** How long the router waits for a busy lane to make room before it leaves that lane's mail to be claimed later; milliseconds. */
const ROOM_WAIT_MS = 100;

export function createDueTaker({ context, queue, add }: DueTakerOptions): DueTaker {
  // Lanes with deliveries that wait in their rows; an entry is replaced when more is left there.
  const behind = new Map<string, Lane>();
  let place = FIRST_LANE;
  let isAllFull = false;
  let roomAwaited: (() => void) | null = null;

  const hasRoom = () => {
    const has = queue.size() < MOST_IN_HAND;
    if (!has) isAllFull = true;
    return has;
  };
  const mostOfLane = () => (queue.size() < MOST_IN_HAND / 2 ? MOST_OF_LANE : MOST_OF_LANE_IN_A_CROWD);
  const passOver = ({ userId, endpointId }: Lane) => void behind.set(endpointId, { userId, endpointId });
  const busy = () => queue.endpointsAbove(MOST_OF_LANE).filter((endpointId) => !behind.has(endpointId));

  /** Answers how many of the lanes were served; the others have to wait, as there is no more room. */
  const claimAll = async (lanes: readonly Lane[], run: Pick<Run, 'isStopping'>): Promise<number> => {
    let at = 0;
    while (at < lanes.length && hasRoom() && !run.isStopping()) {
      const batch: (Lane & { wanted: number })[] = [];
      for (let total = 0; at < lanes.length && total < CLAIMS_AT_ONCE; at++) {
        const lane = lanes[at];
        if (lane === undefined) continue;
        const wanted = Math.min(CLAIM_BATCH, mostOfLane() - queue.sizeOf(lane.endpointId));
        if (wanted <= 0) {
          passOver(lane);
          continue;
        }
        batch.push({ ...lane, wanted });
        total += wanted;
      }
      if (batch.length > 0) await claim(batch);
    }
    return at;
  };

  const claim = async (lanes: readonly (Lane & { wanted: number })[]): Promise<void> => {
    const former = lanes.map(({ endpointId }) => behind.get(endpointId));
    const jobs = await claimOfLanes(context, lanes);
    const counts = new Map<string, number>();
    for (const { endpointId } of jobs) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1);
    for (const [n, lane] of lanes.entries()) {
      const isEmptied = (counts.get(lane.endpointId) ?? 0) < lane.wanted;
      if (!isEmptied) passOver(lane);
      else if (behind.get(lane.endpointId) === former[n]) behind.delete(lane.endpointId);
    }
    add(jobs);
  };

  return {
    async sweep(run) {
      // It goes on behind the lane where it last ran out of room, and ends where it began.
      const end = place;
      let isRoundDone = false;
      while (hasRoom() && !run.isStopping()) {
        const listed = await listLanes(context, place, LANES_AT_ONCE);
        const lanes = isRoundDone ? listed.filter((lane) => !isBehind(lane, end)) : listed;
        const due = lanes.filter(({ isDue }) => isDue);
        const served = await claimAll(due, run);
        if (served < due.length) {
          place = due[served - 1] ?? place;
          return;
        }
        const last = listed.at(-1);
        if (listed.length === LANES_AT_ONCE && lanes.length === listed.length) {
          place = last ?? FIRST_LANE;
        } else {
          place = FIRST_LANE;
          if (isRoundDone || end === FIRST_LANE) return;
          isRoundDone = true;
        }
      }
    },

    async refill(run) {
      const few = FEW_ENOUGH * mostOfLane();
      await claimAll(
        [...behind.values()].filter(({ endpointId }) => queue.sizeOf(endpointId) < few),
        run,
      );
    },

    hasRoom,

    async waitForRoom() {
      if (busy().length === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      roomAwaited = resolve;
      const timer = setTimeout(resolve, ROOM_WAIT_MS);
      await promise;
      clearTimeout(timer);
      roomAwaited = null;
      for (const endpointId of busy()) {
        const userId = queue.userOf(endpointId);
        if (userId !== undefined) passOver({ userId, endpointId });
      }
    },

    mayClaim: (endpointId, count) =>
      !behind.has(endpointId) && queue.sizeOf(endpointId) + count <= MOST_OF_LANE + CLAIM_BATCH,

    leave(lanes) {
      for (const lane of lanes) passOver(lane);
    },

    needsOf({ endpointId }) {
      if (roomAwaited !== null && busy().length === 0) roomAwaited();
      if (isAllFull && queue.size() < MOST_IN_HAND / 2) {
        isAllFull = false;
        return ['route', 'deliver'];
      }
      return behind.has(endpointId) && queue.sizeOf(endpointId) < FEW * mostOfLane() ? ['refill'] : [];
    },
  };
}

function isBehind(one: Lane, other: Lane): boolean {
  return one.userId > other.userId || (one.userId === other.userId && one.endpointId > other.endpointId);
}
