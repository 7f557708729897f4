import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { graphql, type ResultOf } from '../../graphql.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { IconMailCheck } from '../../parts/icons.ts';
import { RefusalNote } from '../../parts/refusal-note.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { subjectOf, toneOf } from '../activity/email-words.ts';
import { ListCard } from '../activity/list-card.tsx';
import { ListFrame } from '../activity/list-frame.tsx';
import { useGrowingList } from '../activity/use-growing-list.ts';
import { LastReply } from './last-reply.tsx';

const UNDELIVERED = graphql(`
  query DashboardUndelivered($status: EmailStatusFilter!, $first: Int!, $after: String) {
    emails(first: $first, after: $after, filter: { type: SENT, status: $status, timeRange: ALL }) {
      edges {
        cursor
        node {
          id subject status createdAt failureReason from { name address }
          recipients { id address status lastCode lastEnhancedStatus lastText refusal { title advice } }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

type Undelivered = ResultOf<typeof UNDELIVERED>['emails']['edges'][number]['node'];

const PAGE_SIZE = 30;
const pageOf = ({ emails }: ResultOf<typeof UNDELIVERED>) => emails;

/** Sent mail that a server rejected or that was given up. */
export function UndeliveredList({ status }: { status: 'BOUNCED' | 'FAILED' }) {
  const list = useGrowingList({
    query: UNDELIVERED,
    variables: { status, first: PAGE_SIZE, after: null },
    kinds: ['EMAIL_BOUNCED', 'EMAIL_FAILED', 'EMAIL_COMPLAINED'],
    types: ['Email'],
    pageOf,
  });
  const isBounced = status === 'BOUNCED';
  return (
    <ListFrame
      list={list}
      label={isBounced ? 'Bounced emails' : 'Failed emails'}
      empty={
        <EmptyState
          icon={IconMailCheck}
          title={isBounced ? 'No bounced emails' : 'No failed emails'}
          about={
            isBounced
              ? 'Emails that a server permanently refused appear here with its reply.'
              : 'Emails that no server accepted within five days appear here.'
          }
        />
      }
    >
      {(email) => <UndeliveredRow key={email.id} email={email} />}
    </ListFrame>
  );
}

function UndeliveredRow({ email }: { email: Undelivered }) {
  const undelivered = email.recipients.filter(({ status }) => status === 'BOUNCED' || status === 'FAILED');
  return (
    <ListCard id={email.id}>
      <Group gap="xs">
        <Anchor
          component={Link}
          href={`/emails/${email.id}?tab=recipients`}
          fw={600}
          c="inherit"
          className="postroom-wrap"
        >
          {subjectOf(email)}
        </Anchor>
        <StatusBadge status={email.status} tone={toneOf(email.status)} />
      </Group>
      <Text size="sm" c="dimmed" className="postroom-wrap">
        from {email.from.address}, <RelativeTime at={email.createdAt} />
      </Text>
      {undelivered.length === 0 && email.failureReason !== null && <Text size="sm">{email.failureReason}</Text>}
      <Stack gap="xs" mt="xs">
        {undelivered.map((recipient) => (
          <div key={recipient.id}>
            <Text size="sm" className="postroom-wrap">
              {recipient.address}
            </Text>
            <RefusalNote refusal={recipient.refusal} />
            <LastReply recipient={recipient} />
          </div>
        ))}
      </Stack>
    </ListCard>
  );
}
