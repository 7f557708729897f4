import { Anchor, Button, Grid, Group, Paper, SegmentedControl, Skeleton, Stack, Text, Title } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { formatCount } from '../../parts/counted.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Deliverability } from './deliverability.tsx';
import { Figures } from './figures.tsx';
import { GettingStarted } from './getting-started.tsx';
import { HoursChart } from './hours-chart.tsx';
import { LatestMail } from './latest-mail.tsx';
import { ThingsToFix } from './things-to-fix.tsx';
import { WebhookTimesChart } from './webhook-times-chart.tsx';

const OVERVIEW = graphql(`
  query DashboardOverview($hours: Int!, $byDay: Boolean!) {
    overview(hours: $hours) {
      hours @skip(if: $byDay) { beginsAt received sent delivered bounced failed }
      days @include(if: $byDay) { beginsAt received sent delivered bounced failed }
      domains { domain sent delivered pending deferred bounced failed complained }
      totals { received sent delivered bounced failed held successRate }
      webhooks { successful failed pending retrying successRate medianMs p95Ms isSampled }
      webhookTimes { beginsAt medianMs p95Ms sampleSize }
      waiting { pending deferred scheduled paused blocked review deliveries retries }
      findings { kind severity title detail at node { __typename id } }
    }
  }
`);

/** Hours of each period, by its name in the URL. */
const PERIODS = { day: 24, week: 168, month: 720, quarter: 2_160 };
/** Longer periods are shown by days. */
const MAX_HOURS_SHOWN = 168;

/** Overview: mail per hour, delivery rates, waiting mail, and findings. */
export function OverviewPage() {
  const [search, setSearch] = useSearchParams();
  const asked = search.get('period') ?? 'day';
  const period = isPeriod(asked) ? asked : 'day';
  const byDay = PERIODS[period] > MAX_HOURS_SHOWN;
  const { data, error, refresh } = useLiveQuery({
    query: OVERVIEW,
    variables: { hours: PERIODS[period], byDay },
    kinds: 'all',
    gatherMs: 2_000,
  });
  const overview = data?.overview;
  const isSilent = overview !== undefined && overview.totals.received + overview.totals.sent === 0;
  return (
    <>
      <PageHeader title="Overview" about="Received and sent mail, and what needs your attention.">
        {isSilent && (
          <Button component={Link} href="/welcome">
            Send first email
          </Button>
        )}
        <SegmentedControl
          aria-label="Period"
          value={period}
          onChange={(value) => setSearch(value === 'day' ? {} : { period: value }, { replace: true })}
          data={[
            { value: 'day', label: '24 hours' },
            { value: 'week', label: '7 days' },
            { value: 'month', label: '30 days' },
            { value: 'quarter', label: '90 days' },
          ]}
        />
      </PageHeader>
      {error !== undefined && overview === undefined && <ErrorNote error={error} retry={refresh} />}
      {overview === undefined ? (
        error === undefined && <Waiting />
      ) : (
        <Stack gap="md">
          <GettingStarted />
          <ThingsToFix things={overview.findings} />
          <Figures totals={overview.totals} webhooks={overview.webhooks} />
          <Grid gap="md">
            <Grid.Col span={{ base: 12, lg: 8 }}>
              <HoursChart hours={overview.days ?? overview.hours ?? []} unit={byDay ? 'day' : 'hour'} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 4 }}>
              <WaitingMail waiting={overview.waiting} />
            </Grid.Col>
          </Grid>
          <WebhookTimesChart
            times={overview.webhookTimes}
            intervals={(overview.days ?? overview.hours ?? []).map(({ beginsAt }) => beginsAt)}
            unit={byDay ? 'day' : 'hour'}
          />
          <Deliverability domains={overview.domains} time={period} />
          <LatestMail />
          <Group justify="flex-end">
            <Anchor component={Link} href="/activity" size="sm">
              Show all emails
            </Anchor>
          </Group>
        </Stack>
      )}
    </>
  );
}

function isPeriod(text: string): text is keyof typeof PERIODS {
  return Object.hasOwn(PERIODS, text);
}

function Waiting() {
  return (
    <Stack gap="md" aria-busy>
      <Skeleton height={96} />
      <Skeleton height={260} />
      <Skeleton height={200} />
    </Stack>
  );
}

interface Waiting {
  pending: number;
  deferred: number;
  scheduled: number;
  paused: number;
  blocked: number;
  review: number;
  deliveries: number;
  retries: number;
}

/** The service counts only up to this number. */
const COUNTED_TO = 10_000;

const rows: { key: keyof Waiting; label: string; path: string }[] = [
  { key: 'pending', label: 'Outgoing emails', path: '/activity?direction=sent&status=pending' },
  { key: 'deferred', label: 'Deferred', path: '/held?tab=deferred' },
  { key: 'scheduled', label: 'Scheduled', path: '/scheduled' },
  { key: 'paused', label: 'Paused', path: '/scheduled' },
  { key: 'review', label: 'To review', path: '/held?tab=review' },
  { key: 'blocked', label: 'Blocked by guard rules', path: '/held' },
  { key: 'deliveries', label: 'Pending deliveries', path: '/endpoints' },
  { key: 'retries', label: 'Deliveries being retried', path: '/endpoints' },
];

/** Number of waiting emails of each kind, with links to their pages. */
function WaitingMail({ waiting }: { waiting: Waiting }) {
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)" component="section" aria-labelledby="waiting-title" h="100%">
      <Title order={2} id="waiting-title" mb="sm">
        Queue
      </Title>
      <Stack gap={6}>
        {rows.map(({ key, label, path }) => (
          <Group key={key} justify="space-between" wrap="nowrap">
            <Anchor component={Link} href={path} size="sm">
              {label}
            </Anchor>
            <Text size="sm" fw={waiting[key] > 0 ? 650 : 400} c={waiting[key] > 0 ? '' : 'dimmed'} data-waiting={key}>
              {waiting[key] >= COUNTED_TO ? '10,000 or more' : formatCount(waiting[key])}
            </Text>
          </Group>
        ))}
      </Stack>
    </Paper>
  );
}
