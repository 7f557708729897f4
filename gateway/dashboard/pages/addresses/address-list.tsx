import { Anchor, Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { VariablesOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { ADDRESSES, routeOf, type ShownAddress } from './address-documents.ts';

const PAGE = 30;

/**
 * The first `count` pages of addresses. Each page knows where the next one begins, so that all stay correct when the list changes.
 * `openHref` returns the link of an address; `empty` is shown when there is none.
 */
export function AddressList({
  filter,
  after,
  pages,
  more,
  openHref,
  empty,
}: {
  filter: Pick<VariablesOf<typeof ADDRESSES>, 'domainId' | 'filter'>;
  after: string | null;
  pages: number;
  more: () => void;
  openHref: (id: string) => string;
  empty: ReactNode;
}) {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: ADDRESSES,
    variables: { first: PAGE, after, ...filter },
    kinds: ['EMAIL_RECEIVED', 'DOMAIN_VERIFIED', 'DOMAIN_RECORDS_LOST'],
    types: ['EmailAddress', 'Domain'],
  });
  const list = data?.emailAddresses;
  const next = list?.pageInfo.hasNextPage === true ? (list.pageInfo.endCursor ?? null) : null;
  if (list?.edges.length === 0 && after === null) return empty;
  return (
    <>
      {isLoading && <Skeleton h={200} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {list !== undefined && list.edges.length > 0 && (
        <Stack component="ul" gap="xs" p={0} m={0} mb="xs" style={{ listStyle: 'none' }} aria-label="Addresses">
          {list.edges.map(({ node }) => (
            <AddressRow key={node.id} address={node} href={openHref(node.id)} />
          ))}
        </Stack>
      )}
      {next !== null &&
        (pages > 1 ? (
          <AddressList filter={filter} after={next} pages={pages - 1} more={more} openHref={openHref} empty={null} />
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

function AddressRow({ address, href }: { address: ShownAddress; href: string }) {
  const { emailStatistics: mail } = address;
  const state = address.isReceiving
    ? ({ status: 'receives mail', tone: 'good' } as const)
    : address.isActive
      ? ({ status: 'unreachable', tone: 'warning' } as const)
      : ({ status: 'off', tone: 'quiet' } as const);
  return (
    <Paper component="li" withBorder p="sm" bg="var(--postroom-raised)">
      <Group justify="space-between" gap="xs">
        <Group gap={6}>
          <Anchor component={Link} href={href} fw={600} className="postroom-wrap">
            {address.address}
          </Anchor>
          <CopyButton text={address.address} label={`Copy ${address.address}`} />
          <StatusBadge {...state} />
        </Group>
        <Text size="sm" c="dimmed">
          {mail.last24Hours} in 24 h, {mail.last7Days} in 7 days, {mail.last30Days} in 30 days
        </Text>
      </Group>
      <Text size="sm" mt={2} className="postroom-wrap">
        {routeOf(address)}
      </Text>
      {address.warning !== null && (
        <Text size="sm" c="dimmed" mt={2}>
          {address.warning}
        </Text>
      )}
    </Paper>
  );
}
