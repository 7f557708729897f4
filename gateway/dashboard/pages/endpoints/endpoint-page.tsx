import { Alert, Anchor, Button, Group, Paper, SimpleGrid, Skeleton, Stack, Switch, Tabs, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, useParams, useSearchParams } from 'wouter';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconPlugConnectedX } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useRight } from '../../shell/viewer.ts';
import { EndpointDeliveries } from './endpoint-deliveries.tsx';
import { ENDPOINT, type Endpoint } from './endpoint-documents.ts';
import { EndpointReplay } from './endpoint-replay.tsx';
import { EndpointSettings } from './endpoint-settings.tsx';
import { EndpointTest } from './endpoint-test.tsx';
import { endpointTypes, healthOf, statsInWords } from './endpoint-words.ts';
import { SigningTab } from './signing-tab.tsx';
import { useEndpointUpdate } from './use-endpoint-update.ts';

/** One endpoint: its health, deliveries, test, replay, secret and settings. */
export function EndpointPage() {
  const { id } = useParams<{ id: string }>();
  const [search, setSearch] = useSearchParams();
  const tab = search.get('tab') ?? 'deliveries';
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: ENDPOINT,
    variables: { id },
    kinds: ['DELIVERY_SUCCEEDED', 'DELIVERY_DEFERRED', 'DELIVERY_FAILED', 'ENDPOINT_DISABLED'],
    concerns: (event) => event.endpointId === id,
    gatherMs: 1_000,
  });
  if (error !== undefined && data === undefined)
    return (
      <>
        <PageHeader title="Endpoint" />
        <ErrorNote error={error} retry={refresh} />
      </>
    );
  if (isLoading || data === undefined)
    return (
      <>
        <PageHeader title="Endpoint" />
        <Skeleton height={320} />
      </>
    );
  const { endpoint } = data;
  if (endpoint === null)
    return (
      <>
        <PageHeader title="Endpoint" />
        <EmptyState
          icon={IconPlugConnectedX}
          title="Endpoint not found"
          about="It was deleted, or the link is incorrect."
        >
          <Button component={Link} href="/endpoints" variant="default">
            All endpoints
          </Button>
        </EmptyState>
      </>
    );
  const isWebhook = endpoint.__typename === 'WebhookEndpoint';
  return (
    <>
      <PageHeader title={endpoint.name} about={endpoint.description ?? endpointTypes[endpoint.__typename].about}>
        <ActiveSwitch endpoint={endpoint} />
      </PageHeader>
      <Stack gap="md">
        <Health endpoint={endpoint} />
        <Tabs
          value={tab}
          onChange={(value) => setSearch(value === 'deliveries' ? {} : { tab: value ?? '' }, { replace: true })}
          keepMounted={false}
        >
          <Tabs.List mb="md">
            <Tabs.Tab value="deliveries">Deliveries</Tabs.Tab>
            <Tabs.Tab value="test">Test</Tabs.Tab>
            <Tabs.Tab value="replay">Replay</Tabs.Tab>
            {isWebhook && <Tabs.Tab value="signing">Signing</Tabs.Tab>}
            <Tabs.Tab value="settings">Settings</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="deliveries">
            <EndpointDeliveries id={endpoint.id} />
          </Tabs.Panel>
          <Tabs.Panel value="test">
            <EndpointTest endpoint={endpoint} />
          </Tabs.Panel>
          <Tabs.Panel value="replay">
            <EndpointReplay id={endpoint.id} isActive={endpoint.isActive} />
          </Tabs.Panel>
          <Tabs.Panel value="signing">{isWebhook && <SigningTab endpoint={endpoint} />}</Tabs.Panel>
          <Tabs.Panel value="settings">
            <EndpointSettings key={endpoint.id} endpoint={endpoint} />
          </Tabs.Panel>
        </Tabs>
      </Stack>
    </>
  );
}

function ActiveSwitch({ endpoint }: { endpoint: Endpoint }) {
  const { act, isBusy } = useEndpointUpdate(endpoint.__typename);
  const mayChange = useRight('endpoints');
  return (
    <Switch
      label={endpoint.isActive ? 'On' : 'Off'}
      aria-label={`${endpoint.name} is on`}
      checked={endpoint.isActive}
      disabled={isBusy || !mayChange}
      onChange={({ currentTarget }) => void act({ id: endpoint.id, isActive: currentTarget.checked })}
    />
  );
}

function Health({ endpoint }: { endpoint: Endpoint }) {
  const { status, tone } = healthOf(endpoint);
  const { stats, emailAddresses, catchAllDomains } = endpoint;
  return (
    <>
      {endpoint.inactiveReason !== null && (
        <Alert color="red" variant="outline" title="Endpoint disabled">
          {endpoint.inactiveReason} Fix and test the endpoint, turn it on again, and replay the emails that it missed.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        <Fact label="Health">
          <Group gap="sm">
            <StatusBadge status={status} tone={tone} />
            <Text size="sm">{statsInWords(stats)}</Text>
          </Group>
          {stats.lastDeliveryAt !== null && (
            <Text size="xs" c="dimmed">
              <RelativeTime at={stats.lastDeliveryAt} prefix="last delivery " />
            </Text>
          )}
        </Fact>
        <Fact label="Delivers to">
          <Text size="sm" ff="monospace" className="postroom-wrap">
            {endpoint.__typename === 'WebhookEndpoint'
              ? endpoint.url
              : endpoint.__typename === 'EmailEndpoint'
                ? endpoint.forwardTo
                : endpoint.addresses.join(', ')}
          </Text>
        </Fact>
        <Fact label="Receives mail for">
          {emailAddresses.totalCount + catchAllDomains.length === 0 ? (
            <Text size="sm">
              No addresses yet.{' '}
              <Anchor component={Link} href="/addresses" inherit underline="always">
                Choose it for an address
              </Anchor>
            </Text>
          ) : (
            <Text size="sm" className="postroom-wrap">
              {emailAddresses.edges
                .map(({ node }) => node.address as string)
                .concat(catchAllDomains.map(({ name }) => `all other addresses at ${name}`))
                .join(', ')}
              {emailAddresses.totalCount > 20 && ` and ${emailAddresses.totalCount - 20} more`}
            </Text>
          )}
        </Fact>
      </SimpleGrid>
    </>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)">
      <Text size="xs" c="dimmed" mb={4}>
        {label}
      </Text>
      {children}
    </Paper>
  );
}
