import { Alert, Button, Group, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconBraces } from '../../parts/icons.ts';
import { sizeOf } from './email-words.ts';
import { Json } from './json.tsx';

const PAYLOAD = graphql(`
  query DashboardDeliveryPayload($id: ID!) {
    delivery(id: $id) { id payload(maxBytes: 200000) { text sizeBytes isCut url isEndpointChanged } }
  }
`);

/** Payload of a webhook, loaded on request. `of` names the delivery. */
export function DeliveryPayload({ deliveryId, of }: { deliveryId: string; of: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Stack gap="xs">
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconBraces size={16} aria-hidden />}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Hide payload' : 'Show payload'}
        </Button>
      </Group>
      {isOpen && <Payload deliveryId={deliveryId} of={of} />}
    </Stack>
  );
}

function Payload({ deliveryId, of }: { deliveryId: string; of: string }) {
  const [{ data, error }, again] = useQuery({ query: PAYLOAD, variables: { id: deliveryId } });
  if (error !== undefined) return <ErrorNote error={error} retry={() => again({ requestPolicy: 'network-only' })} />;
  if (data === undefined) return <Skeleton height={160} aria-label="Loading" role="status" />;
  const payload = data.delivery?.payload ?? null;
  if (payload === null)
    return (
      <Alert color="gray" variant="outline" title="No payload">
        The endpoint or the email was deleted.
      </Alert>
    );
  return (
    <Stack gap="xs">
      {payload.isEndpointChanged && (
        <Alert color="orange" variant="outline" title="The endpoint has changed since this delivery">
          This is what a retry sends now; what was sent then may have differed.
        </Alert>
      )}
      <Json
        text={payload.text}
        label={`Payload of ${of}: POST ${payload.url}, ${sizeOf(payload.sizeBytes)}${payload.isCut ? ', truncated' : ''}`}
      />
    </Stack>
  );
}
