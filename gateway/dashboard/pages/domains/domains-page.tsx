import { Button, SegmentedControl } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { IconPlus, IconWorld } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { AddDomain } from './add-domain.tsx';
import { useCheckAll } from './check-all.tsx';
import { DomainList } from './domain-list.tsx';

const COUNTS = graphql(`
  query DashboardDomainCounts { domainCounts { total verified pending failed } }
`);
const STATUSES = ['VERIFIED', 'PENDING', 'FAILED'] as const;

/** All domains, and the steps that add one. The view is in the URL. */
export function DomainsPage() {
  const [search] = useSearchParams();
  const added = search.get('new');
  return added === null ? <AllDomains /> : <AddDomain id={added === '' ? null : added} />;
}

function AllDomains() {
  const [search, setSearch] = useSearchParams();
  const status = STATUSES.find((each) => each === search.get('status')) ?? null;
  const pages = Math.max(1, Number(search.get('pages')) || 1);
  const { data } = useLiveQuery({
    query: COUNTS,
    variables: {},
    kinds: ['DOMAIN_VERIFIED', 'DOMAIN_FAILED'],
    types: ['Domain', 'DeleteDomainPayload'],
  });
  const counts = data?.domainCounts;
  const { button, progress } = useCheckAll();
  return (
    <>
      <PageHeader
        title="Domains"
        about="Postroom receives and sends mail for a domain once its DNS records are published."
      >
        {counts !== undefined && counts.total > 0 && button}
        <Button
          {...needs('domains')}
          component={Link}
          href="/domains?new"
          leftSection={<IconPlus size={16} aria-hidden />}
        >
          Add domain
        </Button>
      </PageHeader>
      {progress}
      {counts !== undefined && counts.total > 0 && (
        <SegmentedControl
          mb="md"
          size="xs"
          aria-label="Status"
          value={status ?? ''}
          onChange={(value) => setSearch(value === '' ? {} : { status: value })}
          data={[
            { value: '', label: `All ${counts.total}` },
            { value: 'VERIFIED', label: `Verified ${counts.verified}` },
            { value: 'PENDING', label: `Pending ${counts.pending}` },
            { value: 'FAILED', label: `Failed ${counts.failed}` },
          ]}
        />
      )}
      <DomainList
        filter={status === null ? null : { status }}
        pages={pages}
        more={() =>
          setSearch((params) => {
            params.set('pages', String(pages + 1));
            return params;
          })
        }
        empty={
          status === null ? (
            <EmptyState
              icon={IconWorld}
              title="No domains yet"
              about="Add the domain of your mail addresses. This page then shows the DNS records to publish and checks them."
            >
              <Button {...needs('domains')} component={Link} href="/domains?new">
                Add domain
              </Button>
            </EmptyState>
          ) : (
            <EmptyState icon={IconWorld} title="No domains with this status" about="Choose another status above." />
          )
        }
      />
    </>
  );
}
