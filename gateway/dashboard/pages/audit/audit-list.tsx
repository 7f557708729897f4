import { Badge, Button, Collapse, Group, Paper, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { exactTime, RelativeTime } from '../../parts/relative-time.tsx';
import { Json } from '../activity/json.tsx';
import { AUDIT_LOG, type AuditFilter, nameActor, type ShownEntry } from './audit-documents.ts';

const PAGE = 50;

/** The first `pages` pages of the log. `empty` is shown when there is no entry. */
export function AuditList({
  filter,
  after,
  pages,
  more,
  empty,
}: {
  filter: AuditFilter;
  after: string | null;
  pages: number;
  more: () => void;
  empty: ReactNode;
}) {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: AUDIT_LOG,
    variables: { first: PAGE, after, filter },
    kinds: [],
    types: ['AuditEntry'],
  });
  const list = data?.auditEntries;
  const next = list?.pageInfo.hasNextPage === true ? (list.pageInfo.endCursor ?? null) : null;
  if (list?.edges.length === 0 && after === null) return empty;
  return (
    <>
      {isLoading && <Skeleton h={200} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {list !== undefined && list.edges.length > 0 && (
        <Paper withBorder bg="var(--postroom-raised)" mb="xs">
          <Stack component="ul" gap={0} p={0} m={0} style={{ listStyle: 'none' }} aria-label="Audit log">
            {list.edges.map(({ node }) => (
              <EntryRow key={node.id} entry={node} />
            ))}
          </Stack>
        </Paper>
      )}
      {next !== null &&
        (pages > 1 ? (
          <AuditList filter={filter} after={next} pages={pages - 1} more={more} empty={null} />
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

function EntryRow({ entry }: { entry: ShownEntry }) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const { action, objectName, objectId, isDenied, times, createdAt } = entry;
  return (
    <li style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}>
      <UnstyledButton w="100%" px="sm" py={8} onClick={toggle} aria-expanded={isOpen}>
        <Group gap="sm" wrap="wrap" justify="space-between">
          <Group gap="sm" wrap="wrap" flex="1 1 16rem" miw={0}>
            {isDenied && (
              <Badge color="red" variant="outline">
                Denied
              </Badge>
            )}
            <Text size="sm" className="postroom-wrap" miw={0}>
              <b>{action}</b> {objectName ?? objectId}
              {times > 1 && ` (${times.toLocaleString('en')} times)`}
            </Text>
          </Group>
          <Text size="sm" c="dimmed" className="postroom-wrap">
            {nameActor(entry)} · <RelativeTime at={createdAt} />
          </Text>
        </Group>
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        <Details entry={entry} />
      </Collapse>
    </li>
  );
}

function Details({ entry }: { entry: ShownEntry }) {
  const { createdAt, clientAddress, userAgent, requestId, reason, objectId, before, after } = entry;
  return (
    <Stack gap={4} px="sm" pb="sm">
      <Text size="sm">
        {exactTime(createdAt)}, {nameActor(entry)}
        {clientAddress !== null && `, from ${clientAddress}`}
      </Text>
      {reason !== null && <Text size="sm">{reason}</Text>}
      <Text size="sm" c="dimmed" className="postroom-wrap">
        {[objectId, userAgent, requestId === null ? null : `Request ID ${requestId}`]
          .filter((text) => text !== null)
          .join(' · ')}
      </Text>
      {before !== null && <Json text={JSON.stringify(before)} label="Before" />}
      {after !== null && <Json text={JSON.stringify(after)} label="After" />}
    </Stack>
  );
}
