import { Group, Paper, SimpleGrid, Text, Title, Tooltip, VisuallyHidden } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { graphql, type ResultOf } from '../../graphql.ts';
import { Fine, Hint } from '../../parts/text.tsx';
import { counted, formatCount } from '../../parts/words.ts';
import { formatDuration } from '../activity/email-words.ts';
import classes from './bar-chart.module.css';

/** The figures of a period. Sent mail includes what is queued or deferred; deliveries that are retried wait for another attempt. */
export const OVERVIEW = graphql(`
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
export type Overview = ResultOf<typeof OVERVIEW>['overview'];
type Hour = NonNullable<Overview['hours']>[number];

/** The five figures of a period. A rate is null if there is no data. */
export function Figures({ totals, webhooks }: Pick<Overview, 'totals' | 'webhooks'>) {
  const lost = totals.bounced + totals.failed;
  return (
    <SimpleGrid cols={{ base: 2, md: 5 }} spacing="md">
      <Figure
        label="Received"
        value={formatCount(totals.received)}
        about={totals.received === 1 ? 'email' : 'emails'}
      />
      <Figure label="Sent" value={formatCount(totals.sent)} about={`${formatCount(totals.delivered)} delivered`} />
      <Figure
        label="Sending success"
        definition={SENDING_RATE}
        value={percent(totals.successRate)}
        about={
          totals.successRate === null
            ? 'no results yet'
            : lost === 0
              ? 'no bounces or failures'
              : `${formatCount(lost)} bounced or failed`
        }
      />
      <Figure
        label="Webhook success"
        definition="Share of attempted deliveries whose last attempt succeeded. An email to two endpoints has two deliveries. Deliveries that are being retried count as failed until they succeed."
        value={percent(webhooks.successRate)}
        about={webhookResults(webhooks)}
      />
      <Figure
        label="Webhook time, p95"
        definition="95 of 100 deliveries had their response within this time. Of each delivery, the last attempt counts."
        value={webhooks.p95Ms === null ? '–' : formatDuration(webhooks.p95Ms)}
        about={
          webhooks.medianMs === null
            ? 'no deliveries yet'
            : `half within ${formatDuration(webhooks.medianMs)}${webhooks.isSampled ? ', estimated from a sample' : ''}`
        }
      />
    </SimpleGrid>
  );
}

/** What became of the attempted deliveries, of which the rate is a share. */
function webhookResults({ successful, failed, retrying, successRate }: Overview['webhooks']): string {
  if (successRate === null) return 'no deliveries yet';
  const attempted = `of ${counted(successful + failed + retrying, 'delivery', 'deliveries')}`;
  if (failed + retrying === 0) return `${attempted}, none failed`;
  const parts = [
    failed > 0 && `${formatCount(failed)} failed`,
    retrying > 0 && `${formatCount(retrying)} being retried`,
  ];
  return `${attempted}, ${parts.filter((part) => part !== false).join(', ')}`;
}

interface FigureProps {
  label: string;
  value: string;
  about: string;
  /** what a rate or time is computed from */
  definition?: string | null;
}

function Figure({ label, value, about, definition = null }: FigureProps) {
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)">
      {definition === null ? (
        <Hint>{label}</Hint>
      ) : (
        <Tooltip label={definition} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
          <Hint tabIndex={0} td="underline dotted" w="fit-content">
            {label}
          </Hint>
        </Tooltip>
      )}
      <Text fz="1.6rem" fw={700} lh={1.3} data-figure={label}>
        {value}
      </Text>
      <Fine>{about}</Fine>
    </Paper>
  );
}

/** Never rounds up to all: 99.96 % is not 100 %. */
function percent(rate: number | null): string {
  return rate === null ? '–' : `${rate === 1 ? 100 : Math.floor(rate * 1_000) / 10} %`;
}

/** What becomes of sent mail, from the bottom of its bar up. */
const RESULTS = [
  { name: 'Delivered', className: classes['delivered'], countOf: ({ delivered }: Hour) => delivered },
  {
    name: 'Queued or deferred',
    className: classes['waiting'],
    countOf: ({ sent, delivered, bounced, failed }: Hour) => Math.max(0, sent - delivered - bounced - failed),
  },
  { name: 'Bounced', className: classes['bounced'], countOf: ({ bounced }: Hour) => bounced },
  { name: 'Failed', className: classes['failed'], countOf: ({ failed }: Hour) => failed },
] as const;

/** Received mail, and sent mail by its result. */
export function HoursChart({ hours, unit }: { hours: readonly Hour[]; unit: ChartUnit }) {
  const most = Math.max(1, ...hours.map(({ received, sent }) => Math.max(received, sent)));
  const axis = [{ label: formatCount(most), height: 1 }];
  if (most % 2 === 0) axis.push({ label: formatCount(most / 2), height: 0.5 });
  return (
    <BarChart
      title={`Emails per ${unit}`}
      unit={unit}
      series={[{ name: 'Received', className: classes['received'] }, ...RESULTS]}
      axis={axis}
      columns={['Received', 'Sent', ...RESULTS.map(({ name }) => name)]}
      bars={hours.map((hour) => ({
        beginsAt: hour.beginsAt,
        value: describeHour(hour),
        cells:
          hour.received + hour.sent === 0
            ? null
            : [hour.received, hour.sent, ...RESULTS.map(({ countOf }) => countOf(hour))],
        bars: (
          <>
            <div
              className={`${classes['bar']} ${classes['received']}`}
              style={{ height: barHeight(hour.received, most) }}
            />
            <div className={`${classes['bar']} ${classes['stack']}`} style={{ height: barHeight(hour.sent, most) }}>
              {RESULTS.map(({ name, className, countOf }) => (
                <div key={name} className={className} style={{ height: barHeight(countOf(hour), hour.sent) }} />
              ))}
            </div>
          </>
        ),
      }))}
    />
  );
}

function describeHour(hour: Hour): string {
  const results = RESULTS.filter(({ countOf }) => countOf(hour) > 0);
  const parts = results.map(({ name, countOf }) => `${countOf(hour)} ${name.toLowerCase()}`).join(', ');
  return `${hour.received} received, ${hour.sent} sent${parts === '' ? '' : ` (${parts})`}`;
}

interface WebhookTimesChartProps {
  times: Overview['webhookTimes'];
  /** beginnings of the hours or days */
  intervals: readonly string[];
  unit: ChartUnit;
}

/** How long webhooks took, of all hours or days of a period, of which `times` has those with an attempt. */
export function WebhookTimesChart({ times, intervals, unit }: WebhookTimesChartProps) {
  const found = new Map(times.map((one) => [Date.parse(one.beginsAt), one]));
  const most = roundUp(Math.max(1, ...times.map(({ p95Ms }) => p95Ms)));
  return (
    <BarChart
      title={`Webhook time per ${unit}`}
      unit={unit}
      series={[
        { name: 'Half within (p50)', className: classes['median'] },
        { name: '95 % within (p95)', className: classes['p95'] },
      ]}
      axis={[1, 0.5].map((height) => ({ label: formatDuration(most * height), height }))}
      columns={['p50', 'p95', 'Deliveries']}
      empty={
        times.length === 0 && (
          <Hint>No webhook was posted in this period. Here you will see how long your endpoints take to respond.</Hint>
        )
      }
      bars={intervals.map((beginsAt) => {
        const one = found.get(Date.parse(beginsAt));
        if (one === undefined) return { beginsAt, value: 'no deliveries', bars: null, cells: null };
        const { medianMs, p95Ms, sampleSize } = one;
        return {
          beginsAt,
          value: `half within ${formatDuration(medianMs)}, 95 % within ${formatDuration(p95Ms)}, of ${counted(sampleSize, 'delivery', 'deliveries')}`,
          cells: [formatDuration(medianMs), formatDuration(p95Ms), sampleSize],
          bars: (
            <div
              className={`${classes['bar']} ${classes['stack']} ${classes['p95']}`}
              style={{ height: barHeight(p95Ms, most) }}
            >
              <div className={classes['median']} style={{ height: barHeight(medianMs, p95Ms) }} />
            </div>
          ),
        };
      })}
    />
  );
}

/** Returns the next number that is 1, 2 or 5 times a power of ten, so that half of it is short, too. */
function roundUp(number: number): number {
  const power = 10 ** Math.floor(Math.log10(number));
  const factor = [1, 2, 5, 10].find((one) => one * power >= number) ?? 10;
  return factor * power;
}

/** Counts are per hour in the user's time zone, or per day of UTC. */
type ChartUnit = 'hour' | 'day';

/** What a chart shows of one hour or day. */
interface ChartBar {
  beginsAt: string;
  /** its values in words */
  value: string;
  /** its bars; null: nothing to show */
  bars: ReactNode;
  /** its row in the table; null: none */
  cells: readonly (string | number)[] | null;
}

interface BarChartProps {
  title: string;
  unit: ChartUnit;
  bars: readonly ChartBar[];
  /** series and their classes */
  series: readonly { name: string; className: string | undefined }[];
  /** numbers of the axis, with their height from 0 to 1 */
  axis: readonly { label: string; height: number }[];
  /** columns of the table, beside the time */
  columns: readonly string[];
  /** shown in place of the bars */
  empty?: ReactNode;
}

const time = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const utcDay = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });
/** Short, so that three are beside each other on a phone. */
const ticks = {
  hour: new Intl.DateTimeFormat('en', { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  day: new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
};
const day = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });

/** Bars over time with axes; their values by mouse, by touch and by the arrow keys, and as a table for screen readers. */
function BarChart({ title, unit, bars, series, axis, columns, empty }: BarChartProps) {
  const when = (beginsAt: string) => formatPeriod(beginsAt, unit);
  const [chosen, setChosen] = useState<number | null>(null);
  const last = bars.length - 1;
  const valueAt = (at: number) => {
    const bar = bars[at];
    return bar === undefined ? '' : `${when(bar.beginsAt)}: ${bar.value}`;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextBar(event.key, chosen ?? last + 1, last);
    if (next === undefined) return;
    event.preventDefault();
    setChosen(next);
  };
  return (
    <Paper
      withBorder
      p="md"
      bg="var(--postroom-raised)"
      component="section"
      aria-label={title}
      className={classes['chart'] ?? ''}
      h="100%"
    >
      <Group justify="space-between" mb="sm">
        <Title order={2}>{title}</Title>
        {!empty && (
          <Group gap="md">
            {series.map(({ name, className }) => (
              <Group key={name} gap={6} wrap="nowrap">
                <span className={`${classes['key']} ${className}`} aria-hidden />
                <Text size="xs">{name}</Text>
              </Group>
            ))}
          </Group>
        )}
      </Group>
      {empty || (
        <>
          <Fine mb={4} mih="1.2em">
            {chosen === null ? '' : valueAt(chosen)}
          </Fine>
          <div
            className={classes['bars']}
            role="slider"
            tabIndex={0}
            aria-label={`${title}, values`}
            aria-valuemin={0}
            aria-valuemax={last}
            aria-valuenow={chosen ?? last}
            aria-valuetext={valueAt(chosen ?? last)}
            onKeyDown={onKeyDown}
            onBlur={() => setChosen(null)}
          >
            {axis.map(({ label, height }) => (
              <span key={label} className={classes['line']} style={{ bottom: `${height * 100}%` }} aria-hidden>
                {label}
              </span>
            ))}
            {bars.map((bar, at) => (
              <Tooltip key={bar.beginsAt} label={valueAt(at)} withArrow>
                <div
                  className={classes['hour']}
                  data-chosen={at === chosen || undefined}
                  onPointerDown={() => setChosen(at)}
                >
                  {bar.bars}
                </div>
              </Tooltip>
            ))}
          </div>
          <Group justify="space-between" wrap="nowrap" gap="xs" mt={4} ml="2.5rem" aria-hidden>
            {[bars[0], bars[Math.floor(bars.length / 2)], bars.at(-1)].map(
              (bar) =>
                bar !== undefined && <Fine key={bar.beginsAt}>{ticks[unit].format(new Date(bar.beginsAt))}</Fine>,
            )}
          </Group>
          <VisuallyHidden>
            <table>
              <caption>{title}</caption>
              <thead>
                <tr>
                  <th scope="col">{unit === 'day' ? 'Day' : 'Hour'}</th>
                  {columns.map((name) => (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {bars.map(
                  ({ beginsAt, cells }) =>
                    cells !== null && (
                      <tr key={beginsAt}>
                        <th scope="row">{when(beginsAt)}</th>
                        {cells.map((cell, at) => (
                          <td key={columns[at]}>{cell}</td>
                        ))}
                      </tr>
                    ),
                )}
              </tbody>
            </table>
          </VisuallyHidden>
        </>
      )}
    </Paper>
  );
}

/** Returns the height of a bar; what is not 0 is always visible. */
function barHeight(number: number, most: number): string {
  return number === 0 ? '0' : `max(2px, ${(number / most) * 100}%)`;
}

/** Returns the bar that a key leads to; null: none, undefined: the key has no meaning here. */
function nextBar(key: string, at: number, last: number): number | null | undefined {
  if (key === 'ArrowLeft' || key === 'ArrowDown') return Math.max(0, at - 1);
  if (key === 'ArrowRight' || key === 'ArrowUp') return Math.min(last, at + 1);
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  return key === 'Escape' ? null : undefined;
}

function formatPeriod(beginsAt: string, unit: ChartUnit): string {
  const date = new Date(beginsAt);
  return unit === 'day' ? utcDay.format(date) : `${day.format(date)}, ${time.format(date)}`;
}

/** The definition of the share of sent mail that was delivered, wherever it is shown. */
export const SENDING_RATE =
  'Share of finished emails that were delivered: delivered, of those that were delivered, bounced or failed. Queued and deferred emails are not finished.';
