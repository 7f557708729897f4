import { Badge, Group, Stack, Text } from '@mantine/core';
import { formatCount } from '../../parts/counted.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { nameReason, type ShownRefusal } from './refusal-documents.ts';

/** A refused message, with the reply that its sender got. */
export function RefusalRow({ refusal }: { refusal: ShownRefusal }) {
  const { reason, recipient, sender, clientAddress, network, helo, reply, times, lastAt } = refusal;
  return (
    <Stack
      component="li"
      gap={2}
      px="sm"
      py={8}
      style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      <Group gap="sm" wrap="wrap" justify="space-between">
        <Text size="sm" className="postroom-wrap" miw={0} flex="1 1 16rem">
          <b dir="auto">{recipient ?? 'Several recipients'}</b> from{' '}
          <bdi>{sender === null ? 'several senders' : sender === '' ? 'the null sender (a bounce)' : sender}</bdi>
        </Text>
        <Group gap="sm" wrap="nowrap">
          <Badge variant="outline" color="gray">
            {nameReason(reason)}
          </Badge>
          <Text size="sm" c="dimmed">
            {times > 1 && `${formatCount(times)} times, last `}
            <RelativeTime at={lastAt} />
          </Text>
        </Group>
      </Group>
      <Text size="sm" className="postroom-wrap">
        <bdi>{reply}</bdi>
      </Text>
      <Text size="sm" c="dimmed" className="postroom-wrap">
        Client {network === null ? 'of several networks, last' : ''} {clientAddress}
        {helo !== null && (
          <>
            , which called itself <bdi>{helo}</bdi>
          </>
        )}
      </Text>
    </Stack>
  );
}
