import { positionOfEvent, readOrder } from '../../core/endpoints/delivery-order.ts';
import { deriveDeliveryId } from '../../core/endpoints/derive-delivery-id.ts';
import { readWebhookConfig } from '../../core/endpoints/endpoint-config.ts';
import { isPostedAsMail, isPostedFromFeed, matchesFilter } from '../../core/endpoints/endpoint-events.ts';
import { isAuditKind } from '../../core/events/event-kinds.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { isTransient } from '../../db/errors.ts';
import {
  type EventDelivery,
  type FanOutEvent,
  findSubscribersBehind,
  type LockedSubscription,
  lockSubscription,
  readFanOutEvents,
  readSubscribedWorkspaces,
  type Subscriber,
  storeEventDeliveries,
} from '../../db/queries/endpoints/endpoint-subscription.ts';
import type { ActorContext } from '../actor.ts';
import { setAside } from '../set-aside.ts';
import type { DeliveryFlow } from './delivery-flow.ts';
import type { DeliveryFaultPoint } from './delivery-job.ts';

export interface FanOutOptions {
  context: ActorContext;
  flow: DeliveryFlow;
  fault: (point: DeliveryFaultPoint) => void;
}

/**
 * Turns events of the feed into deliveries to the endpoints that subscribe to them. Each endpoint has a position in the feed of its user:
 *
 * 1. An event is announced on the bus (`event.appended`). Announcements of users without such endpoints are ignored.
 * 2. Lock the subscription of each endpoint that is behind, and read the next events.
 * 3. Create one delivery for each event that the endpoint asks for, and move its position, in the same transaction: an event that was
 *    read is never lost, and never delivered twice.
 *
 * A sweep finds endpoints that are behind because an announcement was lost.
 */
export interface FanOut {
  /** Works on the announced users, or, when there are none, on all. */
  run(): Promise<void>;
  stop(): Promise<void>;
}

/** Events that one transaction reads. */
const EVENTS_AT_ONCE = 500;
/** Endpoints that one round serves. */
const ENDPOINTS_AT_ONCE = 500;

export function createFanOut({ context, flow, fault }: FanOutOptions): FanOut {
  const nudge = () => flow.nudge('fan-out');
  const { bus, database } = context;
  const subscribed = new Set<string>();
  const announced = new Set<string>();
  /** users whose subscriptions have changed since they were read */
  const changed = new Set<string>();

  const announce = (workspaceId: string) => {
    announced.add(workspaceId);
    nudge();
  };
  const subscriptions = [
    bus.subscribe('event.appended', ({ workspaceId }) => {
      if (subscribed.has(workspaceId)) announce(workspaceId);
    }),
    bus.subscribe('subscription.changed', ({ workspaceId }) => {
      changed.add(workspaceId);
      subscribed.add(workspaceId);
      announce(workspaceId);
    }),
  ];

  /** Reads who subscribes; changes that are announced meanwhile are read the next time. */
  const learnUsers = async () => {
    changed.clear();
    const workspaceIds = await readSubscribedWorkspaces(database);
    subscribed.clear();
    for (const workspaceId of [...workspaceIds, ...changed]) subscribed.add(workspaceId);
  };

  /** Returns whether there is more for this endpoint. */
  const advance = async (subscriber: Subscriber): Promise<boolean> => {
    const stored = await inTransaction(database, async (client) => {
      const subscription = await lockSubscription(client, subscriber);
      if (subscription === null) return { deliveries: [], hasMore: false };
      const { event_seq: after, last_seq: lastSeq, filter } = subscription;
      const range = { after, upTo: lastSeq, limit: EVENTS_AT_ONCE, withPlaces: filter !== null };
      const events = await readFanOutEvents(client, subscriber.workspaceId, range);
      fault('fan-out.read');
      const upTo = events.length < EVENTS_AT_ONCE ? lastSeq : (events.at(-1)?.seq ?? lastSeq);
      const deliveries = events
        .filter(
          (event) =>
            !event.is_quiet &&
            isPostedFromFeed(subscription.events, event.kind) &&
            (subscription.reads_audit || !isAuditKind(event.kind)) &&
            matchesFilter(filter, event),
        )
        .map((event) => ({
          ...toTurn(subscription, event),
          id: deriveDeliveryId(subscriber.endpointId, event),
          ...(isPostedAsMail(event.kind)
            ? { seq: null, kind: null, threadId: event.order_thread_id }
            : { seq: event.seq, kind: event.kind, threadId: event.thread_id }),
          emailId: event.email_id,
        }));
      const attemptsAllowed = 1 + readWebhookConfig(subscription.config).retryAttempts;
      await storeEventDeliveries(client, subscriber, { deliveries, attemptsAllowed, upTo });
      return { deliveries, hasMore: upTo < lastSeq };
    });
    fault('fan-out.stored');
    const turns = stored.deliveries.flatMap(({ orderKey }) => (orderKey === null ? [] : [{ ...subscriber, orderKey }]));
    if (stored.deliveries.length > 0) {
      flow.freeTurns(turns);
      flow.nudge('deliver');
    }
    return stored.hasMore;
  };

  const advanceOrSetAside = async (subscriber: Subscriber): Promise<boolean> => {
    try {
      return await advance(subscriber);
    } catch (error) {
      if (isTransient(error)) throw error;
      await setAside(context, {
        workspaceId: subscriber.workspaceId,
        step: 'fan-out',
        subjectId: subscriber.endpointId,
        error,
      });
      return false;
    }
  };

  return {
    async run() {
      const workspaceIds = announced.size > 0 ? [...announced] : null;
      announced.clear();
      if (workspaceIds === null || changed.size > 0) await learnUsers();
      let behind = await findSubscribersBehind(database, workspaceIds, ENDPOINTS_AT_ONCE);
      const isAll = behind.length < ENDPOINTS_AT_ONCE;
      // Round by round, so that an endpoint far behind does not hold up the others.
      while (behind.length > 0) {
        const left: Subscriber[] = [];
        for (const subscriber of behind) if (await advanceOrSetAside(subscriber)) left.push(subscriber);
        behind = left;
        if (announced.size > 0) break;
      }
      if (behind.length > 0 || !isAll || announced.size > 0) nudge();
    },
    async stop() {
      for (const subscription of subscriptions) await subscription.stop();
    },
  };
}

function toTurn(
  { ordering }: LockedSubscription,
  { at, seq, order_thread_id: threadId, from_address: fromAddress }: FanOutEvent,
): Pick<EventDelivery, 'orderKey' | 'orderPosition'> {
  const order = readOrder(ordering, { position: positionOfEvent({ at, seq }), threadId, fromAddress });
  return { orderKey: order?.key ?? null, orderPosition: order?.position ?? null };
}
