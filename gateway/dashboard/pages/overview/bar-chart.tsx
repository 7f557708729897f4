import { Group, Paper, Text, Title, Tooltip, VisuallyHidden } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import classes from './bar-chart.module.css';

/** Counts are per hour in the user's time zone, or per day of UTC. */
export type ChartUnit = 'hour' | 'day';

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

export interface BarChartProps {
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
const day = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });

/** Bars over time with axes; their values by mouse, by touch and by the arrow keys, and as a table for screen readers. */
export function BarChart({ title, unit, bars, series, axis, columns, empty }: BarChartProps) {
  const when = (beginsAt: string) => whenOf(beginsAt, unit);
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
        {empty === undefined && (
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
      {empty ?? (
        <>
          <Text size="xs" c="dimmed" mb={4} mih="1.2em">
            {chosen === null ? '' : valueAt(chosen)}
          </Text>
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
          <Group justify="space-between" mt={4} ml="2.5rem" aria-hidden>
            {[bars[0], bars[Math.floor(bars.length / 2)], bars.at(-1)].map(
              (bar) =>
                bar !== undefined && (
                  <Text key={bar.beginsAt} size="xs" c="dimmed">
                    {when(bar.beginsAt)}
                  </Text>
                ),
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
export function barHeight(number: number, most: number): string {
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

function whenOf(beginsAt: string, unit: ChartUnit): string {
  const date = new Date(beginsAt);
  return unit === 'day' ? utcDay.format(date) : `${day.format(date)}, ${time.format(date)}`;
}
