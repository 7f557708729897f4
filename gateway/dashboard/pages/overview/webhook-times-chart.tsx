import { Text } from '@mantine/core';
import { counted } from '../../parts/counted.ts';
import classes from './bar-chart.module.css';
import { BarChart, barHeight, type ChartUnit } from './bar-chart.tsx';
import { duration } from './figures.tsx';

interface Times {
  beginsAt: string;
  /** milliseconds */
  medianMs: number;
  p95Ms: number;
  sampleSize: number;
}

/** How long webhooks took, of all hours or days of a period, of which `times` has those with an attempt. */
export function WebhookTimesChart({
  times,
  intervals,
  unit,
}: {
  times: readonly Times[];
  /** beginnings of the hours or days */
  intervals: readonly string[];
  unit: ChartUnit;
}) {
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
      axis={[1, 0.5].map((height) => ({ label: duration(most * height), height }))}
      columns={['p50', 'p95', 'Deliveries']}
      {...(times.length > 0
        ? {}
        : {
            empty: (
              <Text size="sm" c="dimmed">
                No webhook was posted in this period. Here you will see how long your endpoints take to respond.
              </Text>
            ),
          })}
      bars={intervals.map((beginsAt) => {
        const one = found.get(Date.parse(beginsAt));
        if (one === undefined) return { beginsAt, value: 'no deliveries', bars: null, cells: null };
        const { medianMs, p95Ms, sampleSize } = one;
        return {
          beginsAt,
          value: `half within ${duration(medianMs)}, 95 % within ${duration(p95Ms)}, of ${counted(sampleSize, 'delivery', 'deliveries')}`,
          cells: [duration(medianMs), duration(p95Ms), sampleSize],
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
