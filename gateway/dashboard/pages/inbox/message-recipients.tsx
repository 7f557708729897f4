import { Group, Stack, Text } from '@mantine/core';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge, type Tone } from '../../parts/status-badge.tsx';
import type { MessageBodyData } from './thread-documents.ts';

type Recipient = MessageBodyData['recipients'][number];

const tones: Record<Recipient['status'], Tone> = {
  DELIVERED: 'good',
  PENDING: 'waiting',
  BOUNCED: 'bad',
  FAILED: 'bad',
};

/** Status of a sent message for each recipient, with the server's last reply. */
export function MessageRecipients({
  recipients,
  failureReason,
}: {
  recipients: MessageBodyData['recipients'];
  failureReason: string | null;
}) {
  return (
    <Stack gap={4} role="group" aria-label="Delivery">
      {recipients.map(({ id, address, status, lastText, lastCode, nextAttemptAt, settledAt }) => (
        <Group key={id} gap="xs" align="baseline">
          <StatusBadge status={status} tone={tones[status]} />
          <Text size="xs" fw={500} className="postroom-wrap">
            {address}
          </Text>
          <Text size="xs" c="dimmed" className="postroom-wrap">
            {settledAt !== null && <RelativeTime at={settledAt} />}
            {settledAt === null && nextAttemptAt !== null && <RelativeTime at={nextAttemptAt} prefix="next attempt " />}
            {status !== 'DELIVERED' && lastText !== null && ` · ${lastCode ?? ''} ${lastText}`}
          </Text>
        </Group>
      ))}
      {failureReason !== null && (
        <Text size="xs" c="dimmed">
          {failureReason}
        </Text>
      )}
    </Stack>
  );
}
