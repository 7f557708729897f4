import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { graphql, type ResultOf, type VariablesOf } from '../../graphql.ts';
import { counted, formatCount } from '../../parts/counted.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Row, RowList } from '../../parts/row-list.tsx';
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

/** The first `pages` pages of domains. */
export function DomainList({
  filter,
  pages,
  more,
  empty,
}: {
  filter: NonNullable<VariablesOf<typeof DOMAINS>['filter']> | null;
  pages: number;
  more: () => void;
  empty: ReactNode;
}) {
  return (
    <RowList
      label="Domains"
      read={(after) => ({
        query: DOMAINS,
        variables: { first: PAGE, after, filter },
        kinds: ['DOMAIN_VERIFIED', 'DOMAIN_FAILED', 'DOMAIN_RECORDS_LOST'],
        types: ['Domain', 'EmailAddress', 'DeleteDomainPayload'],
      })}
      pageOf={({ domains }) => domains}
      pages={pages}
      more={more}
      empty={empty}
    >
      {(domain) => <DomainRow key={domain.id} domain={domain} />}
    </RowList>
  );
}

/** One domain in the list. */
function DomainRow({ domain }: { domain: Domain }) {
  const { id, name, status, canReceive, canSend, addresses, emailStatistics: mail, provider } = domain;
  const trouble = troubleOf(domain);
  return (
    <Row
      name={
        <>
          <Anchor component={Link} href={`/domains/${id}`} fw={600} size="sm" className="postroom-wrap">
            {name}
          </Anchor>
          <StatusBadge status={status} tone={domainTone(status)} />
          <StatusBadge status={canReceive ? 'receives' : 'does not receive'} tone={canReceive ? 'good' : 'quiet'} />
          <StatusBadge status={canSend ? 'sends' : 'does not send'} tone={canSend ? 'good' : 'quiet'} />
          {domain.isTrusted && <StatusBadge status="trusted" tone="quiet" />}
        </>
      }
      about={`${counted(addresses.totalCount, 'address', 'addresses')}, ${counted(mail.last24Hours, 'email', 'emails')} in 24 h, ${formatCount(mail.last7Days)} in 7 days`}
    >
      {trouble !== null && (
        <>
          {trouble} {provider !== null && provider.confidence !== 'LOW' && `DNS at ${provider.name}. `}
          {domain.lastCheckedAt !== null && <RelativeTime at={domain.lastCheckedAt} prefix="DNS checked " />}
        </>
      )}
    </Row>
  );
}

function troubleOf({ status, isFullyVerified, dnsConflict, proofLostAt }: Domain): string | null {
  if (proofLostAt !== null) return 'The ownership record is missing from DNS. Publish it again.';
  if (status === 'FAILED') return 'Not verified. Publish its DNS records, then check DNS.';
  if (dnsConflict !== null) return 'Conflicting DNS records prevent it from receiving mail.';
  if (status === 'PENDING') return 'Waiting for its DNS records.';
  return isFullyVerified ? null : 'A required DNS record is missing.';
}
