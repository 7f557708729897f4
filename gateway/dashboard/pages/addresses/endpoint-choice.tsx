import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';

const ENDPOINTS = graphql(`
  query EndpointChoices {
    endpoints(first: 100, filter: { isActive: true }) { edges { node { __typename id name } } }
  }
`);
const KINDS: Record<string, string> = {
  WebhookEndpoint: 'webhook',
  EmailEndpoint: 'forwarding',
  EmailGroupEndpoint: 'forwarding to a group',
};

/** Returns the active endpoints as select options, newest first, including `current` even if it is inactive. */
export function useEndpointChoices(
  current: { id: string; name: string } | null = null,
): { value: string; label: string }[] {
  const { data } = useLiveQuery({
    query: ENDPOINTS,
    variables: {},
    kinds: ['ENDPOINT_DISABLED'],
    types: ['WebhookEndpoint', 'EmailEndpoint', 'EmailGroupEndpoint'],
  });
  const choices = (data?.endpoints.edges ?? []).map(({ node }) => ({
    value: node.id,
    label: `${node.name} (${KINDS[node.__typename] ?? 'endpoint'})`,
  }));
  if (current !== null && !choices.some(({ value }) => value === current.id))
    choices.push({ value: current.id, label: `${current.name} (inactive)` });
  return choices;
}
