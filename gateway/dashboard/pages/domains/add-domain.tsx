import { Alert, Anchor, Button, Group, Skeleton, Stack, Stepper, Text } from '@mantine/core';
import { Link, useLocation, useSearchParams } from 'wouter';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconCircleCheck, IconWorldOff } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { AddressForm } from '../addresses/address-form.tsx';
import { AwaitRecords } from './await-records.tsx';
import { ConflictNote, ProviderNote } from './domain-advice.tsx';
import type { ShownDomain } from './domain-documents.ts';
import { NameForm } from './name-form.tsx';
import { CopyAllRecords, RecordList } from './record-list.tsx';
import { Section } from './section.tsx';
import { useDomain } from './use-domain.ts';

/** Steps that add a domain: its name, its records, the DNS check, an address. The current step is in the URL. */
export function AddDomain({ id }: { id: string | null }) {
  const [search, setSearch] = useSearchParams();
  const step = id === null ? 0 : (STEPS[search.get('step') ?? ''] ?? 1);
  const go = (next: { id?: string; step: keyof typeof STEPS }) =>
    setSearch((params) => {
      if (next.id !== undefined) params.set('new', next.id);
      params.set('step', next.step);
      return params;
    });
  return (
    <>
      <PageHeader title="Add domain">
        <Button component={Link} href="/domains" variant="default">
          All domains
        </Button>
      </PageHeader>
      <Stepper active={step} size="sm" mb="lg" aria-label="Steps" visibleFrom="sm" allowNextStepsSelect={false}>
        {['Name', 'Records', 'Check', 'Done'].map((label, index) => (
          <Stepper.Step
            key={label}
            label={label}
            allowStepSelect={false}
            aria-current={index === step ? 'step' : undefined}
          />
        ))}
      </Stepper>
      <Text size="sm" c="dimmed" hiddenFrom="sm" mb="sm">
        Step {step + 1} of 4
      </Text>
      {id === null ? (
        <NameForm done={(added) => go({ id: added.id, step: added.status === 'VERIFIED' ? 'done' : 'records' })} />
      ) : (
        <Steps id={id} step={step} go={go} />
      )}
    </>
  );
}

const STEPS: Record<string, number> = { records: 1, check: 2, done: 3 };

function Steps({ id, step, go }: { id: string; step: number; go: (next: { step: string }) => void }) {
  const { data, error, isLoading, refresh } = useDomain(id);
  const domain = data?.domain;
  if (domain == null)
    return (
      <>
        {isLoading && <Skeleton h={240} aria-label="Loading" />}
        {error !== undefined && <ErrorNote error={error} retry={refresh} />}
        {data !== undefined && (
          <EmptyState
            icon={IconWorldOff}
            title="Domain not found"
            about="It was deleted, or it belongs to another account."
          >
            <Link href="/domains?new">Start over</Link>
          </EmptyState>
        )}
      </>
    );
  if (step === 1) return <RecordsToPublish domain={domain} next={() => go({ step: 'check' })} />;
  if (step === 2)
    return (
      <AwaitRecords
        domain={domain}
        refresh={refresh}
        back={() => go({ step: 'records' })}
        next={() => go({ step: 'done' })}
      />
    );
  return <AddedDomain domain={domain} />;
}

function RecordsToPublish({ domain, next }: { domain: ShownDomain; next: () => void }) {
  return (
    <Stack maw={980}>
      <Text>
        Publish these records where the DNS of {domain.name} is kept. Only the required ones are needed to begin; the
        others let mail that you send be believed.
      </Text>
      <ProviderNote provider={domain.provider} />
      <ConflictNote conflict={domain.dnsConflict} />
      <Group justify="space-between">
        <CopyAllRecords records={domain.dnsRecords} />
        <Button onClick={next}>Check records</Button>
      </Group>
      <RecordList records={domain.dnsRecords} zone={domain.parent?.name ?? domain.name} />
      <Group justify="flex-end">
        <Button onClick={next}>Check records</Button>
      </Group>
    </Stack>
  );
}

/** Last step: the domain is added, and the user can create an address. */
function AddedDomain({ domain }: { domain: ShownDomain }) {
  const [, navigate] = useLocation();
  return (
    <Stack maw={680}>
      <Alert
        color={domain.status === 'VERIFIED' ? 'green' : 'post.6'}
        variant="outline"
        icon={<IconCircleCheck aria-hidden />}
        title={
          domain.status === 'VERIFIED' ? `${domain.name} is verified` : `${domain.name} is waiting for its DNS records`
        }
        role="status"
      >
        <Text size="sm">
          {domain.canReceive
            ? 'Postroom receives mail to its addresses.'
            : 'Postroom receives its mail once DNS has its MX record. You can create an address now.'}
        </Text>
      </Alert>
      {domain.status === 'VERIFIED' && (
        <Section title="Create the first address">
          <AddressForm domainId={domain.id} done={({ id }) => navigate(`/addresses?address=${id}`)} />
        </Section>
      )}
      <Group>
        <Anchor component={Link} href={`/domains/${domain.id}`}>
          Open {domain.name}
        </Anchor>
      </Group>
    </Stack>
  );
}
