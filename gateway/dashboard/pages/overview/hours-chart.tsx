import { Group, Paper, Text, Title, Tooltip, VisuallyHidden } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import classes from './hours-chart.module.css';

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
  { name: 'Delivered', className: 'delivered', countOf: ({ delivered }: Hour) => delivered },
  { name: 'On its way', className: 'waiting', countOf: (hour: Hour) => waitingIn(hour) },
  { name: 'Bounced', className: 'bounced', countOf: ({ bounced }: Hour) => bounced },
  { name: 'Failed', className: 'failed', countOf: ({ failed }: Hour) => failed },
] as const;

function waitingIn({ sent, delivered, bounced, failed }: Hour): number {
  return Math.max(0, sent - delivered - bounced - failed);
}

const time = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const utcDay = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });

/** Received mail, and sent mail by its result, per hour in the user's time zone, or per day of UTC, with a table of the same numbers for screen readers. */
export function HoursChart({ hours, unit }: { hours: readonly Hour[]; unit: 'hour' | 'day' }) {
  const when = (beginsAt: string) => (unit === 'day' ? utcDay.format(new Date(beginsAt)) : whenHour(beginsAt));
  const most = Math.max(1, ...hours.map(({ received, sent }) => Math.max(received, sent)));
  const [chosen, setChosen] = useState<number | null>(null);
  const valueOf = (hour: Hour) => {
    const results = RESULTS.filter(({ countOf }) => countOf(hour) > 0);
    const parts = results.map(({ name, countOf }) => `${countOf(hour)} ${name.toLowerCase()}`).join(', ');
    return `${when(hour.beginsAt)}: ${hour.received} received, ${hour.sent} sent${parts === '' ? '' : ` (${parts})`}`;
  };
  const shown = chosen === null ? undefined : hours[chosen];
  const last = hours.length - 1;
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextBar(event.key, chosen ?? last + 1, last);
    if (next === undefined) return;
    event.preventDefault();
    setChosen(next);
  };
  const height = (number: number, of = most) => (number === 0 ? '0' : `max(2px, ${(number / of) * 100}%)`);
  return (
    <Paper
      withBorder
      p="md"
      bg="var(--postroom-raised)"
      component="section"
      aria-labelledby="hours-title"
      className={classes['chart'] ?? ''}
      h="100%"
    >
      <Group justify="space-between" mb="sm">
        <Title order={2} id="hours-title">
          Emails per {unit}
        </Title>
        <Group gap="md">
          <Key name="Received" color={classes['received'] ?? ''} />
          {RESULTS.map(({ name, className }) => (
            <Key key={name} name={name} color={classes[className] ?? ''} />
          ))}
        </Group>
      </Group>
      <Text size="xs" c="dimmed" mb={4} mih="1.2em">
        {shown === undefined ? '' : valueOf(shown)}
      </Text>
      {/* Its values by mouse, by touch and by the arrow keys. */}
      <div
        className={classes['bars']}
        role="slider"
        tabIndex={0}
        aria-label={`Emails per ${unit}, values`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={chosen ?? last}
        aria-valuetext={valueOf(shown ?? hours[last] ?? NOTHING)}
        onKeyDown={onKeyDown}
        onBlur={() => setChosen(null)}
      >
        <span className={classes['line']} style={{ bottom: '100%' }} aria-hidden>
          {most.toLocaleString('en')}
        </span>
        {most % 2 === 0 && (
          <span className={classes['line']} style={{ bottom: '50%' }} aria-hidden>
            {(most / 2).toLocaleString('en')}
          </span>
        )}
        {hours.map((hour, at) => (
          <Tooltip key={hour.beginsAt} label={valueOf(hour)} withArrow>
            <div
              className={classes['hour']}
              data-chosen={at === chosen || undefined}
              onPointerDown={() => setChosen(at)}
            >
              <div className={`${classes['bar']} ${classes['received']}`} style={{ height: height(hour.received) }} />
              <div className={`${classes['bar']} ${classes['stack']}`} style={{ height: height(hour.sent) }}>
                {RESULTS.map(({ name, className, countOf }) => (
                  <div key={name} className={classes[className]} style={{ height: height(countOf(hour), hour.sent) }} />
                ))}
              </div>
            </div>
          </Tooltip>
        ))}
      </div>
      <Group justify="space-between" mt={4} ml="2.5rem" aria-hidden>
        {[hours[0], hours[Math.floor(hours.length / 2)], hours.at(-1)].map(
          (hour) =>
            hour !== undefined && (
              <Text key={hour.beginsAt} size="xs" c="dimmed">
                {when(hour.beginsAt)}
              </Text>
            ),
        )}
      </Group>
      <VisuallyHidden>
        <table>
          <caption>Emails per {unit}</caption>
          <thead>
            <tr>
              <th scope="col">{unit === 'day' ? 'Day' : 'Hour'}</th>
              <th scope="col">Received</th>
              <th scope="col">Sent</th>
              {RESULTS.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {hours
              .filter(({ received, sent }) => received + sent > 0)
              .map((hour) => (
                <tr key={hour.beginsAt}>
                  <th scope="row">{when(hour.beginsAt)}</th>
                  <td>{hour.received}</td>
                  <td>{hour.sent}</td>
                  {RESULTS.map(({ name, countOf }) => (
                    <td key={name}>{countOf(hour)}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </Paper>
  );
}

const NOTHING: Hour = {
  beginsAt: new Date(0).toISOString(),
  received: 0,
  sent: 0,
  delivered: 0,
  bounced: 0,
  failed: 0,
};

/** Returns the bar that a key leads to; null: none, undefined: the key has no meaning here. */
function nextBar(key: string, at: number, last: number): number | null | undefined {
  if (key === 'ArrowLeft' || key === 'ArrowDown') return Math.max(0, at - 1);
  if (key === 'ArrowRight' || key === 'ArrowUp') return Math.min(last, at + 1);
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  return key === 'Escape' ? null : undefined;
}

function Key({ name, color }: { name: string; color: string }) {
  return (
    <Group gap={6} wrap="nowrap">
      <span className={`${classes['key']} ${color}`} aria-hidden />
      <Text size="xs">{name}</Text>
    </Group>
  );
}

function whenHour(beginsAt: string): string {
  const date = new Date(beginsAt);
  return `${day.format(date)}, ${time.format(date)}`;
}
