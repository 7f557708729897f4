import { Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';

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
export function WaitingMail({ waiting }: { waiting: Waiting }) {
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
              {waiting[key] >= COUNTED_TO ? '10,000 or more' : waiting[key].toLocaleString('en')}
            </Text>
          </Group>
        ))}
      </Stack>
    </Paper>
  );
}
