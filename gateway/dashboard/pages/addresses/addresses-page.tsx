import { Button, Group, Modal, Select, Tabs, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { IconAt, IconPlus, IconSearch } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { DOMAIN_CHOICES } from './address-documents.ts';
import { AddressDrawer } from './address-drawer.tsx';
import { AddressForm } from './address-form.tsx';
import { AddressList } from './address-list.tsx';
import { ReplyAddresses } from './reply-addresses.tsx';

/** Delay between the last keystroke and the search. Milliseconds. */
const REST_MS = 300;
/** Maximum length of a search in characters, as in the service. */
const MAX_SEARCH = 100;

/** Addresses and reply addresses, as tabs. The tab and what it shows are in the URL. */
export function AddressesPage() {
  const [search, setSearch] = useSearchParams();
  const isReply = search.get('tab') === 'reply';
  const create = () =>
    setSearch((params) => {
      params.set('new', isReply ? '' : (params.get('domain') ?? ''));
      return params;
    });
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
        <Button {...needs('domains')} leftSection={<IconPlus size={16} aria-hidden />} onClick={create}>
          {isReply ? 'Create reply address' : 'Create address'}
        </Button>
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

/** All addresses, with the open one beside the list. Filters, search and the open address are in the URL. */
function PermanentAddresses() {
  const [search, setSearch] = useSearchParams();
  const set = (changes: Record<string, string | null>) =>
    setSearch((params) => {
      for (const [name, value] of Object.entries(changes))
        if (value === null) params.delete(name);
        else params.set(name, value);
      return params;
    });
  const domainId = search.get('domain');
  const sought = search.get('q') ?? '';
  const state = search.get('state');
  const isFiltered = domainId !== null || sought !== '' || state !== null;
  const filter = {
    domainId,
    filter: {
      ...(sought === '' ? {} : { search: sought }),
      ...(state === 'off' ? { isActive: false } : {}),
      ...(state === 'on' ? { isReceiving: true } : {}),
      ...(state === 'unreached' ? { isActive: true, isReceiving: false } : {}),
    },
  };
  const openHref = (id: string) => {
    const params = new URLSearchParams(search);
    params.set('address', id);
    return `/addresses?${params}`;
  };
  return (
    <>
      <Filters domainId={domainId} sought={sought} state={state} set={set} />
      <AddressList
        filter={filter}
        pages={Math.max(1, Number(search.get('pages')) || 1)}
        more={() => set({ pages: String(Math.max(1, Number(search.get('pages')) || 1) + 1) })}
        openHref={openHref}
        empty={
          <EmptyState
            icon={IconAt}
            title={isFiltered ? 'No matching addresses' : 'No addresses yet'}
            about={
              isFiltered
                ? 'Change the search or the filters.'
                : 'Create an address on a verified domain. Its mail appears in the inbox, and is delivered to an endpoint if you choose one.'
            }
          >
            {isFiltered ? (
              <Button variant="default" onClick={() => set({ domain: null, q: null, state: null })}>
                Show all addresses
              </Button>
            ) : (
              <Button {...needs('domains')} onClick={() => set({ new: '' })}>
                Create address
              </Button>
            )}
          </EmptyState>
        }
      />
      <AddressDrawer id={search.get('address')} close={() => set({ address: null })} />
      <Modal
        opened={search.get('new') !== null}
        onClose={() => set({ new: null })}
        title="Create address"
        closeButtonProps={{ 'aria-label': 'Close' }}
        centered
      >
        <AddressForm
          domainId={search.get('new') === '' ? null : search.get('new')}
          done={({ id }) => set({ new: null, address: id })}
          cancel={() => set({ new: null })}
        />
      </Modal>
    </>
  );
}

function Filters({
  domainId,
  sought,
  state,
  set,
}: {
  domainId: string | null;
  sought: string;
  state: string | null;
  set: (changes: Record<string, string | null>) => void;
}) {
  const { data } = useLiveQuery({
    query: DOMAIN_CHOICES,
    variables: {},
    kinds: ['DOMAIN_VERIFIED'],
    types: ['Domain'],
  });
  const [typed, setTyped] = useState(sought);
  const find = useDebouncedCallback((text: string) => set({ q: text === '' ? null : text, pages: null }), REST_MS);
  return (
    <Group mb="md" gap="xs">
      <TextInput
        type="search"
        aria-label="Search addresses"
        placeholder="Part of the address"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={typed}
        maxLength={MAX_SEARCH}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          find(event.currentTarget.value.trim());
        }}
      />
      <Select
        aria-label="Domain"
        placeholder="All domains"
        data={data?.domains.edges.map(({ node }) => ({ value: node.id, label: node.name })) ?? []}
        value={domainId}
        onChange={(value) => set({ domain: value, pages: null })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All domains' }}
      />
      <Select
        aria-label="State"
        placeholder="Any state"
        data={[
          { value: 'on', label: 'Receives mail' },
          { value: 'unreached', label: 'Unreachable' },
          { value: 'off', label: 'Off' },
        ]}
        value={state}
        onChange={(value) => set({ state: value, pages: null })}
        clearable
        clearButtonProps={{ 'aria-label': 'Any state' }}
      />
    </Group>
  );
}
