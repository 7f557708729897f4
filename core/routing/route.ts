import type { GuardMatch, GuardRule, GuardVerdict } from './guard-rule.ts';

/** The route of an own address or domain as it stands; endpoint ids of the same user. */
export interface RouteFacts {
  /** local-part of the own address, lower case, without plus-tag */
  localPart: string;
  /** whether the mail is a DMARC aggregate report that was recognised */
  isDmarcReport: boolean;
  /** null when the catch-all took the mail, or the address is gone since */
  address: { isActive: boolean; endpointId: string | null; webhookId: string | null } | null;
  /** null when the domain is gone since */
  domain: { catchAllEndpointId: string | null; isCatchAllEnabled: boolean; receivesDmarcEmails: boolean } | null;
}

/** Whether an endpoint of the user exists and takes mail. */
export interface RouteTarget {
  id: string;
  isActive: boolean;
}

/** What led mail to an endpoint. */
export const ROUTE_VIAS = ['address', 'webhook', 'catch-all', 'guard-rule'] as const;
type RouteVia = (typeof ROUTE_VIAS)[number];

export const ROUTE_OUTCOMES = ['endpoint', 'inactive', 'stored', 'blocked', 'review', 'asking'] as const;
type RouteOutcome = (typeof ROUTE_OUTCOMES)[number];

/**
 * What became of a received mail, or would. `endpoint`: it goes to `endpointId`; `inactive`: that endpoint is switched off; `stored`:
 * nothing leads anywhere; `blocked`: a guard rule holds it back; `review`: the rule's model did not answer, so that a human has to;
 * `asking`: the rule's model is to be asked. Mail is stored whatever becomes of it.
 */
export interface RouteDecision {
  outcome: RouteOutcome;
  /** what led to the endpoint */
  via: RouteVia | null;
  endpointId: string | null;
  /** the guard rule that matched, or whose model is asked or did not answer */
  ruleId: string | null;
  /** what else there is to say, in whole sentences; null when the rest says it all */
  reason: string | null;
  /** what of the mail fitted the rule */
  matches: GuardMatch[] | null;
}

type Place = Pick<RouteDecision, 'outcome' | 'via' | 'endpointId' | 'reason'>;

/** Reports of RFC 9990 go to this local-part by convention; they are routed only where the domain asks for it. */
const DMARC_LOCAL_PART = 'dmarc';

/**
 * The one decision on a received mail. What the guard rules say comes first: a rule that blocks holds it back, one that routes leads it to
 * its endpoint, if that exists and is active. Otherwise the mail goes the way of {@link normalRoute}. `find` knows the endpoints of the
 * mail's user only.
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

/** Where a mail goes that a rule lets through, or leads to its endpoint. */
function placeBy(rule: GuardRule, facts: RouteFacts, find: (endpointId: string) => RouteTarget | undefined): Place {
  const normal = normalRoute(facts, find);
  if (rule.action !== 'route') return normal;
  const target = rule.endpointId === null ? undefined : find(rule.endpointId);
  if (target?.isActive === true) return { outcome: 'endpoint', via: 'guard-rule', endpointId: target.id, reason: null };
  const obstacle =
    target === undefined
      ? 'The endpoint that the guard rule names does not exist any more, so the rule led nowhere.'
      : `The endpoint ${target.id} that the guard rule names is switched off, so the rule led nowhere.`;
  return { ...normal, reason: sentences(obstacle, normal.reason) };
}

/**
 * The way of a mail that no guard rule leads elsewhere: to the endpoint of the active address, else its legacy webhook, else the catch-all
 * of the domain, else nowhere. An endpoint that does not exist any more is passed over; one that is switched off ends the search (the mail
 * was meant for it and can be delivered later). DMARC reports never reach the catch-all, and mail to `dmarc@` nothing at all, unless the
 * domain asks for it. Its reason is a sentence when the mail goes nowhere.
 */
export function normalRoute(facts: RouteFacts, find: (endpointId: string) => RouteTarget | undefined): Place {
  const { address, domain } = facts;
  const isReportWanted = domain?.receivesDmarcEmails !== false;
  if (facts.localPart === DMARC_LOCAL_PART && !isReportWanted)
    return stored('Mail to dmarc@ is stored only, since the domain does not ask for it (receiveDmarcEmails).');
  const isCatchAllClosed = facts.isDmarcReport && !isReportWanted;
  const candidates: [string | null | undefined, 'address' | 'webhook' | 'catch-all'][] = [
    [address?.isActive === true ? address.endpointId : null, 'address'],
    [address?.isActive === true ? address.webhookId : null, 'webhook'],
    [domain?.isCatchAllEnabled === true && !isCatchAllClosed ? domain.catchAllEndpointId : null, 'catch-all'],
  ];
  for (const [endpointId, via] of candidates) {
    const target = endpointId == null ? undefined : find(endpointId);
    if (target !== undefined)
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

function stored(reason: string): Place {
  return { outcome: 'stored', via: null, endpointId: null, reason };
}

function whyNowhere({ address, domain }: RouteFacts, isEndpointNamed: boolean, isCatchAllClosed: boolean): string {
  if (isCatchAllClosed && domain?.isCatchAllEnabled === true)
    return 'The mail is a DMARC report; the catch-all of the domain does not get those (receiveDmarcEmails).';
  const ofAddress =
    address === null
      ? 'No address of its own took the mail'
      : !address.isActive
        ? 'The address is switched off'
        : 'The address has no endpoint';
  const ofDomain =
    domain === null
      ? 'its domain does not exist any more'
      : domain.isCatchAllEnabled && domain.catchAllEndpointId !== null
        ? 'the catch-all of the domain leads nowhere'
        : 'the domain has no catch-all';
  const gone = isEndpointNamed ? ' An endpoint that is named there does not exist any more.' : '';
  return `${ofAddress}, and ${ofDomain}.${gone}`;
}

/** What a decision refers to, by the names that there still are. */
export interface RouteNames {
  /** the own address that took the mail */
  ownAddress: string;
  rule: string | null;
  endpoint: string | null;
  /** whether a user has let the mail through */
  isReleased: boolean;
}

/** Why the mail went where it went, in whole sentences that a human understands. */
export function explainRoute(decision: RouteDecision, names: RouteNames): string {
  const rule = `guard rule ${named(names.rule, decision.ruleId)}`;
  const endpoint = `endpoint ${named(names.endpoint, decision.endpointId)}`;
  const allowed = decision.ruleId === null || decision.via === 'guard-rule' ? null : `It fitted the ${rule}.`;
  const release = names.isReleased ? 'It has been released since.' : 'It can be released.';
  switch (decision.outcome) {
    case 'blocked':
      return `The ${rule} holds this mail back. ${sentences(decision.reason, release)}`;
    case 'review':
      return decision.ruleId === null
        ? `This mail is held for review: ${decision.reason ?? ''}. ${release}`
        : `This mail is held for review, since the model of the ${rule} did not answer: ${decision.reason ?? ''}. ${release}`;
    case 'asking':
      return `The model of the ${rule} has to say first whether this mail fits.`;
    case 'stored':
      return sentences(allowed, decision.reason, 'It is stored and delivered nowhere.') ?? '';
    case 'inactive':
    case 'endpoint': {
      const way = `${wayOf(decision.via, rule, names.ownAddress)} leads to the ${endpoint}`;
      const end =
        decision.outcome === 'inactive' ? `${way}, which is switched off: the mail is stored only.` : `${way}.`;
      return sentences(allowed, decision.reason, end) ?? '';
    }
  }
}

function wayOf(via: RouteVia | null, rule: string, ownAddress: string): string {
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
  return name === null ? `${id ?? ''} (gone since)` : `“${name}”`;
}

function sentences(...parts: (string | null)[]): string | null {
  const present = parts.filter((part) => part !== null && part !== '');
  return present.length === 0 ? null : present.join(' ');
}
