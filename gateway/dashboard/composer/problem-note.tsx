import { Alert, Anchor, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { Problem } from '../parts/use-act.ts';

/** Why nothing was sent, and what to do about it. */
export function ProblemNote({ problem }: { problem: Problem }) {
  const { message, type, fields } = problem;
  const others = Object.entries(fields).map(([field, why]) => `${field}: ${why}`);
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      icon={<IconAlertTriangle aria-hidden />}
      title={type === 'Network' ? 'It is not known whether it was sent' : 'It was not sent'}
    >
      <Stack gap={6} align="flex-start">
        <Text size="sm" className="postroom-wrap">
          {type === 'Network'
            ? 'Postroom gave no answer. Send it again as it is: if the first try arrived, it is not sent twice.'
            : message}
        </Text>
        {others.map((text) => (
          <Text key={text} size="sm">
            {text}
          </Text>
        ))}
        {type === 'SuppressedRecipient' && (
          <Text size="sm">
            Mail to them came back before, or they complained of it, so that nothing is sent there. Take them out, or{' '}
            <Anchor component={Link} underline="always" href="/suppressions" size="sm">
              lift the suppression
            </Anchor>
            .
          </Text>
        )}
        {type === 'Forbidden' && (
          <Text size="sm">
            Choose another sender, or{' '}
            <Anchor component={Link} underline="always" href="/domains" size="sm">
              look at your domains
            </Anchor>
            .
          </Text>
        )}
      </Stack>
    </Alert>
  );
}
