import { Group, Stack, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useQuery } from 'urql';
import { connection, graphql, type ResultOf, record, type VariablesOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { makeChoices } from '../../parts/choices.ts';
import { CopyButton, CopyTextButton } from '../../parts/command.tsx';
import { MainButton } from '../../parts/controls.tsx';
import {
  ChoiceFilter,
  FilterBar,
  type ListRow,
  listSource,
  PagedList,
  PressedRow,
  TextFilter,
  type UrlFilters,
  useUrlFilters,
} from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { RecordDrawer } from '../../parts/section.tsx';
import { CautionAlert, Hint, Small, SmallLink, StatusBadge } from '../../parts/text.tsx';
import { exactTime, formatCount } from '../../parts/words.ts';
import { Json } from '../activity/delivery-parts.tsx';

const REQUEST_KEYS = graphql(`query DashboardRequestKeys { apiKeys(first: 100) { edges { node { id name hint } } } }`);

/** The feed has no events about requests, so a visible list asks for new ones. Milliseconds. */
const RELOAD_MS = 3_000;
const LIST = listSource({
  label: 'Requests',
  query: connection(`apiRequests($filter: ApiRequestFilter) {
    id interface method path operation status durationMs createdAt apiKey { id name hint }
  }`),
  size: 50,
  types: ['ApiRequest'],
  reloadMs: RELOAD_MS,
});
type RequestFilter = NonNullable<VariablesOf<typeof LIST.query>['filter']>;
type ShownRequest = ListRow<typeof LIST>;

const FILTERS = ['q', 'status', 'method', 'interface', 'key', 'time', 'from', 'to'];
const INTERFACES = makeChoices({ REST: 'REST', GRAPHQL: 'GraphQL', MCP: 'MCP' });
const STATUS_CLASSES = [
  { value: 'SUCCESS', label: 'Succeeded' },
  { value: 'CLIENT_ERROR', label: 'Client errors (4xx)' },
  { value: 'SERVER_ERROR', label: 'Server errors (5xx)' },
] as const;
const TIMES = makeChoices({ hour: 'Last hour', day: 'Last 24 hours', custom: 'From … to …' });
const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].map((method) => ({ value: method, label: method }));
/** Width of a choice, so that all fit beside the search. Pixels. */
const CHOICE_WIDTH = 146;

/** Requests of API keys in the last 7 days; new ones appear within seconds. */
export function RequestsPage() {
  const filters = useUrlFilters(FILTERS);
  const [{ data }] = useQuery({ query: REQUEST_KEYS, variables: {} });
  const keys = data?.apiKeys.edges.map(({ node }) => ({ value: node.id, label: nameKey(node) })) ?? [];
  const [now, setNow] = useState(() => Date.now());
  // A filter by age begins when it is chosen. If it moved, each request of the list would have other variables.
  const given = JSON.stringify(FILTERS.map((name) => filters.get(name)));
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- what it reads of the filters is given
  const filter = useMemo(() => readFilter(filters, now), [given, now]);
  return (
    <Page
      title="Requests"
      about="Requests of the last 7 days that came with an API key, over REST, GraphQL and MCP. New ones appear by themselves. Passwords, keys and files are not stored."
    >
      <FilterBar filters={filters}>
        <TextFilter label="Search requests" placeholder="Path, ID or body" flex="1 1 10rem" />
        <ChoiceFilter name="status" label="Status" choices={STATUS_CLASSES} width={CHOICE_WIDTH} />
        <ChoiceFilter name="method" label="Method" choices={METHODS} width={CHOICE_WIDTH} />
        <ChoiceFilter name="interface" label="Interface" choices={INTERFACES} width={CHOICE_WIDTH} />
        <ChoiceFilter name="key" label="API key" any="Any key" choices={keys} width={CHOICE_WIDTH} />
        <ChoiceFilter
          name="time"
          label="Time"
          any="Last 7 days"
          choices={TIMES}
          onChoice={() => setNow(Date.now())}
          width={CHOICE_WIDTH}
        />
        {filters.get('time') === 'custom' && (
          <>
            <TextFilter name="from" label="From" type="datetime-local" />
            <TextFilter name="to" label="To" type="datetime-local" />
          </>
        )}
      </FilterBar>
      <PagedList
        list={LIST}
        variables={{ filter }}
        filters={filters}
        empty={{
          icon: 'history',
          title: 'No requests yet',
          about:
            'Each request that a program sends with an API key appears here, with its response. Create a key and send the first request.',
          action: <MainButton label="Create key" href="/keys" />,
          filtered: 'requests',
        }}
      >
        {(request) => (
          <RequestRow key={request.id} request={request} open={() => filters.set({ request: request.id })} />
        )}
      </PagedList>
      <RequestDrawer id={filters.get('request')} close={() => filters.set({ request: null })} />
    </Page>
  );
}

function nameKey({ name, hint }: { name: string; hint: string | null }): string {
  return hint === null ? name : `${name} (${hint})`;
}

/** Hours of the filters by age. */
const HOURS: Record<string, number> = { hour: 1, day: 24 };
const HOUR_MS = 3_600_000;

function readFilter(filters: UrlFilters, now: number): RequestFilter {
  const time = filters.choice('time', TIMES);
  const hours = HOURS[time ?? ''];
  const isCustom = time === 'custom';
  return {
    search: filters.get('q'),
    statusClass: filters.choice('status', STATUS_CLASSES),
    interface: filters.choice('interface', INTERFACES),
    method: filters.get('method'),
    apiKeyId: filters.get('key'),
    since: hours !== undefined ? new Date(now - hours * HOUR_MS).toISOString() : isCustom ? filters.time('from') : null,
    until: isCustom ? filters.time('to') : null,
  };
}

/** What a request did: its operation, or its path. */
function nameRequest({ operation, path, interface: kind }: Pick<ShownRequest, 'operation' | 'path' | 'interface'>) {
  if (operation === null) return path;
  return kind === 'MCP' ? `MCP ${operation}` : `${path.split('?', 1)[0]} ${operation}`;
}

/** A request in the list, which opens it. */
function RequestRow({ request, open }: { request: ShownRequest; open: () => void }) {
  const { method, status, durationMs, createdAt, apiKey } = request;
  const name = (
    <Group gap="sm" wrap="nowrap" miw={0}>
      <RequestStatus status={status} />
      <Small ff="monospace" className="postroom-wrap" miw={0}>
        <b>{method}</b> {nameRequest(request)}
      </Small>
    </Group>
  );
  const about = (
    <>
      {apiKey?.name ?? 'Deleted key'} · {formatCount(durationMs)} ms · <RelativeTime at={createdAt} />
    </>
  );
  return <PressedRow name={name} about={about} press={open} />;
}

/** The status code of a response, with its class as a color. */
function RequestStatus({ status }: { status: number }) {
  const tone = status < 400 ? 'good' : status < 500 ? 'warning' : 'bad';
  return <StatusBadge status={String(status)} tone={tone} />;
}

const ONE_REQUEST = record(`apiRequest {
  id requestId interface method path operation status durationMs createdAt clientAddress omitsBodies curl
  apiKey { id name hint }
  requestBytes requestBody
  requestHeaders { name value }
  responseBytes responseBody
  responseHeaders { name value }
}`);
type WholeRequest = NonNullable<ResultOf<typeof ONE_REQUEST>['apiRequest']>;

/** One request beside the list: headers, bodies, and a command that sends it again. */
function RequestDrawer({ id, close }: { id: string | null; close: () => void }) {
  const query = useLiveQuery({ query: ONE_REQUEST, variables: { id: id ?? '' }, isPaused: id === null });
  return (
    <RecordDrawer
      id={id}
      close={close}
      query={query}
      find={({ apiRequest }) => apiRequest}
      title={(request) => `${request.method} ${nameRequest(request)}`}
      kind="Request"
      missing="Requests are kept for 7 days."
      size="xl"
    >
      {(request) => <RequestDetails request={request} />}
    </RecordDrawer>
  );
}

function RequestDetails({ request }: { request: WholeRequest }) {
  const { status, durationMs, createdAt, clientAddress, requestId, path, apiKey, curl, omitsBodies } = request;
  const { requestHeaders, requestBody, requestBytes, responseHeaders, responseBody, responseBytes } = request;
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start">
        <Stack gap={4} miw={0} flex="1 1 16rem">
          <Group gap="xs">
            <RequestStatus status={status} />
            <Small>{formatCount(durationMs)} ms</Small>
          </Group>
          <Small>{exactTime(createdAt)}</Small>
          <Small>
            {apiKey === null ? (
              'Deleted key'
            ) : (
              <>
                API key <SmallLink href="/keys">{apiKey.name}</SmallLink>
                {apiKey.hint !== null && ` (${apiKey.hint})`}
              </>
            )}
            , from {clientAddress}
          </Small>
          <Group gap={4} wrap="nowrap">
            <Hint className="postroom-wrap">Request ID {requestId}</Hint>
            <CopyButton text={requestId} label="Copy request ID" />
          </Group>
          <Small ff="monospace" className="postroom-wrap">
            {path}
          </Small>
        </Stack>
        <CopyTextButton text={curl} label="Copy as curl" icon="terminal-2" />
      </Group>
      {omitsBodies && (
        <CautionAlert role="status">The service was busy and stored this request without its bodies.</CautionAlert>
      )}
      <Message title="Request" headers={requestHeaders} body={requestBody} bytes={requestBytes} />
      <Message title="Response" headers={responseHeaders} body={responseBody} bytes={responseBytes} />
    </Stack>
  );
}

interface MessageProps {
  title: string;
  headers: WholeRequest['requestHeaders'];
  body: string | null;
  bytes: number | null;
}

function Message({ title, headers, body, bytes }: MessageProps) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Title order={3} size="h4">
        {title}
      </Title>
      {headers.length > 0 && (
        <Json text={headers.map(({ name, value }) => `${name}: ${value}`).join('\n')} label={`${title} headers`} />
      )}
      {body === null || body === '' ? (
        <Hint>No body</Hint>
      ) : (
        <Json text={body} label={bytes === null ? `${title} body` : `${title} body, ${formatCount(bytes)} bytes`} />
      )}
    </Stack>
  );
}
