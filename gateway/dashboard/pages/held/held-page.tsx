import { Badge, Tabs } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { HeldList, SpamList } from './received-lists.tsx';
import { DeferredList, UndeliveredList } from './sent-lists.tsx';

const COUNTS = graphql(`
  query DashboardHeldCounts {
    overview(hours: 1) { waiting { blocked review deferred } }
    bounced: emails(first: 1, filter: { type: SENT, status: BOUNCED, timeRange: ALL }) { totalCount }
    failed: emails(first: 1, filter: { type: SENT, status: FAILED, timeRange: ALL }) { totalCount }
    spam: emails(first: 1, filter: { spam: ONLY, timeRange: ALL }) { totalCount }
  }
`);

const TABS = [
  { name: 'blocked', label: 'Held', list: <HeldList wait="BLOCKED" /> },
  { name: 'review', label: 'To review', list: <HeldList wait="REVIEW" /> },
  { name: 'deferred', label: 'Deferred', list: <DeferredList /> },
  { name: 'bounced', label: 'Bounced', list: <UndeliveredList status="BOUNCED" /> },
  { name: 'failed', label: 'Failed', list: <UndeliveredList status="FAILED" /> },
  { name: 'spam', label: 'Spam', list: <SpamList /> },
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
        {TABS.map(({ name, list }) => (
          <Tabs.Panel key={name} value={name} pt="md">
            {list}
          </Tabs.Panel>
        ))}
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
