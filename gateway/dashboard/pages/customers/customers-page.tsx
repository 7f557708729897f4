import { Button, Group, Modal, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { formatCount } from '../../parts/counted.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconBuilding, IconPlus } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Rows } from '../../parts/row-list.tsx';
import { useAct } from '../../parts/use-act.ts';
import { CREATE, CUSTOMERS } from './customer-documents.ts';
import { CustomerRow } from './customer-row.tsx';
import { QuotaFields, type QuotaValues, quotasOf, UNLIMITED } from './quota-fields.tsx';

/** Workspaces of one page of the list. */
const PAGE = 25;

/** The workspaces that this one keeps for its customers. */
export function CustomersPage() {
  const [isOpen, setOpen] = useState(false);
  const [first, setFirst] = useState(PAGE);
  const [clientId, setClientId] = useState('');
  const filter = clientId.trim() === '' ? {} : { clientId: clientId.trim() };
  const [{ data, error, fetching }, refresh] = useQuery({
    query: CUSTOMERS,
    variables: { first, filter },
    requestPolicy: 'network-only',
  });
  const again = () => refresh({ requestPolicy: 'network-only' });
  const found = data?.customerWorkspaces;
  return (
    <>
      <PageHeader
        title="Customers"
        about="Workspaces that your product keeps for its customers, each with domains, mail and keys of its own."
      >
        <Button {...needs('workspaces')} leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setOpen(true)}>
          Create workspace
        </Button>
      </PageHeader>
      <Stack gap="md">
        <TextInput
          label="Customer ID"
          placeholder="All customers"
          value={clientId}
          onChange={({ currentTarget }) => setClientId(currentTarget.value)}
          maw={320}
        />
        {error !== undefined && <ErrorNote error={error} retry={again} />}
        {found === undefined && error === undefined && <Skeleton h={200} aria-label="Loading" />}
        {found !== undefined && found.nodes.length === 0 && (
          <EmptyState
            icon={IconBuilding}
            title={clientId === '' ? 'No workspaces yet' : 'No workspace with this customer ID'}
            about="A workspace gives one customer of your product a mailbox. Create the first here, or with POST /api/e2/workspaces."
          />
        )}
        {found !== undefined && found.nodes.length > 0 && (
          <>
            <Text size="sm" c="dimmed">
              {found.totalCount === 1 ? '1 workspace' : `${formatCount(found.totalCount)} workspaces`}
            </Text>
            <Rows label="Workspaces of customers">
              {found.nodes.map((customer) => (
                <CustomerRow key={customer.id} customer={customer} changed={again} />
              ))}
            </Rows>
          </>
        )}
        {found?.pageInfo.hasNextPage === true && first < MOST && (
          <Group>
            <Button variant="default" loading={fetching} onClick={() => setFirst(Math.min(MOST, first + PAGE))}>
              Show more
            </Button>
          </Group>
        )}
      </Stack>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Create workspace"
        closeButtonProps={{ 'aria-label': 'Close' }}
        centered
      >
        <CreateForm
          done={() => {
            setOpen(false);
            again();
          }}
        />
      </Modal>
    </>
  );
}

/** The largest page of the interface; the filter finds the others. */
const MOST = 100;

function CreateForm({ done }: { done: () => void }) {
  const { act, isBusy } = useAct(CREATE, { quiet: true, done: 'The workspace was created.' });
  const [values, setValues] = useState<{ clientId: string; name: string; quotas: QuotaValues }>({
    clientId: '',
    name: '',
    quotas: UNLIMITED,
  });
  const [problem, setProblem] = useState<string | null>(null);
  const send = async () => {
    const { clientId, name, quotas } = values;
    const input = { clientId: clientId.trim(), name: name.trim() || null, quotas: quotasOf(quotas) };
    const outcome = await act({ input });
    if (outcome.problem === null) done();
    else setProblem(Object.values(outcome.problem.fields)[0] ?? outcome.problem.message);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Stack>
        <TextInput
          label="Customer ID"
          description="The ID that the customer has with you. The same ID leads to the same workspace."
          required
          maxLength={100}
          value={values.clientId}
          onChange={({ currentTarget }) => setValues({ ...values, clientId: currentTarget.value })}
          error={problem}
          data-autofocus
        />
        <TextInput
          label="Name"
          maxLength={100}
          value={values.name}
          onChange={({ currentTarget }) => setValues({ ...values, name: currentTarget.value })}
        />
        <QuotaFields values={values.quotas} change={(quotas) => setValues({ ...values, quotas })} />
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy}>
            Create workspace
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
