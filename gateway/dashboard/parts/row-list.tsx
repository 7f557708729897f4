import { Button, Group, Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AnyVariables } from 'urql';
import { type LiveQueryOptions, useLiveQuery } from '../live/use-live-query.ts';
import { ErrorNote } from './error-note.tsx';
import style from './row-list.module.css';

interface Page<Node> {
  edges: readonly { node: Node }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

export interface RowListProps<Data, Variables extends AnyVariables, Node> {
  /** label of the list for screen readers */
  label: string;
  /** the query of a page that begins after a cursor, and the events after which it is read again */
  read: (after: string | null) => LiveQueryOptions<Data, Variables>;
  pageOf: (data: Data) => Page<Node>;
  /** number of pages to show */
  pages: number;
  /** shows one page more */
  more: () => void;
  /** shown when there is no row */
  empty: ReactNode;
  children: (node: Node) => ReactNode;
}

/** The first `pages` pages of a list. Each begins where the one before it ends now, so that all stay correct when the list changes. */
export function RowList<Data, Variables extends AnyVariables, Node>(props: RowListProps<Data, Variables, Node>) {
  return <RowPage {...props} after={null} />;
}

function RowPage<Data, Variables extends AnyVariables, Node>(
  props: RowListProps<Data, Variables, Node> & { after: string | null },
) {
  const { label, read, pageOf, pages, more, empty, children, after } = props;
  const { data, error, isLoading, refresh } = useLiveQuery(read(after));
  const list = data === undefined ? undefined : pageOf(data);
  const next = list?.pageInfo.hasNextPage === true ? list.pageInfo.endCursor : null;
  if (list?.edges.length === 0 && after === null) return empty;
  return (
    <>
      {isLoading && <Skeleton h={200} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {list !== undefined && list.edges.length > 0 && (
        <Rows label={label}>{list.edges.map(({ node }) => children(node))}</Rows>
      )}
      {next !== null &&
        (pages > 1 ? (
          <RowPage {...props} after={next} pages={pages - 1} />
        ) : (
          <Group justify="center" mt="md">
            <Button variant="default" onClick={more}>
              Load more
            </Button>
          </Group>
        ))}
    </>
  );
}

/** The surface of rows that are known all at once. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={style['list']} aria-label={label}>
      {children}
    </ul>
  );
}

/** A row: its name and marks, what there is to know of it, and its actions; below them, `children` have the width of the row. */
export function Row({
  name,
  about,
  actions,
  children,
}: {
  name: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <li className={style['row']}>
      <div className={style['name']}>{name}</div>
      <div className={style['about']}>{about}</div>
      <div className={style['actions']}>{actions}</div>
      <div className={style['more']}>{children}</div>
    </li>
  );
}
