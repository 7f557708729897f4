import { type EndpointSubscription, matchesEvent, takesReceivedMail } from '../endpoints/endpoint-events.ts';
import {
  evaluateRules,
  type GuardFacts,
  type GuardMatch,
  type GuardRule,
  type GuardVerdict,
  type ModelVerdict,
  sortRules,
} from './guard-rule.ts';

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
export type RouteVia = (typeof ROUTE_VIAS)[number];

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

/** Joins sentences; null when there are none. */
export function sentences(...parts: (string | null)[]): string | null {
  const present = parts.filter((part) => part !== null && part !== '');
  return present.length === 0 ? null : present.join(' ');
}

/** Result of the guard rules for a message. Without a verdict it is held for review, for `reason`. */
export type Judgement = { verdict: GuardVerdict; reason?: undefined } | { verdict: null; reason: string };

/** Shown to the user when a message could not be evaluated because of our own error. */
const INTERNAL_ERROR = 'internal error';
/** Shown when parsing failed, so that a malformed message cannot bypass rules. */
const NOT_PARSED = 'it could not be parsed, and guard rules need its content';
const NO_MODEL = 'no model is configured';

/** Known verdicts of models by rule id, and whether a model can be asked. */
interface ModelKnowledge {
  verdicts: ReadonlyMap<string, ModelVerdict>;
  hasModel: boolean;
}

/** Evaluates active rules, both for new mail and for route previews. */
export function judgeMail(
  rules: readonly GuardRule[],
  mail: { facts: GuardFacts; isParsed: boolean },
  { verdicts, hasModel }: ModelKnowledge,
): Judgement {
  const verdict = evaluateRules(rules, mail.facts, verdicts);
  if (!mail.isParsed && dependsOnParsing(rules, verdict)) return { verdict: null, reason: NOT_PARSED };
  if (verdict.kind !== 'ask' || hasModel) return { verdict };
  return { verdict: { kind: 'review', rule: verdict.rule, reason: NO_MODEL } };
}

/** Returns the route of an evaluated message. */
export function decideJudged(
  { verdict, reason }: Judgement,
  facts: RouteFacts,
  find: (endpointId: string) => RouteTarget | undefined,
): RouteDecision {
  return verdict === null ? heldForReview(reason) : decideRoute(facts, verdict, find);
}

/** Returns the route of a message that cannot be evaluated: a user must review it. */
export function heldForReview(reason = INTERNAL_ERROR): RouteDecision {
  return { outcome: 'review', via: null, endpointId: null, ruleId: null, reason, matches: null };
}

/** Result of one rule in an evaluation. */
export interface TriedRule {
  id: string;
  name: string;
  type: GuardRule['type'];
  action: GuardRule['action'];
  priority: number;
  /** asking: its model must respond first; failed: its model did not respond; not-reached: an earlier rule decided */
  outcome: 'matched' | 'not-matched' | 'asking' | 'failed' | 'not-reached';
  /** what matched */
  matches: GuardMatch[];
  /** the model's reason; null for explicit rules and when no model was asked */
  reason: string | null;
}

/** Returns the rules in evaluation order, each with its result. */
export function triedRules(
  rules: readonly GuardRule[],
  { verdict }: Judgement,
  verdicts: ReadonlyMap<string, ModelVerdict>,
): TriedRule[] {
  const sorted = sortRules(rules);
  const decisive = verdict === null || verdict.kind === 'none' ? null : verdict;
  const place = decisive === null ? sorted.length : sorted.findIndex(({ id }) => id === decisive.rule.id);
  return sorted.map((rule, at) => {
    const { id, name, type, action, priority } = rule;
    const tried = { id, name, type, action, priority, matches: [], reason: verdicts.get(id)?.reason ?? null };
    if (at < place) return { ...tried, outcome: 'not-matched' };
    if (at > place || decisive === null) return { ...tried, outcome: 'not-reached', reason: null };
    switch (decisive.kind) {
      case 'matched':
        return { ...tried, outcome: 'matched', matches: decisive.matches, reason: decisive.reason };
      case 'ask':
        return { ...tried, outcome: 'asking', reason: null };
      case 'review':
        return { ...tried, outcome: 'failed', reason: decisive.reason };
    }
  });
}

/** Returns whether a rule that took part in the verdict looks at parsed data: bodies, attachments, authentication results. */
function dependsOnParsing(rules: readonly GuardRule[], verdict: GuardVerdict): boolean {
  const sorted = sortRules(rules);
  const decisive = verdict.kind === 'none' ? -1 : sorted.findIndex(({ id }) => id === verdict.rule.id);
  // Asking a model would be pointless.
  const asked = decisive === -1 ? sorted : sorted.slice(0, verdict.kind === 'ask' ? decisive + 1 : decisive);
  return asked.some((rule) => {
    if (rule.type === 'ai_prompt') return true;
    const { from, hasWords, hasAttachment, attachments, spf, dkim, dmarc, injection, spam, minSpamScore } = rule.config;
    return (
      from?.aligned === true ||
      [hasWords, hasAttachment, attachments, spf, dkim, dmarc, injection, spam, minSpamScore].some(
        (one) => one !== undefined,
      )
    );
  });
}
