import { Group, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { needs } from '../../parts/needs.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { useAct } from '../../parts/use-act.ts';

const BATCHES = graphql(`
  query DashboardBatches($ids: [ID!]!) {
    nodes(ids: $ids) {
      __typename
      id
      ... on Batch { status createdAt counts { total pending processing sent failed cancelled } }
    }
  }
`);
const CANCEL_BATCH = graphql(`
  mutation DashboardCancelBatch($id: ID!) {
    cancelBatch(input: { id: $id }) {
      __typename
      ... on CancelBatchPayload { cancelledCount batch { id status } }
      ... on Error { message code }
    }
  }
`);

/** Number of batches per query. */
const MAX_BATCHES = 20;

/** Batches with waiting emails, their progress, and a button that cancels the waiting ones. */
export function BatchList({ ids }: { ids: readonly string[] }) {
  const { data } = useLiveQuery({
    query: BATCHES,
    variables: { ids: ids.slice(0, MAX_BATCHES) },
    kinds: ['EMAIL_SENT', 'EMAIL_CANCELLED', 'EMAIL_DELIVERED', 'EMAIL_BOUNCED', 'EMAIL_FAILED'],
    types: ['Batch', 'Email'],
  });
  const cancel = useAct(CANCEL_BATCH, { done: 'The waiting emails of the batch were cancelled.' });
  return (
    <Stack gap="sm" mb="lg" component="section" aria-labelledby="batches-title">
      <Title order={2} id="batches-title">
        Batches
      </Title>
      {data?.nodes.map((batch) => {
        if (batch?.__typename !== 'Batch') return null;
        const { id, createdAt, counts } = batch;
        const { total, pending, processing, sent, failed, cancelled } = counts;
        const done = sent + failed + cancelled;
        const words = [
          `${pending} waiting`,
          processing > 0 ? `${processing} being sent` : '',
          `${sent} sent`,
          failed > 0 ? `${failed} failed` : '',
          cancelled > 0 ? `${cancelled} cancelled` : '',
        ].filter((word) => word !== '');
        return (
          <Paper key={id} withBorder p="md" bg="var(--postroom-raised)">
            <Group justify="space-between" gap="sm">
              <Stack gap={4} flex="1 1 16rem">
                <Text size="sm" fw={600}>
                  {total} {total === 1 ? 'email' : 'emails'}, asked for <RelativeTime at={createdAt} />
                </Text>
                <Progress
                  value={total === 0 ? 0 : (100 * done) / total}
                  aria-label={`${done} of ${total} emails of the batch are finished`}
                />
                <Text size="xs" c="dimmed">
                  {words.join(', ')}
                </Text>
              </Stack>
              <ConfirmButton
                {...needs('send')}
                label="Cancel batch"
                question="Cancel the waiting emails of this batch?"
                about={`Waiting emails of the batch (${total} in total) will not be sent. Emails that were sent are not affected.`}
                confirm="Cancel batch"
                act={() => cancel.act({ id })}
              />
            </Group>
          </Paper>
        );
      })}
    </Stack>
  );
}
