import { Alert, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { Block } from './block.tsx';

/** Actual or previewed result of reprocessing an email. */
export interface ReprocessedEmail {
  changes: readonly {
    step: string;
    field: string;
    before: string | null;
    after: string | null;
    differsAt: number | null;
  }[];
  endpoint: { id: string; name: string } | null;
  delivery: { id: string } | null;
  error: { message: string } | null;
}

/** Changed fields, before and after. */
export function ReprocessDiff({ isDryRun, email }: { isDryRun: boolean; email: ReprocessedEmail }) {
  const { changes, endpoint, delivery, error } = email;
  const words = isDryRun
    ? changes.length === 0
      ? 'Nothing would change.'
      : `${changes.length} ${changes.length === 1 ? 'field' : 'fields'} would change.`
    : changes.length === 0
      ? 'Done. Nothing changed.'
      : `Done. ${changes.length} ${changes.length === 1 ? 'field' : 'fields'} changed.`;
  return (
    <Stack gap="sm" data-reprocessed={isDryRun ? 'dry' : 'done'}>
      {error !== null && (
        <Alert color="red" variant="outline" title="A step failed">
          {error.message}
        </Alert>
      )}
      <Text fw={600}>{words}</Text>
      {endpoint !== null && (
        <Text size="sm">
          {isDryRun
            ? `It would be delivered to “${endpoint.name}”.`
            : delivery === null
              ? `It is routed to “${endpoint.name}”.`
              : `It is being delivered to “${endpoint.name}”.`}
        </Text>
      )}
      {changes.map(({ step, field, before, after, differsAt }) => (
        <Paper key={`${step} ${field}`} withBorder p="sm">
          <Text size="sm" fw={600}>
            {field}{' '}
            <Text span size="xs" c="dimmed">
              ({step.toLowerCase()}
              {differsAt === null ? '' : `, from character ${differsAt}`})
            </Text>
          </Text>
          <SimpleGrid cols={{ base: 1, sm: 2 }} mt="xs">
            <Side label={`${field} now`} text={before} />
            <Side label={`${field} after`} text={after} />
          </SimpleGrid>
        </Paper>
      ))}
    </Stack>
  );
}

function Side({ label, text }: { label: string; text: string | null }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      {text === null ? <Text size="sm">nothing</Text> : <Block text={text} label={label} />}
    </div>
  );
}
