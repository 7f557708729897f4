import { Button, Group, Paper, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import type { ReactNode } from 'react';
import type { VariablesOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { REQUESTS, type ShownRequest, subjectOf } from './request-documents.ts';
import { RequestStatus } from './request-status.tsx';

const PAGE = 50;
/** The feed has no events about requests, so a visible list asks for new ones. Milliseconds. */
const RELOAD_MS = 3_000;

export type RequestFilter = NonNullable<VariablesOf<typeof REQUESTS>['filter']>;

/** The first `pages` pages of requests; new ones appear within seconds. `empty` is shown when there is none. */
export function RequestList({
  filter,
  after,
  pages,
  more,
  open,
  empty,
}: {
  filter: RequestFilter;
  after: string | null;
  pages: number;
  more: () => void;
  open: (id: string) => void;
  empty: ReactNode;
}) {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: REQUESTS,
    variables: { first: PAGE, after, filter },
    kinds: [],
    types: ['ApiRequest'],
  });
  // The other pages follow the cursor of the first one.
  useInterval(
    () => {
      if (after === null && document.visibilityState === 'visible') refresh();
    },
    RELOAD_MS,
    { autoInvoke: true },
  );
  const list = data?.apiRequests;
  const next = list?.pageInfo.hasNextPage === true ? (list.pageInfo.endCursor ?? null) : null;
  if (list?.edges.length === 0 && after === null) return empty;
  return (
    <>
      {isLoading && <Skeleton h={200} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {list !== undefined && list.edges.length > 0 && (
        <Paper withBorder bg="var(--postroom-raised)" mb="xs">
          <Stack component="ul" gap={0} p={0} m={0} style={{ listStyle: 'none' }} aria-label="Requests">
            {list.edges.map(({ node }) => (
              <RequestRow key={node.id} request={node} open={open} />
            ))}
          </Stack>
        </Paper>
      )}
      {next !== null &&
        (pages > 1 ? (
          <RequestList filter={filter} after={next} pages={pages - 1} more={more} open={open} empty={null} />
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

function RequestRow({ request, open }: { request: ShownRequest; open: (id: string) => void }) {
  const { id, method, status, durationMs, createdAt, apiKey } = request;
  return (
    <li>
      <UnstyledButton
        w="100%"
        px="sm"
        py={8}
        onClick={() => open(id)}
        style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
      >
        <Group gap="sm" wrap="wrap" justify="space-between">
          <Group gap="sm" wrap="nowrap" flex="1 1 16rem" miw={0}>
            <RequestStatus status={status} />
            <Text size="sm" ff="monospace" className="postroom-wrap" miw={0}>
              <b>{method}</b> {subjectOf(request)}
            </Text>
          </Group>
          <Text size="sm" c="dimmed" className="postroom-wrap">
            {apiKey?.name ?? 'Deleted key'} · {durationMs.toLocaleString('en')} ms · <RelativeTime at={createdAt} />
          </Text>
        </Group>
      </UnstyledButton>
    </li>
  );
}
