import { Autocomplete, Badge, Collapse, Group, NativeSelect, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type SubmitEvent, useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { useSearchParams } from 'wouter';
import { connection, graphql, type ResultOf, record, type VariablesOf } from '../../graphql.ts';
import { QuietButton } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.ts';
import { listSource } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Fine, Small, SmallLink, StatusBadge, Tag } from '../../parts/text.tsx';
import { FirstMail } from '../inbox/inbox-empty.tsx';
import { showName } from '../inbox/people.ts';
import styles from './email-list.module.css';
import { deliveryWords, readStanding, recipientWords, showSubject } from './email-words.ts';
import { ListFrame, useGrowingList } from './mail-list.tsx';

/** Fields of an email in a list. */
const EMAIL_ROW = graphql(`
  fragment DashboardEmailRow on Email {
    id type subject status guardStatus createdAt scheduledAt isTest isArchived hasFiles envelopeRecipient
    from { name address }
    to { name address }
    recipients { status }
    deliveries(first: 1) { edges { node { id status statusCode type attemptCount } } }
  }
`);

/** An email in a list. */
type EmailRow = ResultOf<typeof EMAIL_ROW>;

/** Returns a page of all mail. */
const ACTIVITY = connection(`emails($filter: EmailFilter, $search: String) { ...DashboardEmailRow }`, [EMAIL_ROW]);

type Variables = VariablesOf<typeof ACTIVITY>;
type Filter = NonNullable<Variables['filter']>;

/** A choice in the filter bar: its name in the URL, its label, and its GraphQL values. */
type Choice<Value> = { word: string; label: string; value: Value };

const DIRECTIONS: Choice<NonNullable<Filter['type']>>[] = [
  { word: 'received', label: 'Received', value: 'RECEIVED' },
  { word: 'sent', label: 'Sent', value: 'SENT' },
  { word: 'scheduled', label: 'Scheduled', value: 'SCHEDULED' },
];
const STATUSES: Choice<NonNullable<Filter['status']>>[] = [
  { word: 'delivered', label: 'Delivered', value: 'DELIVERED' },
  { word: 'pending', label: 'Pending', value: 'PENDING' },
  { word: 'queued', label: 'Queued', value: 'QUEUED' },
  { word: 'deferred', label: 'Deferred', value: 'DEFERRED' },
  { word: 'bounced', label: 'Bounced', value: 'BOUNCED' },
  { word: 'failed', label: 'Failed', value: 'FAILED' },
  { word: 'complained', label: 'Reported as spam', value: 'COMPLAINED' },
  { word: 'scheduled', label: 'Scheduled', value: 'SCHEDULED' },
  { word: 'paused', label: 'Paused', value: 'PAUSED' },
  { word: 'cancelled', label: 'Cancelled', value: 'CANCELLED' },
  { word: 'awaiting-approval', label: 'Awaiting approval', value: 'AWAITING_APPROVAL' },
  { word: 'rejected', label: 'Rejected', value: 'REJECTED' },
  { word: 'unread', label: 'Unread', value: 'UNREAD' },
  { word: 'read', label: 'Read', value: 'READ' },
  { word: 'archived', label: 'Archived', value: 'ARCHIVED' },
];
/** Guard rules hold only received mail, which has no other of these statuses. */
const GUARDS: Choice<NonNullable<Filter['status']>>[] = [{ word: 'held', label: 'Held', value: 'BLOCKED' }];
const TIMES: Choice<NonNullable<Filter['timeRange']>>[] = [
  { word: 'hour', label: 'Last hour', value: 'HOUR' },
  { word: 'day', label: 'Last 24 hours', value: 'DAY' },
  { word: 'week', label: 'Last 7 days', value: 'WEEK' },
  { word: 'month', label: 'Last 30 days', value: 'MONTH' },
  { word: 'quarter', label: 'Last 90 days', value: 'QUARTER' },
  { word: 'all', label: 'Any time', value: 'ALL' },
];

/** Names of the filters in the URL. */
const FILTER_NAMES = ['q', 'direction', 'status', 'guard', 'domain', 'address', 'time'] as const;
type FilterName = (typeof FILTER_NAMES)[number];

/** Returns the GraphQL variables of a query string. Unknown names and values are ignored. */
function readFilter(parameters: URLSearchParams): Pick<Variables, 'filter' | 'search'> {
  const text = (name: FilterName) => parameters.get(name)?.trim() || null;
  const filter: Filter = {
    type: findValue(DIRECTIONS, text('direction')),
    status: findValue(GUARDS, text('guard')) ?? findValue(STATUSES, text('status')),
    domain: text('domain'),
    address: text('address'),
    timeRange: findValue(TIMES, text('time')),
  };
  return { filter, search: text('q') };
}

function findValue<Value>(choices: readonly Choice<Value>[], word: string | null): Value | null {
  return choices.find((choice) => choice.word === word)?.value ?? null;
}

const ROW = record(`email { ...DashboardEmailRow }`, [EMAIL_ROW]);

const EMAILS = listSource({ label: 'Emails', query: ACTIVITY, size: 50, kinds: 'all', types: ['Email'] });

const NOTHING_FOUND = {
  icon: 'mail-question',
  title: 'No matching emails',
  about:
    'Change the search or the filters, or choose a longer time. Without a search, mail of the last 30 days is shown.',
} as const;

/** All received and sent mail, newest first, updated live. */
export function ActivityPage() {
  const [parameters] = useSearchParams();
  const variables = readFilter(parameters);
  return (
    <Page title="Activity" about="All received and sent mail, newest first. New mail appears automatically.">
      <FilterBar />
      <ActivityList key={JSON.stringify(variables)} {...variables} isNarrowed={parameters.size > 0} />
    </Page>
  );
}

function ActivityList({ isNarrowed, ...wanted }: ReturnType<typeof readFilter> & { isNarrowed: boolean }) {
  const list = useGrowingList({ ...EMAILS, rowQuery: ROW }, wanted);
  return (
    <ListFrame list={list} empty={isNarrowed ? NOTHING_FOUND : <FirstMail title="No mail in the last 30 days" />}>
      {(email) => <EmailListRow key={email.id} email={email} />}
    </ListFrame>
  );
}

const PLACES = graphql(`
  query DashboardActivityPlaces {
    domains(first: 100) { edges { node { id name } } }
    emailAddresses(first: 100) { edges { node { id address } } }
  }
`);

/** Search and filters, whose state is in the URL. */
function FilterBar() {
  const [parameters, setParameters] = useSearchParams();
  const [{ data }] = useQuery({ query: PLACES, variables: {}, requestPolicy: 'cache-and-network' });
  const [isOpen, { toggle }] = useDisclosure(FILTER_NAMES.some((name) => name !== 'q' && parameters.has(name)));
  const set = (name: FilterName, value: string) =>
    setParameters((before) => {
      const after = new URLSearchParams(before);
      if (value.trim() === '') after.delete(name);
      else after.set(name, value.trim());
      return after;
    });
  const choice = (
    name: FilterName,
    label: string,
    none: string,
    choices: readonly { word: string; label: string }[],
  ) => (
    <NativeSelect
      label={label}
      size="xs"
      value={parameters.get(name) ?? ''}
      onChange={({ currentTarget }) => set(name, currentTarget.value)}
      data={[{ value: '', label: none }, ...choices.map(({ word, label: shown }) => ({ value: word, label: shown }))]}
    />
  );
  const inUse = FILTER_NAMES.filter((name) => name !== 'q' && parameters.has(name)).length;
  const domains = data?.domains.edges.map(({ node }) => ({ word: node.name, label: node.name })) ?? [];
  return (
    <Stack gap="xs" mb="md" component="search" aria-label="Search and filters">
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <SearchField value={parameters.get('q') ?? ''} onSearch={(words) => set('q', words)} />
        <QuietButton
          label={`Filters${inUse > 0 ? ` (${inUse})` : ''}`}
          icon="adjustments-horizontal"
          onClick={toggle}
          aria-expanded={isOpen}
          aria-controls="activity-filters"
        />
      </Group>
      <Collapse expanded={isOpen} id="activity-filters">
        <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="xs">
          {choice('direction', 'Direction', 'In and out', DIRECTIONS)}
          {choice('status', 'Status', 'Any', STATUSES)}
          {choice('guard', 'Guard rules', 'Any', GUARDS)}
          {choice('domain', 'Domain', 'Any', domains)}
          <AddressField
            value={parameters.get('address') ?? ''}
            known={data?.emailAddresses.edges.map(({ node }) => node.address) ?? []}
            onChoose={(address) => set('address', address)}
          />
          {choice('time', 'Time', parameters.has('q') ? 'Any time' : 'Last 30 days', TIMES)}
        </SimpleGrid>
        {inUse > 0 && (
          <QuietButton
            label="Clear filters"
            mt="xs"
            size="xs"
            onClick={() => setParameters((before) => (before.has('q') ? { q: before.get('q') ?? '' } : {}))}
          />
        )}
      </Collapse>
    </Stack>
  );
}

function SearchField({ value, onSearch }: { value: string; onSearch: (words: string) => void }) {
  const [typed, setTyped] = useState(value);
  // The browser's back and forward buttons change it.
  useEffect(() => setTyped(value), [value]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onSearch(typed);
  };
  return (
    <form onSubmit={submit} style={{ flex: 1, minWidth: 0 }}>
      <TextInput
        type="search"
        aria-label="Search all emails"
        description="Words, “phrases” and operators: from: to: subject: has:attachment before:2026-01-31 -word. Press Enter to search."
        inputWrapperOrder={['input', 'description', 'error']}
        placeholder="Search all emails"
        leftSection={<Icon name="search" size={16} />}
        value={typed}
        maxLength={500}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          if (currentTarget.value === '') onSearch('');
        }}
      />
    </form>
  );
}

type AddressFieldProps = { value: string; known: readonly string[]; onChoose: (address: string) => void };

function AddressField({ value, known, onChoose }: AddressFieldProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <Autocomplete
      label="Address"
      size="xs"
      placeholder="Any"
      data={[...known]}
      limit={20}
      value={typed}
      onChange={(text) => {
        setTyped(text);
        if (text === '' || known.includes(text)) onChoose(text);
      }}
      onBlur={() => typed !== value && onChoose(typed)}
      onKeyDown={({ key }) => key === 'Enter' && onChoose(typed)}
    />
  );
}

const directions = {
  RECEIVED: { icon: 'arrow-down-left', label: 'Received' },
  SENT: { icon: 'arrow-up-right', label: 'Sent' },
  SCHEDULED: { icon: 'calendar-clock', label: 'Scheduled' },
} as const;

/** An email in a list: direction, participants and status. */
function EmailListRow({ email }: { email: EmailRow }) {
  const { icon, label } = directions[email.type];
  const to = email.envelopeRecipient ?? email.to.map(({ address }) => address).join(', ');
  const delivery = email.deliveries.edges[0]?.node;
  const recipients = recipientWords(email.recipients);
  return (
    <li className={styles['row']} data-email={email.id}>
      <Icon name={icon} size={18} role="img" aria-label={label} />
      <div className={styles['people']}>
        <Small truncate="end" title={email.from.address} dir="auto" ta="left">
          {showName(email.from)}
        </Small>
        <Fine truncate="end" title={to}>
          to {to}
        </Fine>
      </div>
      <div className={styles['subject']}>
        <SmallLink href={`/emails/${email.id}`} className={styles['link']} fw={600} c="inherit" dir="auto">
          {showSubject(email)}
        </SmallLink>
      </div>
      <div className={styles['badges']}>
        {email.hasFiles && <Icon name="paperclip" size={16} role="img" aria-label="Has attachments" />}
        {email.isTest && (
          <Badge variant="default" radius="sm">
            test
          </Badge>
        )}
        <StatusBadge {...readStanding(email)} />
        {recipients !== null && <Tag>{recipients}</Tag>}
        {delivery !== undefined && <StatusBadge {...deliveryWords(delivery)} />}
      </div>
      <Group className={styles['time'] ?? ''} justify="flex-end" gap={4}>
        <Fine component="span">
          <RelativeTime at={email.createdAt} />
        </Fine>
      </Group>
    </li>
  );
}
