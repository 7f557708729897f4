import { Button } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import { graphql } from '../../graphql.ts';
import { Command } from '../../parts/command.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { IconActivity, IconMailQuestion } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { useViewer } from '../../shell/viewer.ts';
import { ACTIVITY, type ActivityPageData, filterOf } from './activity-filters.ts';
import { EmailListRow } from './email-list-row.tsx';
import { EMAIL_ROW } from './email-row-fragment.ts';
import { FilterBar } from './filter-bar.tsx';
import { ListFrame } from './list-frame.tsx';
import { useFirstAddress } from './use-first-address.ts';
import { useGrowingList } from './use-growing-list.ts';

const ROW = graphql(`query DashboardActivityRow($id: ID!) { email(id: $id) { ...DashboardEmailRow } }`, [EMAIL_ROW]);

const PAGE_SIZE = 50;

/** All received and sent mail, newest first, updated live. */
export function ActivityPage() {
  const [parameters] = useSearchParams();
  const variables = filterOf(parameters);
  return (
    <>
      <PageHeader title="Activity" about="All mail in and out, the newest first. What comes in appears by itself." />
      <FilterBar />
      <ActivityList key={JSON.stringify(variables)} {...variables} isNarrowed={parameters.size > 0} />
    </>
  );
}

function ActivityList({ isNarrowed, ...wanted }: ReturnType<typeof filterOf> & { isNarrowed: boolean }) {
  const list = useGrowingList({
    query: ACTIVITY,
    variables: { first: PAGE_SIZE, after: null, ...wanted },
    kinds: 'all',
    types: ['Email'],
    pageOf: ({ emails }: ActivityPageData) => emails,
    rowQuery: ROW,
  });
  return (
    <ListFrame list={list} label="Emails" empty={isNarrowed ? <NothingFound /> : <NoMail />}>
      {(email) => <EmailListRow key={email.id} email={email} />}
    </ListFrame>
  );
}

function NothingFound() {
  return (
    <EmptyState
      icon={IconMailQuestion}
      title="No mail fits"
      about="Take a word or a filter away, or choose a longer time. Without a search, mail of the last 30 days is shown."
    />
  );
}

function NoMail() {
  const { service } = useViewer();
  const address = useFirstAddress();
  if (address === undefined) return null;
  if (address === null)
    return (
      <EmptyState
        icon={IconActivity}
        title="No mail in the last 30 days"
        about="Mail to your addresses, and what you send from them, is listed here. First, make an address."
      >
        <Button component={Link} href="/addresses">
          Make an address
        </Button>
      </EmptyState>
    );
  return (
    <EmptyState
      icon={IconActivity}
      title="No mail in the last 30 days"
      about={`Mail to ${address}, and what you send from it, is listed here. Send one from a terminal and watch it come in.`}
    >
      <Command
        text={`swaks --server ${service.smtpHost}:${service.smtpPort} --from ada@example.com --to ${address} \\\n  --header 'Subject: Hello' --body 'A first mail'`}
      />
    </EmptyState>
  );
}
