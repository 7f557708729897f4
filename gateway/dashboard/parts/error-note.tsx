import { Alert, Button, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { CombinedError } from 'urql';
import { problemOf } from './use-act.ts';

/** Returns what is wrong with the search text; null for every other error. */
function searchFaultOf({ graphQLErrors }: CombinedError): string | null {
  for (const { message, extensions } of graphQLErrors) {
    const details: unknown = extensions['details'];
    if (Array.isArray(details) && details.some(({ field }: { field?: unknown }) => field === 'search'))
      return /[.?!]$/.test(message) ? message : `${message}.`;
  }
  return null;
}

/** Shows why data could not be loaded, with a retry button. A mistake in a search is a hint below its field. */
export function ErrorNote({ error, retry }: { error: CombinedError; retry?: () => void }) {
  const hint = searchFaultOf(error);
  if (hint !== null)
    return (
      <Text size="sm" role="status" className="postroom-wrap" px={4}>
        {hint}
      </Text>
    );
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
