import { Button, Checkbox, Group, Select } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterText } from '../../parts/filter-text.tsx';
import { IconDownload, IconFingerprint } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { ACTOR_KINDS, type AuditFilter, OBJECT_KINDS } from './audit-documents.ts';
import { AuditList } from './audit-list.tsx';

const FILTERS = ['actor', 'who', 'object', 'id', 'denied', 'from', 'to'];
const LABELS = { actor: 'Person or key', id: 'Object ID', from: 'From', to: 'To' } as const;

/** Who changed what: the audit log with filters. */
export function AuditPage() {
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
  const choice = (name: string, label: string, choices: readonly { value: string; label: string }[]) => (
    <Select
      aria-label={label}
      placeholder={label}
      data={[...choices]}
      value={search.get(name)}
      onChange={(value) => set({ [name]: value, pages: null })}
      clearable
      clearButtonProps={{ 'aria-label': `Any ${label.toLowerCase()}` }}
      w={170}
    />
  );
  const field = (name: keyof typeof LABELS, type: 'search' | 'datetime-local') => (
    <FilterText
      key={name}
      label={LABELS[name]}
      type={type}
      value={search.get(name) ?? ''}
      set={(value) => set({ [name]: value, pages: null })}
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
        {choice('who', 'Who', ACTOR_KINDS)}
        {choice('object', 'Object', OBJECT_KINDS)}
        {field('id', 'search')}
        {field('from', 'datetime-local')}
        {field('to', 'datetime-local')}
        <Checkbox
          label="Denied only"
          checked={search.get('denied') === 'yes'}
          onChange={({ currentTarget }) => set({ denied: currentTarget.checked ? 'yes' : null, pages: null })}
        />
      </Group>
      <AuditList
        filter={filterOf(search)}
        after={null}
        pages={pages}
        more={() => set({ pages: String(pages + 1) })}
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
              <Button variant="default" onClick={() => set(Object.fromEntries(FILTERS.map((name) => [name, null])))}>
                Show all entries
              </Button>
            )}
          </EmptyState>
        }
      />
    </>
  );
}

function filterOf(search: URLSearchParams): AuditFilter {
  const filter: AuditFilter = {};
  const who = ACTOR_KINDS.find(({ value }) => value === search.get('who'))?.value;
  const kind = OBJECT_KINDS.find(({ value }) => value === search.get('object'))?.value;
  const [actor, id] = [search.get('actor'), search.get('id')];
  const [since, until] = [instantOf(search.get('from')), instantOf(search.get('to'))];
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
  const { actorKind, objectKind, objectId, isDenied, ...rest } = filterOf(search);
  const query = new URLSearchParams();
  const given = { actor_kind: actorKind?.toLowerCase(), object_kind: objectKind, object_id: objectId, ...rest };
  for (const [name, value] of Object.entries(given)) if (typeof value === 'string') query.set(name, value);
  if (isDenied === true) query.set('is_denied', 'true');
  return query.toString();
}

/** Returns a time of this browser's zone, such as `2026-11-22T10:30`, in UTC; null if it is none. */
function instantOf(local: string | null): string | null {
  const at = Date.parse(local ?? '');
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
