import { Alert, Button, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { CombinedError } from 'urql';
import { problemOf } from './use-act.ts';

/** Shows why data could not be loaded, with a retry button. */
export function ErrorNote({ error, retry }: { error: CombinedError; retry?: () => void }) {
  return (
    <Alert
      color="red"
      variant="outline"
      icon={<IconAlertTriangle aria-hidden />}
      title="Could not load this"
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{problemOf(error).message}</Text>
        {retry !== undefined && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
