import type { EndpointType } from '../../core/endpoints/endpoint-config.ts';
import { type RouteDecision, type TriedRule } from '../../core/routing/decide-route.ts';
import { explainRoute } from '../../core/routing/explain-route.ts';
import type { GuardAction, GuardMatch } from '../../core/routing/guard-rule.ts';
import { readStoredVerdicts, type StoredVerdict } from '../../core/routing/stored-verdict.ts';
import { UserError } from '../../core/shared/errors.ts';
import { describeThreadReason } from '../../core/threads/threading.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { type Delivery, findRoutedDeliveries } from '../../db/queries/endpoints/delivery-list.ts';
import { readReceived } from '../../db/queries/endpoints/delivery-retry.ts';
import {
  findStoredRoutes,
  type ReferenceIds,
  type RouteReferences,
  readReferences,
  type StoredRoute,
} from '../../db/queries/routing/route-read.ts';
import { emailNotFound, isValidId, type OperationContext } from '../context.ts';
import { waitUntilParsed } from '../emails/pending-emails.ts';
import { type CurrentRoute, decideCurrentRoute, storedMail, type Transaction } from './current-route.ts';

/** What decided a route, with names. Ids are null when nothing of the kind took part; names are null when it has been deleted since. */
export interface RouteSummary {
  outcome: RouteDecision['outcome'] | null;
  via: RouteDecision['via'];
  rule: { id: string; name: string | null; action: GuardAction | null } | null;
  endpoint: {
    id: string;
    name: string | null;
    type: EndpointType | null;
    isActive: boolean | null;
  } | null;
  /** in full sentences */
  reason: string;
  matches: GuardMatch[];
}

/** Where a received email went and why, step by step. */
export interface ExplainedRoute extends RouteSummary {
  emailId: string;
  /** envelope recipient, including a plus-tag */
  recipient: string;
  address: { id: string; address: string; isActive: boolean | null } | null;
  domain: { id: string; name: string; isCatchAllEnabled: boolean | null } | null;
  releasedAt: Date | null;
  /** verdicts of models */
  answers: StoredVerdict[];
  deliveries: Delivery[];
  steps: RouteStep[];
  /** where it would go now; null: not requested */
  would: RouteSummary | null;
  /** set with `would`: the current guard rules in evaluation order, each with its result */
  tried: TriedRule[];
}

/** Maximum deliveries shown; all of them are listed at the endpoint. */
const MAX_DELIVERIES = 100;

/**
 * Explains which address or catch-all, guard rule and endpoint decided a received email's route, why, and when each step happened.
 * `extent` adds where it would go by the current rules. Throws not_found, validation, rate_limited.
 */
export async function explainEmailRoute(
  context: OperationContext,
  emailId: string,
  extent: 'stored' | 'stored and now',
): Promise<ExplainedRoute> {
  const { database, workspaceId } = context;
  if (!isValidId(emailId)) throw emailNotFound();
  const explain = () =>
    asWorkspace(database, workspaceId, async (transaction) => {
      const [explained] = await explainStored(transaction, workspaceId, [emailId], async ({ type }) => {
        if (type !== 'received') throw new UserError('validation', 'Only received emails have a route');
        return extent === 'stored' ? null : wouldBe(context, transaction, emailId);
      });
      if (explained == null) throw emailNotFound();
      return { ...explained, would: explained.would && noteUnseenRules(context, explained.would) };
    });
  return waitUntilParsed(context, [emailId], explain);
}

/** Says that a prediction for a key of one domain knows no guard rules, which decide on the mail of the whole account. */
export function noteUnseenRules({ database: { limit } }: OperationContext, place: RouteSummary): RouteSummary {
  if (limit === undefined) return place;
  return {
    ...place,
    reason: `${place.reason} Guard rules are not considered, because this API key is limited to domains or addresses.`,
  };
}

/** Emails whose routes are read together. */
const ROUTES_BATCH = 16;

/** Explains the stored routes of emails, as explainEmailRoute does; null for emails that the user does not have. */
export async function loadEmailRoutes(
  { database, workspaceId }: OperationContext,
  emailIds: readonly string[],
): Promise<(ExplainedRoute | null)[]> {
  return asWorkspace(database, workspaceId, async (transaction) => {
    const explained: (ExplainedRoute | null)[] = [];
    for (let at = 0; at < emailIds.length; at += ROUTES_BATCH)
      explained.push(...(await explainStored(transaction, workspaceId, emailIds.slice(at, at + ROUTES_BATCH))));
    return explained;
  });
}

async function explainStored(
  transaction: Transaction,
  workspaceId: string,
  emailIds: readonly string[],
  decideNow: (stored: StoredRoute) => Promise<CurrentRoute | null> = () => Promise.resolve(null),
): Promise<(ExplainedRoute | null)[]> {
  const routes = await findStoredRoutes(transaction, workspaceId, emailIds);
  if (routes.size === 0) return emailIds.map(() => null);
  const found = await findRoutedDeliveries(transaction, workspaceId, [...routes.keys()], MAX_DELIVERIES);
  const deliveriesOf = Map.groupBy(found.toReversed(), ({ emailId }) => emailId);
  const facts = new Map<string, RouteFacts>();
  for (const [emailId, stored] of routes)
    facts.set(emailId, {
      stored,
      decision: findDecision(stored),
      verdicts: readStoredVerdicts(stored.verdicts),
      deliveries: deliveriesOf.get(emailId) ?? [],
      would: await decideNow(stored),
    });
  const names = await readReferences(transaction, workspaceId, referencesIn([...facts.values()]));
  return emailIds.map((emailId) => {
    const known = facts.get(emailId);
    return known === undefined ? null : explain(emailId, known, names);
  });
}

/** What the explanation of a route is made of, beside the names that it refers to. */
interface RouteFacts {
  stored: StoredRoute;
  decision: RouteDecision | null;
  verdicts: StoredVerdict[];
  /** oldest first */
  deliveries: Delivery[];
  would: CurrentRoute | null;
}

function referencesIn(facts: readonly RouteFacts[]): ReferenceIds {
  return {
    addressIds: present(facts.map(({ stored }) => stored.addressId)),
    domainIds: present(facts.map(({ stored }) => stored.domainId)),
    ruleIds: present(
      facts.flatMap(({ decision, would, verdicts }) => [
        decision?.ruleId,
        would?.decision.ruleId,
        ...verdicts.map(({ ruleId }) => ruleId),
      ]),
    ),
    endpointIds: present(
      facts.flatMap(({ decision, would, deliveries }) => [
        decision?.endpointId,
        would?.decision.endpointId,
        ...deliveries.map(({ endpointId }) => endpointId),
      ]),
    ),
  };
}

function explain(
  emailId: string,
  { stored, decision, verdicts, deliveries, would }: RouteFacts,
  names: RouteReferences,
): ExplainedRoute {
  const place = decision === null ? summarizeWaiting(stored) : summarizeRoute(decision, stored, names);
  return {
    emailId,
    recipient: stored.recipient ?? stored.ownAddress,
    ...place,
    address: findRouteAddress(stored, names),
    domain: findRouteDomain(stored, names),
    releasedAt: stored.route?.released_at ?? null,
    answers: verdicts,
    deliveries,
    steps: listSteps(stored, { reason: place.reason, verdicts, deliveries, names }),
    would: would === null ? null : summarizeRoute(would.decision, stored, names),
    tried: would?.tried ?? [],
  };
}

async function wouldBe(context: OperationContext, transaction: Transaction, emailId: string): Promise<CurrentRoute> {
  const email = await readReceived(transaction, context.workspaceId, emailId);
  if (email === null) throw emailNotFound();
  return decideCurrentRoute(context, transaction, storedMail(transaction, context.workspaceId, emailId, email));
}

function findDecision({ route, matches }: StoredRoute): RouteDecision | null {
  if (route === null || route.outcome === null) return null;
  return {
    outcome: route.outcome,
    via: route.via,
    endpointId: route.endpoint_id,
    ruleId: route.rule_id,
    reason: route.reason,
    // Written by core/routing/decide-route.ts.
    matches: matches as GuardMatch[] | null,
  };
}

function summarizeWaiting({ route, keptApart }: StoredRoute): RouteSummary {
  const waiting = route === null ? 'It is stored and waits for threading.' : 'It is threaded and waits for routing.';
  const reason = keptApart === null ? waiting : WHY_KEPT_APART[keptApart];
  return { outcome: null, via: null, rule: null, endpoint: null, reason, matches: [] };
}

const WHY_KEPT_APART = {
  spam: 'It is in the folder Spam, and is routed when it is marked as not spam.',
  virus: 'It has a virus and is in quarantine, so it is not routed.',
} as const;

/** Returns a decision with the names of everything it refers to. */
export function summarizeRoute(
  decision: RouteDecision,
  { ownAddress, route }: Pick<StoredRoute, 'ownAddress' | 'route'>,
  names: RouteReferences,
): RouteSummary {
  const { ruleId, endpointId } = decision;
  const rule = ruleId === null ? undefined : names.rules.get(ruleId);
  const endpoint = endpointId === null ? undefined : names.endpoints.get(endpointId);
  return {
    outcome: decision.outcome,
    via: decision.via,
    rule: ruleId === null ? null : { id: ruleId, name: rule?.name ?? null, action: rule?.action ?? null },
    endpoint:
      endpointId === null
        ? null
        : {
            id: endpointId,
            name: endpoint?.name ?? null,
            type: endpoint?.type ?? null,
            isActive: endpoint?.isActive ?? null,
          },
    reason: explainRoute(decision, {
      ownAddress,
      rule: rule?.name ?? null,
      endpoint: endpoint?.name ?? null,
      isReleased: route?.released_at != null,
    }),
    matches: decision.matches ?? [],
  };
}

/** Null when the catch-all accepted the mail. */
export function findRouteAddress(
  { addressId, ownAddress }: Pick<StoredRoute, 'addressId' | 'ownAddress'>,
  { addresses }: RouteReferences,
): ExplainedRoute['address'] {
  if (addressId === null) return null;
  return { id: addressId, address: ownAddress, isActive: addresses.get(addressId)?.isActive ?? null };
}

/** The recipient domain of the email. */
export function findRouteDomain(
  { domainId, ownAddress }: Pick<StoredRoute, 'domainId' | 'ownAddress'>,
  { domains }: RouteReferences,
): ExplainedRoute['domain'] {
  if (domainId === null) return null;
  const name = ownAddress.slice(ownAddress.lastIndexOf('@') + 1);
  return { id: domainId, name, isCatchAllEnabled: domains.get(domainId)?.isCatchAllEnabled ?? null };
}

function present(ids: readonly (string | null | undefined)[]): string[] {
  return [...new Set(ids.filter((id) => id != null))];
}

/** A step of a message's way through the service. */
export interface RouteStep {
  step: 'received' | 'parsed' | 'threaded' | 'asked' | 'routed' | 'released' | 'delivered';
  /** when it was done; for a pending delivery the last or next attempt; null: still to come */
  at: Date | null;
  /** since the previous step; for replies of models and deliveries since their own start; null: unknown */
  durationMs: number | null;
  detail: string;
  /** set for step `delivered` */
  deliveryId: string | null;
}

interface StepFacts {
  /** the reason of the route */
  reason: string;
  verdicts: readonly StoredVerdict[];
  /** oldest first */
  deliveries: readonly Delivery[];
  names: RouteReferences;
}

/** Returns the steps that are done and the pending deliveries, in order. */
function listSteps(stored: StoredRoute, { reason, verdicts, deliveries, names }: StepFacts): RouteStep[] {
  const { reception, route } = stored;
  const parsedAt = reception?.parsedAt ?? null;
  const asked = verdicts.map(
    (verdict): RouteStep => ({
      step: 'asked',
      at: new Date(verdict.at),
      durationMs: verdict.durationMs,
      detail: describeVerdict(verdict, names),
      deliveryId: null,
    }),
  );
  return [
    step('received', stored.createdAt, null, receptionText(stored)),
    ...(parsedAt === null ? [] : [step('parsed', parsedAt, stored.createdAt, parseText(stored))]),
    ...(route === null
      ? []
      : [
          step(
            'threaded',
            route.threaded_at,
            parsedAt ?? stored.createdAt,
            describeThreadReason(stored.threadReason ?? 'new'),
          ),
          ...asked,
        ]),
    ...(route?.decided_at == null ? [] : [step('routed', route.decided_at, route.threaded_at, reason)]),
    ...(route?.released_at == null
      ? []
      : [
          step(
            'released',
            route.released_at,
            null,
            'A user released it: it is routed as if there were no guard rules.',
          ),
        ]),
    ...deliveries.map((delivery) => deliveryStep(delivery, names)),
  ];
}

function step(name: RouteStep['step'], at: Date, since: Date | null, detail: string): RouteStep {
  const durationMs = since === null ? null : Math.max(0, at.getTime() - since.getTime());
  return { step: name, at, durationMs, detail, deliveryId: null };
}

function receptionText({ reception, recipient, ownAddress }: StoredRoute): string {
  const to = recipient ?? ownAddress;
  const own = to.toLowerCase() === ownAddress ? '' : ` (address ${ownAddress})`;
  if (reception === null) return `Accepted for ${to}${own}.`;
  if (reception.isImported) return `Imported for ${to}${own}.`;
  const from = reception.reversePath === '' ? 'with a null return address' : `from ${reception.reversePath}`;
  const connection = `${reception.remoteAddress} (${reception.helo})${reception.isTls ? ' over TLS' : ''}`;
  return `Accepted for ${to}${own}, ${from}, of ${connection}.`;
}

function parseText({ parseError }: StoredRoute): string {
  return parseError === null ? 'Parsed.' : `It could not be parsed, and is stored unparsed: ${parseError}`;
}

function describeVerdict({ ruleId, isMatch, reason }: StoredVerdict, { rules }: RouteReferences): string {
  const rule = `guard rule ${nameOr(rules.get(ruleId)?.name, ruleId)}`;
  if (isMatch === null) return `The model of the ${rule} did not respond: ${reason}`;
  return `The model says that it ${isMatch ? 'matches' : 'does not match'} the ${rule}${reason === '' ? '' : `: ${reason}`}`;
}

function deliveryStep(delivery: Delivery, { endpoints }: RouteReferences): RouteStep {
  const at = delivery.completedAt ?? delivery.lastAttemptAt ?? delivery.nextAttemptAt;
  return {
    step: 'delivered',
    at,
    durationMs: delivery.completedAt === null ? null : delivery.completedAt.getTime() - delivery.createdAt.getTime(),
    detail: `${deliveryText(delivery)} (endpoint ${nameOr(endpoints.get(delivery.endpointId)?.name, delivery.endpointId)})`,
    deliveryId: delivery.id,
  };
}

const CAUSES: Record<Delivery['cause'], string> = {
  route: 'First delivery',
  retry: 'Retry',
  replay: 'Replay',
  release: 'After release',
  action: 'Action of a webhook',
  event: 'Event',
};

function deliveryText({ cause, status, attempts, attemptLog, recipients, type }: Delivery): string {
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  const what = type === 'webhook' ? 'webhook' : 'forwarded copy';
  const error = attemptLog.at(-1)?.error ?? recipients.find(({ text }) => text !== null)?.text ?? null;
  switch (status) {
    case 'success':
      return `${CAUSES[cause]}: ${what} delivered after ${tries}.`;
    case 'failed':
      return `${CAUSES[cause]}: ${what} failed after ${tries}${error === null ? '.' : `: ${error}`}`;
    case 'pending':
      return `${CAUSES[cause]}: ${what} pending after ${tries}${error === null ? '.' : `: ${error}`}`;
  }
}

function nameOr(name: string | undefined, id: string): string {
  return name === undefined ? id : `“${name}”`;
}
