import { Autocomplete, Button, Collapse, Group, NativeSelect, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type SubmitEvent, useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { useSearchParams } from 'wouter';
import { graphql } from '../../graphql.ts';
import { IconAdjustmentsHorizontal, IconSearch } from '../../parts/icons.ts';
import { DIRECTIONS, FILTER_NAMES, type FilterName, GUARDS, STATUSES, TIMES } from './activity-filters.ts';

const PLACES = graphql(`
  query DashboardActivityPlaces {
    domains(first: 100) { edges { node { id name } } }
    emailAddresses(first: 100) { edges { node { id address } } }
  }
`);

/** Search and filters, whose state is in the URL. */
export function FilterBar() {
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
        <Button
          variant="default"
          leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
          onClick={toggle}
          aria-expanded={isOpen}
          aria-controls="activity-filters"
        >
          Filters{inUse > 0 ? ` (${inUse})` : ''}
        </Button>
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
          <Button
            mt="xs"
            variant="default"
            size="xs"
            onClick={() => setParameters((before) => (before.has('q') ? { q: before.get('q') ?? '' } : {}))}
          >
            Clear filters
          </Button>
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
        leftSection={<IconSearch size={16} aria-hidden />}
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

function AddressField({
  value,
  known,
  onChoose,
}: {
  value: string;
  known: readonly string[];
  onChoose: (address: string) => void;
}) {
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
