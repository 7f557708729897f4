import { Center, Group, Skeleton, Stack, VisuallyHidden } from '@mantine/core';
import { isValidElement, type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { type AnyVariables, type CombinedError, type TypedDocumentNode, useClient, useQuery } from 'urql';
import { graphql } from '../../graphql.ts';
import { useLive } from '../../live/live-context.tsx';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { QuietButton } from '../../parts/controls.tsx';
import { Empty, type ListSource, type Nothing, type RowOf, readPage } from '../../parts/list.tsx';
import { ErrorNote } from '../../parts/page.tsx';
import { Hint, PageLink } from '../../parts/text.tsx';
import styles from './email-list.module.css';
import { showSubject } from './email-words.ts';
import { mergeRows, type Placed } from './merge-rows.ts';

/** What a growing list reads. */
type GrowingSource<Data, Variables extends AnyVariables> = ListSource<Data, Variables> & {
  /** reads one email by `id` after an event of a row below the first page; without it, those rows stay as they were */
  rowQuery?: TypedDocumentNode<{ email: RowOf<Data> | null }, { id: string }>;
};

interface GrowingList<Row> {
  /** name of the list for screen readers */
  label: string;
  rows: readonly (Row & { id: string })[];
  /** true until the first response */
  isLoading: boolean;
  error: CombinedError | undefined;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => Promise<void>;
  refresh: () => void;
}

type GrowingPage<Row> = { edges: Placed<Row>[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };

interface Shown<Row> {
  rows: Placed<Row>[];
  /** cursor of the next page; null if there is none */
  next: string | null;
}

/**
 * Returns a list with cursor pagination that reads its first page again after events, and grows on request. Loaded rows stay below the
 * first page. `filter`, the variables apart from the page, must not change while the component is mounted: use a `key` made of them.
 */
export function useGrowingList<Data, Variables extends AnyVariables>(
  source: GrowingSource<Data, Variables>,
  filter: Omit<Variables, 'first' | 'after'>,
): GrowingList<RowOf<Data>> {
  type Row = RowOf<Data>;
  const { label, query, size, kinds = [], types, rowQuery } = source;
  const variables = { first: size, after: null, ...filter } as unknown as Variables;
  const readRows = (data: Data) => readPage(data) as unknown as GrowingPage<Row>;
  const client = useClient();
  const { data, error, isLoading, refresh } = useLiveQuery({ query, variables, kinds, types });
  const [shown, setShown] = useState<Shown<Row> | null>(null);
  const [isLoadingMore, setLoadingMore] = useState(false);
  const [moreError, setMoreError] = useState<CombinedError>();

  useEffect(() => {
    if (data === undefined) return;
    const { edges, pageInfo } = readRows(data);
    setShown((before) => {
      const { rows, isWhole } = mergeRows(edges, pageInfo.hasNextPage, before?.rows ?? []);
      const end = pageInfo.hasNextPage ? pageInfo.endCursor : null;
      return { rows, next: isWhole && before !== null ? before.next : end };
    });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- readRows returns the same page for the same response
  }, [data]);

  useLive(kinds, (event) => {
    const id = event?.emailId ?? null;
    const place = id === null ? -1 : (shown?.rows.findIndex(({ node }) => node.id === id) ?? -1);
    if (rowQuery === undefined || id === null || data === undefined || place < readRows(data).edges.length) return;
    void client
      .query(rowQuery, { id }, { requestPolicy: 'network-only' })
      .toPromise()
      .then((response) => {
        const email = response.data?.email;
        if (email == null) return;
        setShown(
          (before) =>
            before && {
              ...before,
              rows: before.rows.map((row) =>
                row.node.id === id ? { ...row, node: email as Placed<Row>['node'] } : row,
              ),
            },
        );
      });
  });

  const next = shown?.next ?? null;
  const loadMore = async () => {
    if (next === null || isLoadingMore) return;
    setLoadingMore(true);
    const wanted = { ...variables, after: next };
    const response = await client.query(query, wanted, { requestPolicy: 'network-only' }).toPromise();
    setLoadingMore(false);
    setMoreError(response.error);
    if (response.data === undefined) return;
    const { edges, pageInfo } = readRows(response.data);
    setShown((before) => {
      if (before === null || before.next !== next) return before;
      const ids = new Set(before.rows.map(({ node }) => node.id));
      const rows = [...before.rows, ...edges.filter(({ node }) => !ids.has(node.id))];
      return { rows, next: pageInfo.hasNextPage ? pageInfo.endCursor : null };
    });
  };
  return {
    label,
    rows: shown?.rows.map(({ node }) => node) ?? [],
    isLoading: isLoading || (shown === null && data !== undefined),
    error: error ?? moreError,
    hasMore: next !== null,
    isLoadingMore,
    loadMore,
    refresh,
  };
}

type ListFrameProps<Row> = {
  list: GrowingList<Row>;
  empty: Nothing | ReactElement;
  children: (row: Row & { id: string }) => ReactNode;
};

/** Rows of a growing list, with its loading and empty states. */
export function ListFrame<Row>({ list, empty, children }: ListFrameProps<Row>) {
  const { label, rows, isLoading, error, hasMore, isLoadingMore, loadMore, refresh } = list;
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
      {rows.length === 0 && error === undefined && (isValidElement(empty) ? empty : <Empty {...empty} />)}
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
          <QuietButton label="Load more" loading={isLoadingMore} onClick={() => void loadMore()} />
        </Center>
      )}
      {!hasMore && rows.length > 20 && <Hint ta="center">End of the list.</Hint>}
    </Stack>
  );
}

/** What a row has: the tab that its subject leads to, marks beside it, actions, and details below in the whole width. */
type MailCardParts = { tab?: string; marks?: ReactNode; actions?: ReactNode; details?: ReactNode; children: ReactNode };
type MailCardProps = MailCardParts & { email: { id: string; subject: string } };

/** A row about an email with its own actions. `children` are lines below its subject. */
export function MailCard({ email, tab, marks, actions, details, children }: MailCardProps) {
  const href = `/emails/${email.id}${tab === undefined ? '' : `?tab=${tab}`}`;
  return (
    <li className={styles['card']} data-email={email.id}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={2} miw={0} flex="1 1 18rem">
          <Group gap="xs">
            <PageLink href={href} fw={600} c="inherit" className="postroom-wrap">
              {showSubject(email)}
            </PageLink>
            {marks}
          </Group>
          {children}
        </Stack>
        {actions}
      </Group>
      {details}
    </li>
  );
}

const FIRST = graphql(`
  query DashboardFirstAddress { emailAddresses(first: 20) { edges { node { id address isReceiving } } } }
`);

/** Returns one of the user's active addresses for sample commands; null: there is none, undefined: it is still loading. */
export function useFirstAddress(): string | null | undefined {
  const [{ data }] = useQuery({ query: FIRST, variables: {}, requestPolicy: 'cache-and-network' });
  if (data === undefined) return undefined;
  return data.emailAddresses.edges.find(({ node }) => node.isReceiving)?.node.address ?? null;
}
