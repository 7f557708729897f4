import { newIdentifier } from '../../core/shared/identifiers.ts';
import { CLAIM_BATCH } from '../../db/claim.ts';
import { type Admission, type PlannedRoute } from '../../db/queries/emails/store-received.ts';
import { giveTurns, listTurns, type Turn } from '../../db/queries/endpoints/delivery-order.ts';
import { deliveryMetrics } from '../../schema/metrics.ts';
import type { ActorContext, Run } from '../actor.ts';
import { type DirectDelivery, isContentKept, type RoutedMail } from '../direct-delivery.ts';
import { noteStage } from '../mail-spans.ts';
import { type Lane, laneName } from '../work/in-hand.ts';
import { leaseEnd } from '../work/leases.ts';
import { createWaitingLanes, MAX_IN_HAND, MAX_OF_LANE } from '../work/waiting-lanes.ts';
import { claimOfLanes, FIRST_LANE, listLanes } from './claim-deliveries.ts';
import type { Plan, RoutePlanner } from './decide-routes.ts';
import type { DeliveryFlow } from './delivery-flow.ts';
import { type DeliveryFaultPoint, type DeliveryJob, makeJob } from './delivery-job.ts';
import type { Dispatcher } from './dispatch.ts';
import type { EndpointLookup } from './endpoint-lookup.ts';

export interface DueTakerOptions {
  context: ActorContext;
  flow: DeliveryFlow;
  /** what is known of endpoints is read again for deliveries that waited */
  endpoints: EndpointLookup;
}

/** Claims due deliveries while there is room for them; the others wait in their rows. */
export interface DueTaker {
  /** Visits all lanes with due deliveries once. */
  sweep(run: Pick<Run, 'isStopping'>): Promise<void>;
  /** Claims more of lanes that were skipped and have room again. */
  refill(run: Pick<Run, 'isStopping'>): Promise<void>;
  hasRoom(): boolean;
  /** Resolves when no lane that the router may claim for is full, or after a time limit. Lanes that are still full are skipped. */
  waitForRoom(): Promise<void>;
  /**
   * What the router does with one more delivery of this lane, when it already creates `count` with it. New mail does not overtake older
   * mail.
   */
  admit(lane: Lane, count: number): Admission;
  /** Remembers that deliveries of these lanes were created and not claimed. */
  leave(lanes: readonly Lane[]): void;
  /** Returns the steps to start after a job was recorded or released. */
  needsOf(job: DeliveryJob): readonly ('refill' | 'deliver' | 'route')[];
}

/** Limit of jobs per lane when half of all places are taken. */
const MAX_OF_LANE_IN_A_CROWD = 20;
/** Jobs in hand, per lane and in total, up to which a new delivery starts at once: content is held in memory only by those. */
const MAX_STARTED_OF_LANE = 50;
const MAX_STARTED = 500;
/** A skipped lane is refilled when it is down to the first share of its limit, together with lanes that are down to the second. */
const FEW = 0.5;
const FEW_ENOUGH = 0.75;
/** Lanes that one statement lists, and deliveries that one statement claims. */
const LANES_AT_ONCE = 500;
const CLAIMS_AT_ONCE = 20 * CLAIM_BATCH;
/** How long the router waits for room in a full lane, before its deliveries are left to be claimed later; milliseconds. */
const ROOM_WAIT_MS = 100;

export function createDueTaker({ context, flow, endpoints }: DueTakerOptions): DueTaker {
  const { inHand } = flow;
  const backlog = createWaitingLanes(inHand);
  let place = FIRST_LANE;
  let roomAwaited: (() => void) | null = null;

  const mostOfLane = () => (inHand.size() < MAX_IN_HAND / 2 ? MAX_OF_LANE : MAX_OF_LANE_IN_A_CROWD);
  const busy = () => inHand.lanesAbove(MAX_OF_LANE).filter((lane) => backlog.entry(lane) === undefined);

  /** Returns how many of the lanes were served; there was no room for the rest. */
  const claimAll = async (lanes: readonly Lane[], run: Pick<Run, 'isStopping'>): Promise<number> => {
    let at = 0;
    while (at < lanes.length && backlog.hasRoom() && !run.isStopping()) {
      const batch: (Lane & { wanted: number })[] = [];
      for (let total = 0; at < lanes.length && total < CLAIMS_AT_ONCE; at++) {
        const lane = lanes[at];
        if (lane === undefined) continue;
        const wanted = Math.min(CLAIM_BATCH, mostOfLane() - inHand.sizeOf(lane));
        if (wanted <= 0) {
          backlog.passOver(lane);
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
    const entries = lanes.map((lane) => backlog.entry(lane));
    const jobs = await claimOfLanes(context, lanes);
    const counts = new Map<string, number>();
    for (const { workspaceId, endpointId: key } of jobs) {
      const name = laneName({ workspaceId, key });
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const [n, lane] of lanes.entries()) {
      if ((counts.get(laneName(lane)) ?? 0) < lane.wanted) backlog.catchUp(lane, entries[n]);
      else backlog.passOver(lane);
    }
    endpoints.forget(jobs);
    flow.attempt(jobs);
  };

  return {
    async sweep(run) {
      // Starts after the lane where the last sweep ran out of room, and ends where it started.
      const end = place;
      let isRoundDone = false;
      while (backlog.hasRoom() && !run.isStopping()) {
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
        backlog.lanes().filter((lane) => inHand.sizeOf(lane) < few),
        run,
      );
    },

    hasRoom: () => backlog.hasRoom(),

    async waitForRoom() {
      if (busy().length === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      roomAwaited = resolve;
      const timer = setTimeout(resolve, ROOM_WAIT_MS);
      await promise;
      clearTimeout(timer);
      roomAwaited = null;
      for (const lane of busy()) backlog.passOver(lane);
    },

    admit(lane, count) {
      const size = inHand.sizeOf(lane) + count;
      if (backlog.entry(lane) !== undefined || size > MAX_OF_LANE + CLAIM_BATCH) return 'left';
      return size <= MAX_STARTED_OF_LANE && inHand.size() < MAX_STARTED ? 'started' : 'claimed';
    },

    leave(lanes) {
      for (const lane of lanes) backlog.passOver(lane);
    },

    needsOf({ workspaceId, endpointId: key }) {
      if (roomAwaited !== null && busy().length === 0) roomAwaited();
      if (backlog.hasRoomAgain()) return ['route', 'deliver'];
      const lane = { workspaceId, key };
      return backlog.entry(lane) !== undefined && inHand.sizeOf(lane) < FEW * mostOfLane() ? ['refill'] : [];
    },
  };
}

function isBehind(one: Lane, other: Lane): boolean {
  return one.workspaceId > other.workspaceId || (one.workspaceId === other.workspaceId && one.key > other.key);
}

export interface DirectDeliveryOptions {
  context: ActorContext;
  planner: RoutePlanner;
  taker: DueTaker;
  dispatcher: Dispatcher;
}

/**
 * Routes and delivers mail that this process has just received:
 *
 * 1. Plan the route from cached facts, and claim its delivery if this process has room for it.
 * 2. The receiving actor stores the mail with both, in its one statement.
 * 3. Start the delivery with the content that is in memory (dispatch.ts): nothing is read back.
 */
export function createDirectDelivery({ context, planner, taker, dispatcher }: DirectDeliveryOptions): DirectDelivery {
  return {
    async plan(mails) {
      const plans = await planner.plan(mails);
      const counts = new Map<string, number>();
      const now = context.now();
      return plans.map((plan, at) => {
        const mail = mails[at];
        if (plan === null || mail === undefined) return null;
        if (plan.endpoint === null) return plannedRoute(plan, null);
        const lane = { workspaceId: mail.workspaceId, key: plan.endpoint.id };
        const count = (counts.get(laneName(lane)) ?? 0) + 1;
        counts.set(laneName(lane), count);
        return plannedRoute(plan, {
          id: newIdentifier(context, 'delivery', now),
          attemptsAllowed: 1 + (plan.endpoint.webhook?.config.retryAttempts ?? 0),
          admission: taker.hasRoom() ? taker.admit(lane, count) : 'left',
        });
      });
    },
    start(routed) {
      const left: Lane[] = [];
      const jobs: DeliveryJob[] = [];
      for (const each of routed) {
        const { route, mail, email } = each;
        planner.confirm(mail, each.storedAt);
        deliveryMetrics.routed.inc({ outcome: route.outcome });
        noteStage(context.database, [{ workspaceId: mail.workspaceId, emailId: email.id }], {
          name: 'route',
          startedTick: each.storedAt,
          attributes: { 'postroom.route.outcome': route.outcome },
        });
        if (route.outcome === 'inactive')
          context.log.info(
            { emailId: email.id, endpointId: route.endpointId },
            'delivery: endpoint is inactive, mail is stored only',
          );
        if (route.delivery === null || route.endpointId === null) continue;
        if (route.delivery.admission !== 'left') jobs.push(toJob(each, route.delivery, route.endpointId));
        else left.push({ workspaceId: mail.workspaceId, key: route.endpointId });
      }
      taker.leave(left);
      dispatcher.add(jobs);
    },
    forget(mails) {
      for (const mail of mails) planner.forget(mail);
    },
  };
}

function toJob(
  { mail, email, raw, threadId, threadPosition, storedAt }: RoutedMail,
  delivery: NonNullable<PlannedRoute['delivery']>,
  endpointId: string,
): DeliveryJob {
  return {
    workspaceId: mail.workspaceId,
    deliveryId: delivery.id,
    emailId: email.id,
    eventSeq: null,
    eventKind: null,
    endpointId,
    attempts: 0,
    attemptsAllowed: delivery.attemptsAllowed,
    createdAt: email.created_at,
    threadId,
    threadPosition,
    orderKey: null,
    sizeBytes: mail.sizeBytes,
    content: isContentKept(mail, delivery.admission) ? { email, raw, readAt: performance.now() } : null,
    leaseUntil: leaseEnd(storedAt),
  };
}

/** Returns the part of a plan that is stored. */
function plannedRoute({ version, decision }: Plan, delivery: PlannedRoute['delivery']): PlannedRoute {
  const { outcome, via, endpointId, reason } = decision;
  return { version, outcome, via, endpointId, reason, delivery };
}

export interface TurnGiverOptions {
  context: ActorContext;
  flow: DeliveryFlow;
  fault: (point: DeliveryFaultPoint) => void;
}

/**
 * Lets deliveries with one key follow each other. Of each key, at most one delivery is due or in hand. The others wait without a time, so
 * that claims do not see them.
 *
 * 1. A delivery is stored without a time.
 * 2. The turn of its key is given, if no delivery has it: the first that waits becomes due.
 * 3. It is attempted like any other, and keeps the turn while it is retried.
 * 4. It ends, and the turn is given again.
 *
 * A process may die before it gives a turn, so a sweep finds turns that no delivery has.
 */
export interface TurnGiver {
  /** Remembers turns that may be free, and gives them soon. */
  free(turns: readonly Turn[]): void;
  /** Gives the turns that were freed, or, when there are none, looks for free ones. */
  run(run: Pick<Run, 'isStopping'>): Promise<void>;
}

/** Turns that one transaction gives, and that one statement lists. */
const TURNS_AT_ONCE = 500;
/** Statements that one sweep lists turns with; the next sweep goes on where it ended. */
const LISTS_OF_SWEEP = 10;
const FIRST_TURN: Turn = { workspaceId: '', endpointId: '', orderKey: '' };

export function createTurnGiver({ context, flow, fault }: TurnGiverOptions): TurnGiver {
  const freed = new Map<string, Turn>();
  let place = FIRST_TURN;

  const give = async (turns: readonly Turn[]): Promise<void> => {
    if (turns.length === 0) return;
    const counts = new Map<string, number>();
    const wanted = turns.map((turn) => {
      const lane = { workspaceId: turn.workspaceId, key: turn.endpointId };
      const count = (counts.get(laneName(lane)) ?? 0) + 1;
      counts.set(laneName(lane), count);
      return { ...turn, isClaimed: flow.admit(lane, count) !== 'left' };
    });
    const askedAt = performance.now();
    const given = await giveTurns(context.database, context.name, wanted);
    fault('delivery.turned');
    flow.attempt(given.filter((row) => row.is_claimed).map((row) => makeJob(row, leaseEnd(askedAt))));
    const lanes = given.flatMap((row) =>
      row.is_claimed ? [] : [{ workspaceId: row.workspace_id, key: row.endpoint_id }],
    );
    if (lanes.length === 0) return;
    flow.leave([...new Map(lanes.map((lane) => [laneName(lane), lane])).values()]);
    flow.nudge('refill');
  };

  const sweep = async (run: Pick<Run, 'isStopping'>): Promise<void> => {
    for (let n = 0; n < LISTS_OF_SWEEP && freed.size === 0 && !run.isStopping(); n++) {
      const listed = await listTurns(context.database.pool, place, TURNS_AT_ONCE);
      await give(listed.filter(({ isFree }) => isFree));
      place = listed.length < TURNS_AT_ONCE ? FIRST_TURN : (listed.at(-1) ?? FIRST_TURN);
      if (place === FIRST_TURN) return;
    }
  };

  return {
    free(turns) {
      for (const turn of turns) freed.set(`${turn.workspaceId} ${turn.endpointId} ${turn.orderKey}`, turn);
      if (turns.length > 0) flow.nudge('turn');
    },
    async run(run) {
      if (freed.size === 0) await sweep(run);
      while (freed.size > 0 && !run.isStopping()) {
        const turns = [...freed].slice(0, TURNS_AT_ONCE);
        // Turns that are lost here, because PostgreSQL is unreachable, are found by the sweep.
        for (const [name] of turns) freed.delete(name);
        await give(turns.map(([, turn]) => turn));
      }
    },
  };
}
