import { Group, Progress, SegmentedControl, Stack } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { useSearchParams } from 'wouter';
import { connection, graphql, mutation } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { CreateButton } from '../../parts/buttons.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { type ListRow, listSource, PagedList, Row, RowName, useUrlFilters } from '../../parts/list.tsx';
import { PageHeader } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Small, StatusBadge } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted, formatCount } from '../../parts/words.ts';
import { AddDomain } from './add-domain.tsx';
import { DomainStatus } from './domain-records.tsx';

const COUNTS = graphql(`query DashboardDomainCounts { domainCounts { total verified pending failed } }`);

const LIST = listSource({
  label: 'Domains',
  query: connection(`domains($filter: DomainFilter) {
    id name status canReceive canSend isTrusted isFullyVerified lastCheckedAt proofLostAt
    provider { name confidence }
    dnsConflict { type }
    addresses(first: 1) { totalCount }
    emailStatistics { last24Hours last7Days }
  }`),
  size: 30,
  kinds: ['DOMAIN_VERIFIED', 'DOMAIN_FAILED', 'DOMAIN_RECORDS_LOST'],
  types: ['Domain', 'EmailAddress', 'DeleteDomainPayload'],
});
type ListedDomain = ListRow<typeof LIST>;
const STATUSES = [{ value: 'VERIFIED' }, { value: 'PENDING' }, { value: 'FAILED' }] as const;

/** All domains, and the steps that add one. The view is in the URL. */
export function DomainsPage() {
  const [search] = useSearchParams();
  const added = search.get('new');
  return added === null ? <AllDomains /> : <AddDomain id={added === '' ? null : added} />;
}

function AllDomains() {
  const filters = useUrlFilters(['status']);
  const status = filters.choice('status', STATUSES);
  const { data } = useLiveQuery({
    query: COUNTS,
    kinds: ['DOMAIN_VERIFIED', 'DOMAIN_FAILED'],
    types: ['Domain', 'DeleteDomainPayload'],
  });
  const counts = data?.domainCounts;
  const { button, progress } = useCheckAll();
  const add = <CreateButton label="Add domain" needed="domains" href="/domains?new" />;
  return (
    <>
      <PageHeader
        title="Domains"
        about="Postroom receives and sends mail for a domain once its DNS records are published."
      >
        {counts !== undefined && counts.total > 0 && button}
        {add}
      </PageHeader>
      {progress}
      {counts !== undefined && counts.total > 0 && (
        <SegmentedControl
          mb="md"
          size="xs"
          aria-label="Status"
          value={status ?? ''}
          onChange={(value) => filters.filterBy('status', value)}
          data={[
            { value: '', label: `All ${counts.total}` },
            { value: 'VERIFIED', label: `Verified ${counts.verified}` },
            { value: 'PENDING', label: `Pending ${counts.pending}` },
            { value: 'FAILED', label: `Failed ${counts.failed}` },
          ]}
        />
      )}
      <PagedList
        list={LIST}
        variables={{ filter: { status } }}
        filters={filters}
        empty={{
          icon: 'world',
          title: 'No domains yet',
          about:
            'Add the domain of your mail addresses. This page then shows the DNS records to publish and checks them.',
          action: add,
          filtered: { title: 'No domains with this status', about: 'Choose another status above.' },
        }}
      >
        {(domain) => <DomainRow key={domain.id} domain={domain} />}
      </PagedList>
    </>
  );
}

/** One domain in the list. */
function DomainRow({ domain }: { domain: ListedDomain }) {
  const { id, name, addresses, emailStatistics: mail, provider, lastCheckedAt } = domain;
  const trouble = describeTrouble(domain);
  return (
    <Row
      name={
        <>
          <RowName href={`/domains/${id}`}>{name}</RowName>
          <DomainStatus domain={domain} />
          {domain.isTrusted && <StatusBadge status="trusted" tone="quiet" />}
        </>
      }
      about={`${counted(addresses.totalCount, 'address', 'addresses')}, ${counted(mail.last24Hours, 'email')} in 24 h, ${formatCount(mail.last7Days)} in 7 days`}
    >
      {trouble !== null && (
        <>
          {trouble} {provider !== null && provider.confidence !== 'LOW' && `DNS at ${provider.name}. `}
          {lastCheckedAt !== null && <RelativeTime at={lastCheckedAt} prefix="DNS checked " />}
        </>
      )}
    </Row>
  );
}

function describeTrouble({ status, isFullyVerified, dnsConflict, proofLostAt }: ListedDomain): string | null {
  if (proofLostAt !== null) return 'The ownership record is missing from DNS. Publish it again.';
  if (status === 'FAILED') return 'Not verified. Publish its DNS records, then check DNS.';
  if (dnsConflict !== null) return 'Conflicting DNS records prevent it from receiving mail.';
  if (status === 'PENDING') return 'Waiting for its DNS records.';
  return isFullyVerified ? null : 'A required DNS record is missing.';
}

const IDS = graphql(`
  query DomainIds($after: String) {
    domains(first: 100, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } }
  }
`);
const VERIFY_DOMAINS = mutation('verifyDomains', 'domains { id status }');
/** Domains per request, which are checked in parallel within the time limit of a request. */
const BATCH = 5;

interface Work {
  done: number;
  total: number;
  verified: number;
  state: 'running' | 'stopped' | 'done' | 'failed';
}

/** Checks the DNS of all domains, a few at a time. Can be stopped. Returns the button and the progress display. */
function useCheckAll(): { button: React.ReactNode; progress: React.ReactNode } {
  const client = useClient();
  const { act } = useAct(VERIFY_DOMAINS);
  const [work, setWork] = useState<Work | null>(null);
  const isWanted = useRef(false);
  useEffect(() => () => void (isWanted.current = false), []);

  const readIds = async () => {
    const ids: string[] = [];
    for (let after: string | null = null; ; ) {
      const { data } = await client.query(IDS, { after }, { requestPolicy: 'network-only' }).toPromise();
      if (data === undefined) return ids;
      ids.push(...data.domains.edges.map(({ node }) => node.id));
      if (!data.domains.pageInfo.hasNextPage) return ids;
      after = data.domains.pageInfo.endCursor;
    }
  };
  const run = async () => {
    isWanted.current = true;
    setWork({ done: 0, total: 0, verified: 0, state: 'running' });
    const ids = await readIds();
    let progress: Work = { done: 0, total: ids.length, verified: 0, state: 'running' };
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- the user may stop it between two batches
    while (progress.done < ids.length && isWanted.current) {
      const batch = ids.slice(progress.done, progress.done + BATCH);
      const { payload } = await act({ ids: batch });
      if (payload === null) return setWork({ ...progress, state: 'failed' });
      const verified = payload.domains.filter(({ status }) => status === 'VERIFIED').length;
      progress = { ...progress, done: progress.done + batch.length, verified: progress.verified + verified };
      setWork(progress);
    }
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- as above
    setWork({ ...progress, state: isWanted.current ? 'done' : 'stopped' });
  };
  const isRunning = work?.state === 'running';
  return {
    button: (
      <QuietButton label="Check all" icon="refresh" needed="domains" disabled={isRunning} onClick={() => void run()} />
    ),
    progress: work !== null && (
      <Stack gap={6} mb="md">
        <Group justify="space-between" gap="xs">
          <Small aria-live="polite">{describeWork(work)}</Small>
          {isRunning && <QuietButton label="Stop" size="xs" onClick={() => void (isWanted.current = false)} />}
        </Group>
        <Progress
          value={work.total === 0 ? 100 : (100 * work.done) / work.total}
          animated={isRunning}
          aria-label="Checked domains"
        />
      </Stack>
    ),
  };
}

function describeWork({ done, total, verified, state }: Work): string {
  const count = `${done} of ${total} domains checked, ${verified} verified`;
  if (state === 'running') return total === 0 ? 'Listing domains' : count;
  return state === 'done' ? `Done: ${count}` : state === 'stopped' ? `Stopped: ${count}` : `Failed: ${count}`;
}
