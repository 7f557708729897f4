import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { TypedDocumentNode } from 'urql';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ErrorNote } from '../../parts/error-note.tsx';

/** Loads one part of an email when it is shown, and again after each event of that email. */
export function EmailPart<Email, More extends Record<string, unknown> = Record<string, never>>({
  id,
  query,
  more,
  children,
}: {
  id: string;
  query: TypedDocumentNode<{ email: Email | null }, { id: string } & More>;
  /** variables of the query besides the id */
  more?: More;
  children: (email: Email) => ReactNode;
}) {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query,
    variables: { id, ...more } as { id: string } & More,
    kinds: 'all',
    concerns: ({ emailId }) => emailId === id,
  });
  return (
    <Stack gap="sm">
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {isLoading && <Skeleton height={180} aria-label="Loading" role="status" />}
      {data?.email != null && children(data.email)}
    </Stack>
  );
}
