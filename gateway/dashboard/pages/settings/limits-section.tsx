import { Group, Progress, Skeleton, Stack, Text } from '@mantine/core';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Section } from './section.tsx';

const LIMITS = graphql(`
  query DashboardLimits { viewer { limits { requestsPerSecond sendsPerHour sendsLeft sentWithinHour } } }
`);

/** Share of a limit from which it is nearly reached. */
const NEARLY = 0.9;

/** Limits of the account and their current usage. */
export function LimitsSection() {
  const { data, error, refresh } = useLiveQuery({
    query: LIMITS,
    variables: {},
    kinds: ['EMAIL_SENT'],
  });
  const limits = data?.viewer.limits;
  return (
    <Section title="Limits" about="Set by the operator for each account.">
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {limits === undefined && error === undefined && <Skeleton h={70} />}
      {limits !== undefined && (
        <Stack>
          <SentLately used={limits.sentWithinHour} most={limits.sendsPerHour} />
          <Group justify="space-between" gap="xs">
            <Text size="sm">Requests per second, for all keys and this dashboard</Text>
            <Text size="sm" fw={600}>
              {limits.requestsPerSecond === null ? 'no limit' : `at most ${numbers.format(limits.requestsPerSecond)}`}
            </Text>
          </Group>
        </Stack>
      )}
    </Section>
  );
}

function SentLately({ used, most }: { used: number; most: number | null }) {
  const part = most === null ? 0 : used / most;
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">Emails sent in the last hour</Text>
        <Text size="sm" fw={600} aria-live="polite">
          {numbers.format(used)} {most === null ? '· no limit' : `of ${numbers.format(most)}`}
        </Text>
      </Group>
      {most !== null && (
        <Progress
          value={Math.min(part, 1) * 100}
          color={part >= 1 ? 'red' : part >= NEARLY ? 'orange' : 'post.6'}
          aria-label="Emails sent in the last hour"
        />
      )}
      {most !== null && part >= 1 && <Text size="sm">New emails wait until the limit allows them.</Text>}
    </Stack>
  );
}

const numbers = new Intl.NumberFormat('en');
