import { graphql, type ResultOf, type VariablesOf } from '../../graphql.ts';

export const REFUSALS = graphql(`
  query DashboardRefusals($first: Int!, $after: String, $filter: DoorRefusalFilter) {
    refusals(first: $first, after: $after, filter: $filter) {
      edges {
        node { id reason recipient sender clientAddress network helo reply times createdAt lastAt }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

export type DoorRefusalFilter = NonNullable<VariablesOf<typeof REFUSALS>['filter']>;

/** A refusal in the list. */
export type ShownRefusal = ResultOf<typeof REFUSALS>['refusals']['edges'][number]['node'];

/** Reasons, in words. */
export const REASONS = [
  { value: 'UNKNOWN_RECIPIENT', label: 'Unknown recipient' },
  { value: 'UNAVAILABLE', label: 'Mailbox unavailable' },
  { value: 'EARLY_TALKER', label: 'Spoke before its turn' },
  { value: 'OWN_NAME', label: 'Used our name' },
  { value: 'SENDER_DOMAIN', label: 'Sender accepts no mail' },
  { value: 'BLOCK_LIST', label: 'Block list' },
  { value: 'GREYLIST', label: 'Greylisted' },
  { value: 'DMARC', label: 'DMARC' },
  { value: 'MESSAGE_RATE', label: 'Too many messages' },
  { value: 'CONTENT', label: 'Content' },
] as const;

/** Returns a reason in words. */
export function nameReason(reason: string): string {
  return REASONS.find(({ value }) => value === reason)?.label ?? reason;
}
