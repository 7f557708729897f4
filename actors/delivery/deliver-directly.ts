import { newIdentifier } from '../../core/shared/identifiers.ts';
import type { PlannedRoute } from '../../db/queries/emails/take-mail.ts';
import { deliveryMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { type DirectDelivery, isContentKept, type RoutedMail } from '../direct-delivery.ts';
import { noteStage } from '../mail-spans.ts';
import { type Lane, laneName } from '../work/in-hand.ts';
import { leaseEnd } from '../work/leases.ts';
import type { Dispatcher } from './dispatch.ts';
import type { DeliveryJob } from './job.ts';
import { plannedRoute, type RoutePlanner } from './plan-routes.ts';
import type { DueTaker } from './take-due.ts';

export interface DirectDeliveryOptions {
  context: ActorContext;
  planner: RoutePlanner;
  taker: DueTaker;
  dispatcher: Dispatcher;
}

/**
 * Routes and delivers mail that this process has just received:
 *
 * 1. Plan the route from cached facts (plan-routes.ts), and claim its delivery if this process has room for it.
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
        if (route.delivery.admission !== 'left') jobs.push(jobOf(each, route.delivery, route.endpointId));
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

function jobOf(
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
