import { Button, Checkbox, Group } from '@mantine/core';
import type { ResultOf } from '../../graphql.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { FilterText } from '../../parts/filter-text.tsx';
import { IconDownload, IconFingerprint } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { PagedList, type PagedQuery } from '../../parts/paged-list.tsx';
import { readLocalTime, useUrlFilters } from '../../parts/url-filters.ts';
import { ACTOR_KINDS, AUDIT_LOG, type AuditFilter, OBJECT_KINDS, type ShownEntry } from './audit-documents.ts';
import { AuditEntry } from './audit-entry.tsx';

const FILTERS = ['actor', 'who', 'object', 'id', 'denied', 'from', 'to'];
const LABELS = { actor: 'Person or key', id: 'Object ID', from: 'From', to: 'To' } as const;

const LOG: PagedQuery<ResultOf<typeof AUDIT_LOG>, AuditFilter, ShownEntry> = {
  query: AUDIT_LOG,
  pageOf: ({ auditEntries }) => auditEntries,
  types: ['AuditEntry'],
  label: 'Audit log',
};

/** Who changed what: the audit log with filters. */
export function AuditPage() {
  const filters = useUrlFilters(FILTERS);
  const { search, isFiltered } = filters;
  const field = (name: keyof typeof LABELS, type: 'search' | 'datetime-local') => (
    <FilterText
      key={name}
      label={LABELS[name]}
      type={type}
      value={search.get(name) ?? ''}
      set={(value) => filters.filterBy(name, value)}
    />
  );
  return (
    <>
      <PageHeader
        title="Audit log"
        about="Changes of settings, sign-ins and refused requests, with who made them and from where. Entries cannot be changed or deleted."
      >
        <Button
          component="a"
          href={`/api/e2/audit.ndjson?${exportQuery(search)}`}
          download
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Export
        </Button>
      </PageHeader>
      <Group mb="md" gap="xs">
        {field('actor', 'search')}
        <FilterSelect name="who" label="Who" choices={ACTOR_KINDS} filters={filters} width={170} />
        <FilterSelect name="object" label="Object" choices={OBJECT_KINDS} filters={filters} width={170} />
        {field('id', 'search')}
        {field('from', 'datetime-local')}
        {field('to', 'datetime-local')}
        <Checkbox
          label="Denied only"
          checked={search.get('denied') === 'yes'}
          onChange={({ currentTarget }) => filters.filterBy('denied', currentTarget.checked ? 'yes' : null)}
        />
      </Group>
      <PagedList
        list={LOG}
        filter={readFilter(search)}
        filters={filters}
        row={(entry) => <AuditEntry key={entry.id} entry={entry} />}
        empty={
          <EmptyState
            icon={IconFingerprint}
            title={isFiltered ? 'No matching entries' : 'No entries yet'}
            about={
              isFiltered
                ? 'Change the filters.'
                : 'Each change of a domain, address, endpoint, rule or key appears here, with who made it.'
            }
          >
            {isFiltered && (
              <Button variant="default" onClick={filters.clear}>
                Show all entries
              </Button>
            )}
          </EmptyState>
        }
      />
    </>
  );
}

function readFilter(search: URLSearchParams): AuditFilter {
  const filter: AuditFilter = {};
  const who = ACTOR_KINDS.find(({ value }) => value === search.get('who'))?.value;
  const kind = OBJECT_KINDS.find(({ value }) => value === search.get('object'))?.value;
  const [actor, id] = [search.get('actor'), search.get('id')];
  const [since, until] = [readLocalTime(search.get('from')), readLocalTime(search.get('to'))];
  if (who !== undefined) filter.actorKind = who;
  if (kind !== undefined) filter.objectKind = kind;
  if (actor !== null) filter.actor = actor;
  if (id !== null) filter.objectId = id;
  if (search.get('denied') === 'yes') filter.isDenied = true;
  if (since !== null) filter.since = since;
  if (until !== null) filter.until = until;
  return filter;
}

/** Returns the same filter for REST. */
function exportQuery(search: URLSearchParams): string {
  const { actorKind, objectKind, objectId, isDenied, ...rest } = readFilter(search);
  const query = new URLSearchParams();
  const given = { actor_kind: actorKind?.toLowerCase(), object_kind: objectKind, object_id: objectId, ...rest };
  for (const [name, value] of Object.entries(given)) if (typeof value === 'string') query.set(name, value);
  if (isDenied === true) query.set('is_denied', 'true');
  return query.toString();
}
