import { DAY_MS } from '../../../../core/shared/durations.ts';
import { graphql, type ResultOf } from '../../graphql.ts';
import { POLICY_PARTS, USAGE_PARTS } from '../../parts/send-policy.tsx';

export const KEYS = graphql(
  `query DashboardKeys($first: Int!, $isRevoked: Boolean!) {
    apiKeys(first: $first, isRevoked: $isRevoked) {
      totalCount
      edges {
        node {
          id name status isCurrent scopes
          domains { id name }
          addresses createdAt expiresAt revokedAt lastUsedAt lastUsedFrom hint
          policy { ...PolicyParts }
          policyUsage { ...UsageParts }
        }
      }
      pageInfo { hasNextPage }
    }
  }`,
  [POLICY_PARTS, USAGE_PARTS],
);

/** A key in the list. */
export type ShownKey = ResultOf<typeof KEYS>['apiKeys']['edges'][number]['node'];

/** Scope of a key. */
export type KeyScope = NonNullable<ShownKey['scopes']>[number];

/** The scopes with their descriptions. */
export const KEY_SCOPES: readonly { scope: KeyScope; label: string; about: string }[] = [
  {
    scope: 'READ',
    label: 'Read',
    about: 'Read all data: emails with attachments, threads, domains, deliveries and live events.',
  },
  {
    scope: 'SEND',
    label: 'Send',
    about: 'Send new emails, replies and forwards; reschedule or cancel scheduled emails; retry failed ones.',
  },
  {
    scope: 'MANAGE',
    label: 'Manage',
    about: 'Change everything else: domains, addresses, endpoints, guard rules, labels and API keys.',
  },
  {
    scope: 'APPROVE',
    label: 'Approve',
    about: 'Approve or reject emails that wait for approval, apart from those that the key itself sent.',
  },
];

/** Returns the rights of a key, such as "Read and send". */
export function describeScopes(scopes: readonly KeyScope[] | null): string {
  if (scopes === null) return 'Full access';
  const labels = KEY_SCOPES.filter(({ scope }) => scopes.includes(scope)).map(({ label }) => label.toLowerCase());
  const text = new Intl.ListFormat('en').format(labels);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Days before its expiry from which a key is highlighted, as in the findings of the overview. */
const SOON_DAYS = 7;

/** Returns whether the key expires soon; false for a key without an expiry date. */
export function expiresSoon(expiresAt: string | null): boolean {
  return expiresAt !== null && Date.parse(expiresAt) - Date.now() < SOON_DAYS * DAY_MS;
}
