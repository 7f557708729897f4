import type { Transaction } from 'kysely';
import { canonicalAddress, canonicalDomainName } from '../../core/domains/domain-name.ts';
import type { EndpointType } from '../../core/endpoints/endpoint-config.ts';
import {
  checkEventPatterns,
  DEFAULT_SUBSCRIPTION,
  type EndpointOrdering,
  type EndpointSubscription,
  type EventFilter,
  subscribesToFeed,
} from '../../core/endpoints/endpoint-events.ts';
import { decodeEventCursor } from '../../core/events/event-cursor.ts';
import type { Tables } from '../../db/entities/tables.ts';
import { findAddresses, findDomainNames } from '../../db/queries/endpoints/endpoint-filter.ts';
import { setSubscription } from '../../db/queries/endpoints/endpoint-subscription.ts';
import { readFeedEnd } from '../../db/queries/events/event-list.ts';
import { invalid } from '../context.ts';
import { outdatedCursor } from '../events/events.ts';

/** A subscription as a user gives it; omitted fields keep their values. */
export interface SubscriptionInput {
  events?: readonly string[] | undefined;
  /** domains and addresses by id or name; null: no filter */
  filter?: { domains?: readonly string[] | undefined; addresses?: readonly string[] | undefined } | null | undefined;
  payloadQuery?: string | null | undefined;
  ordering?: EndpointOrdering | undefined;
  allowActions?: boolean | undefined;
  /** cursor of the feed after which events are posted; omitted: new events only, when it was not subscribed or not active before */
  since?: string | undefined;
}

type CurrentSubscription = Omit<EndpointSubscription, 'filter' | 'payloadQuery'> & {
  filter?: EventFilter | null | undefined;
  payloadQuery?: string | null | undefined;
};

/** Names of the fields of a subscription. */
export const SUBSCRIPTION_FIELDS = ['events', 'filter', 'payloadQuery', 'ordering', 'allowActions'] as const;

/** Returns the current subscription with the changes. Throws validation, with the place of what is wrong. */
export async function changeSubscription(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { type, ...current }: { type: EndpointType } & CurrentSubscription,
  input: SubscriptionInput,
): Promise<EndpointSubscription> {
  const events = input.events === undefined ? current.events : [...new Set(input.events)];
  const refusal = checkEventPatterns(input.events ?? []);
  if (refusal !== null) throw invalid(refusal.message, refusal.field);
  const changed: EndpointSubscription = {
    events,
    filter:
      input.filter === undefined ? (current.filter ?? null) : await readFilter(transaction, workspaceId, input.filter),
    payloadQuery: input.payloadQuery === undefined ? (current.payloadQuery ?? null) : input.payloadQuery,
    ordering: input.ordering ?? current.ordering,
    allowActions: input.allowActions ?? current.allowActions,
  };
  if (type !== 'webhook')
    for (const field of SUBSCRIPTION_FIELDS)
      if (JSON.stringify(changed[field]) !== JSON.stringify(DEFAULT_SUBSCRIPTION[field]))
        throw invalid(`Only webhooks have \`${field}\`. Omit it for an endpoint that forwards mail.`, field);
  return changed;
}

/** Returns the filter by names; null without one. Throws validation. */
export async function readFilter(
  transaction: Transaction<Tables>,
  workspaceId: string,
  input: NonNullable<SubscriptionInput['filter']> | null,
): Promise<EventFilter | null> {
  if (input === null) return null;
  const { domains = [], addresses = [] } = input;
  if (domains.length + addresses.length === 0)
    throw invalid('`filter` must name at least one domain or address. Use null to match all.', 'filter');
  const domainNames = await findDomainNames(
    transaction,
    workspaceId,
    domains.map((domain) => canonicalDomainName(domain) ?? domain),
  );
  const foundAddresses = await findAddresses(
    transaction,
    workspaceId,
    addresses.map((address) => canonicalAddress(address)?.address ?? address),
  );
  return {
    domains: known(domainNames, 'filter.domains', 'one of your domains, by ID or name'),
    addresses: known(foundAddresses, 'filter.addresses', 'one of your addresses, by ID or address'),
  };
}

/** Returns the distinct names; throws validation for the first that was not found. */
function known(found: readonly (string | null)[], field: string, allowed: string): string[] {
  return [
    ...new Set(
      found.map((name, at) => {
        if (name === null) throw invalid(`\`${field}[${at}]\` is not ${allowed}.`, `${field}[${at}]`);
        return name;
      }),
    ),
  ];
}

interface SubscriptionMove {
  workspaceId: string;
  endpoint: { id: string; events: readonly string[]; isActive: boolean };
  /** before the change; null: the endpoint is new */
  previous: { events: readonly string[]; isActive: boolean } | null;
  since: string | undefined;
}

/**
 * Sets the position from which the endpoint is posted events of the feed: after `since`, or at the end of the feed when it was posted none
 * before, because it did not subscribe or was disabled. Throws validation for an invalid cursor, and gone for one after which events were
 * removed.
 */
export async function moveSubscription(
  transaction: Transaction<Tables>,
  { workspaceId, endpoint, previous, since }: SubscriptionMove,
): Promise<void> {
  if (!subscribesToFeed(endpoint.events)) {
    if (since !== undefined)
      throw invalid('`since` needs `events` other than `email.received`. Replay received mail instead.', 'since');
    await setSubscription(transaction, workspaceId, endpoint.id, null);
    return;
  }
  const wasPosted = previous !== null && previous.isActive && subscribesToFeed(previous.events);
  if (wasPosted && since === undefined) return;
  const { lastSeq, firstSeq } = await readFeedEnd(transaction, workspaceId);
  const position = since === undefined ? lastSeq : decodeEventCursor(workspaceId, since);
  if (position === null || position > lastSeq) throw invalid('Invalid cursor', 'since');
  if (position < firstSeq - 1) throw outdatedCursor('Use a later cursor, or omit `since` to start with new events.');
  await setSubscription(transaction, workspaceId, endpoint.id, position);
}
