import { decideRoute, type RouteDecision, type RouteFacts } from '../../core/routing/route.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import { createSizedCache } from '../../core/shared/sized-cache.ts';
import type { PlannedRoute } from '../../db/queries/emails/take-mail.ts';
import { type RouteFactsRow, readRouteFacts } from '../../db/queries/routing/delivery-route.ts';
import { deliveryMetrics } from '../../schema/metrics.ts';
import type { ActorContext } from '../actor.ts';
import { type DirectDelivery, isContentKept, type MailToRoute, type RoutedMail } from '../direct-delivery.ts';
import { noteStage } from '../mail-spans.ts';
import { type Lane, laneName } from '../work/in-hand.ts';
import { leaseEnd } from '../work/leases.ts';
import type { DeliveryJob } from './delivery-job.ts';
import type { Dispatcher } from './dispatch.ts';
import type { DeliveryEndpoint, EndpointLookup, EndpointVersion } from './endpoint-lookup.ts';
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

/** A route that can be stored with its mail. */
interface Plan {
  version: string;
  decision: RouteDecision;
  /** null: no delivery is created */
  endpoint: DeliveryEndpoint | null;
}

/** Plans routes from facts that are cached, as long as their version is the current one: the statement that stores the mail compares it. */
export interface RoutePlanner {
  /** Returns a plan for each, null where the router decides. Facts that are not cached are read in one statement. */
  plan(mails: readonly MailToRoute[]): Promise<(Plan | null)[]>;
  /** Notes that the facts of this mail were current at `readAt` (performance.now()). */
  confirm(mail: MailToRoute, readAt: number): void;
  forget(mail: MailToRoute): void;
}

interface Known {
  /** null: the user has guard rules */
  version: string | null;
  facts: Omit<RouteFacts, 'ownAddress' | 'isDmarcReport'>;
  versions: readonly Omit<EndpointVersion, 'readAt'>[];
  endpoints: readonly DeliveryEndpoint[];
  readAt: number;
}

/** Size of all cached facts with their endpoints. Bytes, about. @limit */
export const MAX_ROUTE_FACTS = 20_000_000;
/** How long it is believed that a user has guard rules: nothing compares that. Milliseconds. */
const GUARDED_MS = 5_000;

export function createRoutePlanner({
  context,
  endpoints,
}: {
  context: ActorContext;
  endpoints: EndpointLookup;
}): RoutePlanner {
  const known = createSizedCache<Known>({
    maxSize: MAX_ROUTE_FACTS,
    size: ({ facts, endpoints: own }) => JSON.stringify([facts, own]).length,
  });

  const read = async (mails: readonly MailToRoute[]): Promise<void> => {
    const distinct = [...new Map(mails.map((mail) => [makeKey(mail), mail])).values()];
    const readAt = performance.now();
    const rows = await readRouteFacts(context.database.pool, distinct);
    const versions = rows.flatMap(toVersions);
    const find = await endpoints.read(
      context.database.pool,
      versions,
      versions.map((version) => ({ ...version, readAt })),
    );
    for (const [at, mail] of distinct.entries()) {
      const row = rows[at];
      if (row === undefined) continue;
      const own = toVersions(row);
      const found = own.flatMap((key) => find(key) ?? []);
      known.set(makeKey(mail), { version: row.version, facts: toFacts(row), versions: own, endpoints: found, readAt });
    }
  };

  const isUsable = (entry: Known | undefined): boolean =>
    entry !== undefined && (entry.version !== null || entry.readAt > performance.now() - GUARDED_MS);

  const planOne = (mail: MailToRoute): Plan | null => {
    const entry = known.get(makeKey(mail));
    if (entry === undefined || entry.version === null) return null;
    const facts = { ...entry.facts, ownAddress: mail.ownAddress, isDmarcReport: false };
    const find = (endpointId: string) => entry.endpoints.find(({ id }) => id === endpointId);
    const decision = decideRoute(facts, { kind: 'none' }, find);
    const endpoint =
      decision.endpointId === null || decision.outcome !== 'endpoint' ? undefined : find(decision.endpointId);
    if (endpoint !== undefined && (endpoint.type !== 'webhook' || endpoint.ordering !== 'none')) return null;
    return { version: entry.version, decision, endpoint: endpoint ?? null };
  };

  return {
    async plan(mails) {
      const missing = mails.filter((mail) => !isUsable(known.get(makeKey(mail))));
      if (missing.length > 0) await read(missing);
      return mails.map(planOne);
    },
    confirm(mail, readAt) {
      const versions = known.get(makeKey(mail))?.versions ?? [];
      endpoints.confirm(versions.map((version) => ({ ...version, readAt })));
    },
    forget: (mail) => void known.delete(makeKey(mail)),
  };
}

/** Returns the part of a plan that is stored. */
function plannedRoute({ version, decision }: Plan, delivery: PlannedRoute['delivery']): PlannedRoute {
  const { outcome, via, endpointId, reason } = decision;
  return { version, outcome, via, endpointId, reason, delivery };
}

function makeKey({ workspaceId, addressId, domainId }: MailToRoute): string {
  return `${workspaceId} ${addressId ?? ''} ${domainId}`;
}

function toVersions({ workspace_id: workspaceId, endpoint_versions: versions }: RouteFactsRow) {
  return Object.entries(versions ?? {}).map(([endpointId, version]) => ({ workspaceId, endpointId, version }));
}

function toFacts(row: RouteFactsRow): Known['facts'] {
  return {
    address:
      row.address_is_active === null
        ? null
        : { isActive: row.address_is_active, endpointId: row.address_endpoint_id, webhookId: row.address_webhook_id },
    domain:
      row.is_catch_all_enabled === null
        ? null
        : {
            isCatchAllEnabled: row.is_catch_all_enabled,
            catchAllEndpointId: row.catch_all_endpoint_id,
            receivesDmarcEmails: row.receive_dmarc_emails === true,
          },
  };
}
