import { Badge, Button, Group, Paper, Text } from '@mantine/core';
import { Link } from 'wouter';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { APPROVAL_KINDS, WAITING_REPLIES } from '../approvals/approval-documents.ts';

/** Replies to a conversation that wait for approval. */
export function ThreadApprovals({ threadId }: { threadId: string }) {
  const { data } = useLiveQuery({
    query: WAITING_REPLIES,
    variables: {},
    kinds: APPROVAL_KINDS,
    types: ['Email', 'ApproveEmailPayload', 'RejectEmailPayload'],
  });
  const replies = data?.waitingEmails.edges.filter(({ node }) => node.approval?.thread?.id === threadId);
  return replies?.map(({ node: { id, preview } }) => (
    <Paper key={id} withBorder px="md" py="xs" radius="md" component="section" aria-label="Awaiting approval">
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Group gap="xs" wrap="nowrap" miw={0}>
          <Badge variant="default" tt="none" radius="sm" fw={600} style={{ flexShrink: 0 }}>
            Awaiting approval
          </Badge>
          <Text size="sm" c="dimmed" truncate>
            {preview}
          </Text>
        </Group>
        <Button size="xs" variant="default" component={Link} href="/approvals" style={{ flexShrink: 0 }}>
          Review
        </Button>
      </Group>
    </Paper>
  ));
}
