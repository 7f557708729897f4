import {
  Anchor,
  Button,
  Card,
  Group,
  SegmentedControl,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { Link, useSearchParams } from 'wouter';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { counted } from '../../parts/counted.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconPlugConnected, IconPlus, IconSearch } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { endpointTypes, formats, healthOf, statsInWords } from './endpoint-words.ts';
import { NewEndpoint } from './new-endpoint.tsx';

const ENDPOINTS = graphql(`
  query DashboardEndpoints($filter: EndpointFilter, $after: String) {
    endpoints(first: 50, filter: $filter, after: $after) {
      edges {
        node {
          __typename id name description isActive inactiveReason
          stats { total successful failed lastDeliveryAt }
          ... on WebhookEndpoint { url format }
          ... on EmailEndpoint { forwardTo }
          ... on EmailGroupEndpoint { addresses }
        }
      }
      pageInfo { hasNextPage endCursor }
      totalCount
    }
  }
`);

type Endpoint = ResultOf<typeof ENDPOINTS>['endpoints']['edges'][number]['node'];

/** All endpoints with their health. */
export function EndpointsPage() {
  const [search, setSearch] = useSearchParams();
  const words = search.get('q') ?? '';
  const state = search.get('state') ?? 'all';
  const after = search.get('after');
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: ENDPOINTS,
    variables: {
      filter: { search: words === '' ? null : words, isActive: state === 'all' ? null : state === 'on' },
      after,
    },
    kinds: ['DELIVERY_SUCCEEDED', 'DELIVERY_DEFERRED', 'DELIVERY_FAILED', 'ENDPOINT_DISABLED'],
    types: ['WebhookEndpoint', 'EmailEndpoint', 'EmailGroupEndpoint'],
    gatherMs: 1_000,
  });
  const change = (next: Record<string, string>) => {
    const given = { q: words, state, ...next };
    setSearch(
      Object.fromEntries(
        Object.entries(given).filter(([name, value]) => value !== '' && !(name === 'state' && value === 'all')),
      ),
      { replace: true },
    );
  };
  const find = useDebouncedCallback((q: string) => change({ q }), 250);
  const isNarrowed = words !== '' || state !== 'all';
  const endpoints = data?.endpoints;
  return (
    <>
      <PageHeader
        title="Endpoints"
        about="Where Postroom delivers received mail: webhooks, chat rooms, and other mailboxes."
      >
        <Button
          {...needs('endpoints')}
          component={Link}
          href="/endpoints?new=webhook"
          leftSection={<IconPlus size={16} aria-hidden />}
        >
          Create endpoint
        </Button>
      </PageHeader>
      <NewEndpoint />
      {error !== undefined && data === undefined && <ErrorNote error={error} retry={refresh} />}
      {isLoading && <Skeleton height={240} />}
      {endpoints !== undefined && endpoints.totalCount === 0 && !isNarrowed ? (
        <EmptyState
          icon={IconPlugConnected}
          title="No endpoints yet"
          about="An endpoint receives the mail of an address or a domain and posts it to your program or forwards it. Create an endpoint, then choose it for an address."
        >
          <Button {...needs('endpoints')} component={Link} href="/endpoints?new=webhook">
            Create endpoint
          </Button>
        </EmptyState>
      ) : (
        endpoints !== undefined && (
          <Stack gap="md">
            <Group gap="sm">
              <TextInput
                aria-label="Search endpoints"
                placeholder="Name or URL"
                defaultValue={words}
                onChange={({ currentTarget }) => find(currentTarget.value)}
                leftSection={<IconSearch size={16} aria-hidden />}
                maxLength={100}
              />
              <SegmentedControl
                aria-label="Status of endpoints"
                value={state}
                onChange={(value) => change({ state: value })}
                data={[
                  { value: 'all', label: 'All' },
                  { value: 'on', label: 'On' },
                  { value: 'off', label: 'Off' },
                ]}
              />
              <Text size="sm" c="dimmed" role="status">
                {counted(endpoints.totalCount, 'endpoint')}
              </Text>
            </Group>
            <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
              {endpoints.edges.map(({ node }) => (
                <EndpointCard key={node.id} endpoint={node} />
              ))}
            </SimpleGrid>
            {endpoints.pageInfo.hasNextPage && (
              <Button
                variant="default"
                w="fit-content"
                onClick={() => setSearch({ ...Object.fromEntries(search), after: endpoints.pageInfo.endCursor ?? '' })}
              >
                Load more
              </Button>
            )}
          </Stack>
        )
      )}
    </>
  );
}

function EndpointCard({ endpoint }: { endpoint: Endpoint }) {
  const { status, tone } = healthOf(endpoint);
  return (
    <Card withBorder padding="md" bg="var(--postroom-raised)">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Stack gap={2} miw={0}>
          <Anchor component={Link} href={`/endpoints/${endpoint.id}`} fw={600} className="postroom-wrap">
            {endpoint.name}
          </Anchor>
          <Text size="xs" c="dimmed">
            {endpointTypes[endpoint.__typename].label}
            {endpoint.__typename === 'WebhookEndpoint' && endpoint.format !== 'NATIVE'
              ? `, ${formats[endpoint.format]}`
              : ''}
          </Text>
        </Stack>
        <StatusBadge status={status} tone={tone} />
      </Group>
      <Text size="sm" ff="monospace" mt="xs" className="postroom-wrap">
        {targetOf(endpoint)}
      </Text>
      {endpoint.inactiveReason !== null && (
        <Text size="sm" mt="xs" c="var(--mantine-color-error)">
          {endpoint.inactiveReason}
        </Text>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        {statsInWords(endpoint.stats)}
        {endpoint.stats.lastDeliveryAt !== null && (
          <RelativeTime at={endpoint.stats.lastDeliveryAt} prefix="; last delivery " />
        )}
      </Text>
    </Card>
  );
}

function targetOf(endpoint: Endpoint): string {
  switch (endpoint.__typename) {
    case 'WebhookEndpoint':
      return endpoint.url;
    case 'EmailEndpoint':
      return endpoint.forwardTo;
    case 'EmailGroupEndpoint':
      return endpoint.addresses.join(', ');
  }
}
