import { Button, Group, Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { graphql, type ResultOf, type VariablesOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { DomainRow } from './domain-row.tsx';

const DOMAINS = graphql(`
  query DashboardDomains($first: Int!, $after: String, $filter: DomainFilter) {
    domains(first: $first, after: $after, filter: $filter) {
      edges {
        node {
          id name status canReceive canSend isTrusted isFullyVerified lastCheckedAt proofLostAt
          provider { name confidence }
          dnsConflict { type }
          addresses(first: 1) { totalCount }
          emailStatistics { last24Hours last7Days }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

/** A domain as the list tells it. */
export type ListedDomain = ResultOf<typeof DOMAINS>['domains']['edges'][number]['node'];

const PAGE = 30;

/** So many pages of domains; each begins where the one before it ends now, so that all stay right. `empty` stands instead of none. */
export function DomainList({
  filter,
  after,
  pages,
  more,
  empty,
}: {
  filter: NonNullable<VariablesOf<typeof DOMAINS>['filter']> | null;
  after: string | null;
  pages: number;
  more: () => void;
  empty: ReactNode;
}) {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: DOMAINS,
    variables: { first: PAGE, after, filter },
    kinds: ['DOMAIN_VERIFIED', 'DOMAIN_FAILED', 'DOMAIN_RECORDS_LOST'],
    types: ['Domain', 'EmailAddress', 'DeleteDomainPayload'],
  });
  const list = data?.domains;
  const next = list?.pageInfo.hasNextPage === true ? (list.pageInfo.endCursor ?? null) : null;
  if (list?.edges.length === 0 && after === null) return empty;
  return (
    <>
      {isLoading && <Skeleton h={200} aria-label="Loading" />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {list !== undefined && list.edges.length > 0 && (
        <Stack component="ul" gap="xs" p={0} m={0} mb="xs" style={{ listStyle: 'none' }} aria-label="Domains">
          {list.edges.map(({ node }) => (
            <DomainRow key={node.id} domain={node} />
          ))}
        </Stack>
      )}
      {next !== null &&
        (pages > 1 ? (
          <DomainList filter={filter} after={next} pages={pages - 1} more={more} empty={null} />
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
