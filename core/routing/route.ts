import { type EndpointSubscription, matchesEvent, takesReceivedMail } from '../endpoints/endpoint-events.ts';
import type { GuardMatch, GuardRule, GuardVerdict } from './guard-rule.ts';

/** The current route of an address or domain; endpoint ids belong to the same user. */
export interface RouteFacts {
  /** the address that received the message, in lower case, without plus-tag */
  ownAddress: string;
  /** whether the message is a DMARC aggregate report */
  isDmarcReport: boolean;
  /** null when the catch-all accepted the message, or the address has been deleted */
  address: { isActive: boolean; endpointId: string | null; webhookId: string | null } | null;
  /** null when the domain has been deleted */
  domain: { catchAllEndpointId: string | null; isCatchAllEnabled: boolean; receivesDmarcEmails: boolean } | null;
}

/** An endpoint of the user, and what it is posted. */
export interface RouteTarget extends Pick<EndpointSubscription, 'events' | 'filter'> {
  id: string;
  isActive: boolean;
}

/** What routes mail to an endpoint. */
export const ROUTE_VIAS = ['address', 'webhook', 'catch-all', 'guard-rule'] as const;
type RouteVia = (typeof ROUTE_VIAS)[number];

export const ROUTE_OUTCOMES = ['endpoint', 'inactive', 'stored', 'blocked', 'review', 'asking'] as const;
type RouteOutcome = (typeof ROUTE_OUTCOMES)[number];

/**
 * The route of a received message, or what it would be. `endpoint`: it is delivered to `endpointId`; `inactive`: that endpoint is
 * disabled; `stored`: no endpoint is configured; `blocked`: a guard rule holds it; `review`: the rule's model did not respond, so a user
 * must decide; `asking`: the rule's model must be asked first. The message is stored in every case.
 */
export interface RouteDecision {
  outcome: RouteOutcome;
  /** what routes it to the endpoint */
  via: RouteVia | null;
  endpointId: string | null;
  /** the guard rule that matched, or whose model is asked or did not respond */
  ruleId: string | null;
  /** additional explanation in full sentences; null when there is none */
  reason: string | null;
  /** what matched the rule */
  matches: GuardMatch[] | null;
}

type Destination = Pick<RouteDecision, 'outcome' | 'via' | 'endpointId' | 'reason'>;

/** Reports of RFC 9990 go to this local-part by convention; they are routed only if the domain is set to. */
const DMARC_LOCAL_PART = 'dmarc';

/**
 * Decides the route of a received message. The guard rules come first: one that blocks holds the message, one that routes delivers it to
 * its endpoint if that exists and is active. Otherwise {@link normalRoute} decides. `find` returns endpoints of the message's user only.
 */
export function decideRoute(
  facts: RouteFacts,
  verdict: GuardVerdict,
  find: (endpointId: string) => RouteTarget | undefined,
): RouteDecision {
  const nowhere = { via: null, endpointId: null };
  switch (verdict.kind) {
    case 'none':
      return { ...normalRoute(facts, find), ruleId: null, matches: null };
    case 'ask':
      return { outcome: 'asking', ...nowhere, ruleId: verdict.rule.id, reason: null, matches: null };
    case 'review':
      return { outcome: 'review', ...nowhere, ruleId: verdict.rule.id, reason: verdict.reason, matches: null };
    case 'matched': {
      const { rule, matches, reason } = verdict;
      const place =
        rule.action === 'block'
          ? { outcome: 'blocked' as const, ...nowhere, reason: null }
          : placeBy(rule, facts, find);
      return { ...place, reason: sentences(reason, place.reason), ruleId: rule.id, matches };
    }
  }
}

/** Returns the route of a message that a rule allows or routes. */
function placeBy(
  rule: GuardRule,
  facts: RouteFacts,
  find: (endpointId: string) => RouteTarget | undefined,
): Destination {
  const normal = normalRoute(facts, find);
  if (rule.action !== 'route') return normal;
  const target = rule.endpointId === null ? undefined : find(rule.endpointId);
  if (target?.isActive === true && takesReceivedMail(target, facts.ownAddress))
    return { outcome: 'endpoint', via: 'guard-rule', endpointId: target.id, reason: null };
  const obstacle =
    target === undefined
      ? 'The endpoint of the guard rule no longer exists, so the rule has no effect.'
      : target.isActive
        ? `${whyNotPosted(target)} The rule has no effect.`
        : `The endpoint ${target.id} of the guard rule is disabled, so the rule has no effect.`;
  return { ...normal, reason: sentences(obstacle, normal.reason) };
}

/**
 * Returns the route without guard rules: the endpoint of the active address, else its legacy webhook, else the catch-all of the domain,
 * else none. An endpoint that no longer exists is skipped; a disabled one ends the search, because the message is meant for it and can be
 * delivered later, and so does one whose `events` or `filter` leave out the message. Unless the domain is set to route DMARC reports, they never reach the catch-all, and mail to `dmarc@` is only stored.
 * The reason is a sentence if there is no endpoint.
 */
export function normalRoute(facts: RouteFacts, find: (endpointId: string) => RouteTarget | undefined): Destination {
  const { address, domain } = facts;
  const isReportWanted = domain?.receivesDmarcEmails !== false;
  if (facts.ownAddress.startsWith(`${DMARC_LOCAL_PART}@`) && !isReportWanted)
    return stored('Mail to dmarc@ is only stored, because the domain does not route it (receiveDmarcEmails).');
  const isCatchAllClosed = facts.isDmarcReport && !isReportWanted;
  const candidates: [string | null | undefined, 'address' | 'webhook' | 'catch-all'][] = [
    [address?.isActive === true ? address.endpointId : null, 'address'],
    [address?.isActive === true ? address.webhookId : null, 'webhook'],
    [domain?.isCatchAllEnabled === true && !isCatchAllClosed ? domain.catchAllEndpointId : null, 'catch-all'],
  ];
  for (const [endpointId, via] of candidates) {
    const target = endpointId == null ? undefined : find(endpointId);
    if (target === undefined) continue;
    if (!takesReceivedMail(target, facts.ownAddress)) return stored(whyNotPosted(target));
    return { outcome: target.isActive ? 'endpoint' : 'inactive', via, endpointId: target.id, reason: null };
  }
  return stored(
    whyNowhere(
      facts,
      candidates.some(([endpointId]) => endpointId != null),
      isCatchAllClosed,
    ),
  );
}

function whyNotPosted({ id, events, filter }: RouteTarget): string {
  const obstacle = matchesEvent(events, 'email.received') ? `filter ${JSON.stringify(filter)}` : 'events';
  return `The ${obstacle} of the endpoint ${id} leave${obstacle === 'events' ? '' : 's'} out this mail.`;
}

function stored(reason: string): Destination {
  return { outcome: 'stored', via: null, endpointId: null, reason };
}

function whyNowhere({ address, domain }: RouteFacts, isEndpointNamed: boolean, isCatchAllClosed: boolean): string {
  if (isCatchAllClosed && domain?.isCatchAllEnabled === true)
    return 'The mail is a DMARC report, and the domain does not route those to its catch-all (receiveDmarcEmails).';
  const ofAddress =
    address === null
      ? 'No address matches the recipient'
      : !address.isActive
        ? 'The address is disabled'
        : 'The address has no endpoint';
  const ofDomain =
    domain === null
      ? 'its domain no longer exists'
      : domain.isCatchAllEnabled
        ? domain.catchAllEndpointId === null
          ? 'the catch-all of the domain only stores mail'
          : 'the catch-all of the domain has no valid endpoint'
        : 'the domain has no catch-all';
  const gone = isEndpointNamed ? ' A configured endpoint no longer exists.' : '';
  return `${ofAddress}, and ${ofDomain}.${gone}`;
}

/** Names for what a decision refers to, where they still exist. */
export interface RouteNames {
  /** the own address that accepted the message */
  ownAddress: string;
  rule: string | null;
  endpoint: string | null;
  /** whether a user has released the message */
  isReleased: boolean;
}

/** Explains a route in full sentences for users. */
export function explainRoute(decision: RouteDecision, names: RouteNames): string {
  const rule = `guard rule ${named(names.rule, decision.ruleId)}`;
  const endpoint = `endpoint ${named(names.endpoint, decision.endpointId)}`;
  const allowed = decision.ruleId === null || decision.via === 'guard-rule' ? null : `It matched the ${rule}.`;
  const release = names.isReleased ? 'It has been released since.' : 'It can be released.';
  switch (decision.outcome) {
    case 'blocked':
      return `The ${rule} blocked this mail. ${sentences(decision.reason, release)}`;
    case 'review':
      return decision.ruleId === null
        ? `This mail is held for review: ${decision.reason ?? ''}. ${release}`
        : `This mail is held for review, because the model of the ${rule} did not respond: ${decision.reason ?? ''}. ${release}`;
    case 'asking':
      return `The model of the ${rule} has not decided yet whether this mail matches.`;
    case 'stored':
      return sentences(allowed, decision.reason, 'It is stored and not delivered.') ?? '';
    case 'inactive':
    case 'endpoint': {
      const way = `${describeWay(decision.via, rule, names.ownAddress)} routes to the ${endpoint}`;
      const end = decision.outcome === 'inactive' ? `${way}, which is disabled: the mail is only stored.` : `${way}.`;
      return sentences(allowed, decision.reason, end) ?? '';
    }
  }
}

function describeWay(via: RouteVia | null, rule: string, ownAddress: string): string {
  const domain = ownAddress.slice(ownAddress.lastIndexOf('@') + 1);
  switch (via) {
    case 'guard-rule':
      return `The ${rule}`;
    case 'webhook':
      return `The webhook of the address ${ownAddress}`;
    case 'catch-all':
      return `The catch-all of ${domain}`;
    case 'address':
    case null:
      return `The address ${ownAddress}`;
  }
}

function named(name: string | null, id: string | null): string {
  return name === null ? `${id ?? ''} (deleted)` : `“${name}”`;
}

function sentences(...parts: (string | null)[]): string | null {
  const present = parts.filter((part) => part !== null && part !== '');
  return present.length === 0 ? null : present.join(' ');
}
