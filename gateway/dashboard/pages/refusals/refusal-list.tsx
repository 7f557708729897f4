import { Badge, Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { type DoorRefusalFilter, nameReason, REFUSALS, type ShownRefusal } from './refusal-documents.ts';

const PAGE = 50;

/** The first `pages` pages of refusals. `empty` is shown when there is none. */
export function RefusalList({
  filter,
  after,
  pages,
  more,
  empty,
}: {
  filter: DoorRefusalFilter;
  after: string | null;
  pages: number;
  more: () => void;
  empty: ReactNode;
}) {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: REFUSALS,
    variables: { first: PAGE, after, filter },
    kinds: [],
    types: ['DoorRefusal'],
  });
  const list = data?.refusals;
  const next = list?.pageInfo.hasNextPage === true ? (list.pageInfo.endCursor ?? null) : null;
  if (list?.edges.length === 0 && after === null) return empty;
  return (
    <>
      {isLoading && <Skeleton h={200} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {list !== undefined && list.edges.length > 0 && (
        <Paper withBorder bg="var(--postroom-raised)" mb="xs">
          <Stack component="ul" gap={0} p={0} m={0} style={{ listStyle: 'none' }} aria-label="Refusals">
            {list.edges.map(({ node }) => (
              <RefusalRow key={node.id} refusal={node} />
            ))}
          </Stack>
        </Paper>
      )}
      {next !== null && pages > 1 && (
        <RefusalList filter={filter} after={next} pages={pages - 1} more={more} empty={null} />
      )}
      {next !== null && pages <= 1 && (
        <Group justify="center" mt="md">
          <Button variant="default" onClick={more}>
            Load more
          </Button>
        </Group>
      )}
    </>
  );
}

function RefusalRow({ refusal }: { refusal: ShownRefusal }) {
  const { reason, recipient, sender, clientAddress, network, helo, reply, times, lastAt } = refusal;
  return (
    <Stack
      component="li"
      gap={2}
      px="sm"
      py={8}
      style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
    >
      <Group gap="sm" wrap="wrap" justify="space-between">
        <Text size="sm" className="postroom-wrap" miw={0} flex="1 1 16rem">
          <b dir="auto">{recipient ?? 'Several recipients'}</b> from{' '}
          <bdi>{sender === null ? 'several senders' : sender === '' ? 'the null sender (a bounce)' : sender}</bdi>
        </Text>
        <Group gap="sm" wrap="nowrap">
          <Badge variant="outline" color="gray">
            {nameReason(reason)}
          </Badge>
          <Text size="sm" c="dimmed">
            {times > 1 && `${times.toLocaleString('en')} times, last `}
            <RelativeTime at={lastAt} />
          </Text>
        </Group>
      </Group>
      <Text size="sm" className="postroom-wrap">
        <bdi>{reply}</bdi>
      </Text>
      <Text size="sm" c="dimmed" className="postroom-wrap">
        Client {network === null ? 'of several networks, last' : ''} {clientAddress}
        {helo !== null && (
          <>
            , which called itself <bdi>{helo}</bdi>
          </>
        )}
      </Text>
    </Stack>
  );
}
