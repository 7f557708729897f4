import {
  AUDIT_EVENT_KINDS,
  EVENT_KINDS,
  type EventKind,
  findAuditAction,
  isAuditKind,
  isEventKind,
  type PostedKind,
} from '../events/event-kinds.ts';

/** What an endpoint is posted, and how. Forwarding endpoints have the defaults. */
export interface EndpointSubscription {
  /** kinds of events, `*` for all but those of the audit log, and prefixes such as `email.*`; at least one */
  events: readonly string[];
  /** null: the whole account */
  filter: EventFilter | null;
  /** a GraphQL selection on the type Event that makes up the payload; null: the default payload */
  payloadQuery: string | null;
  ordering: EndpointOrdering;
  /** whether a response may contain actions to run */
  allowActions: boolean;
}

/** Events about mail of one of these domains or addresses, by name in lower case; never both empty. */
export interface EventFilter {
  domains: string[];
  addresses: string[];
}

/** Deliveries that wait for earlier ones to the same endpoint: none, those of the same thread, or those of the same sender. */
export const ENDPOINT_ORDERINGS = ['none', 'thread', 'sender'] as const;
export type EndpointOrdering = (typeof ENDPOINT_ORDERINGS)[number];

/** Of an endpoint that is not asked for more: received mail that is routed to it. */
export const DEFAULT_SUBSCRIPTION: EndpointSubscription = {
  events: ['email.received'],
  filter: null,
  payloadQuery: null,
  ordering: 'none',
  allowActions: false,
};

/** Maximum patterns in `events`, and names in each list of a filter. */
export const MAX_EVENT_PATTERNS = 100;
export const MAX_FILTER_NAMES = 100;
/** Characters. */
export const MAX_PAYLOAD_QUERY_LENGTH = 10_000;

/** Is posted to the endpoint that the email is routed to, and to any that ask for all received mail. */
const ROUTED_KIND = 'email.received' satisfies EventKind;

/** All received mail, wherever it is routed, and what is held or routed nowhere. */
const ALL_RECEIVED = `${ROUTED_KIND}:all`;

/** Every kind of the feed. */
const ANY = '*';

/** Every entry of the audit log. */
export const ALL_AUDIT = 'audit.*';

/** `email.*` and so on. */
const PREFIXES = [...new Set(Object.keys(EVENT_KINDS).map((kind) => `${kind.slice(0, kind.indexOf('.'))}.*`))];

/** Returns an error for the first pattern that matches no kind, with its place, such as `events[1]`; null when all are valid. */
export function checkEventPatterns(patterns: readonly string[]): { field: string; message: string } | null {
  const at = patterns.findIndex((pattern) => !isEventPattern(pattern));
  if (at === -1) return null;
  const allowed = [ANY, ...PREFIXES, ALL_AUDIT, ...Object.keys(EVENT_KINDS), ALL_RECEIVED, ...AUDIT_EVENT_KINDS].join(
    ', ',
  );
  return { field: `events[${at}]`, message: `\`events[${at}]\` is not a kind of event. Allowed are: ${allowed}` };
}

/** Returns whether an endpoint with these `events` subscribes to a kind; to one of the audit log only if they say so. */
export function matchesEvent(patterns: readonly string[], kind: PostedKind): boolean {
  return patterns.some(
    (pattern) =>
      (pattern === ANY && !isAuditKind(kind)) ||
      pattern === kind ||
      (pattern === ALL_RECEIVED && kind === ROUTED_KIND) ||
      (pattern.endsWith('.*') && kind.startsWith(pattern.slice(0, -1))),
  );
}

/**
 * Returns whether an endpoint with these `events` is posted events of the feed. Received mail alone needs none: it is posted when it is
 * routed to the endpoint.
 */
export function subscribesToFeed(patterns: readonly string[]): boolean {
  return patterns.some((pattern) => pattern !== ROUTED_KIND);
}

/** Returns whether an endpoint with these `events` is posted entries of the audit log. */
export function subscribesToAudit(patterns: readonly string[]): boolean {
  return patterns.some(isAuditKind);
}

/** Returns whether an event of the feed is posted to an endpoint with these `events`. */
export function isPostedFromFeed(patterns: readonly string[], kind: PostedKind): boolean {
  return kind === ROUTED_KIND ? patterns.includes(ALL_RECEIVED) : matchesEvent(patterns, kind);
}

/** Returns what both lists of patterns match, as patterns. */
export function commonPatterns(one: readonly string[], other: readonly string[]): string[] {
  const kinds = (Object.keys(EVENT_KINDS) as EventKind[]).filter(
    (kind) => matchesEvent(one, kind) && matchesEvent(other, kind),
  );
  return one.includes(ALL_RECEIVED) && kinds.includes(ROUTED_KIND) ? [...kinds, ALL_RECEIVED] : kinds;
}

/** Returns whether an event of the feed is posted like routed mail, with the payload of received mail. */
export function isPostedAsMail(kind: PostedKind): boolean {
  return kind === ROUTED_KIND;
}

/** What an event is about. */
export interface EventPlaces {
  /** names of domains and addresses in lower case: of its email, of all emails of its thread, or of its domain; null: of none */
  domains: readonly (string | null)[] | null;
  addresses: readonly (string | null)[] | null;
}

/** Returns whether an event passes a filter: everything that it is about does. */
export function matchesFilter(filter: EventFilter | null, { domains, addresses }: EventPlaces): boolean {
  if (filter === null) return true;
  const isAmong = (names: readonly (string | null)[] | null, allowed: readonly string[]) =>
    names !== null && names.every((name) => name !== null && allowed.includes(name));
  return isAmong(domains, filter.domains) || isAmong(addresses, filter.addresses);
}

/** Returns whether an endpoint is posted mail to an address that is routed to it. */
export function takesReceivedMail(
  { events, filter }: Pick<EndpointSubscription, 'events' | 'filter'>,
  ownAddress: string,
): boolean {
  if (!matchesEvent(events, ROUTED_KIND)) return false;
  return matchesFilter(filter, {
    domains: [ownAddress.slice(ownAddress.lastIndexOf('@') + 1)],
    addresses: [ownAddress],
  });
}

function isEventPattern(pattern: string): boolean {
  return (
    [ANY, ALL_RECEIVED, ALL_AUDIT, ...PREFIXES].includes(pattern) ||
    isEventKind(pattern) ||
    findAuditAction(pattern) !== null
  );
}
