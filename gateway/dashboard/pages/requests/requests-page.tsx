import { Button, Group, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { useQuery } from 'urql';
import { Link } from 'wouter';
import type { ResultOf, VariablesOf } from '../../graphql.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { IconHistory, IconSearch } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { PagedList, type PagedQuery } from '../../parts/paged-list.tsx';
import { readLocalTime, useUrlFilters } from '../../parts/url-filters.ts';
import {
  INTERFACES,
  METHODS,
  REQUEST_KEYS,
  REQUESTS,
  type ShownRequest,
  STATUS_CLASSES,
  TIMES,
} from './request-documents.ts';
import { RequestDrawer } from './request-drawer.tsx';
import { RequestRow } from './request-row.tsx';

/** Delay between the last keystroke and the search. Milliseconds. */
const REST_MS = 300;
/** Maximum length of a search in characters, as in the service. */
const MAX_SEARCH = 100;
const FILTERS = ['q', 'status', 'method', 'interface', 'key', 'time', 'from', 'to'];

/** The feed has no events about requests, so a visible list asks for new ones. Milliseconds. */
const RELOAD_MS = 3_000;

type RequestFilter = NonNullable<VariablesOf<typeof REQUESTS>['filter']>;

const LIST: PagedQuery<ResultOf<typeof REQUESTS>, RequestFilter, ShownRequest> = {
  query: REQUESTS,
  pageOf: ({ apiRequests }) => apiRequests,
  types: ['ApiRequest'],
  label: 'Requests',
  reloadMs: RELOAD_MS,
};

/** Requests of API keys in the last 7 days; new ones appear within seconds. */
export function RequestsPage() {
  const filters = useUrlFilters(FILTERS);
  const { search, set, isFiltered } = filters;
  const [{ data }] = useQuery({ query: REQUEST_KEYS, variables: {} });
  const keys = data?.apiKeys.edges.map(({ node }) => ({ value: node.id, label: nameOf(node) })) ?? [];
  const sought = search.get('q') ?? '';
  const [typed, setTyped] = useState(sought);
  const find = useDebouncedCallback((text: string) => filters.filterBy('q', text), REST_MS);
  const [now, setNow] = useState(() => Date.now());
  // A filter by age begins when it is chosen. If it moved, each request of the list would have other variables.
  const wanted = new URLSearchParams([...search].filter(([name]) => FILTERS.includes(name))).toString();
  const filter = useMemo(() => filterOf(new URLSearchParams(wanted), now), [wanted, now]);
  const choice = (name: string, label: string, none: string, choices: readonly { value: string; label: string }[]) => (
    <FilterSelect
      name={name}
      label={label}
      placeholder={none}
      any={none}
      choices={choices}
      filters={filters}
      width={146}
      onChoice={() => {
        if (name === 'time') setNow(Date.now());
      }}
    />
  );
  const instant = (name: 'from' | 'to', label: string) => (
    <TextInput
      type="datetime-local"
      aria-label={label}
      leftSection={
        <Text size="sm" c="dimmed" aria-hidden>
          {label}
        </Text>
      }
      leftSectionWidth={52}
      value={search.get(name) ?? ''}
      onChange={({ currentTarget }) => filters.filterBy(name, currentTarget.value)}
    />
  );
  return (
    <>
      <PageHeader
        title="Requests"
        about="Requests of the last 7 days that came with an API key, over REST, GraphQL and MCP. New ones appear by themselves. Passwords, keys and files are not stored."
      />
      <Group mb="md" gap="xs">
        <TextInput
          type="search"
          aria-label="Search requests"
          placeholder="Path, ID or body"
          flex="1 1 10rem"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={typed}
          maxLength={MAX_SEARCH}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            find(event.currentTarget.value.trim());
          }}
        />
        {choice('status', 'Status', 'Any status', STATUS_CLASSES)}
        {choice(
          'method',
          'Method',
          'Any method',
          METHODS.map((method) => ({ value: method, label: method })),
        )}
        {choice('interface', 'Interface', 'Any interface', INTERFACES)}
        {choice('key', 'API key', 'Any key', keys)}
        {choice('time', 'Time', 'Last 7 days', TIMES)}
        {search.get('time') === 'custom' && (
          <>
            {instant('from', 'From')}
            {instant('to', 'To')}
          </>
        )}
      </Group>
      <PagedList
        list={LIST}
        filter={filter}
        filters={filters}
        row={(request) => <RequestRow key={request.id} request={request} open={(id) => set({ request: id })} />}
        empty={
          <EmptyState
            icon={IconHistory}
            title={isFiltered ? 'No matching requests' : 'No requests yet'}
            about={
              isFiltered
                ? 'Change the search or the filters.'
                : 'Each request that a program sends with an API key appears here, with its response. Create a key and send the first request.'
            }
          >
            {isFiltered ? (
              <Button
                variant="default"
                onClick={() => {
                  setTyped('');
                  filters.clear();
                }}
              >
                Show all requests
              </Button>
            ) : (
              <Button component={Link} href="/keys">
                Create key
              </Button>
            )}
          </EmptyState>
        }
      />
      <RequestDrawer id={search.get('request')} close={() => set({ request: null })} />
    </>
  );
}

function nameOf({ name, hint }: { name: string; hint: string | null }): string {
  return hint === null ? name : `${name} (${hint})`;
}

/** Hours of the filters by age. */
const HOURS: Record<string, number> = { hour: 1, day: 24 };
const HOUR_MS = 3_600_000;

function filterOf(search: URLSearchParams, now: number): RequestFilter {
  const filter: RequestFilter = {};
  const status = STATUS_CLASSES.find(({ value }) => value === search.get('status'))?.value;
  const kind = INTERFACES.find(({ value }) => value === search.get('interface'))?.value;
  const [sought, method, key] = ['q', 'method', 'key'].map((name) => search.get(name) ?? '');
  if (status !== undefined) filter.statusClass = status;
  if (kind !== undefined) filter.interface = kind;
  if (sought) filter.search = sought;
  if (method) filter.method = method;
  if (key) filter.apiKeyId = key;
  const time = search.get('time') ?? '';
  const hours = HOURS[time];
  if (hours !== undefined) filter.since = new Date(now - hours * HOUR_MS).toISOString();
  if (time === 'custom') {
    const [since, until] = [readLocalTime(search.get('from')), readLocalTime(search.get('to'))];
    if (since !== null) filter.since = since;
    if (until !== null) filter.until = until;
  }
  return filter;
}
