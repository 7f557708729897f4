import { Alert, Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { IconAlertTriangle } from '../parts/icons.ts';
import type { Problem } from '../parts/use-act.ts';

/** Explains why the email was not sent, and what to do. */
export function ProblemNote({ problem }: { problem: Problem }) {
  const { message, type, fields } = problem;
  const others = Object.entries(fields).map(([field, why]) => `${field}: ${why}`);
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      icon={<IconAlertTriangle aria-hidden />}
      title={type === 'Network' ? 'Could not confirm that the email was sent' : 'The email was not sent'}
    >
      <Stack gap={6} align="flex-start">
        <Text size="sm" className="postroom-wrap">
          {type === 'Network'
            ? 'Postroom did not respond. Send the email again without changes; it will not be sent twice.'
            : message}
        </Text>
        {others.map((text) => (
          <Text key={text} size="sm">
            {text}
          </Text>
        ))}
        {type === 'SuppressedRecipient' && (
          <Text size="sm">
            These addresses are suppressed because mail to them bounced or was reported as spam. Remove them from the
            email, or{' '}
            <Anchor component={Link} underline="always" href="/suppressions" size="sm">
              remove the suppression
            </Anchor>
            .
          </Text>
        )}
        {type === 'Forbidden' && (
          <Text size="sm">
            Choose another sender, or{' '}
            <Anchor component={Link} underline="always" href="/domains" size="sm">
              check your domains
            </Anchor>
            .
          </Text>
        )}
      </Stack>
    </Alert>
  );
}
