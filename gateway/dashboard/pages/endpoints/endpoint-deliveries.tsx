import { Accordion, Anchor, Button, Group, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconRefresh } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useAct } from '../../parts/use-act.ts';
import { ActionResults } from '../activity/action-results.tsx';
import { DeliveryAttemptCard } from '../activity/delivery-attempt-card.tsx';
import { DeliveryPayload } from '../activity/delivery-payload.tsx';
import { eventKindInWords } from '../activity/email-words.ts';

const DELIVERIES = graphql(`
  query DashboardEndpointDeliveries($id: ID!, $filter: DeliveryFilter, $first: Int!) {
    endpoint(id: $id) {
      id
      deliveries(first: $first, filter: $filter) {
        edges {
          node {
            id type event status statusCode error createdAt nextAttemptAt attemptCount
            email { id subject from { name address } }
            actions { place problem results { type status message email { id } } }
            attempts { number startedAt durationMs outcome statusCode error responseBody requestHeaders { name value } }
          }
        }
        pageInfo { hasNextPage }
      }
    }
  }
`);
const RETRY = graphql(`
  mutation DashboardEndpointRetry($id: ID!) {
    retryDelivery(input: { id: $id }) {
      __typename
      ... on RetryDeliveryPayload { delivery { id status } }
      ... on Error { message code }
    }
  }
`);

type Delivery = NonNullable<ResultOf<typeof DELIVERIES>['endpoint']>['deliveries']['edges'][number]['node'];

const words: Record<Delivery['status'], { status: string; tone: 'good' | 'waiting' | 'bad' }> = {
  SUCCESS: { status: 'Delivered', tone: 'good' },
  PENDING: { status: 'Retrying', tone: 'waiting' },
  FAILED: { status: 'Failed', tone: 'bad' },
};

const PAGE = 25;
const MOST = 100;

/** Deliveries, newest first. Each expands to its attempts with request and response. */
export function EndpointDeliveries({ id }: { id: string }) {
  const [search, setSearch] = useSearchParams();
  const status = search.get('status') ?? 'ALL';
  const first = Math.min(MOST, Number(search.get('first') ?? PAGE) || PAGE);
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: DELIVERIES,
    variables: {
      id,
      first,
      filter: status === 'SUCCESS' || status === 'PENDING' || status === 'FAILED' ? { status } : null,
    },
    kinds: ['DELIVERY_SUCCEEDED', 'DELIVERY_DEFERRED', 'DELIVERY_FAILED', 'EMAIL_THREADED'],
    concerns: (event) => event.endpointId === id || event.endpointId === null,
    types: ['Delivery'],
    gatherMs: 1_000,
  });
  const change = (next: Record<string, string>) =>
    setSearch({ ...Object.fromEntries(search), ...next }, { replace: true });
  const deliveries = data?.endpoint?.deliveries;
  return (
    <Stack gap="md">
      <SegmentedControl
        aria-label="Status of deliveries"
        value={status}
        onChange={(value) => change({ status: value })}
        w="fit-content"
        data={[
          { value: 'ALL', label: 'All' },
          { value: 'FAILED', label: 'Failed' },
          { value: 'PENDING', label: 'Pending' },
          { value: 'SUCCESS', label: 'Delivered' },
        ]}
      />
      {error !== undefined && data === undefined && <ErrorNote error={error} retry={refresh} />}
      {isLoading && <Skeleton height={160} />}
      {deliveries?.edges.length === 0 && (
        <Text c="dimmed" size="sm">
          {status === 'ALL'
            ? 'No deliveries yet. Test the endpoint, or send an email to an address that delivers to it.'
            : 'No deliveries with this status.'}
        </Text>
      )}
      <Accordion variant="separated" chevronPosition="left" keepMounted={false}>
        {deliveries?.edges.map(({ node }) => (
          <Row key={node.id} delivery={node} />
        ))}
      </Accordion>
      {deliveries?.pageInfo.hasNextPage === true &&
        (first < MOST ? (
          <Button variant="default" w="fit-content" onClick={() => change({ first: String(first + PAGE) })}>
            Load more
          </Button>
        ) : (
          <Text size="sm" c="dimmed">
            Only the newest {MOST} deliveries are shown. To find older ones, open their email in Activity.
          </Text>
        ))}
    </Stack>
  );
}

function Row({ delivery }: { delivery: Delivery }) {
  const {
    id,
    type,
    event,
    status,
    statusCode,
    error,
    createdAt,
    nextAttemptAt,
    email,
    attempts,
    attemptCount,
    actions,
  } = delivery;
  const { act, isBusy } = useAct(RETRY, { done: 'The delivery is being retried.' });
  const isRouted = event === 'EMAIL_RECEIVED';
  const subject = email === null ? (isRouted ? 'Deleted email' : null) : email.subject || '(no subject)';
  const title = [isRouted ? null : eventKindInWords(event), subject].filter((part) => part !== null).join(': ');
  const of = `“${title}”`;
  return (
    <Accordion.Item value={id} data-delivery={id}>
      <Accordion.Control>
        <Group justify="space-between" gap="xs">
          <Text size="sm" fw={600} className="postroom-wrap" maw={{ base: 220, sm: 'none' }}>
            {title}
          </Text>
          <Group gap="xs">
            <StatusBadge
              status={words[status].status + (statusCode === null ? '' : ` ${statusCode}`)}
              tone={words[status].tone}
            />
            <Text size="xs" c="dimmed" component="span">
              {attemptCount === 1 ? '1 attempt' : `${attemptCount} attempts`}, <RelativeTime at={createdAt} />
            </Text>
          </Group>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="sm">
          {error !== null && status !== 'SUCCESS' && (
            <Text size="sm" className="postroom-wrap">
              {error}
            </Text>
          )}
          {nextAttemptAt !== null && (
            <Text size="sm">
              <RelativeTime at={nextAttemptAt} prefix="Next attempt " />
            </Text>
          )}
          <Group gap="xs">
            {status !== 'SUCCESS' && (
              <Button
                {...needs('send', 'everything')}
                size="xs"
                leftSection={<IconRefresh size={16} aria-hidden />}
                loading={isBusy}
                onClick={() => void act({ id })}
              >
                Retry now
              </Button>
            )}
            {email !== null && (
              <Anchor component={Link} href={`/emails/${email.id}`} size="sm">
                Open email
              </Anchor>
            )}
          </Group>
          {actions !== null && <ActionResults actions={actions} of={of} />}
          {attempts.toReversed().map((attempt) => (
            <DeliveryAttemptCard key={attempt.number} attempt={attempt} of={of} />
          ))}
          {type === 'WEBHOOK' && <DeliveryPayload deliveryId={id} of={of} />}
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  );
}
