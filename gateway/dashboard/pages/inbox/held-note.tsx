import { Alert, Anchor, Button, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { RELEASE } from '../activity/waiting-documents.ts';

/** Shown above a message that a guard rule holds, with the way to the inbox. */
export function HeldNote({ emailId }: { emailId: string }) {
  const { act, isBusy } = useAct(RELEASE, { done: 'The email is released and in your inbox.' });
  return (
    <Alert color="orange" variant="outline" mx="sm" mb="sm" title="Held by a guard rule">
      <Group justify="space-between" gap="sm">
        <Text size="sm">
          It is not in the inbox and was not delivered to an endpoint. See{' '}
          <Anchor component={Link} href="/held" size="sm" underline="always">
            held mail
          </Anchor>
          .
        </Text>
        <Button
          {...needs('endpoints')}
          size="xs"
          variant="default"
          loading={isBusy}
          onClick={() => void act({ id: emailId })}
        >
          Release
        </Button>
      </Group>
    </Alert>
  );
}
