import { DAY_MS } from '../../../core/shared/durations.ts';
import { graphql } from '../graphql.ts';
import { useLiveQuery } from '../live/use-live-query.ts';

/** A choice of a select. */
type Choice = { value: string; label: string };

const ENDPOINTS = graphql(`
  query EndpointChoices { endpoints(first: 100, filter: { isActive: true }) { edges { node { __typename id name } } } }
`);
const ENDPOINT_KINDS = {
  WebhookEndpoint: 'webhook',
  EmailEndpoint: 'forwarding',
  EmailGroupEndpoint: 'forwarding to a group',
};

/** Returns the active endpoints, newest first, including `current` even if it is inactive. */
export function useEndpointChoices(current: { id: string; name: string } | null = null): Choice[] {
  const { data } = useLiveQuery({ query: ENDPOINTS, kinds: ['ENDPOINT_DISABLED'], types: Object.keys(ENDPOINT_KINDS) });
  const choices = (data?.endpoints.edges ?? []).map(({ node }) => ({
    value: node.id,
    label: `${node.name} (${ENDPOINT_KINDS[node.__typename]})`,
  }));
  if (current !== null && !choices.some(({ value }) => value === current.id))
    choices.push({ value: current.id, label: `${current.name} (inactive)` });
  return choices;
}

const DOMAINS = graphql(`
  query DomainChoices {
    domains(first: 100, filter: { status: VERIFIED }) { edges { node { id name } } }
    domainCounts { total }
  }
`);

/** Reads the verified domains. `hasDomains` is whether there are any that wait, too. `domains` is undefined until they are known; `error` is why they are not. */
export function useVerifiedDomains() {
  const { data, error, refresh } = useLiveQuery({
    query: DOMAINS,
    kinds: ['DOMAIN_VERIFIED', 'DOMAIN_FAILED'],
    types: ['Domain'],
  });
  const domains = data?.domains.edges.map(({ node }) => node);
  return { domains, hasDomains: (data?.domainCounts.total ?? 0) > 0, error, refresh };
}

/** Returns choices from their labels by value. */
export function makeChoices<const Labels extends Readonly<Record<string, string>>>(labels: Labels) {
  return Object.entries(labels).map(([value, label]) => ({ value: value as keyof Labels & string, label }));
}

/** Lifetimes of what can expire. */
export const EXPIRIES: readonly Choice[] = [
  { value: 'never', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: 'date', label: 'On a date' },
];

/** Returns when something expires, counted from `now`; null: never. A date (`2027-01-31`) ends at midnight in the browser's time zone. Throws RangeError. */
export function readExpiry({ expiry, date }: { expiry: string; date: string }, now: Date = new Date()): string | null {
  if (expiry === 'never') return null;
  if (expiry === 'date') return new Date(`${date}T23:59:59.999`).toISOString();
  return new Date(now.getTime() + Number(expiry) * DAY_MS).toISOString();
}

/** Returns why the date of an expiry is not valid; null if it is, or if none is asked for. */
export function findDateFault(date: string, { expiry }: { expiry: string }): string | null {
  if (expiry !== 'date') return null;
  const end = Date.parse(`${date}T23:59:59.999`);
  if (Number.isNaN(end)) return 'Enter a date.';
  return end <= Date.now() ? 'Enter a date in the future.' : null;
}
