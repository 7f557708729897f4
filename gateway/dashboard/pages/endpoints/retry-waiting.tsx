import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { graphql } from '../../graphql.ts';
import { counted } from '../../parts/counted.ts';
import { IconPlayerTrackNext } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';

const RETRY_WAITING = graphql(`
  mutation DashboardRetryWaiting($input: RetryWaitingDeliveriesInput!) {
    retryWaitingDeliveries(input: $input) {
      __typename
      ... on RetryWaitingDeliveriesPayload { retriedCount hasMore }
      ... on Error { message code }
    }
  }
`);

/** A button that attempts all deliveries now that wait for their retry. */
export function RetryWaiting({ id, isActive }: { id: string; isActive: boolean }) {
  const { act } = useAct(RETRY_WAITING);
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState('');
  const run = async () => {
    setRunning(true);
    let count = 0;
    for (let hasMore = true; hasMore; ) {
      const { payload } = await act({ input: { id } });
      if (payload === null) break;
      count += payload.retriedCount;
      hasMore = payload.hasMore;
      setOutcome(told(count));
    }
    setRunning(false);
  };
  return (
    <Group gap="sm">
      <Button
        {...needs('endpoints')}
        variant="default"
        leftSection={<IconPlayerTrackNext size={16} aria-hidden />}
        disabled={!isActive}
        loading={isRunning}
        onClick={() => void run()}
      >
        Retry all waiting now
      </Button>
      <Text size="sm" role="status">
        {outcome}
      </Text>
    </Group>
  );
}

function told(count: number): string {
  if (count === 0) return 'No delivery is waiting for a retry.';
  return `${counted(count, 'delivery is', 'deliveries are')} attempted now.`;
}
