import { Autocomplete, Code, Group } from '@mantine/core';
import { useQuery } from 'urql';
import { useSearchParams } from 'wouter';
import { connection, graphql, mutation } from '../../graphql.ts';
import { ConfirmButton, CreateButton } from '../../parts/buttons.tsx';
import { EXPIRIES, findDateFault, makeChoices, readExpiry, useVerifiedDomains } from '../../parts/choices.ts';
import { CopyButton } from '../../parts/command.tsx';
import { FormLoading, RecordForm, useRecordForm } from '../../parts/form.tsx';
import {
  ChoiceFilter,
  FilterBar,
  type ListRow,
  listSource,
  PagedList,
  Row,
  RowName,
  TextFilter,
  UrlDialog,
  useUrlFilters,
} from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { UrlTabs } from '../../parts/section.tsx';
import { Small, SmallLink, StatusBadge, Strong } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted, formatCount } from '../../parts/words.ts';
import { AddressDrawer } from './address-drawer.tsx';
import { ADDRESSES, AddressForm, describeRoute, NeedsDomain, type ShownAddress } from './address-form.tsx';

/** Addresses and reply addresses, as tabs. The tab and what it shows are in the URL. */
export function AddressesPage() {
  const [search] = useSearchParams();
  const { set } = useUrlFilters([]);
  const isReply = search.get('tab') === 'reply';
  return (
    <Page
      title="Addresses"
      about={
        isReply
          ? 'Signed addresses for replies to your emails. They carry metadata and a thread, until they expire, are used up or revoked.'
          : 'Postroom receives and stores mail to these addresses, and delivers it to their endpoints.'
      }
      actions={
        <CreateButton
          label={isReply ? 'Create reply address' : 'Create address'}
          needed="domains"
          onClick={() => set({ new: isReply ? '' : (search.get('domain') ?? '') })}
        />
      }
    >
      <UrlTabs
        label="Kind of address"
        tabs={[
          { name: 'all', label: 'Addresses', content: <PermanentAddresses /> },
          { name: 'reply', label: 'Reply addresses', content: <ReplyAddresses /> },
        ]}
      />
    </Page>
  );
}

const LIST = listSource({
  label: 'Addresses',
  query: ADDRESSES,
  size: 30,
  kinds: ['EMAIL_RECEIVED', 'DOMAIN_VERIFIED', 'DOMAIN_RECORDS_LOST'],
  types: ['EmailAddress', 'Domain'],
});

const STATES = makeChoices({ on: 'Receives mail', unreached: 'Unreachable', off: 'Off' });
const STATE_FILTERS = {
  on: { isReceiving: true },
  unreached: { isActive: true, isReceiving: false },
  off: { isActive: false },
};

/** All addresses, with the open one beside the list. Filters, search and the open address are in the URL. */
function PermanentAddresses() {
  const filters = useUrlFilters(['domain', 'q', 'state']);
  const { domains = [] } = useVerifiedDomains();
  const state = filters.choice('state', STATES);
  return (
    <>
      <FilterBar filters={filters}>
        <TextFilter label="Search addresses" placeholder="Part of the address" />
        <ChoiceFilter
          name="domain"
          label="Domain"
          any="All domains"
          choices={domains.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <ChoiceFilter name="state" label="State" choices={STATES} />
      </FilterBar>
      <PagedList
        list={LIST}
        variables={{
          domainId: filters.get('domain'),
          filter: { search: filters.get('q'), ...(state === null ? {} : STATE_FILTERS[state]) },
        }}
        filters={filters}
        empty={{
          icon: 'at',
          title: 'No addresses yet',
          about:
            'Create an address on a verified domain. Its mail appears in the inbox, and is delivered to an endpoint if you choose one.',
          action: <CreateButton label="Create address" needed="domains" onClick={() => filters.set({ new: '' })} />,
          filtered: 'addresses',
        }}
      >
        {(address) => (
          <AddressRow key={address.id} address={address} href={`/addresses${filters.href('address', address.id)}`} />
        )}
      </PagedList>
      <AddressDrawer id={filters.get('address')} close={() => filters.set({ address: null })} />
      <UrlDialog title="Create address" filters={filters}>
        {(close) => (
          <AddressForm
            domainId={filters.get('new')}
            done={({ id }) => filters.set({ new: null, address: id })}
            cancel={close}
          />
        )}
      </UrlDialog>
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
    <Row
      name={
        <>
          <RowName href={href}>{address.address}</RowName>
          <CopyButton text={address.address} label={`Copy ${address.address}`} />
          <StatusBadge {...state} />
          <Small className="postroom-wrap">{describeRoute(address)}</Small>
        </>
      }
      about={`${formatCount(mail.last24Hours)} in 24 h, ${formatCount(mail.last7Days)} in 7 days, ${formatCount(mail.last30Days)} in 30 days`}
    >
      {address.warning}
    </Row>
  );
}

const REPLY_LIST = listSource({
  label: 'Reply addresses',
  query: connection(`replyAddresses {
    id address status deliverTo metadata senders maxMessages messageCount expiresAt createdAt
    thread { id normalizedSubject }
  }`),
  size: 30,
  kinds: ['EMAIL_RECEIVED'],
  types: ['ReplyAddress'],
});
type ShownReplyAddress = ListRow<typeof REPLY_LIST>;

/** All reply addresses, and the form that creates one while the URL contains `?new=`. */
function ReplyAddresses() {
  const filters = useUrlFilters([]);
  return (
    <>
      <PagedList
        list={REPLY_LIST}
        variables={{}}
        filters={filters}
        empty={{
          icon: 'message-reply',
          title: 'No reply addresses yet',
          about:
            'Create one and use it as Reply-To of an email that you send. Mail to it carries your metadata and joins your thread. Its status and the number of messages appear here.',
          action: <CreateButton label="Create reply address" needed="send" onClick={() => filters.set({ new: '' })} />,
        }}
      >
        {(reply) => <ReplyAddressRow key={reply.id} reply={reply} />}
      </PagedList>
      <UrlDialog title="Create reply address" filters={filters}>
        {(close) => <ReplyForm done={close} />}
      </UrlDialog>
    </>
  );
}

const REVOKE_REPLY_ADDRESS = mutation('revokeReplyAddress', 'replyAddress { id status }');

function ReplyAddressRow({ reply }: { reply: ShownReplyAddress }) {
  const { act } = useAct(REVOKE_REPLY_ADDRESS, { done: 'The reply address was revoked.' });
  const { address, status, deliverTo, metadata, senders, maxMessages, messageCount, expiresAt, thread } = reply;
  return (
    <Row
      name={
        <>
          <RowName>{address}</RowName>
          <CopyButton text={address} label={`Copy ${address}`} />
          <StatusBadge status={status} tone={status === 'ACTIVE' ? 'good' : 'quiet'} />
        </>
      }
      about={
        <>
          {maxMessages === null
            ? `${counted(messageCount, 'message')}, no limit`
            : `${messageCount} of ${maxMessages} messages used`}
          {expiresAt === null ? (
            ', never expires'
          ) : (
            <RelativeTime at={expiresAt} prefix={status === 'EXPIRED' ? ', expired ' : ', expires '} />
          )}
        </>
      }
      actions={
        status !== 'REVOKED' && (
          <ConfirmButton
            needed="send"
            label="Revoke"
            of={address}
            question="Revoke this reply address?"
            about={
              <>
                <Strong component="span" className="postroom-wrap">
                  {address}
                </Strong>{' '}
                will accept no more mail. You cannot undo this. Mail that it received stays.
              </>
            }
            confirm="Revoke reply address"
            act={() => act({ id: reply.id })}
          />
        )
      }
    >
      <Small>
        {senders.length === 0 ? 'Everyone may write' : `Only ${senders.join(', ')} may write`}
        {deliverTo !== null && `; delivered to ${deliverTo}`}
        <RelativeTime at={reply.createdAt} prefix=" · created " />
      </Small>
      {thread !== null && (
        <SmallLink href={`/inbox/${thread.id}`}>
          Joins the thread "{thread.normalizedSubject || '(no subject)'}"
        </SmallLink>
      )}
      {metadata !== null && (
        <Small component="div">
          Metadata <Code>{JSON.stringify(metadata)}</Code>
        </Small>
      )}
    </Row>
  );
}

const DOMAIN_ADDRESSES = graphql(`
  query DashboardDomainAddresses($domainId: ID!) {
    emailAddresses(first: 100, domainId: $domainId) { edges { node { id address } } }
  }
`);

const CREATE_REPLY_ADDRESS = mutation('createReplyAddress', 'replyAddress { id address }');

const NEW_REPLY_ADDRESS = {
  domainId: null as string | null,
  deliverTo: '',
  /** JSON; empty: none */
  metadata: '',
  senders: [] as string[],
  /** empty: no limit */
  maxMessages: '' as number | '',
  expiry: 'never',
  date: '',
  threadId: '',
};

/** Form that creates a reply address. */
function ReplyForm({ done }: { done: () => void }) {
  const { domains, hasDomains, error, refresh } = useVerifiedDomains();
  const { act } = useAct(CREATE_REPLY_ADDRESS, { quiet: true, done: 'The reply address was created.' });
  const findDomain = (id: string | null) => domains?.find((each) => each.id === id) ?? domains?.[0];
  const form = useRecordForm({
    values: NEW_REPLY_ADDRESS,
    validate: { metadata: findMetadataFault, date: findDateFault },
    submit: (values) =>
      act({
        domain: findDomain(values.domainId)?.id ?? '',
        deliverTo: values.deliverTo.trim() || null,
        metadata: values.metadata.trim() === '' ? null : JSON.parse(values.metadata),
        senders: values.senders,
        maxMessages: values.maxMessages === '' ? null : values.maxMessages,
        expiresAt: readExpiry(values),
        threadId: values.threadId.trim() || null,
      }),
    rename: ({ expiresAt, ...fields }) => ({ ...fields, ...(expiresAt !== undefined && { date: expiresAt }) }),
    saved: done,
  });
  const domain = findDomain(form.values.domainId);
  const [{ data: known }] = useQuery({
    query: DOMAIN_ADDRESSES,
    variables: { domainId: domain?.id ?? '' },
    pause: domain === undefined,
  });
  if (domains === undefined) return <FormLoading height={320} cancel={done} error={error} retry={refresh} />;
  if (domain === undefined) return <NeedsDomain what="A reply address" hasDomains={hasDomains} />;
  return (
    <RecordForm form={form} submit="Create reply address" gap="sm">
      <form.Choice
        name="domainId"
        label="Domain"
        data={domains.map(({ id, name }) => ({ value: id, label: name }))}
        searchable={domains.length > 10}
        value={domain.id}
      />
      <Autocomplete
        label="Deliver to"
        description="An address of the domain. It decides the endpoint."
        placeholder={`reply@${domain.name}`}
        data={known?.emailAddresses.edges.map(({ node }) => node.address) ?? []}
        {...form.getInputProps('deliverTo')}
        data-autofocus
      />
      <form.LongText
        name="metadata"
        label="Metadata"
        description="A JSON object. Each email that the address receives carries it."
        placeholder={'{ "order": 4711 }'}
        minRows={2}
        spellCheck={false}
      />
      <form.Tags
        name="senders"
        label="Senders"
        description="Addresses and domains that may write to it. Press Enter after each."
        placeholder={form.values.senders.length === 0 ? 'Everyone' : ''}
        maxTags={100}
      />
      <Group grow align="flex-start" preventGrowOverflow={false}>
        <form.Number name="maxMessages" label="Maximum messages" min={1} max={1_000_000} />
        <form.Choice name="expiry" label="Expiry" data={EXPIRIES} />
        {form.values.expiry === 'date' && <form.Text name="date" label="Last day" type="date" />}
      </Group>
      <form.Text
        name="threadId"
        label="Thread ID"
        description="Optional. Mail to the address joins this thread."
        placeholder="th_…"
        spellCheck={false}
      />
    </RecordForm>
  );
}

/** Returns why the text is not metadata; null if it is, or if it is empty. */
function findMetadataFault(text: string): string | null {
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `This is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? null
    : 'Enter a JSON object, such as { "order": 4711 }.';
}
