import { Badge, Group, SimpleGrid, Stack } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { connection, mutation, record } from '../../graphql.ts';
import { ActButton, ConfirmButton, DialogButton } from '../../parts/buttons.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { FIELDS, RecordForm, useRecordForm } from '../../parts/form.tsx';
import {
  FilterBar,
  type ListRow,
  listSource,
  PagedList,
  Row,
  RowName,
  TextFilter,
  useUrlFilters,
} from '../../parts/list.tsx';
import { ErrorNote, Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Hint, Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted, formatCount } from '../../parts/words.ts';

const LIST = listSource({
  label: 'Workspaces of customers',
  query: connection(`customerWorkspaces($filter: CustomerWorkspaceFilter) {
    id clientId name status createdAt suspendedAt quotas { mailPerDay domains addresses storedBytes }
  }`),
  size: 25,
  types: ['CustomerWorkspace'],
  // No event says that a workspace is gone at last.
  reloadMs: 10_000,
});
type Customer = ListRow<typeof LIST>;

/** The workspaces that this one keeps for its customers. */
export function CustomersPage() {
  const filters = useUrlFilters(['q']);
  const clientId = filters.get('q');
  return (
    <Page
      title="Customers"
      about="Workspaces that your product keeps for its customers, each with domains, mail and keys of its own."
      actions={
        <DialogButton
          variant="filled"
          size="sm"
          icon="plus"
          needed="workspaces"
          label="Create workspace"
          title="Create workspace"
        >
          {(close) => <CreateForm done={close} />}
        </DialogButton>
      }
    >
      <FilterBar filters={filters}>
        <TextFilter label="Customer ID" placeholder="Whole customer ID" />
      </FilterBar>
      <PagedList
        list={LIST}
        variables={{ filter: clientId === null ? {} : { clientId } }}
        filters={filters}
        empty={{
          icon: 'building',
          title: 'No workspaces yet',
          about:
            'A workspace gives one customer of your product a mailbox. Create the first here, or with POST /api/e2/workspaces.',
          filtered: { title: 'No workspace with this customer ID', about: 'Enter the whole ID.', all: 'Show all' },
        }}
      >
        {(customer) => <CustomerRow key={customer.id} customer={customer} />}
      </PagedList>
    </Page>
  );
}

const UPDATE = mutation('updateCustomerWorkspace', 'customerWorkspace { id status }');
const DELETE = mutation('deleteCustomerWorkspace', 'customerWorkspace { id status }');

/** The workspace of a customer, with what can be done about it. */
function CustomerRow({ customer }: { customer: Customer }) {
  const { id, clientId, name, status, createdAt, suspendedAt } = customer;
  const [isShown, setShown] = useState(false);
  const { act: suspend } = useAct(UPDATE);
  const { act: remove } = useAct(DELETE, { done: `${name} is being deleted.` });
  const isDeleting = status === 'DELETING';
  return (
    <Row
      name={
        <Group gap="xs">
          <RowName>{name}</RowName>
          {status !== 'ACTIVE' && <Badge variant="default">{isDeleting ? 'being deleted' : 'suspended'}</Badge>}
        </Group>
      }
      about={
        <>
          Customer {clientId}, created <RelativeTime at={createdAt} />
          {suspendedAt !== null && !isDeleting && <RelativeTime at={suspendedAt} prefix=", suspended " />}
        </>
      }
      actions={
        <Group gap="xs">
          <QuietButton
            label="Usage"
            size="xs"
            aria-expanded={isShown}
            aria-label={`Usage of ${name}`}
            onClick={() => setShown(!isShown)}
          />
          {!isDeleting && (
            <>
              <DialogButton
                needed="workspaces"
                label="Quotas"
                aria-label={`Quotas of ${name}`}
                title={`Quotas of ${name}`}
              >
                {(close) => <QuotaForm customer={customer} close={close} />}
              </DialogButton>
              {status === 'SUSPENDED' ? (
                <ActButton
                  label="Resume"
                  needed="workspaces"
                  aria-label={`Resume ${name}`}
                  mutation={UPDATE}
                  input={{ id, isSuspended: false }}
                />
              ) : (
                <ConfirmButton
                  needed="workspaces"
                  label="Suspend"
                  of={name}
                  about="Its API keys are refused and mail to it is deferred until you resume it. Nothing is lost."
                  confirm="Suspend workspace"
                  act={() => suspend({ id, isSuspended: true })}
                />
              )}
              <ConfirmButton
                needed="workspaces"
                label="Delete"
                of={name}
                about="Its API keys and domains end at once, and all of its mail is erased. This cannot be undone."
                confirm="Delete workspace"
                act={() => remove({ id })}
              />
            </>
          )}
        </Group>
      }
    >
      {isDeleting ? <DeletionProgress id={id} /> : isShown && <Usage id={id} quotas={customer.quotas} />}
    </Row>
  );
}

const USAGE = record(
  `customerWorkspaceUsage { domains addresses storedBytes rowsLeft days { day mailIn mailOut requests } }`,
);

/** Milliseconds until the progress of a deletion is read again. */
const PROGRESS_MS = 3_000;
/** Counting stops at this number of rows. */
const MAX_COUNTED = 100_000;

function DeletionProgress({ id }: { id: string }) {
  const [{ data }, refresh] = useQuery({ query: USAGE, variables: { id }, requestPolicy: 'network-only' });
  useEffect(() => {
    const timer = window.setInterval(() => refresh({ requestPolicy: 'network-only' }), PROGRESS_MS);
    return () => window.clearInterval(timer);
  }, [refresh]);
  const rows = data?.customerWorkspaceUsage.rowsLeft ?? null;
  const left = rows !== null && rows >= MAX_COUNTED ? `more than ${formatCount(rows)} rows` : counted(rows ?? 0, 'row');
  return (
    <Small role="status">
      {rows === null ? 'Its data is being erased.' : `Its data is being erased: ${left} left.`}
    </Small>
  );
}

function Usage({ id, quotas }: { id: string; quotas: Customer['quotas'] }) {
  const [{ data, error }, refresh] = useQuery({ query: USAGE, variables: { id }, requestPolicy: 'network-only' });
  const usage = data?.customerWorkspaceUsage;
  if (error !== undefined) return <ErrorNote error={error} retry={() => refresh({ requestPolicy: 'network-only' })} />;
  if (usage == null) return null;
  const today = findToday(usage.days);
  const of = (used: string, limit: number | null | undefined, write = formatCount) =>
    limit == null ? used : `${used} of ${write(limit)}`;
  const sum = (name: 'mailIn' | 'mailOut' | 'requests') => usage.days.reduce((total, each) => total + each[name], 0);
  return (
    <Stack gap={2} className="postroom-figures">
      <Small>
        {of(counted((today?.mailIn ?? 0) + (today?.mailOut ?? 0), 'email'), quotas?.mailPerDay)} today (UTC),{' '}
        {of(counted(usage.domains, 'domain'), quotas?.domains)},{' '}
        {of(counted(usage.addresses, 'address', 'addresses'), quotas?.addresses)},{' '}
        {of(`${megabytes(usage.storedBytes ?? 0)} stored`, quotas?.storedBytes, megabytes)}
      </Small>
      <Hint>
        In 30 days: {counted(sum('mailIn'), 'email')} received, {formatCount(sum('mailOut'))} sent,{' '}
        {counted(sum('requests'), 'logged request')}
      </Hint>
    </Stack>
  );
}

function findToday<Day extends { day: unknown }>(days: readonly Day[]): Day | undefined {
  const today = new Date().toISOString().slice(0, 10);
  return days.find(({ day }) => String(day).slice(0, 10) === today);
}

function megabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
}

const MEGABYTE = 1_000_000;
type Quota = number | '';

/** Returns the quotas of a workspace as a form has them: an empty text is no limit, and stored mail is in megabytes. */
function readQuotas(quotas: Customer['quotas']) {
  const storedBytes = quotas?.storedBytes ?? null;
  return {
    mailPerDay: (quotas?.mailPerDay ?? '') as Quota,
    domains: (quotas?.domains ?? '') as Quota,
    addresses: (quotas?.addresses ?? '') as Quota,
    storedMegabytes: (storedBytes === null ? '' : storedBytes / MEGABYTE) as Quota,
  };
}

/** Returns the quotas as the interface takes them. */
function writeQuotas({ mailPerDay, domains, addresses, storedMegabytes }: ReturnType<typeof readQuotas>) {
  const given = (value: Quota) => (value === '' ? null : value);
  return {
    mailPerDay: given(mailPerDay),
    domains: given(domains),
    addresses: given(addresses),
    storedBytes: storedMegabytes === '' ? null : storedMegabytes * MEGABYTE,
  };
}

const QUOTA_LABELS = {
  mailPerDay: 'Emails per day',
  domains: 'Domains',
  addresses: 'Addresses',
  storedMegabytes: 'Stored mail, MB',
};

/** Fields of the quotas of a workspace, in a form that has them. */
function QuotaFields() {
  return (
    <SimpleGrid cols={2}>
      {Object.entries(QUOTA_LABELS).map(([name, label]) => (
        <FIELDS.Number
          key={name}
          name={name}
          label={label}
          min={0}
          max={1_000_000_000}
          allowDecimal={name === 'storedMegabytes'}
        />
      ))}
    </SimpleGrid>
  );
}

function QuotaForm({ customer: { id, quotas }, close }: { customer: Customer; close: () => void }) {
  const { act } = useAct(UPDATE, { quiet: true, done: 'The quotas were saved.' });
  const form = useRecordForm({
    values: readQuotas(quotas),
    submit: (values) => act({ id, quotas: writeQuotas(values) }),
    saved: close,
  });
  return (
    <RecordForm form={form} submit="Save quotas" cancel={close}>
      <Small>A quota below what is used takes effect for what is added from then on.</Small>
      <QuotaFields />
    </RecordForm>
  );
}

const CREATE = mutation('createCustomerWorkspace', 'customerWorkspace { id name }');

function CreateForm({ done }: { done: () => void }) {
  const { act } = useAct(CREATE, { quiet: true, done: 'The workspace was created.' });
  const form = useRecordForm({
    values: { clientId: '', name: '', ...readQuotas(null) },
    validate: { clientId: (text) => (text.trim() === '' ? 'Enter the ID that the customer has with you.' : null) },
    submit: ({ clientId, name, ...quotas }) =>
      act({ clientId: clientId.trim(), name: name.trim() || null, quotas: writeQuotas(quotas) }),
    saved: done,
  });
  return (
    <RecordForm form={form} submit="Create workspace">
      <form.Text
        name="clientId"
        label="Customer ID"
        description="The ID that the customer has with you. The same ID leads to the same workspace."
        required
        maxLength={100}
        data-autofocus
      />
      <form.Text name="name" label="Name" maxLength={100} />
      <QuotaFields />
    </RecordForm>
  );
}
