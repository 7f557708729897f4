import { formatCount } from '../../parts/counted.ts';
import classes from './bar-chart.module.css';
import { BarChart, barHeight, type ChartUnit } from './bar-chart.tsx';

interface Hour {
  beginsAt: string;
  received: number;
  /** including those below, and those on their way */
  sent: number;
  delivered: number;
  bounced: number;
  failed: number;
}

/** What becomes of sent mail, from the bottom of its bar up. */
const RESULTS = [
  { name: 'Delivered', className: classes['delivered'], countOf: ({ delivered }: Hour) => delivered },
  { name: 'On its way', className: classes['waiting'], countOf: (hour: Hour) => waitingIn(hour) },
  { name: 'Bounced', className: classes['bounced'], countOf: ({ bounced }: Hour) => bounced },
  { name: 'Failed', className: classes['failed'], countOf: ({ failed }: Hour) => failed },
] as const;

function waitingIn({ sent, delivered, bounced, failed }: Hour): number {
  return Math.max(0, sent - delivered - bounced - failed);
}

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
        value: valueOf(hour),
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

function valueOf(hour: Hour): string {
  const results = RESULTS.filter(({ countOf }) => countOf(hour) > 0);
  const parts = results.map(({ name, countOf }) => `${countOf(hour)} ${name.toLowerCase()}`).join(', ');
  return `${hour.received} received, ${hour.sent} sent${parts === '' ? '' : ` (${parts})`}`;
}
