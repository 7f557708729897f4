import { Accordion, Group, Paper, SegmentedControl, SimpleGrid, Stack, Switch } from '@mantine/core';
import type { ReactNode } from 'react';
import { useParams, useSearchParams } from 'wouter';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActButton } from '../../parts/buttons.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Loaded, RecordPage, UrlTabs } from '../../parts/section.tsx';
import { ErrorAlert, Fine, Hint, Small, SmallLink, StatusBadge, Strong, TextLink } from '../../parts/text.tsx';
import { counted } from '../../parts/words.ts';
import { useRight } from '../../shell/viewer.ts';
import { DELIVERY_PARTS, DeliveryHistory } from '../activity/delivery-parts.tsx';
import { eventKindInWords } from '../activity/email-words.ts';
import { EndpointSettings, useEndpointUpdate } from './endpoint-settings.tsx';
import { EndpointReplay, EndpointTest, SigningTab } from './endpoint-tools.tsx';
import type { Endpoint } from './endpoint-values.ts';
import { describeHealth, describeStats, describeTarget, ENDPOINT, ENDPOINT_TYPES } from './endpoint-values.ts';

/** One endpoint: its health, deliveries, test, replay, secret and settings. */
export function EndpointPage() {
  const { id } = useParams<{ id: string }>();
  const query = useLiveQuery({
    query: ENDPOINT,
    variables: { id },
    kinds: ['DELIVERY_SUCCEEDED', 'DELIVERY_DEFERRED', 'DELIVERY_FAILED', 'ENDPOINT_DISABLED'],
    concerns: (event) => event.endpointId === id,
    gatherMs: 1_000,
  });
  return (
    <RecordPage
      query={query}
      find={({ endpoint }) => endpoint}
      kind="Endpoint"
      icon="plug-connected-x"
      missing="It was deleted, or the link is incorrect."
      all={{ label: 'All endpoints', href: '/endpoints' }}
    >
      {(endpoint) => (
        <Page
          title={endpoint.name}
          about={endpoint.description ?? ENDPOINT_TYPES[endpoint.__typename].about}
          actions={<ActiveSwitch endpoint={endpoint} />}
        >
          <Stack gap="md">
            <Health endpoint={endpoint} />
            <EndpointTabs endpoint={endpoint} />
          </Stack>
        </Page>
      )}
    </RecordPage>
  );
}

function EndpointTabs({ endpoint }: { endpoint: Endpoint }) {
  const { id, isActive } = endpoint;
  const signing = endpoint.__typename === 'WebhookEndpoint' && <SigningTab endpoint={endpoint} />;
  return (
    <UrlTabs
      replace
      tabs={[
        { name: 'deliveries', label: 'Deliveries', content: <Deliveries id={id} /> },
        { name: 'test', label: 'Test', content: <EndpointTest endpoint={endpoint} /> },
        { name: 'replay', label: 'Replay', content: <EndpointReplay id={id} isActive={isActive} /> },
        ...(signing === false ? [] : [{ name: 'signing', label: 'Signing', content: signing }]),
        { name: 'settings', label: 'Settings', content: <EndpointSettings key={id} endpoint={endpoint} /> },
      ]}
    />
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
  const { stats, emailAddresses, catchAllDomains, inactiveReason } = endpoint;
  return (
    <>
      {inactiveReason !== null && (
        <ErrorAlert title="Endpoint disabled">
          {inactiveReason} Fix and test the endpoint, turn it on again, and replay the emails that it missed.
        </ErrorAlert>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        <Fact label="Health">
          <Group gap="sm">
            <StatusBadge {...describeHealth(endpoint)} />
            <Small>{describeStats(stats)}</Small>
          </Group>
          {stats.lastDeliveryAt !== null && (
            <Fine>
              <RelativeTime at={stats.lastDeliveryAt} prefix="last delivery " />
            </Fine>
          )}
        </Fact>
        <Fact label="Delivers to">
          <Small ff="monospace" className="postroom-wrap">
            {describeTarget(endpoint)}
          </Small>
        </Fact>
        <Fact label="Receives mail for">
          {emailAddresses.totalCount + catchAllDomains.length === 0 ? (
            <Small>
              No addresses yet. <TextLink href="/addresses">Choose it for an address</TextLink>
            </Small>
          ) : (
            <Small className="postroom-wrap">
              {[
                ...emailAddresses.edges.map(({ node }) => node.address),
                ...catchAllDomains.map(({ name }) => `all other addresses at ${name}`),
              ].join(', ')}
              {emailAddresses.totalCount > 20 && ` and ${emailAddresses.totalCount - 20} more`}
            </Small>
          )}
        </Fact>
      </SimpleGrid>
    </>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)">
      <Fine mb={4}>{label}</Fine>
      {children}
    </Paper>
  );
}

const DELIVERIES = graphql(
  `query DashboardEndpointDeliveries($id: ID!, $filter: DeliveryFilter, $first: Int!) {
    endpoint(id: $id) {
      id
      deliveries(first: $first, filter: $filter) {
        edges {
          node {
            ...DeliveryParts
            email { id subject from { name address } }
          }
        }
        pageInfo { hasNextPage }
      }
    }
  }`,
  [DELIVERY_PARTS],
);
type Delivery = NonNullable<ResultOf<typeof DELIVERIES>['endpoint']>['deliveries']['edges'][number]['node'];

const RETRY = mutation('retryDelivery', 'delivery { id status }');

/** States of a delivery, as its badge and its filter call them. */
const STATES = {
  FAILED: { status: 'Failed', filter: 'Failed', tone: 'bad' },
  PENDING: { status: 'Retrying', filter: 'Pending', tone: 'waiting' },
  SUCCESS: { status: 'Delivered', filter: 'Delivered', tone: 'good' },
} as const satisfies Record<Delivery['status'], object>;
const STATE_NAMES = Object.keys(STATES) as Delivery['status'][];

const PAGE = 25;
const MAX_DELIVERIES = 100;

/** Deliveries, newest first. Each expands to its attempts with request and response. */
function Deliveries({ id }: { id: string }) {
  const [search, setSearch] = useSearchParams();
  const status = STATE_NAMES.find((state) => state === search.get('status')) ?? null;
  const first = Math.min(MAX_DELIVERIES, Number(search.get('first') ?? PAGE) || PAGE);
  const query = useLiveQuery({
    query: DELIVERIES,
    variables: { id, first, filter: status === null ? null : { status } },
    kinds: ['DELIVERY_SUCCEEDED', 'DELIVERY_DEFERRED', 'DELIVERY_FAILED', 'EMAIL_THREADED'],
    concerns: (event) => event.endpointId === id || event.endpointId === null,
    types: ['Delivery'],
    gatherMs: 1_000,
  });
  const change = (next: Record<string, string>) =>
    setSearch({ ...Object.fromEntries(search), ...next }, { replace: true });
  return (
    <Stack gap="md">
      <SegmentedControl
        aria-label="Status of deliveries"
        value={status ?? 'ALL'}
        onChange={(value) => change({ status: value })}
        w="fit-content"
        data={[{ value: 'ALL', label: 'All' }, ...STATE_NAMES.map((value) => ({ value, label: STATES[value].filter }))]}
      />
      <Loaded query={query} height={160}>
        {({ endpoint }) => (
          <>
            {endpoint?.deliveries.edges.length === 0 && (
              <Hint>
                {status === null
                  ? 'No deliveries yet. Test the endpoint, or send an email to an address that delivers to it.'
                  : 'No deliveries with this status.'}
              </Hint>
            )}
            <Accordion variant="separated" chevronPosition="left" keepMounted={false}>
              {endpoint?.deliveries.edges.map(({ node }) => (
                <DeliveryItem key={node.id} delivery={node} />
              ))}
            </Accordion>
            {endpoint?.deliveries.pageInfo.hasNextPage === true &&
              (first < MAX_DELIVERIES ? (
                <QuietButton
                  label="Load more"
                  w="fit-content"
                  onClick={() => change({ first: String(first + PAGE) })}
                />
              ) : (
                <Hint>
                  Only the newest {MAX_DELIVERIES} deliveries are shown. To find older ones, open their email in
                  Activity.
                </Hint>
              ))}
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function DeliveryItem({ delivery }: { delivery: Delivery }) {
  const { id, event, status, statusCode, error, createdAt, nextAttemptAt, attemptCount, email } = delivery;
  const isRouted = event === 'EMAIL_RECEIVED';
  const subject = email === null ? (isRouted ? 'Deleted email' : null) : email.subject || '(no subject)';
  const title = [isRouted ? null : eventKindInWords(event), subject].filter((part) => part !== null).join(': ');
  return (
    <Accordion.Item value={id} data-delivery={id}>
      <Accordion.Control>
        <Group justify="space-between" gap="xs">
          <Strong className="postroom-wrap" maw={{ base: 220, sm: 'none' }}>
            {title}
          </Strong>
          <Group gap="xs">
            <StatusBadge
              status={STATES[status].status + (statusCode === null ? '' : ` ${statusCode}`)}
              tone={STATES[status].tone}
            />
            <Fine component="span">
              {counted(attemptCount, 'attempt')}, <RelativeTime at={createdAt} />
            </Fine>
          </Group>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="sm">
          {error !== null && status !== 'SUCCESS' && <Small className="postroom-wrap">{error}</Small>}
          {nextAttemptAt !== null && (
            <Small>
              <RelativeTime at={nextAttemptAt} prefix="Next attempt " />
            </Small>
          )}
          <Group gap="xs">
            {status !== 'SUCCESS' && (
              <ActButton
                label="Retry now"
                needed={['send', 'everything']}
                variant="filled"
                icon="refresh"
                mutation={RETRY}
                input={{ id }}
                done="The delivery is being retried."
              />
            )}
            {email !== null && <SmallLink href={`/emails/${email.id}`}>Open email</SmallLink>}
          </Group>
          <DeliveryHistory delivery={delivery} of={`“${title}”`} />
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  );
}
