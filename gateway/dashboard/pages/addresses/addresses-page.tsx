import { Tabs, Text } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { CreateButton } from '../../parts/buttons.tsx';
import { useVerifiedDomains } from '../../parts/choices.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { formatCount } from '../../parts/counted.ts';
import { IconAt } from '../../parts/icons.ts';
import {
  ChoiceFilter,
  FilterBar,
  listSource,
  PagedList,
  TextFilter,
  UrlDialog,
  useUrlFilters,
} from '../../parts/list.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Row, RowName } from '../../parts/row-list.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { ADDRESSES, describeRoute, type ShownAddress } from './address-documents.ts';
import { AddressDrawer } from './address-drawer.tsx';
import { AddressForm } from './address-form.tsx';
import { ReplyAddresses } from './reply-addresses.tsx';

/** Addresses and reply addresses, as tabs. The tab and what it shows are in the URL. */
export function AddressesPage() {
  const [search, setSearch] = useSearchParams();
  const { set } = useUrlFilters([]);
  const isReply = search.get('tab') === 'reply';
  return (
    <>
      <PageHeader
        title="Addresses"
        about={
          isReply
            ? 'Signed addresses for answers to your emails. They carry metadata and a thread, until they expire, are used up or revoked.'
            : 'Postroom receives and stores mail to these addresses, and delivers it to their endpoints.'
        }
      >
        <CreateButton needed="domains" onClick={() => set({ new: isReply ? '' : (search.get('domain') ?? '') })}>
          {isReply ? 'Create reply address' : 'Create address'}
        </CreateButton>
      </PageHeader>
      <Tabs
        value={isReply ? 'reply' : 'all'}
        onChange={(tab) => setSearch(tab === 'reply' ? { tab } : {})}
        keepMounted={false}
      >
        <Tabs.List aria-label="Kind of address">
          <Tabs.Tab value="all">Addresses</Tabs.Tab>
          <Tabs.Tab value="reply">Reply addresses</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="all" pt="md">
          <PermanentAddresses />
        </Tabs.Panel>
        <Tabs.Panel value="reply" pt="md">
          <ReplyAddresses />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

const LIST = listSource({
  label: 'Addresses',
  query: ADDRESSES,
  size: 30,
  kinds: ['EMAIL_RECEIVED', 'DOMAIN_VERIFIED', 'DOMAIN_RECORDS_LOST'],
  types: ['EmailAddress', 'Domain'],
});

const STATES = [
  { value: 'on', label: 'Receives mail' },
  { value: 'unreached', label: 'Unreachable' },
  { value: 'off', label: 'Off' },
] as const;
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
      <FilterBar>
        <TextFilter label="Search addresses" placeholder="Part of the address" filters={filters} />
        <ChoiceFilter
          name="domain"
          label="Domain"
          any="All domains"
          choices={domains.map(({ id, name }) => ({ value: id, label: name }))}
          filters={filters}
        />
        <ChoiceFilter name="state" label="State" choices={STATES} filters={filters} />
      </FilterBar>
      <PagedList
        list={LIST}
        variables={{
          domainId: filters.get('domain'),
          filter: { search: filters.get('q'), ...(state === null ? {} : STATE_FILTERS[state]) },
        }}
        filters={filters}
        empty={{
          icon: IconAt,
          title: 'No addresses yet',
          about:
            'Create an address on a verified domain. Its mail appears in the inbox, and is delivered to an endpoint if you choose one.',
          action: (
            <CreateButton needed="domains" onClick={() => filters.set({ new: '' })}>
              Create address
            </CreateButton>
          ),
          filtered: {
            title: 'No matching addresses',
            about: 'Change the search or the filters.',
            all: 'Show all addresses',
          },
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
          <Text size="sm" className="postroom-wrap">
            {describeRoute(address)}
          </Text>
        </>
      }
      about={`${formatCount(mail.last24Hours)} in 24 h, ${formatCount(mail.last7Days)} in 7 days, ${formatCount(mail.last30Days)} in 30 days`}
    >
      {address.warning}
    </Row>
  );
}
