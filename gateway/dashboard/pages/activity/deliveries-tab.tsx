import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { mutation, type ResultOf, record } from '../../graphql.ts';
import { BusyButton } from '../../parts/buttons.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { ErrorAlert, Hint, PageLink, Small, StatusBadge } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { EmailPart } from './content-tabs.tsx';
import { DELIVERY_PARTS, DeliveryHistory } from './delivery-parts.tsx';
import { deliveryWords, eventKindInWords } from './email-words.ts';

const DELIVERIES = record(
  `email {
    id
    deliveries(first: 20) {
      totalCount
      edges {
        node {
          ...DeliveryParts
          cause completedAt
          endpoint { id name isActive }
          recipients { id address status lastText }
        }
      }
    }
  }`,
  [DELIVERY_PARTS],
);

const RETRY = mutation('retryDelivery', 'delivery { id status }');
const AGAIN = mutation('retryEmail', 'deliveries { id }');

type Delivery = NonNullable<ResultOf<typeof DELIVERIES>['email']>['deliveries']['edges'][number]['node'];

const causes: Record<Delivery['cause'], string> = {
  ROUTE: 'Delivered by its route.',
  RETRY: 'You retried it.',
  REPLAY: 'You replayed deliveries of a period.',
  RELEASE: 'You released the email.',
  ACTION: 'The response of another webhook routed the email here.',
  EVENT: 'The endpoint is subscribed to this event.',
};

/** Deliveries of an email and of the events about it: every attempt with its request and response. */
export function DeliveriesTab({ id }: { id: string }) {
  return (
    <EmailPart id={id} query={DELIVERIES}>
      {({ deliveries }) =>
        deliveries.edges.length === 0 ? (
          <Text c="dimmed">This email was not delivered to an endpoint. The Routing tab shows why.</Text>
        ) : (
          <>
            <Hint>
              {deliveries.totalCount > deliveries.edges.length
                ? `The newest ${deliveries.edges.length} of ${deliveries.totalCount} deliveries.`
                : `${deliveries.totalCount} ${deliveries.totalCount === 1 ? 'delivery' : 'deliveries'}, newest first.`}
            </Hint>
            {deliveries.edges.map(({ node }, at) => (
              <DeliveryCard key={node.id} emailId={id} delivery={node} number={deliveries.totalCount - at} />
            ))}
          </>
        )
      }
    </EmailPart>
  );
}

/** `number`: position among the deliveries of the email, 1 is the oldest. */
function DeliveryCard({ emailId, delivery, number }: { emailId: string; delivery: Delivery; number: number }) {
  const { id, endpoint, event, status, cause, createdAt, nextAttemptAt, error, recipients } = delivery;
  const retry = useAct(RETRY, { done: 'The email is being delivered again.' });
  const again = useAct(AGAIN, { done: 'The email is being delivered again.' });
  const name = endpoint?.name ?? 'a deleted endpoint';
  const isRouted = event === 'EMAIL_RECEIVED';
  const run = () =>
    status === 'SUCCESS' && endpoint !== null ? again.act({ id: emailId, endpointId: endpoint.id }) : retry.act({ id });
  return (
    <Paper withBorder p="md" component="section" aria-label={`Delivery ${number} to ${name}`} data-delivery={id}>
      <Group justify="space-between" mb="xs" gap="xs">
        <Group gap="sm">
          <Title order={2}>
            {endpoint === null ? (
              name
            ) : (
              <PageLink href={`/endpoints/${endpoint.id}`} inherit>
                {name}
              </PageLink>
            )}
          </Title>
          <span role="status">
            <StatusBadge {...deliveryWords(delivery)} />
          </span>
        </Group>
        {endpoint !== null && (isRouted || status !== 'SUCCESS') && (
          <BusyButton
            label={status === 'SUCCESS' ? 'Deliver again' : status === 'PENDING' ? 'Retry now' : 'Retry'}
            icon="refresh"
            needed={['send', 'everything']}
            size="xs"
            variant={status === 'SUCCESS' ? 'default' : 'filled'}
            act={run}
          />
        )}
      </Group>
      <Hint>
        {isRouted ? '' : `${eventKindInWords(event)}: `}
        {causes[cause]} Created <RelativeTime at={createdAt} />
        {nextAttemptAt === null ? (
          '.'
        ) : (
          <>
            , next try <RelativeTime at={nextAttemptAt} />.
          </>
        )}
      </Hint>
      {error !== null && status !== 'SUCCESS' && (
        <ErrorAlert mt="sm" title="Last error" className="postroom-wrap">
          {error}
        </ErrorAlert>
      )}
      <Stack gap="sm" mt="sm">
        {recipients.map((recipient) => (
          <Small key={recipient.id} className="postroom-wrap">
            Copy to {recipient.address}: {recipient.status.toLowerCase()}
            {recipient.lastText === null ? '' : `, ${recipient.lastText}`}
          </Small>
        ))}
        <DeliveryHistory delivery={delivery} of={`delivery ${number}`} />
      </Stack>
    </Paper>
  );
}
