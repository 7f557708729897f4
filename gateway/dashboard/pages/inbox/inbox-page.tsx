import { Paper, Stack, Text } from '@mantine/core';
import { IconInbox } from '@tabler/icons-react';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { Command } from '../../parts/command.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';

const INBOX = graphql(`
  query DashboardInbox($after: String) {
    inbox(first: 50, after: $after) {
      edges { node { id unreadCount lastMessageAt latestMessage { id subject preview from { name address } } } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** Threads, the one with the newest message first. */
export function InboxPage() {
  const { data, error, refresh } = useLiveQuery({
    query: INBOX,
    variables: { after: null },
    kinds: ['EMAIL_THREADED', 'EMAIL_READ', 'EMAIL_UNREAD', 'THREAD_ARCHIVED'],
  });
  return (
    <>
      <PageHeader title="Inbox" />
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {data?.inbox.edges.length === 0 && (
        <EmptyState
          icon={IconInbox}
          title="No mail yet"
          about="Mail to your addresses appears here the moment it comes in."
        >
          <Command text="swaks --to hello@inbox.test" />
        </EmptyState>
      )}
      <Stack gap="xs">
        {data?.inbox.edges.map(({ node }) => (
          <Paper key={node.id} withBorder p="sm">
            <Text fw={node.unreadCount > 0 ? 700 : 400}>{node.latestMessage?.subject}</Text>
            <RelativeTime at={node.lastMessageAt} />
          </Paper>
        ))}
      </Stack>
    </>
  );
}
