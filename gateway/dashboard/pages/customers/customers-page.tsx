import { Badge, Group, Modal, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActButton, ConfirmButton, CreateButton, DialogButton } from '../../parts/buttons.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { FIELDS, RecordForm, useRecordForm } from '../../parts/form.tsx';
import { IconBuilding } from '../../parts/icons.ts';
import { Row, RowName, Rows } from '../../parts/list.tsx';
import { EmptyState, ErrorNote, PageHeader } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Loaded } from '../../parts/section.tsx';
import { Hint, Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted, formatCount } from '../../parts/words.ts';

const CUSTOMERS = graphql(`
  query DashboardCustomers($first: Int!, $after: String, $filter: CustomerWorkspaceFilter) {
    customerWorkspaces(first: $first, after: $after, filter: $filter) {
      totalCount
      nodes { id clientId name status createdAt suspendedAt quotas { mailPerDay domains addresses storedBytes } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);
type Customer = ResultOf<typeof CUSTOMERS>['customerWorkspaces']['nodes'][number];

/** Workspaces that are shown at first. */
const PAGE = 25;
/** The largest page of the interface; the filter finds the others. */
const MAX_WORKSPACES = 100;

/** The workspaces that this one keeps for its customers. */
export function CustomersPage() {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const [first, setFirst] = useState(PAGE);
  const [clientId, setClientId] = useState('');
  const sought = clientId.trim();
  const query = useLiveQuery({
    query: CUSTOMERS,
    variables: { first, filter: sought === '' ? {} : { clientId: sought } },
    types: ['CustomerWorkspace'],
  });
  return (
    <>
      <PageHeader
        title="Customers"
        about="Workspaces that your product keeps for its customers, each with domains, mail and keys of its own."
      >
        <CreateButton needed="workspaces" onClick={() => setOpen(true)}>
          Create workspace
        </CreateButton>
      </PageHeader>
      <Stack gap="md">
        <TextInput
          label="Customer ID"
          placeholder="All customers"
          value={clientId}
          onChange={({ currentTarget }) => setClientId(currentTarget.value)}
          maw={320}
        />
        <Loaded query={query}>
          {({ customerWorkspaces: { nodes, totalCount, pageInfo } }) => (
            <>
              {nodes.length === 0 ? (
                <EmptyState
                  icon={IconBuilding}
                  title={clientId === '' ? 'No workspaces yet' : 'No workspace with this customer ID'}
                  about="A workspace gives one customer of your product a mailbox. Create the first here, or with POST /api/e2/workspaces."
                />
              ) : (
                <>
                  <Hint>{counted(totalCount, 'workspace')}</Hint>
                  <Rows label="Workspaces of customers">
                    {nodes.map((customer) => (
                      <CustomerRow key={customer.id} customer={customer} changed={query.refresh} />
                    ))}
                  </Rows>
                </>
              )}
              {pageInfo.hasNextPage && first < MAX_WORKSPACES && (
                <Group>
                  <QuietButton label="Show more" onClick={() => setFirst(Math.min(MAX_WORKSPACES, first + PAGE))} />
                </Group>
              )}
            </>
          )}
        </Loaded>
      </Stack>
      <Modal opened={isOpen} onClose={close} title="Create workspace" centered>
        <CreateForm
          done={() => {
            close();
            query.refresh();
          }}
        />
      </Modal>
    </>
  );
}

const UPDATE = mutation('updateCustomerWorkspace', 'customerWorkspace { id status }');
const DELETE = mutation('deleteCustomerWorkspace', 'customerWorkspace { id status }');

/** The workspace of a customer, with what can be done about it. */
function CustomerRow({ customer, changed }: { customer: Customer; changed: () => void }) {
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
                {(close) => <QuotaForm customer={customer} cancel={close} changed={changed} />}
              </DialogButton>
              {status === 'SUSPENDED' ? (
                <ActButton
                  needed="workspaces"
                  aria-label={`Resume ${name}`}
                  mutation={UPDATE}
                  input={{ id, isSuspended: false }}
                  onDone={changed}
                >
                  Resume
                </ActButton>
              ) : (
                <ConfirmButton
                  needed="workspaces"
                  label="Suspend"
                  aria-label={`Suspend ${name}`}
                  question={`Suspend ${name}?`}
                  about="Its API keys are refused and mail to it is deferred until you resume it. Nothing is lost."
                  confirm="Suspend workspace"
                  act={() => suspend({ id, isSuspended: true }).then(changed)}
                />
              )}
              <ConfirmButton
                needed="workspaces"
                label="Delete"
                aria-label={`Delete ${name}`}
                question={`Delete ${name}?`}
                about="Its API keys and domains end at once, and all of its mail is erased. This cannot be undone."
                confirm="Delete workspace"
                act={() => remove({ id }).then(changed)}
              />
            </>
          )}
        </Group>
      }
    >
      {isDeleting ? (
        <DeletionProgress id={id} ended={changed} />
      ) : (
        isShown && <Usage id={id} quotas={customer.quotas} />
      )}
    </Row>
  );
}

const USAGE = graphql(`
  query DashboardCustomerUsage($id: ID!) {
    customerWorkspaceUsage(id: $id) { domains addresses storedBytes rowsLeft days { day mailIn mailOut requests } }
  }
`);

/** Milliseconds until the progress of a deletion is read again. */
const PROGRESS_MS = 3_000;
/** Counting stops at this number of rows. */
const MAX_COUNTED = 100_000;

function DeletionProgress({ id, ended }: { id: string; ended: () => void }) {
  const [{ data, error }, refresh] = useQuery({ query: USAGE, variables: { id }, requestPolicy: 'network-only' });
  useEffect(() => {
    const timer = window.setInterval(() => refresh({ requestPolicy: 'network-only' }), PROGRESS_MS);
    return () => window.clearInterval(timer);
  }, [refresh]);
  // The workspace is gone when its usage is not found any more.
  const isGone = error !== undefined;
  useEffect(() => {
    if (isGone) ended();
    // oxlint-disable-next-line react/exhaustive-deps -- once
  }, [isGone]);
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

type QuotaFormProps = { customer: Customer; cancel: () => void; changed: () => void };

function QuotaForm({ customer: { id, quotas }, cancel, changed }: QuotaFormProps) {
  const { act } = useAct(UPDATE, { quiet: true, done: 'The quotas were saved.' });
  const form = useRecordForm({
    values: readQuotas(quotas),
    submit: (values) => act({ id, quotas: writeQuotas(values) }),
    saved: () => {
      cancel();
      changed();
    },
  });
  return (
    <RecordForm form={form} submit="Save quotas" cancel={cancel}>
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
