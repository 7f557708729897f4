import { type Admission } from '../../db/queries/emails/store-received.ts';
import type { Turn } from '../../db/queries/endpoints/delivery-order.ts';
import type { ActorContext, RunningActor } from '../actor.ts';
import { createInHand, type InHand, type Lane } from '../work/in-hand.ts';
import type { Leases } from '../work/leases.ts';
import { createDeliveryLeases } from './claim-deliveries.ts';
import type { DeliveryJob } from './delivery-job.ts';

/** The steps of the delivery actor, in the order of a delivery. */
type DeliveryStep = 'route' | 'ask' | 'fan-out' | 'turn' | 'deliver' | 'refill' | 'forward' | 'renew';

/** What the steps of the delivery actor need of each other: deliveries in hand with their leases, and what happens to them next. */
export interface DeliveryFlow {
  /** deliveries that this process has claimed and not recorded, by endpoint */
  inHand: InHand<DeliveryJob>;
  leases: Leases<DeliveryJob>;
  /** Starts a step now. */
  nudge(step: DeliveryStep): void;
  /** Lets stop() wait for work. */
  keep(work: Promise<unknown>): void;
  /** Takes claimed deliveries through their attempts. */
  attempt(jobs: readonly DeliveryJob[]): void;
  /** Returns what becomes of one more new delivery of a lane, when `count` are created with it. */
  admit(lane: Lane, count: number): Admission;
  /** Remembers that deliveries of these lanes are due and not claimed. */
  leave(lanes: readonly Lane[]): void;
  /** Remembers turns that may be free, and gives them soon. */
  freeTurns(turns: readonly Turn[]): void;
  /** Continues after a delivery was recorded or released: with the next one of its turn, and with any that wait for room. */
  giveRoom(job: DeliveryJob): void;
  /** Notes that a delivery is retried after a delay: short ones end by a timer, and the sweep finds the others. */
  retryIn(seconds: number): void;
  /** Starts no step by a timer any more. */
  stop(): void;
  /** Gives the flow the steps that it leads to. */
  connect(parts: ConnectedParts): void;
}

/** The steps that the flow leads to: dispatch.ts and take-deliveries.ts. */
interface ConnectedParts {
  running: RunningActor;
  dispatcher: { add(jobs: readonly DeliveryJob[]): void };
  taker: {
    admit(lane: Lane, count: number): Admission;
    leave(lanes: readonly Lane[]): void;
    needsOf(job: DeliveryJob): readonly DeliveryStep[];
  };
  turns: { free(turns: readonly Turn[]): void };
}

/** Deliveries deferred for at most this long are retried by a timer. Seconds. */
const SHORT_DELAY_SECONDS = 60;

export function createDeliveryFlow(context: ActorContext): DeliveryFlow {
  let parts: ConnectedParts | null = null;
  let isStopping = false;
  let nextSweep: { at: number; timer: NodeJS.Timeout } | null = null;

  const connected = (): ConnectedParts => {
    if (parts === null) throw new Error('the steps of the delivery actor are not connected');
    return parts;
  };

  const flow: DeliveryFlow = {
    inHand: createInHand<DeliveryJob>({
      idOf: ({ deliveryId }) => deliveryId,
      laneOf: ({ workspaceId, endpointId }) => ({ workspaceId, key: endpointId }),
    }),
    leases: createDeliveryLeases(context),
    nudge: (step) => connected().running.nudge(step),
    keep: (work) => connected().running.keep(work),
    attempt: (jobs) => connected().dispatcher.add(jobs),
    admit: (lane, count) => connected().taker.admit(lane, count),
    leave: (lanes) => connected().taker.leave(lanes),
    freeTurns: (freed) => connected().turns.free(freed),
    giveRoom(job) {
      const { workspaceId, endpointId, orderKey } = job;
      if (orderKey !== null) flow.freeTurns([{ workspaceId, endpointId, orderKey }]);
      for (const step of connected().taker.needsOf(job)) flow.nudge(step);
    },
    retryIn(seconds) {
      if (seconds > SHORT_DELAY_SECONDS || isStopping) return;
      const at = performance.now() + seconds * 1_000;
      if (nextSweep !== null && nextSweep.at <= at) return;
      clearTimeout(nextSweep?.timer);
      const timer = setTimeout(() => {
        nextSweep = null;
        flow.nudge('deliver');
      }, seconds * 1_000);
      nextSweep = { at, timer };
    },
    stop() {
      isStopping = true;
      clearTimeout(nextSweep?.timer);
    },
    connect(given) {
      parts = given;
    },
  };
  return flow;
}
