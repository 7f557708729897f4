import { Accordion, Card, Group, Modal, SegmentedControl, SimpleGrid, Stack } from '@mantine/core';
import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { CreateButton } from '../../parts/buttons.tsx';
import { makeChoices } from '../../parts/choices.ts';
import { QuietButton } from '../../parts/controls.tsx';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { FilterBar, RowName, TextFilter, useUrlFilters } from '../../parts/list.tsx';
import { EmptyState, Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Loaded } from '../../parts/section.tsx';
import { Fine, Hint, Small, StatusBadge } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted } from '../../parts/words.ts';
import { SubscriptionFields } from './endpoint-settings.tsx';
import {
  describeHealth,
  describeStats,
  describeTarget,
  ENDPOINT_TYPES,
  FORMAT_CHOICES,
  FORMATS,
  NEW_SUBSCRIPTION,
  writeSubscription,
} from './endpoint-values.ts';

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
type ListedEndpoint = ResultOf<typeof ENDPOINTS>['endpoints']['edges'][number]['node'];

const STATES = makeChoices({ on: 'On', off: 'Off' });

/** All endpoints with their health. */
export function EndpointsPage() {
  const filters = useUrlFilters(['q', 'state']);
  const state = filters.choice('state', STATES);
  const query = useLiveQuery({
    query: ENDPOINTS,
    variables: {
      filter: { search: filters.get('q'), isActive: state === null ? null : state === 'on' },
      after: filters.get('after'),
    },
    kinds: ['DELIVERY_SUCCEEDED', 'DELIVERY_DEFERRED', 'DELIVERY_FAILED', 'ENDPOINT_DISABLED'],
    types: ['WebhookEndpoint', 'EmailEndpoint', 'EmailGroupEndpoint'],
    gatherMs: 1_000,
  });
  const add = <CreateButton label="Create endpoint" needed="endpoints" href="/endpoints?new=webhook" />;
  return (
    <Page
      title="Endpoints"
      about="Where Postroom delivers received mail: webhooks, chat rooms, and other mailboxes."
      actions={add}
    >
      <NewEndpoint />
      <Loaded query={query} height={240}>
        {({ endpoints: { edges, pageInfo, totalCount } }) =>
          totalCount === 0 && !filters.isFiltered ? (
            <EmptyState
              icon="plug-connected"
              title="No endpoints yet"
              about="An endpoint receives the mail of an address or a domain and posts it to your program or forwards it. Create an endpoint, then choose it for an address."
            >
              {add}
            </EmptyState>
          ) : (
            <Stack gap="md">
              <FilterBar filters={filters} gap="sm" mb={0}>
                <TextFilter label="Search endpoints" placeholder="Name or URL" />
                <SegmentedControl
                  aria-label="Status of endpoints"
                  value={state ?? 'all'}
                  onChange={(value) => filters.filterBy('state', value === 'all' ? null : value)}
                  data={[{ value: 'all', label: 'All' }, ...STATES]}
                />
                <Hint role="status">{counted(totalCount, 'endpoint')}</Hint>
              </FilterBar>
              <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
                {edges.map(({ node }) => (
                  <EndpointCard key={node.id} endpoint={node} />
                ))}
              </SimpleGrid>
              {pageInfo.hasNextPage && (
                <QuietButton
                  label="Load more"
                  w="fit-content"
                  onClick={() => filters.set({ after: pageInfo.endCursor })}
                />
              )}
            </Stack>
          )
        }
      </Loaded>
    </Page>
  );
}

function EndpointCard({ endpoint }: { endpoint: ListedEndpoint }) {
  const { stats, inactiveReason } = endpoint;
  const isChat = endpoint.__typename === 'WebhookEndpoint' && endpoint.format !== 'NATIVE';
  return (
    <Card withBorder padding="md" bg="var(--postroom-raised)">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Stack gap={2} miw={0}>
          <RowName href={`/endpoints/${endpoint.id}`}>{endpoint.name}</RowName>
          <Fine>
            {ENDPOINT_TYPES[endpoint.__typename].label}
            {isChat && `, ${FORMATS[endpoint.format]}`}
          </Fine>
        </Stack>
        <StatusBadge {...describeHealth(endpoint)} />
      </Group>
      <Small ff="monospace" mt="xs" className="postroom-wrap">
        {describeTarget(endpoint)}
      </Small>
      {inactiveReason !== null && (
        <Small mt="xs" c="var(--mantine-color-error)">
          {inactiveReason}
        </Small>
      )}
      <Fine mt="xs">
        {describeStats(stats)}
        {stats.lastDeliveryAt !== null && <RelativeTime at={stats.lastDeliveryAt} prefix="; last delivery " />}
      </Fine>
    </Card>
  );
}

const CREATE_WEBHOOK = mutation('createWebhookEndpoint', 'endpoint { __typename id }');
const CREATE_EMAIL = mutation('createEmailEndpoint', 'endpoint { __typename id }');
const CREATE_GROUP = mutation('createEmailGroupEndpoint', 'endpoint { __typename id }');

const KINDS = { webhook: 'WebhookEndpoint', email: 'EmailEndpoint', group: 'EmailGroupEndpoint' } as const;
type Kind = keyof typeof KINDS;

const NEW_ENDPOINT = {
  name: '',
  url: '',
  format: 'NATIVE' as keyof typeof FORMATS,
  forwardTo: '',
  addresses: [] as string[],
  ...NEW_SUBSCRIPTION,
};

/** Form that creates an endpoint. It is open while the URL contains `?new=`; closed, it keeps what was typed. */
function NewEndpoint() {
  const [search, setSearch] = useSearchParams();
  const wanted = search.get('new');
  const kind = wanted === 'email' || wanted === 'group' ? wanted : 'webhook';
  const form = useNewEndpoint(kind);
  const close = () => setSearch({}, { replace: true });
  return (
    <Modal opened={wanted !== null} onClose={close} title="Create endpoint" size="lg">
      <NewEndpointForm kind={kind} form={form} close={close} />
    </Modal>
  );
}

function useNewEndpoint(kind: Kind) {
  const [, go] = useLocation();
  const done = 'The endpoint was created. Choose it for an address.';
  const { act: createWebhook } = useAct(CREATE_WEBHOOK, {
    quiet: true,
    done: 'The endpoint was created. Test it, then choose it for an address.',
  });
  const { act: createEmail } = useAct(CREATE_EMAIL, { quiet: true, done });
  const { act: createGroup } = useAct(CREATE_GROUP, { quiet: true, done });
  return useRecordForm({
    values: NEW_ENDPOINT,
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter a name, such as "Ticket system".' : null),
      url: (value) =>
        kind === 'webhook' && !URL.canParse(value) ? 'Enter a complete URL, such as https://example.com/hook.' : null,
      events: (value) => (kind === 'webhook' && value.length === 0 ? 'Choose at least one event.' : null),
      forwardTo: (value) =>
        kind === 'email' && !value.includes('@') ? 'Enter an address, such as team@example.com.' : null,
      addresses: (value) => (kind === 'group' && value.length === 0 ? 'Enter at least one address.' : null),
    },
    submit: async (values) => {
      const { name, url, format, forwardTo, addresses } = values;
      if (kind === 'email') return createEmail({ name, forwardTo });
      if (kind === 'group') return createGroup({ name, addresses });
      return createWebhook({ name, url, format, ...writeSubscription(values) });
    },
    saved: ({ payload }) => go(`/endpoints/${payload.endpoint.id}`),
  });
}

type NewEndpointFormProps = { kind: Kind; form: ReturnType<typeof useNewEndpoint>; close: () => void };

function NewEndpointForm({ kind, form, close }: NewEndpointFormProps) {
  const [, setSearch] = useSearchParams();
  const [part, setPart] = useState<string | null>(null);
  return (
    <RecordForm
      form={form}
      submit="Create endpoint"
      cancel={close}
      onInvalid={(errors) => errors['events'] !== undefined && setPart('events')}
    >
      <SegmentedControl
        aria-label="Type"
        value={kind}
        onChange={(value) => setSearch({ new: value }, { replace: true })}
        data={Object.entries(KINDS).map(([value, type]) => ({ value, label: ENDPOINT_TYPES[type].label }))}
      />
      <Hint>{ENDPOINT_TYPES[KINDS[kind]].about}</Hint>
      <form.Text name="name" label="Name" placeholder="Ticket system" data-autofocus maxLength={255} />
      {kind === 'webhook' && (
        <>
          <form.Text
            name="url"
            label="URL"
            placeholder="https://example.com/hooks/mail"
            description="Receives a POST request with JSON. It must respond with 2xx before the timeout."
          />
          <form.Choice name="format" label="Format" data={FORMAT_CHOICES} />
          <Accordion variant="contained" chevronPosition="left" value={part} onChange={setPart}>
            <Accordion.Item value="events">
              <Accordion.Control>
                <Small>Events and order</Small>
              </Accordion.Control>
              <Accordion.Panel>
                <Stack>
                  <SubscriptionFields />
                </Stack>
              </Accordion.Panel>
            </Accordion.Item>
          </Accordion>
        </>
      )}
      {kind === 'email' && <form.Text name="forwardTo" label="Forward to" placeholder="team@example.com" />}
      {kind === 'group' && (
        <form.Tags
          name="addresses"
          label="Forward to"
          description="Press Enter after each address. Up to 50 addresses."
          placeholder="ada@example.com"
          maxTags={50}
        />
      )}
    </RecordForm>
  );
}
