import { Anchor, Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { graphql, type ResultOf, type VariablesOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { domainTone } from './domain-words.ts';

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

type Domain = ResultOf<typeof DOMAINS>['domains']['edges'][number]['node'];

const PAGE = 30;

/**
 * The first `count` pages of domains. Each page begins where the previous one currently ends, so all stay correct. `empty` is shown when
 * there is none.
 */
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

/** One domain in the list. */
function DomainRow({ domain }: { domain: Domain }) {
  const { id, name, status, canReceive, canSend, addresses, emailStatistics: mail } = domain;
  const trouble = troubleOf(domain);
  return (
    <Paper component="li" withBorder p="sm" bg="var(--postroom-raised)">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Anchor component={Link} href={`/domains/${id}`} fw={600} className="postroom-wrap">
            {name}
          </Anchor>
          <StatusBadge status={status} tone={domainTone(status)} />
          <StatusBadge status={canReceive ? 'receives' : 'does not receive'} tone={canReceive ? 'good' : 'quiet'} />
          <StatusBadge status={canSend ? 'sends' : 'does not send'} tone={canSend ? 'good' : 'quiet'} />
        </Group>
        <Text size="sm" c="dimmed">
          {addresses.totalCount} {addresses.totalCount === 1 ? 'address' : 'addresses'}, {mail.last24Hours} emails in 24
          h, {mail.last7Days} in 7 days
        </Text>
      </Group>
      {trouble !== null && (
        <Text size="sm" mt={4}>
          {trouble}
        </Text>
      )}
      <Text size="xs" c="dimmed" mt={4}>
        {domain.provider !== null && domain.provider.confidence !== 'LOW' && `DNS at ${domain.provider.name}. `}
        {domain.isTrusted && 'Trusted: no DNS records needed. '}
        {domain.lastCheckedAt !== null && <RelativeTime at={domain.lastCheckedAt} prefix="DNS checked " />}
      </Text>
    </Paper>
  );
}

function troubleOf({ status, isFullyVerified, dnsConflict, proofLostAt }: Domain): string | null {
  if (proofLostAt !== null) return 'The ownership record is missing from DNS. Publish it again.';
  if (status === 'FAILED') return 'Not verified. Publish its DNS records, then check DNS.';
  if (dnsConflict !== null) return 'Conflicting DNS records prevent it from receiving mail.';
  if (status === 'PENDING') return 'Waiting for its DNS records.';
  return isFullyVerified ? null : 'A required DNS record is missing.';
}
