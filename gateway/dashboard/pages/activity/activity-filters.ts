import type { ResultOf, VariablesOf } from '../../graphql.ts';
import { graphql } from '../../graphql.ts';
import { EMAIL_ROW } from './email-row-fragment.ts';

/** Returns a page of all mail. */
export const ACTIVITY = graphql(
  `query DashboardActivity($first: Int!, $after: String, $filter: EmailFilter, $search: String) {
    emails(first: $first, after: $after, filter: $filter, search: $search) {
      edges { cursor node { ...DashboardEmailRow } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  [EMAIL_ROW],
);

export type ActivityPageData = ResultOf<typeof ACTIVITY>;
type Variables = VariablesOf<typeof ACTIVITY>;
type Filter = NonNullable<Variables['filter']>;

/** A choice in the filter bar: its name in the URL, its label, and its GraphQL values. */
interface Choice<Value> {
  word: string;
  label: string;
  value: Value;
}

export const DIRECTIONS: Choice<NonNullable<Filter['type']>>[] = [
  { word: 'received', label: 'Received', value: 'RECEIVED' },
  { word: 'sent', label: 'Sent', value: 'SENT' },
  { word: 'scheduled', label: 'Scheduled', value: 'SCHEDULED' },
];
export const STATUSES: Choice<NonNullable<Filter['status']>>[] = [
  { word: 'delivered', label: 'Delivered', value: 'DELIVERED' },
  { word: 'pending', label: 'Pending', value: 'PENDING' },
  { word: 'queued', label: 'Queued', value: 'QUEUED' },
  { word: 'deferred', label: 'Deferred', value: 'DEFERRED' },
  { word: 'bounced', label: 'Bounced', value: 'BOUNCED' },
  { word: 'failed', label: 'Failed', value: 'FAILED' },
  { word: 'complained', label: 'Reported as spam', value: 'COMPLAINED' },
  { word: 'scheduled', label: 'Scheduled', value: 'SCHEDULED' },
  { word: 'paused', label: 'Paused', value: 'PAUSED' },
  { word: 'cancelled', label: 'Cancelled', value: 'CANCELLED' },
  { word: 'awaiting-approval', label: 'Awaiting approval', value: 'AWAITING_APPROVAL' },
  { word: 'rejected', label: 'Rejected', value: 'REJECTED' },
  { word: 'unread', label: 'Unread', value: 'UNREAD' },
  { word: 'read', label: 'Read', value: 'READ' },
  { word: 'archived', label: 'Archived', value: 'ARCHIVED' },
];
/** Guard rules hold only received mail, which has no other of these statuses. */
export const GUARDS: Choice<NonNullable<Filter['status']>>[] = [{ word: 'held', label: 'Held', value: 'BLOCKED' }];
export const TIMES: Choice<NonNullable<Filter['timeRange']>>[] = [
  { word: 'hour', label: 'Last hour', value: 'HOUR' },
  { word: 'day', label: 'Last 24 hours', value: 'DAY' },
  { word: 'week', label: 'Last 7 days', value: 'WEEK' },
  { word: 'month', label: 'Last 30 days', value: 'MONTH' },
  { word: 'quarter', label: 'Last 90 days', value: 'QUARTER' },
  { word: 'all', label: 'Any time', value: 'ALL' },
];

/** Names of the filters in the URL. */
export const FILTER_NAMES = ['q', 'direction', 'status', 'guard', 'domain', 'address', 'time'] as const;
export type FilterName = (typeof FILTER_NAMES)[number];

/** Returns the GraphQL variables of a query string. Unknown names and values are ignored. */
export function filterOf(parameters: URLSearchParams): Pick<Variables, 'filter' | 'search'> {
  const text = (name: FilterName) => parameters.get(name)?.trim() || null;
  const filter: Filter = {
    type: valueOf(DIRECTIONS, text('direction')),
    status: valueOf(GUARDS, text('guard')) ?? valueOf(STATUSES, text('status')),
    domain: text('domain'),
    address: text('address'),
    timeRange: valueOf(TIMES, text('time')),
  };
  return { filter, search: text('q') };
}

function valueOf<Value>(choices: readonly Choice<Value>[], word: string | null): Value | null {
  return choices.find((choice) => choice.word === word)?.value ?? null;
}
