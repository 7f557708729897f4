import { Button, Group, Select } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterText } from '../../parts/filter-text.tsx';
import { IconMailOff } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { type DoorRefusalFilter, REASONS } from './refusal-documents.ts';
import { RefusalList } from './refusal-list.tsx';

const FILTERS = ['q', 'reason'];

/** Mail that was refused before it was accepted: why an expected message did not come. */
export function RefusalsPage() {
  const [search, setSearch] = useSearchParams();
  const set = (changes: Record<string, string | null>) =>
    setSearch((params) => {
      for (const [name, value] of Object.entries(changes))
        if (value === null || value === '') params.delete(name);
        else params.set(name, value);
      return params;
    });
  const pages = Math.max(1, Number(search.get('pages')) || 1);
  const isFiltered = FILTERS.some((name) => search.has(name));
  return (
    <>
      <PageHeader
        title="Refused at the door"
        about="Mail to your domains that was refused in the last 7 days, before it was accepted. The sender got the reply that is shown."
      />
      <Group mb="md" gap="xs">
        <FilterText
          label="Recipient, sender or client"
          type="search"
          value={search.get('q') ?? ''}
          set={(value) => set({ q: value, pages: null })}
          width={300}
        />
        <Select
          aria-label="Reason"
          placeholder="Reason"
          data={[...REASONS]}
          value={search.get('reason')}
          onChange={(value) => set({ reason: value, pages: null })}
          clearable
          clearButtonProps={{ 'aria-label': 'Any reason' }}
          w={220}
        />
      </Group>
      <RefusalList
        filter={readFilter(search)}
        after={null}
        pages={pages}
        more={() => set({ pages: String(pages + 1) })}
        empty={
          <EmptyState
            icon={IconMailOff}
            title={isFiltered ? 'No matching refusals' : 'No mail was refused'}
            about={
              isFiltered
                ? 'Change the filters. Mail that is not here either was accepted, or never reached this server.'
                : 'Mail that is refused before it is accepted appears here for 7 days, with the reason.'
            }
          >
            {isFiltered && (
              <Button variant="default" onClick={() => set(Object.fromEntries(FILTERS.map((name) => [name, null])))}>
                Show all refusals
              </Button>
            )}
          </EmptyState>
        }
      />
    </>
  );
}

function readFilter(search: URLSearchParams): DoorRefusalFilter {
  const filter: DoorRefusalFilter = {};
  const text = search.get('q');
  const reason = REASONS.find(({ value }) => value === search.get('reason'))?.value;
  if (text !== null) filter.search = text;
  if (reason !== undefined) filter.reason = reason;
  return filter;
}
