import { Button, Group } from '@mantine/core';
import type { ResultOf } from '../../graphql.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { FilterText } from '../../parts/filter-text.tsx';
import { IconMailOff } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { PagedList, type PagedQuery } from '../../parts/paged-list.tsx';
import { useUrlFilters } from '../../parts/url-filters.ts';
import { type DoorRefusalFilter, REASONS, REFUSALS, type ShownRefusal } from './refusal-documents.ts';
import { RefusalRow } from './refusal-row.tsx';

const LIST: PagedQuery<ResultOf<typeof REFUSALS>, DoorRefusalFilter, ShownRefusal> = {
  query: REFUSALS,
  pageOf: ({ refusals }) => refusals,
  types: ['DoorRefusal'],
  label: 'Refusals',
};

/** Mail that was refused before it was accepted: why an expected message did not come. */
export function RefusalsPage() {
  const filters = useUrlFilters(['q', 'reason']);
  const { search, isFiltered } = filters;
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
          set={(value) => filters.filterBy('q', value)}
          width={300}
        />
        <FilterSelect name="reason" label="Reason" choices={REASONS} filters={filters} width={220} />
      </Group>
      <PagedList
        list={LIST}
        filter={readFilter(search)}
        filters={filters}
        row={(refusal) => <RefusalRow key={refusal.id} refusal={refusal} />}
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
              <Button variant="default" onClick={filters.clear}>
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
