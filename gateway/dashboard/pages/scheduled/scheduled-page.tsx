import { Group, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { connection, graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ConfirmButton } from '../../parts/buttons.tsx';
import { Command } from '../../parts/command.tsx';
import { type ListRow, listSource } from '../../parts/list.tsx';
import { EmptyState, Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Fine, Hint, Small, StatusBadge, Strong, Tag, TextLink } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted } from '../../parts/words.ts';
import { baseUrl, useViewer } from '../../shell/viewer.ts';
import { chooseTone } from '../activity/email-words.ts';
import { ListFrame, MailCard, useFirstAddress, useGrowingList } from '../activity/mail-list.tsx';
import { ScheduleActions, timeInZone } from './schedule-actions.tsx';

const LIST = listSource({
  label: 'Scheduled emails',
  query: connection(`waitingEmails($for: WaitReason!) {
    id subject status scheduledAt timezone from { name address } to { name address } batch { id }
  }`),
  size: 50,
  kinds: ['EMAIL_SCHEDULED', 'EMAIL_RESCHEDULED', 'EMAIL_PAUSED', 'EMAIL_RESUMED', 'EMAIL_CANCELLED', 'EMAIL_SENT'],
  types: ['Email'],
});
type Scheduled = ListRow<typeof LIST>;

/** Scheduled emails, soonest first. */
export function ScheduledPage() {
  const list = useGrowingList(LIST, { for: 'SCHEDULED' });
  const batchIds = [...new Set(list.rows.flatMap(({ batch }) => (batch === null ? [] : [batch.id])))];
  return (
    <Page title="Scheduled" about="Scheduled emails, soonest first.">
      {batchIds.length > 0 && <BatchList ids={batchIds} />}
      <ListFrame list={list} empty={<NothingScheduled />}>
        {(email) => <ScheduledRow key={email.id} email={email} />}
      </ListFrame>
    </Page>
  );
}

function ScheduledRow({ email }: { email: Scheduled }) {
  const { status, scheduledAt, timezone, to, from, batch } = email;
  return (
    <MailCard
      email={email}
      marks={
        <>
          <StatusBadge status={status} tone={chooseTone(status)} />
          {batch !== null && <Tag>part of a batch</Tag>}
        </>
      }
      actions={<ScheduleActions email={email} />}
    >
      <Hint className="postroom-wrap">
        {from.address} to {to.map(({ address }) => address).join(', ')}
      </Hint>
      {scheduledAt !== null && (
        <Small>
          <Text span fw={600}>
            <RelativeTime at={scheduledAt} />
          </Text>
          , {timeInZone(scheduledAt, timezone ?? 'UTC')}
        </Small>
      )}
    </MailCard>
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
      icon="calendar-clock"
      title="No scheduled emails"
      about={
        <>
          Emails with a send time appear here. Choose “Send later” in the inbox, or use the API. The command needs an{' '}
          <TextLink href="/keys">API key</TextLink> in place of $KEY.
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

const BATCHES = graphql(`
  query DashboardBatches($ids: [ID!]!) {
    nodes(ids: $ids) {
      __typename id
      ... on Batch { status createdAt counts { total pending processing sent failed cancelled } }
    }
  }
`);
type Batch = Extract<ResultOf<typeof BATCHES>['nodes'][number], { __typename: 'Batch' }>;

const CANCEL_BATCH = mutation('cancelBatch', 'cancelledCount batch { id status }');

/** Number of batches per query. */
const MAX_BATCHES = 20;

/** Batches with waiting emails, their progress, and a button that cancels the waiting ones. */
function BatchList({ ids }: { ids: readonly string[] }) {
  const { data } = useLiveQuery({
    query: BATCHES,
    variables: { ids: ids.slice(0, MAX_BATCHES) },
    kinds: ['EMAIL_SENT', 'EMAIL_CANCELLED', 'EMAIL_DELIVERED', 'EMAIL_BOUNCED', 'EMAIL_FAILED'],
    types: ['Batch', 'Email'],
  });
  return (
    <Stack gap="sm" mb="lg" component="section" aria-labelledby="batches-title">
      <Title order={2} id="batches-title">
        Batches
      </Title>
      {data?.nodes.map((batch) => batch?.__typename === 'Batch' && <BatchCard key={batch.id} batch={batch} />)}
    </Stack>
  );
}

function BatchCard({ batch: { id, createdAt, counts } }: { batch: Batch }) {
  const { act: cancel } = useAct(CANCEL_BATCH, { done: 'The waiting emails of the batch were cancelled.' });
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
    <Paper withBorder p="md" bg="var(--postroom-raised)">
      <Group justify="space-between" gap="sm">
        <Stack gap={4} flex="1 1 16rem">
          <Strong>
            {counted(total, 'email')}, asked for <RelativeTime at={createdAt} />
          </Strong>
          <Progress
            value={total === 0 ? 0 : (100 * done) / total}
            aria-label={`${done} of ${total} emails of the batch are finished`}
          />
          <Fine>{words.join(', ')}</Fine>
        </Stack>
        <ConfirmButton
          needed="send"
          label="Cancel batch"
          question="Cancel the waiting emails of this batch?"
          about={`Waiting emails of the batch (${total} in total) will not be sent. Emails that were sent are not affected.`}
          act={() => cancel({ id })}
        />
      </Group>
    </Paper>
  );
}
