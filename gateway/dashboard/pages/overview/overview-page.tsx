import { Anchor, Badge, Grid, Group, SegmentedControl, Skeleton, Stack, Table, ThemeIcon } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { makeChoices } from '../../parts/choices.ts';
import { MainButton } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.ts';
import { ErrorNote, PageHeader } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Section } from '../../parts/section.tsx';
import { Fine, Hint, PageLink, Small, SmallLink, Strong, TextLink } from '../../parts/text.tsx';
import { formatCount } from '../../parts/words.ts';
import { Figures, HoursChart, OVERVIEW, type Overview, SENDING_RATE, WebhookTimesChart } from './charts.tsx';
import { GettingStarted } from './getting-started.tsx';

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
        {isSilent && <MainButton label="Send first email" href="/welcome" />}
        <SegmentedControl
          aria-label="Period"
          value={period}
          onChange={(value) => setSearch(value === 'day' ? {} : { period: value }, { replace: true })}
          data={makeChoices({ day: '24 hours', week: '7 days', month: '30 days', quarter: '90 days' })}
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
            <SmallLink href="/activity">Show all emails</SmallLink>
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

/** The service counts only up to this number. */
const COUNTED_TO = 10_000;

const rows: { key: keyof Overview['waiting']; label: string; path: string }[] = [
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
function WaitingMail({ waiting }: Pick<Overview, 'waiting'>) {
  return (
    <Section title="Queue" p="md" h="100%">
      <Stack gap={6}>
        {rows.map(({ key, label, path }) => (
          <Group key={key} justify="space-between" wrap="nowrap">
            <SmallLink href={path}>{label}</SmallLink>
            <Small fw={waiting[key] > 0 ? 650 : 400} c={waiting[key] > 0 ? '' : 'dimmed'} data-waiting={key}>
              {waiting[key] >= COUNTED_TO ? '10,000 or more' : formatCount(waiting[key])}
            </Small>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

type Thing = Overview['findings'][number];

const looks = {
  ERROR: { icon: 'exclamation-circle', color: 'red', word: 'Error' },
  WARNING: { icon: 'alert-triangle', color: 'orange', word: 'Warning' },
  NOTICE: { icon: 'info-circle', color: 'gray', word: 'Notice' },
} as const;

/** Findings that need the user's attention, most severe first. If there are none, it says so. */
function ThingsToFix({ things }: { things: readonly Thing[] }) {
  if (things.length === 0)
    return (
      <Group gap="xs">
        <ThemeIcon variant="transparent" color="green" size="sm" aria-hidden>
          <Icon name="circle-check" size={18} />
        </ThemeIcon>
        <Small>No problems found.</Small>
      </Group>
    );
  return (
    <Section title="Problems to fix" p="md">
      <Stack gap="sm" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {things.map((thing) => {
          const { icon, color, word } = looks[thing.severity];
          const path = findPath(thing);
          return (
            <Group
              key={`${thing.kind} ${thing.node?.id} ${thing.title}`}
              component="li"
              gap="sm"
              wrap="nowrap"
              align="flex-start"
            >
              <ThemeIcon variant="light" color={color} size="md" role="img" aria-label={word}>
                <Icon name={icon} size={18} />
              </ThemeIcon>
              <div>
                <Strong className="postroom-wrap">
                  {path === null ? (
                    thing.title
                  ) : (
                    <PageLink href={path} inherit>
                      {thing.title}
                    </PageLink>
                  )}
                </Strong>
                <Hint className="postroom-wrap">
                  {thing.detail}{' '}
                  {thing.at !== null && (
                    <>
                      First seen <RelativeTime at={thing.at} />
                    </>
                  )}
                </Hint>
              </div>
            </Group>
          );
        })}
      </Stack>
    </Section>
  );
}

/** Sections of the pages of what findings are about. */
const SECTIONS: Readonly<Record<string, string>> = {
  Domain: 'domains',
  WebhookEndpoint: 'endpoints',
  EmailEndpoint: 'endpoints',
  EmailGroupEndpoint: 'endpoints',
  Email: 'emails',
};

/** Returns the page where it can be fixed; null if there is none. */
function findPath({ kind, node }: Thing): string | null {
  if (kind === 'MAIL_TO_REVIEW') return '/held?tab=review';
  if (kind === 'SENDING_LIMIT') return '/settings';
  if (kind.startsWith('API_KEY')) return '/keys';
  if (node?.__typename === 'EmailAddress') return '/addresses';
  const section = SECTIONS[node?.__typename ?? ''];
  return node === null || section === undefined ? null : `/${section}/${node.id}`;
}

type Results = Overview['domains'][number];

const COLUMNS = [
  ['sent', 'Sent', ''],
  ['delivered', 'Delivered', '&status=delivered'],
  ['queued', 'Queued', '&status=queued'],
  ['deferred', 'Deferred', '&status=deferred'],
  ['bounced', 'Bounced', '&status=bounced'],
  ['failed', 'Failed', '&status=failed'],
  ['complained', 'Complaints', '&status=complained'],
] as const;
type Column = (typeof COLUMNS)[number][0];

/** Returns the number of a column; what is pending is queued or deferred. */
function countResults(results: Results, column: Column): number {
  return column === 'queued' ? results.pending - results.deferred : results[column];
}

/** Columns of finished mail, whose shares are of all finished mail, as in the figures above. */
const FINISHED: readonly Column[] = ['delivered', 'bounced', 'failed'];

/** Returns such as "12 (4.8 %)" for finished mail, and the number alone for the rest. */
function describeCount(results: Results, column: Column): string {
  const count = countResults(results, column);
  const shown = formatCount(count);
  const finished = FINISHED.reduce((sum, each) => sum + countResults(results, each), 0);
  if (count === 0 || !FINISHED.includes(column)) return shown;
  return `${shown} (${Math.floor((count / finished) * 1_000) / 10} %)`;
}

/** What became of the mail of each domain. The numbers lead to the emails of the same time. */
function Deliverability({ domains, time }: { domains: readonly Results[]; time: string }) {
  return (
    <Section title="Deliverability by domain" p="md">
      {domains.length === 0 ? (
        <Hint>No mail was sent in this period. The results of each sending domain appear here.</Hint>
      ) : (
        <Table.ScrollContainer minWidth={640} type="native">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Domain</Table.Th>
                {COLUMNS.map(([key, label]) => (
                  <Table.Th
                    key={key}
                    scope="col"
                    ta="right"
                    title={FINISHED.includes(key) ? `Shares are of finished emails. ${SENDING_RATE}` : undefined}
                  >
                    {label}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {domains.map((row) => (
                <Table.Tr key={row.domain}>
                  <Table.Th scope="row" fw={600}>
                    {row.domain}
                  </Table.Th>
                  {COLUMNS.map(([key, label, status]) => {
                    const count = countResults(row, key);
                    return (
                      <Table.Td key={key} ta="right">
                        <Anchor
                          component={Link}
                          href={`/activity?direction=sent${status}&domain=${encodeURIComponent(row.domain)}&time=${time}`}
                          size="sm"
                          {...(count === 0 ? { c: 'dimmed' } : {})}
                          aria-label={`${row.domain}, ${label}: ${count}`}
                        >
                          {describeCount(row, key)}
                        </Anchor>
                      </Table.Td>
                    );
                  })}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Section>
  );
}

const LATEST = graphql(`
  query DashboardLatest {
    emails(first: 8) {
      edges { node { id type subject status createdAt isTest from { name address } to { address } envelopeRecipient } }
    }
  }
`);

/** The latest received and sent mail, newest first, updated live. */
function LatestMail() {
  const { data } = useLiveQuery({ query: LATEST, kinds: 'all', types: ['Email'] });
  const emails = data?.emails.edges ?? [];
  return (
    <Section title="Latest emails" p="md">
      {data !== undefined && emails.length === 0 && (
        <Hint>
          No emails yet. <TextLink href="/welcome">Send your first email</TextLink>
        </Hint>
      )}
      <Stack gap="xs">
        {emails.map(({ node }) => {
          const isReceived = node.type === 'RECEIVED';
          return (
            <Group key={node.id} gap="sm" wrap="nowrap" justify="space-between">
              <Group gap="sm" wrap="nowrap" miw={0} flex={1}>
                <Icon
                  name={isReceived ? 'arrow-down-left' : 'arrow-up-right'}
                  size={18}
                  role="img"
                  aria-label={isReceived ? 'Received' : 'Sent'}
                />
                <Stack gap={0} miw={0}>
                  <SmallLink href={`/emails/${node.id}`} fw={600} truncate="end">
                    {node.subject || '(no subject)'}
                  </SmallLink>
                  <Fine truncate="end">
                    {isReceived
                      ? `${node.from.name ?? node.from.address} to ${node.envelopeRecipient}`
                      : `to ${node.to.map(({ address }) => address).join(', ')}`}
                  </Fine>
                </Stack>
              </Group>
              <Group gap="xs" wrap="nowrap">
                {node.isTest && (
                  <Badge size="xs" variant="default">
                    test
                  </Badge>
                )}
                <Fine style={{ whiteSpace: 'nowrap' }} component="span">
                  <RelativeTime at={node.createdAt} />
                </Fine>
              </Group>
            </Group>
          );
        })}
      </Stack>
    </Section>
  );
}
