import { Badge, Tabs } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { DeferredList } from './deferred-list.tsx';
import { HeldList } from './held-list.tsx';
import { SpamList } from './spam-list.tsx';
import { UndeliveredList } from './undelivered-list.tsx';

const COUNTS = graphql(`
  query DashboardHeldCounts {
    overview(hours: 1) { waiting { blocked review deferred } }
    bounced: emails(first: 1, filter: { type: SENT, status: BOUNCED, timeRange: ALL }) { totalCount }
    failed: emails(first: 1, filter: { type: SENT, status: FAILED, timeRange: ALL }) { totalCount }
    spam: emails(first: 1, filter: { spam: ONLY, timeRange: ALL }) { totalCount }
  }
`);

const TABS = [
  { name: 'blocked', label: 'Held' },
  { name: 'review', label: 'To review' },
  { name: 'deferred', label: 'Deferred' },
  { name: 'bounced', label: 'Bounced' },
  { name: 'failed', label: 'Failed' },
  { name: 'spam', label: 'Spam' },
] as const;
type TabName = (typeof TABS)[number]['name'];

/** The service counts only up to this number. */
const COUNTED_TO = 10_000;

/** Held, deferred and bounced mail, and spam. */
export function HeldPage() {
  const [parameters, setParameters] = useSearchParams();
  const { data } = useLiveQuery({ query: COUNTS, variables: {}, kinds: 'all', types: ['Email'] });
  const waiting = data?.overview.waiting;
  const counts: Record<TabName, number | undefined> = {
    blocked: waiting?.blocked,
    review: waiting?.review,
    deferred: waiting?.deferred,
    bounced: data?.bounced.totalCount,
    failed: data?.failed.totalCount,
    spam: data?.spam.totalCount,
  };
  // Without a choice in the URL, the first tab that has something; the choice stays when its last email leaves.
  const [first, setFirst] = useState<TabName | null>(null);
  const withMail = TABS.find(({ name }) => (counts[name] ?? 0) > 0)?.name;
  if (first === null && data !== undefined) setFirst(withMail ?? 'blocked');
  const chosen = TABS.find(({ name }) => name === parameters.get('tab'))?.name ?? first ?? withMail ?? 'blocked';
  return (
    <>
      <PageHeader title="Held and blocked" about="Held, deferred and bounced mail, and spam." />
      <Tabs value={chosen} onChange={(name) => setParameters(name === null ? {} : { tab: name })} keepMounted={false}>
        <Tabs.List aria-label="Kind of mail">
          {TABS.map(({ name, label }) => (
            <Tabs.Tab key={name} value={name} rightSection={<Count of={counts[name]} />}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="blocked" pt="md">
          <HeldList wait="BLOCKED" />
        </Tabs.Panel>
        <Tabs.Panel value="review" pt="md">
          <HeldList wait="REVIEW" />
        </Tabs.Panel>
        <Tabs.Panel value="deferred" pt="md">
          <DeferredList />
        </Tabs.Panel>
        <Tabs.Panel value="bounced" pt="md">
          <UndeliveredList status="BOUNCED" />
        </Tabs.Panel>
        <Tabs.Panel value="failed" pt="md">
          <UndeliveredList status="FAILED" />
        </Tabs.Panel>
        <Tabs.Panel value="spam" pt="md">
          <SpamList />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function Count({ of }: { of: number | undefined }) {
  if (of === undefined) return null;
  return (
    <Badge variant="default" size="sm" tt="none" radius="sm">
      {of >= COUNTED_TO ? '10,000+' : of}
    </Badge>
  );
}
