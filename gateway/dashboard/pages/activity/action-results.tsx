import { Alert, Anchor, List, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';

interface ActionLog {
  place: string | null;
  problem: string | null;
  results: readonly { type: string; status: string; message: string; email: { id: string } | null }[];
}

/** What became of the actions in the response of a webhook. `of` names the delivery. */
export function ActionResults({ actions: { place, problem, results }, of }: { actions: ActionLog; of: string }) {
  return (
    <Stack gap={6} role="group" aria-label={`Actions of ${of}`}>
      <Text size="sm" fw={600}>
        Actions
      </Text>
      {problem !== null && (
        <Alert color="red" variant="outline" title="No action ran" className="postroom-wrap">
          {place === null ? problem : `${place}: ${problem}`}
        </Alert>
      )}
      <List size="sm" type="ordered">
        {results.map(({ type, status, message, email }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: results have no id and never change
          <List.Item key={at} className="postroom-wrap">
            {type.toLowerCase()}, {status.toLowerCase()}: {message}{' '}
            {email !== null && (
              <Anchor component={Link} href={`/emails/${email.id}`} size="sm">
                Open email
              </Anchor>
            )}
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}
