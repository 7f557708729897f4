import { Alert, Group, List, Paper, Stack, Stepper, Text } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { useEffect, useEffectEvent, useState } from 'react';
import { useQuery } from 'urql';
import { useLocation, useSearchParams } from 'wouter';
import { graphql } from '../../graphql.ts';
import { useVerifiedDomains } from '../../parts/choices.ts';
import { MainButton, QuietButton } from '../../parts/controls.tsx';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.ts';
import { Page } from '../../parts/page.tsx';
import { Loaded, NotFound, Section } from '../../parts/section.tsx';
import { Hint, PageLink, Small } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useFirstField } from '../../shell/keys.ts';
import { useViewer } from '../../shell/viewer.ts';
import { AddressForm } from '../addresses/address-form.tsx';
import {
  CheckDns,
  ConflictNote,
  CopyAllRecords,
  CREATE_DOMAIN,
  ProviderNote,
  RecordList,
  type ShownDomain,
  useDnsCheck,
  useDomain,
} from './domain-records.tsx';

const STEPS: Record<string, number> = { records: 1, check: 2, done: 3 };
type Go = (next: { id?: string; step: string }) => void;

/** Steps that add a domain: its name, its records, the DNS check, an address. The current step is in the URL. */
export function AddDomain({ id }: { id: string | null }) {
  const [search, setSearch] = useSearchParams();
  const step = id === null ? 0 : (STEPS[search.get('step') ?? ''] ?? 1);
  const go: Go = (next) =>
    setSearch((params) => {
      if (next.id !== undefined) params.set('new', next.id);
      params.set('step', next.step);
      return params;
    });
  return (
    <Page title="Add domain" actions={<QuietButton label="All domains" href="/domains" />}>
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
      <Hint hiddenFrom="sm" mb="sm">
        Step {step + 1} of 4
      </Hint>
      {id === null ? (
        <NameForm done={(added) => go({ id: added.id, step: added.status === 'VERIFIED' ? 'done' : 'records' })} />
      ) : (
        <LaterSteps id={id} step={step} go={go} />
      )}
    </Page>
  );
}

function LaterSteps({ id, step, go }: { id: string; step: number; go: Go }) {
  const query = useDomain(id);
  const domain = query.data?.domain;
  if (domain == null)
    return (
      <Loaded query={query} height={240}>
        {() => (
          <NotFound icon="world-off" title="Domain not found" about="It was deleted, or it belongs to another account.">
            <PageLink href="/domains?new">Start over</PageLink>
          </NotFound>
        )}
      </Loaded>
    );
  if (step === 1) return <RecordsToPublish domain={domain} next={() => go({ step: 'check' })} />;
  if (step === 2) return <AwaitRecords domain={domain} refresh={query.refresh} go={go} />;
  return <AddedDomain domain={domain} />;
}

const SUGGESTED = graphql(`query SuggestedDomain { viewer { id suggestedDomain } }`);

/** Asks for a domain name and explains the next step. */
function NameForm({ done }: { done: (added: { id: string; status: string }) => void }) {
  useFirstField();
  const { act } = useAct(CREATE_DOMAIN, { quiet: true });
  const [taken, setTaken] = useState<string | null>(null);
  const [{ data }] = useQuery({ query: SUGGESTED, variables: {}, requestPolicy: 'network-only' });
  const suggested = data?.viewer.suggestedDomain ?? null;
  const form = useRecordForm({
    values: { domain: '' },
    validate: { domain: findNameFault },
    submit: async ({ domain }) => {
      const outcome = await act({ domain: cleanName(domain) });
      setTaken(outcome.problem?.code === 'DOMAIN_ALREADY_REGISTERED' ? cleanName(domain) : null);
      return outcome;
    },
    saved: ({ payload }) => done(payload.domain),
  });
  const name = cleanName(form.values.domain);
  // The suggestion may come after the refusal.
  const advice = suggested === null ? 'Add a subdomain or another domain.' : `Use ${suggested}, which is free.`;
  const trouble = taken === null ? form.errors['problem'] : `Another account has ${taken}. ${advice}`;
  return (
    <Paper withBorder p="lg" maw={680} bg="var(--postroom-raised)">
      <RecordForm form={{ ...form, errors: { ...form.errors, problem: trouble } }} submit="Add domain" needed="domains">
        <form.Text
          name="domain"
          label="Domain"
          description="The part after the @, such as example.com or inbound.example.com."
          placeholder="example.com"
          autoCapitalize="none"
          spellCheck={false}
          data-autofocus
          onBlur={() => form.validateField('domain')}
        />
        {suggested !== null && name !== suggested && (
          <Group gap="xs">
            <Small>To try Postroom on this machine, {suggested} needs no DNS records.</Small>
            <QuietButton
              label={`Use ${suggested}`}
              size="compact-sm"
              onClick={() => form.setFieldValue('domain', suggested)}
            />
          </Group>
        )}
        <WhatHappens name={name} />
      </RecordForm>
    </Paper>
  );
}

function cleanName(text: string): string {
  return text.trim().toLowerCase().replace(/\.$/, '');
}

function WhatHappens({ name }: { name: string }) {
  const { service } = useViewer();
  const { domains = [] } = useVerifiedDomains();
  const above = domains.find((parent) => name.endsWith(`.${parent.name}`))?.name;
  if (service.trustedDomains.includes(name) || service.trustedDomains.includes(`*.${name.replace(/^[^.]+\./, '')}`))
    return <Small>This service trusts the domain. It is verified at once, without DNS records.</Small>;
  if (above !== undefined)
    return (
      <Small>
        It is a subdomain of {above}, which you own. It is verified at once and uses the same DKIM key. To receive mail,
        it needs its own MX record.
      </Small>
    );
  return (
    <div>
      <Small>Next steps:</Small>
      <List size="sm">
        <List.Item>This page shows the DNS records to publish. Nothing changes before you publish them.</List.Item>
        <List.Item>
          One of them proves that the domain is yours; the MX record brings its mail to {service.mailHostname}.
        </List.Item>
        <List.Item>Postroom checks the records automatically, and whenever you ask.</List.Item>
      </List>
    </div>
  );
}

/** Maximum length in characters, RFC 1035 §2.3.4, without the dot of the root. */
const MAX_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/** Returns why the text is not a domain name; null leaves the decision to the service. */
function findNameFault(text: string): string | null {
  const name = text.trim().replace(/\.$/, '');
  if (name === '') return 'Enter a domain name.';
  if (name.includes('@')) return 'Enter only the part after the @.';
  if (/^[a-z]+:\/\//i.test(name) || name.includes('/')) return 'Enter only the domain name, without http:// or a path.';
  if (/\s/.test(name)) return 'A domain name cannot contain spaces.';
  const labels = name.split('.');
  if (labels.length < 2) return 'Enter a complete domain name, such as example.com.';
  if (labels.includes('')) return 'A domain name cannot contain empty parts. Remove the extra dot.';
  if (name.length > MAX_LENGTH || labels.some((label) => label.length > MAX_LABEL_LENGTH))
    return `A domain name has at most ${MAX_LENGTH} characters, and at most ${MAX_LABEL_LENGTH} between two dots.`;
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-')))
    return 'No part of a domain name can begin or end with a hyphen.';
  // Letters of any script: the service converts them to A-labels.
  return /^[\p{L}\p{M}\p{N}.-]+$/u.test(name)
    ? null
    : 'A domain name can contain only letters, digits, hyphens and dots.';
}

function RecordsToPublish({ domain, next }: { domain: ShownDomain; next: () => void }) {
  const isLocal = useViewer().service.isMailHostnameLocal;
  return (
    <Stack maw={980}>
      <Text>
        {!isLocal && `Publish these records where the DNS of ${domain.name} is kept. `}Only the required ones are needed
        to begin; the others let mail that you send be believed.
      </Text>
      <ProviderNote provider={domain.provider} />
      <ConflictNote conflict={domain.dnsConflict} />
      <Group justify="space-between">
        <CopyAllRecords records={domain.dnsRecords} />
        <MainButton label="Check records" onClick={next} />
      </Group>
      <RecordList domain={domain} />
      <Group justify="flex-end">
        <MainButton label="Check records" onClick={next} />
      </Group>
    </Stack>
  );
}

/** Interval of the DNS checks while this step is open. Milliseconds. */
const CHECK_AGAIN_MS = 20_000;

/** Step that waits until DNS has the records. It checks automatically and shows each record as it is found. */
function AwaitRecords({ domain, refresh, go }: { domain: ShownDomain; refresh: () => void; go: Go }) {
  const { check } = useDnsCheck(domain.id, refresh);
  const isVerified = domain.status === 'VERIFIED';
  const isComplete = domain.dnsRecords.every(({ status }) => status === 'VERIFIED');
  const ask = useEffectEvent(() => {
    if (!isComplete && document.visibilityState === 'visible') void check();
  });
  useEffect(() => ask(), []);
  useInterval(() => ask(), CHECK_AGAIN_MS, { autoInvoke: true });
  return (
    <Stack maw={980}>
      <CheckDns domain={domain} refresh={refresh} />
      {isVerified ? (
        <DomainStands
          domain={domain}
          about={
            domain.canReceive
              ? 'The domain can receive and send mail.'
              : 'The domain can send mail. To receive mail, publish its MX record.'
          }
        />
      ) : (
        <Hint>
          Postroom checks DNS every 20 seconds while this page is open, and continues in the background. New records are
          often seen within minutes; a resolver may remember for an hour that they were missing. You may leave: nothing
          is lost.
        </Hint>
      )}
      <ConflictNote conflict={domain.dnsConflict} />
      <RecordList domain={domain} />
      <Group justify="space-between">
        <QuietButton label="Back to records" onClick={() => go({ step: 'records' })} />
        <MainButton label="Continue" disabled={!isVerified} onClick={() => go({ step: 'done' })} />
      </Group>
    </Stack>
  );
}

/** Says whether the domain is verified. */
function DomainStands({ domain: { name, status }, about }: { domain: ShownDomain; about: string }) {
  const isVerified = status === 'VERIFIED';
  return (
    <Alert
      color={isVerified ? 'green' : 'post.6'}
      variant="outline"
      icon={<Icon name="circle-check" />}
      title={isVerified ? `${name} is verified` : `${name} is waiting for its DNS records`}
      role="status"
    >
      <Small>{about}</Small>
    </Alert>
  );
}

/** Last step: the domain is added, and the user can create an address. */
function AddedDomain({ domain }: { domain: ShownDomain }) {
  const [, navigate] = useLocation();
  return (
    <Stack maw={680}>
      <DomainStands
        domain={domain}
        about={
          domain.canReceive
            ? 'Postroom receives mail to its addresses.'
            : 'Postroom receives its mail once DNS has its MX record. You can create an address now.'
        }
      />
      {domain.status === 'VERIFIED' && (
        <Section title="Create the first address">
          <AddressForm domainId={domain.id} done={({ id }) => navigate(`/addresses?address=${id}`)} />
        </Section>
      )}
      <PageLink w="fit-content" href={`/domains/${domain.id}`}>
        Open {domain.name}
      </PageLink>
    </Stack>
  );
}
