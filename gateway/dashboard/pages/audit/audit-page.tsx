import { Badge, Checkbox, Collapse, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { connection, type ResultOf, type VariablesOf } from '../../graphql.ts';
import { makeChoices } from '../../parts/choices.ts';
import { QuietButton } from '../../parts/controls.tsx';
import {
  ChoiceFilter,
  FilterBar,
  listSource,
  PagedList,
  PressedRow,
  TextFilter,
  type UrlFilters,
  useUrlFilters,
} from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Hint, Small } from '../../parts/text.tsx';
import { Face } from '../../parts/thumbnail.tsx';
import { exactTime, formatCount } from '../../parts/words.ts';
import { Json } from '../activity/delivery-parts.tsx';
import { useTeam } from '../inbox/people.ts';

const AUDIT_LOG = connection(`auditEntries($filter: AuditEntryFilter) {
  id actorKind actorId actorName clientAddress userAgent requestId action objectKind objectId objectName before
  after isDenied reason times createdAt
}`);
type AuditFilter = NonNullable<VariablesOf<typeof AUDIT_LOG>['filter']>;
type ShownEntry = ResultOf<typeof AUDIT_LOG>['auditEntries']['edges'][number]['node'];

const LIST = listSource({ label: 'Audit log', query: AUDIT_LOG, size: 50, types: ['AuditEntry'] });

const ACTOR_KINDS = makeChoices({ PERSON: 'People', KEY: 'API keys', SYSTEM: 'The service' });

/** Kinds of objects, by their names in the log. */
const OBJECT_KINDS = [
  { value: 'workspace', label: 'Workspace' },
  { value: 'account', label: 'Exports' },
  { value: 'member', label: 'Members' },
  { value: 'invitation', label: 'Invitations' },
  { value: 'person', label: 'People' },
  { value: 'session', label: 'Sign-ins' },
  { value: 'password', label: 'Passwords' },
  { value: 'passkey', label: 'Passkeys' },
  { value: 'api_key', label: 'API keys' },
  { value: 'domain', label: 'Domains' },
  { value: 'dkim_key', label: 'DKIM keys' },
  { value: 'email_address', label: 'Addresses' },
  { value: 'reply_address', label: 'Reply addresses' },
  { value: 'endpoint', label: 'Endpoints' },
  { value: 'guard_rule', label: 'Guard rules' },
  { value: 'suppression', label: 'Suppressions' },
  { value: 'image_sender', label: 'Image senders' },
  { value: 'approval', label: 'Approvals' },
  { value: 'retention', label: 'Retention' },
  { value: 'audit', label: 'Exports of the log' },
  { value: 'request', label: 'Refused requests' },
] as const;

/** Maximum length of a filter: that of an address. Characters. */
const MAX_FILTER = 320;

/** Who changed what: the audit log with filters. */
export function AuditPage() {
  const filters = useUrlFilters(['actor', 'who', 'object', 'id', 'denied', 'from', 'to']);
  const filter = readFilter(filters);
  return (
    <Page
      title="Audit log"
      about="Changes of settings, sign-ins and refused requests, with who made them and from where. Entries cannot be changed or deleted."
      actions={
        <QuietButton label="Export" icon="download" href={`/api/e2/audit.ndjson?${exportQuery(filter)}`} download />
      }
    >
      <FilterBar filters={filters}>
        <TextFilter name="actor" label="Person or key" maxLength={MAX_FILTER} />
        <ChoiceFilter name="who" label="Who" any="Anyone" choices={ACTOR_KINDS} width={170} />
        <ChoiceFilter name="object" label="Object" any="All objects" choices={OBJECT_KINDS} width={170} />
        <TextFilter name="id" label="Object ID" maxLength={MAX_FILTER} />
        <TextFilter name="from" label="From" type="datetime-local" />
        <TextFilter name="to" label="To" type="datetime-local" />
        <Checkbox
          label="Denied only"
          checked={filter.isDenied === true}
          onChange={({ currentTarget }) => filters.filterBy('denied', currentTarget.checked ? 'yes' : null)}
        />
      </FilterBar>
      <PagedList
        list={LIST}
        variables={{ filter }}
        filters={filters}
        empty={{
          icon: 'fingerprint',
          title: 'No entries yet',
          about: 'Each change of a domain, address, endpoint, rule or key appears here, with who made it.',
          filtered: { title: 'No matching entries', about: 'Change the filters.', all: 'Show all entries' },
        }}
      >
        {(entry) => <AuditEntry key={entry.id} entry={entry} />}
      </PagedList>
    </Page>
  );
}

function readFilter(filters: UrlFilters): AuditFilter {
  return {
    actorKind: filters.choice('who', ACTOR_KINDS),
    objectKind: filters.choice('object', OBJECT_KINDS),
    actor: filters.get('actor'),
    objectId: filters.get('id'),
    isDenied: filters.get('denied') === 'yes' ? true : null,
    since: filters.time('from'),
    until: filters.time('to'),
  };
}

/** Returns the same filter for REST. */
function exportQuery({ actorKind, objectKind, objectId, isDenied, ...rest }: AuditFilter): string {
  const query = new URLSearchParams();
  const given = { actor_kind: actorKind?.toLowerCase(), object_kind: objectKind, object_id: objectId, ...rest };
  for (const [name, value] of Object.entries(given)) if (typeof value === 'string') query.set(name, value);
  if (isDenied === true) query.set('is_denied', 'true');
  return query.toString();
}

/** An entry of the audit log, with its details when it is opened. */
function AuditEntry({ entry }: { entry: ShownEntry }) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const actor = useTeam().members.find(({ id }) => id === entry.actorId);
  const { action, objectName, objectId, isDenied, times, createdAt } = entry;
  const name = (
    <>
      {isDenied && (
        <Badge color="red" variant="outline">
          Denied
        </Badge>
      )}
      <Small className="postroom-wrap" miw={0}>
        <b>{action}</b> {objectName ?? objectId}
        {times > 1 && ` (${formatCount(times)} times)`}
      </Small>
    </>
  );
  const about = (
    <Group component="span" gap={6} wrap="nowrap">
      {actor !== undefined && <Face name={actor.called} image={actor.image} size={20} />}
      {nameActor(entry)} · <RelativeTime at={createdAt} />
    </Group>
  );
  return (
    <PressedRow name={name} about={about} press={toggle} isExpanded={isOpen}>
      <Collapse expanded={isOpen}>
        <EntryDetails entry={entry} />
      </Collapse>
    </PressedRow>
  );
}

function EntryDetails({ entry }: { entry: ShownEntry }) {
  const { createdAt, clientAddress, userAgent, requestId, reason, objectId, before, after } = entry;
  return (
    <Stack gap={4} px="sm" pb="sm">
      <Small>
        {exactTime(createdAt)}, {nameActor(entry)}
        {clientAddress !== null && `, from ${clientAddress}`}
      </Small>
      {reason !== null && <Small>{reason}</Small>}
      <Hint className="postroom-wrap">
        {[objectId, userAgent, requestId === null ? null : `Request ID ${requestId}`]
          .filter((text) => text !== null)
          .join(' · ')}
      </Hint>
      {before !== null && <Json text={JSON.stringify(before)} label="Before" />}
      {after !== null && <Json text={JSON.stringify(after)} label="After" />}
    </Stack>
  );
}

/** Returns who made a change, for a person. */
function nameActor({ actorKind, actorName }: ShownEntry): string {
  if (actorKind === 'SYSTEM') return 'The service';
  if (actorKind === 'LINK') return 'A signed link';
  return actorName ?? 'Unknown';
}
