import { Anchor, Badge, Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { graphql, type ResultOf } from '../../graphql.ts';
import { Command } from '../../parts/command.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { IconCalendarClock } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { baseUrl, useViewer } from '../../shell/viewer.ts';
import { subjectOf, toneOf } from '../activity/email-words.ts';
import { ListCard } from '../activity/list-card.tsx';
import { ListFrame } from '../activity/list-frame.tsx';
import { useFirstAddress } from '../activity/use-first-address.ts';
import { useGrowingList } from '../activity/use-growing-list.ts';
import { BatchList } from './batch-list.tsx';
import { ScheduleActions } from './schedule-actions.tsx';
import { timeInZone } from './time-in-zone.ts';

const SCHEDULED = graphql(`
  query DashboardScheduled($first: Int!, $after: String) {
    waitingEmails(for: SCHEDULED, first: $first, after: $after) {
      edges {
        cursor
        node { id subject status scheduledAt timezone from { name address } to { name address } batch { id } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

type Scheduled = ResultOf<typeof SCHEDULED>['waitingEmails']['edges'][number]['node'];

const PAGE_SIZE = 50;
const pageOf = ({ waitingEmails }: ResultOf<typeof SCHEDULED>) => waitingEmails;

/** Scheduled emails, soonest first. */
export function ScheduledPage() {
  const list = useGrowingList({
    query: SCHEDULED,
    variables: { first: PAGE_SIZE, after: null },
    kinds: ['EMAIL_SCHEDULED', 'EMAIL_RESCHEDULED', 'EMAIL_PAUSED', 'EMAIL_RESUMED', 'EMAIL_CANCELLED', 'EMAIL_SENT'],
    types: ['Email'],
    pageOf,
  });
  const batchIds = [...new Set(list.rows.flatMap(({ batch }) => (batch === null ? [] : [batch.id])))];
  return (
    <>
      <PageHeader title="Scheduled" about="Scheduled emails, soonest first." />
      {batchIds.length > 0 && <BatchList ids={batchIds} />}
      <ListFrame list={list} label="Scheduled emails" empty={<NothingScheduled />}>
        {(email) => <ScheduledRow key={email.id} email={email} />}
      </ListFrame>
    </>
  );
}

function ScheduledRow({ email }: { email: Scheduled }) {
  const { id, status, scheduledAt, timezone, to, from, batch } = email;
  return (
    <ListCard id={id}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={2} miw={0} flex="1 1 18rem">
          <Group gap="xs">
            <Anchor component={Link} href={`/emails/${id}`} fw={600} c="inherit" className="postroom-wrap">
              {subjectOf(email)}
            </Anchor>
            <StatusBadge status={status} tone={toneOf(status)} />
            {batch !== null && (
              <Badge variant="default" tt="none" radius="sm" fw={600}>
                part of a batch
              </Badge>
            )}
          </Group>
          <Text size="sm" c="dimmed" className="postroom-wrap">
            {from.address} to {to.map(({ address }) => address).join(', ')}
          </Text>
          {scheduledAt !== null && (
            <Text size="sm">
              <Text span fw={600}>
                <RelativeTime at={scheduledAt} />
              </Text>
              , {timeInZone(scheduledAt, timezone ?? 'UTC')}
            </Text>
          )}
        </Stack>
        <ScheduleActions email={email} />
      </Group>
    </ListCard>
  );
}

function NothingScheduled() {
  const { service } = useViewer();
  const own = useFirstAddress();
  const address = own ?? 'hello@example.com';
  const body = JSON.stringify({
    from: address,
    to: address,
    subject: 'Later',
    text: 'Hello.',
    scheduled_at: 'in 2 hours',
  });
  return (
    <EmptyState
      icon={IconCalendarClock}
      title="No scheduled emails"
      about={
        <>
          Emails with a send time appear here. Choose “Send later” in the inbox, or use the API. The command needs an{' '}
          <Anchor component={Link} href="/keys" underline="always">
            API key
          </Anchor>{' '}
          in place of $KEY.
        </>
      }
    >
      {/* Not before the own address is known: the command would send from one that is no one's. */}
      {own !== undefined && (
        <Command
          text={`curl -sS ${baseUrl(service)}/api/e2/emails -H "Authorization: Bearer $KEY" \\\n  -H 'Content-Type: application/json' -d '${body}'`}
        />
      )}
    </EmptyState>
  );
}
