import { Button, Group, Paper, Skeleton, Stack } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import type { ReactNode } from 'react';
import type { TypedDocumentNode } from 'urql';
import { useLiveQuery } from '../live/use-live-query.ts';
import { ErrorNote } from './error-note.tsx';
import type { UrlFilters } from './url-filters.ts';

interface Page<Row> {
  edges: readonly { node: Row }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/** What a list with pages reads. */
export interface PagedQuery<Data, Filter, Row> {
  query: TypedDocumentNode<Data, { first: number; after?: string | null; filter?: Filter | null }>;
  pageOf: (data: Data) => Page<Row>;
  /** types that the result may not contain yet, so that a mutation of one reloads it */
  types: string[];
  /** what the list is called */
  label: string;
  /** a visible list reads its first page again after this time, where the feed has no events about it; milliseconds */
  reloadMs?: number;
}

const PAGE_SIZE = 50;

/** The pages of a list that the address of the page asks for, each below the one before. `empty` is shown if there is no row. */
export function PagedList<Data, Filter, Row extends { id: string }>({
  list,
  filter,
  filters,
  row,
  empty,
  after = null,
  pages = filters.pages,
}: {
  list: PagedQuery<Data, Filter, Row>;
  filter: Filter;
  filters: UrlFilters;
  /** returns a list item with the ID of the row as its key */
  row: (row: Row) => ReactNode;
  empty: ReactNode;
  after?: string | null;
  pages?: number;
}) {
  const { query, pageOf, types, label, reloadMs } = list;
  const { data, error, isLoading, refresh } = useLiveQuery({
    query,
    variables: { first: PAGE_SIZE, after, filter },
    kinds: [],
    types,
  });
  // The other pages follow the cursor of the first one.
  useInterval(
    () => {
      if (document.visibilityState === 'visible') refresh();
    },
    reloadMs ?? 0,
    { autoInvoke: reloadMs !== undefined && after === null },
  );
  const page = data === undefined ? undefined : pageOf(data);
  const next = page?.pageInfo.hasNextPage === true ? page.pageInfo.endCursor : null;
  if (page?.edges.length === 0 && after === null) return empty;
  return (
    <>
      {isLoading && <Skeleton h={200} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {page !== undefined && page.edges.length > 0 && (
        <Paper withBorder bg="var(--postroom-raised)" mb="xs">
          <Stack component="ul" gap={0} p={0} m={0} style={{ listStyle: 'none' }} aria-label={label}>
            {page.edges.map(({ node }) => row(node))}
          </Stack>
        </Paper>
      )}
      {next !== null &&
        (pages > 1 ? (
          <PagedList
            list={list}
            filter={filter}
            filters={filters}
            row={row}
            empty={null}
            after={next}
            pages={pages - 1}
          />
        ) : (
          <Group justify="center" mt="md">
            <Button variant="default" onClick={filters.showMore}>
              Load more
            </Button>
          </Group>
        ))}
    </>
  );
}
