import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { counted, formatCount } from '../../parts/counted.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { needs } from '../../parts/needs.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Row } from '../../parts/row-list.tsx';
import { useAct } from '../../parts/use-act.ts';
import { DELETE, type ShownCustomer, UPDATE, USAGE } from './customer-documents.ts';
import { QuotaFields, quotasOf, valuesOf } from './quota-fields.tsx';

/** Milliseconds until the progress of a deletion is read again. */
const PROGRESS_MS = 3_000;

/** The workspace of a customer, with what can be done about it. */
export function CustomerRow({ customer, changed }: { customer: ShownCustomer; changed: () => void }) {
  const { id, clientId, name, status, createdAt, suspendedAt } = customer;
  const [isShown, setShown] = useState(false);
  const suspend = useAct(UPDATE);
  const remove = useAct(DELETE, { done: `${name} is being deleted.` });
  const isDeleting = status === 'DELETING';
  return (
    <Row
      name={
        <Group gap="xs">
          <Text fw={600} size="sm" className="postroom-wrap">
            {name}
          </Text>
          {status !== 'ACTIVE' && <Badge variant="default">{isDeleting ? 'being deleted' : 'suspended'}</Badge>}
        </Group>
      }
      about={
        <>
          Customer {clientId}, created <RelativeTime at={createdAt} />
          {suspendedAt !== null && !isDeleting && (
            <>
              , suspended <RelativeTime at={suspendedAt} />
            </>
          )}
        </>
      }
      actions={
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            aria-expanded={isShown}
            aria-label={`Usage of ${name}`}
            onClick={() => setShown(!isShown)}
          >
            Usage
          </Button>
          {!isDeleting && (
            <>
              <ChangeQuotas customer={customer} changed={changed} />
              {status === 'SUSPENDED' ? (
                <Button
                  {...needs('workspaces')}
                  variant="default"
                  size="xs"
                  aria-label={`Resume ${name}`}
                  loading={suspend.isBusy}
                  onClick={() => void suspend.act({ input: { id, isSuspended: false } }).then(changed)}
                >
                  Resume
                </Button>
              ) : (
                <ConfirmButton
                  {...needs('workspaces')}
                  label="Suspend"
                  aria-label={`Suspend ${name}`}
                  question={`Suspend ${name}?`}
                  about="Its API keys are refused and mail to it is deferred until you resume it. Nothing is lost."
                  confirm="Suspend workspace"
                  act={() => suspend.act({ input: { id, isSuspended: true } }).then(changed)}
                />
              )}
              <ConfirmButton
                {...needs('workspaces')}
                label="Delete"
                aria-label={`Delete ${name}`}
                question={`Delete ${name}?`}
                about="Its API keys and domains end at once, and all of its mail is erased. This cannot be undone."
                confirm="Delete workspace"
                act={() => remove.act({ input: { id } }).then(changed)}
              />
            </>
          )}
        </Group>
      }
    >
      {(isShown || isDeleting) && <Usage customer={customer} changed={changed} />}
    </Row>
  );
}

function Usage({ customer: { id, quotas, status }, changed }: { customer: ShownCustomer; changed: () => void }) {
  const [{ data, error }, refresh] = useQuery({ query: USAGE, variables: { id }, requestPolicy: 'network-only' });
  const isDeleting = status === 'DELETING';
  useEffect(() => {
    if (!isDeleting) return;
    const timer = window.setInterval(() => refresh({ requestPolicy: 'network-only' }), PROGRESS_MS);
    return () => window.clearInterval(timer);
  }, [isDeleting, refresh]);
  // The workspace is gone when its usage is not found any more.
  const isGone = isDeleting && error !== undefined;
  useEffect(() => {
    if (isGone) changed();
    // oxlint-disable-next-line react/exhaustive-deps -- once
  }, [isGone]);
  const usage = data?.customerWorkspaceUsage;
  if (isDeleting)
    return (
      <Text size="sm" role="status">
        {usage?.rowsLeft == null
          ? 'Its data is being erased.'
          : `Its data is being erased: ${leftOf(usage.rowsLeft)} left.`}
      </Text>
    );
  if (error !== undefined) return <ErrorNote error={error} retry={() => refresh({ requestPolicy: 'network-only' })} />;
  if (usage == null) return null;
  const today = usage.days.find(({ day }) => String(day).slice(0, 10) === new Date().toISOString().slice(0, 10));
  const mail = (today?.mailIn ?? 0) + (today?.mailOut ?? 0);
  const of = (used: string, limit: string | null) => (limit === null ? used : `${used} of ${limit}`);
  const limit = (value: number | null | undefined) => (value == null ? null : formatCount(value));
  const stored = quotas?.storedBytes;
  const sums = usage.days.reduce(
    (sum, { mailIn, mailOut, requests }) => ({
      mailIn: sum.mailIn + mailIn,
      mailOut: sum.mailOut + mailOut,
      requests: sum.requests + requests,
    }),
    { mailIn: 0, mailOut: 0, requests: 0 },
  );
  return (
    <Stack gap={2} className="postroom-figures">
      <Text size="sm">
        {of(counted(mail, 'email'), limit(quotas?.mailPerDay))} today (UTC),{' '}
        {of(counted(usage.domains, 'domain'), limit(quotas?.domains))},{' '}
        {of(counted(usage.addresses, 'address', 'addresses'), limit(quotas?.addresses))},{' '}
        {of(`${megabytes(usage.storedBytes ?? 0)} stored`, stored == null ? null : megabytes(stored))}
      </Text>
      <Text size="sm" c="dimmed">
        In 30 days: {counted(sums.mailIn, 'email')} received, {formatCount(sums.mailOut)} sent,{' '}
        {counted(sums.requests, 'logged request')}
      </Text>
    </Stack>
  );
}

function ChangeQuotas({ customer, changed }: { customer: ShownCustomer; changed: () => void }) {
  const { id, name, quotas } = customer;
  const { act, isBusy } = useAct(UPDATE, { done: 'The quotas were saved.' });
  const [isOpen, setOpen] = useState(false);
  const [values, setValues] = useState(() => valuesOf(quotas));
  const save = async () => {
    const { problem } = await act({ input: { id, quotas: quotasOf(values) } });
    if (problem !== null) return;
    setOpen(false);
    changed();
  };
  return (
    <>
      <Button
        {...needs('workspaces')}
        variant="default"
        size="xs"
        aria-label={`Quotas of ${name}`}
        onClick={() => {
          setValues(valuesOf(quotas));
          setOpen(true);
        }}
      >
        Quotas
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={`Quotas of ${name}`} centered>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <Stack>
            <Text size="sm">A quota below what is used takes effect for what is added from then on.</Text>
            <QuotaFields values={values} change={setValues} />
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setOpen(false)}>
                Cancel
              </Button>
              <Button type="submit" loading={isBusy}>
                Save quotas
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
}

/** Counting stops at this number of rows. */
const MAX_COUNTED = 100_000;

function leftOf(rows: number): string {
  return rows >= MAX_COUNTED ? `more than ${formatCount(rows)} rows` : counted(rows, 'row');
}
