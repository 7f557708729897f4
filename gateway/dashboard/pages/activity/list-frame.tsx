import { Button, Center, Skeleton, Stack, Text, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorNote } from '../../parts/error-note.tsx';
import styles from './email-list.module.css';
import type { GrowingList } from './use-growing-list.ts';

/** Rows of a growing list, with its loading and empty states. */
export function ListFrame<Row>({
  list,
  label,
  empty,
  children,
}: {
  list: GrowingList<Row>;
  /** label of the list for screen readers */
  label: string;
  empty: ReactNode;
  children: (row: Row & { id: string }) => ReactNode;
}) {
  const { rows, isLoading, error, hasMore, isLoadingMore, loadMore, refresh } = list;
  if (isLoading)
    return (
      <Stack gap="xs" aria-busy="true" aria-label={`${label}: loading`} role="status">
        {[1, 2, 3, 4, 5, 6].map((row) => (
          <Skeleton key={row} height={52} />
        ))}
      </Stack>
    );
  return (
    <Stack gap="sm">
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {rows.length === 0 && error === undefined && empty}
      <VisuallyHidden role="status">
        {rows.length === 0 ? '' : `${rows.length}${hasMore ? ' or more' : ''} shown`}
      </VisuallyHidden>
      {rows.length > 0 && (
        <ul className={styles['list']} aria-label={label}>
          {rows.map((row) => children(row))}
        </ul>
      )}
      {hasMore && (
        <Center>
          <Button variant="default" loading={isLoadingMore} onClick={() => void loadMore()}>
            Load more
          </Button>
        </Center>
      )}
      {!hasMore && rows.length > 20 && (
        <Text size="sm" c="dimmed" ta="center">
          End of the list.
        </Text>
      )}
    </Stack>
  );
}
