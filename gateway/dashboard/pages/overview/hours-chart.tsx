import { Group, Paper, Text, Title, Tooltip, VisuallyHidden } from '@mantine/core';
import classes from './hours-chart.module.css';

interface Hour {
  beginsAt: string;
  received: number;
  sent: number;
}

const time = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const utcDay = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });

/** Received and sent mail per hour in the user's time zone, or per day of UTC, with a table of the same numbers for screen readers. */
export function HoursChart({ hours, unit }: { hours: readonly Hour[]; unit: 'hour' | 'day' }) {
  const when = (beginsAt: string) => (unit === 'day' ? utcDay.format(new Date(beginsAt)) : whenHour(beginsAt));
  const most = Math.max(1, ...hours.map(({ received, sent }) => Math.max(received, sent)));
  const height = (number: number) => (number === 0 ? '0' : `max(2px, ${(number / most) * 100}%)`);
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
          <Key name="Sent" color={classes['sent'] ?? ''} />
        </Group>
      </Group>
      <Text size="xs" c="dimmed" mb={4}>
        {most === 1 ? `up to 1 email per ${unit}` : `up to ${most} emails per ${unit}`}
      </Text>
      <div className={classes['bars']} aria-hidden>
        {hours.map(({ beginsAt, received, sent }) => (
          <Tooltip key={beginsAt} label={`${when(beginsAt)}: ${received} in, ${sent} out`} withArrow>
            <div className={classes['hour']}>
              <div className={`${classes['bar']} ${classes['received']}`} style={{ height: height(received) }} />
              <div className={`${classes['bar']} ${classes['sent']}`} style={{ height: height(sent) }} />
            </div>
          </Tooltip>
        ))}
      </div>
      <Group justify="space-between" mt={4} aria-hidden>
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
            </tr>
          </thead>
          <tbody>
            {hours
              .filter(({ received, sent }) => received + sent > 0)
              .map(({ beginsAt, received, sent }) => (
                <tr key={beginsAt}>
                  <th scope="row">{when(beginsAt)}</th>
                  <td>{received}</td>
                  <td>{sent}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </Paper>
  );
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
