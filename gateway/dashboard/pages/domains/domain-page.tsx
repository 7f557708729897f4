import { Alert, Code, Group, List, Select, SimpleGrid, Stack, Switch } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { mutation } from '../../graphql.ts';
import { ConfirmButton, DialogButton } from '../../parts/buttons.tsx';
import { useEndpointChoices } from '../../parts/choices.ts';
import { MainButton, QuietButton } from '../../parts/controls.tsx';
import { RecordForm, Trouble, useRecordForm } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { PlainList, RecordPage, Section } from '../../parts/section.tsx';
import { ErrorAlert, Hint, Small, SmallLink, StatusBadge, type Tone, WarningAlert } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted } from '../../parts/words.ts';
import { useRight, useViewer } from '../../shell/viewer.ts';
import { DomainAddresses, DomainDmarc, DomainFamily } from './domain-mail.tsx';
import type { ShownDomain } from './domain-records.tsx';
import {
  AuthAdvice,
  CheckDns,
  ConflictNote,
  CopyAllRecords,
  DomainStatus,
  describeRecord,
  ProviderNote,
  RecordList,
  useDomain,
} from './domain-records.tsx';

/** One domain: its records with their DNS status, keys, mail and settings. */
export function DomainPage() {
  const { id } = useParams<{ id: string }>();
  const query = useDomain(id);
  const { refresh } = query;
  return (
    <RecordPage
      query={query}
      find={({ domain }) => domain}
      kind="Domain"
      icon="world-off"
      missing="It was deleted, or it belongs to another account."
      all={{ label: 'All domains', href: '/domains' }}
    >
      {(domain) => (
        <Page title={domain.name} actions={<DeleteDomain key={domain.id} domain={domain} />}>
          <Stack>
            <Group gap="sm" aria-live="polite">
              <DomainStatus domain={domain} />
            </Group>
            <DomainNotes domain={domain} />
            <Section title="DNS records" actions={<CopyAllRecords records={domain.dnsRecords} />}>
              <CheckDns domain={domain} refresh={refresh} />
              <ProviderNote provider={domain.provider} />
              <RecordList domain={domain} />
              <AuthAdvice domain={domain} />
            </Section>
            <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
              <DomainAddresses domain={domain} />
              <CatchAll domain={domain} refresh={refresh} />
              <DomainKeys domain={domain} refresh={refresh} />
              <DomainFamily domain={domain} />
            </SimpleGrid>
            <DomainDmarc id={domain.id} name={domain.name} />
          </Stack>
        </Page>
      )}
    </RecordPage>
  );
}

function DomainNotes({ domain }: { domain: ShownDomain }) {
  const { status, statusReason, proofLostAt, isTrusted, isFullyVerified, dnsConflict } = domain;
  const isLocal = useViewer().service.isMailHostnameLocal;
  return (
    <>
      {status === 'PENDING' && (
        <Alert variant="outline" color="post" title="Waiting for DNS records" role="status">
          {!isLocal && 'Publish the records below at your DNS provider. '}Postroom checks them every minute at first,
          then at growing intervals. This page updates automatically.
          {statusReason !== null && ` ${statusReason}`}
        </Alert>
      )}
      {status === 'FAILED' && (
        <ErrorAlert title="Not verified" role="status">
          {statusReason ?? 'DNS does not have the ownership record.'}{' '}
          {!isLocal && 'Publish the records below, then check.'}
        </ErrorAlert>
      )}
      {proofLostAt !== null && (
        <ErrorAlert title="The ownership record is missing" role="status">
          Missing <RelativeTime at={proofLostAt} prefix="since " />. Publish the TXT record below again. After 7 days
          without it, another account can verify the domain.
        </ErrorAlert>
      )}
      {status === 'VERIFIED' && isTrusted && (
        <Hint>
          This service trusts the domain, so it works without DNS records. The records are needed only for external
          mail.
        </Hint>
      )}
      {status === 'VERIFIED' && !isTrusted && !isFullyVerified && (
        <WarningAlert title="A required record is missing" role="status">
          The domain is verified, but Postroom does not receive its mail until DNS has all required records.
        </WarningAlert>
      )}
      <ConflictNote conflict={dnsConflict} />
    </>
  );
}

const UPDATE_DOMAIN = mutation('updateDomain', 'domain { id }');

/** Handling of mail to unknown addresses and to dmarc@. */
function CatchAll({ domain, refresh }: { domain: ShownDomain; refresh: () => void }) {
  const mayChange = useRight('domains');
  const { act, isBusy, problem } = useAct(UPDATE_DOMAIN, {
    quiet: true,
    done: 'Saved.',
    onDone: () => setWanted(null),
  });
  const endpoints = useEndpointChoices();
  const { isEnabled, endpoint } = domain.catchAll;
  const current = endpoint?.id ?? null;
  const [wanted, setWanted] = useState<string | null>(null);
  const chosen = wanted ?? current;
  const isVerified = domain.status === 'VERIFIED';
  const change = async (input: {
    isCatchAllEnabled?: boolean;
    catchAllEndpointId?: string;
    isCatchAllStoreOnly?: boolean;
    receiveDmarcEmails?: boolean;
  }) => {
    await act({ id: domain.id, ...input });
    refresh();
  };
  return (
    <Section title="Catch-all">
      <Small>
        {isEnabled
          ? endpoint === null
            ? 'Mail to unknown addresses of this domain is stored, and delivered to no endpoint.'
            : `Mail to unknown addresses of this domain is delivered to ${endpoint.name}.`
          : 'Mail to unknown addresses of this domain is rejected (550).'}
      </Small>
      {!isVerified && <Hint>You can change this once the domain is verified.</Hint>}
      {isVerified && endpoints.length === 0 && (
        <Hint>
          To have it delivered, <Link href="/endpoints">create an endpoint</Link> first: a webhook, or an address to
          forward mail to.
        </Hint>
      )}
      {isVerified && endpoints.length > 0 && (
        <Group align="flex-end" gap="xs">
          <Select
            label="Catch-all endpoint"
            placeholder="Choose an endpoint"
            data={endpoints}
            value={chosen}
            onChange={setWanted}
            allowDeselect={false}
            miw={220}
          />
          <MainButton
            label={isEnabled ? 'Change endpoint' : 'Turn on catch-all'}
            needed="domains"
            loading={isBusy}
            disabled={chosen === null || (isEnabled && chosen === current)}
            onClick={() => chosen !== null && void change({ isCatchAllEnabled: true, catchAllEndpointId: chosen })}
          />
        </Group>
      )}
      {isVerified && (
        <Group gap="xs">
          {!(isEnabled && current === null) && (
            <QuietButton
              label="Store only"
              needed="domains"
              loading={isBusy}
              onClick={() => void change({ isCatchAllEnabled: true, isCatchAllStoreOnly: true })}
            />
          )}
          {isEnabled && (
            <QuietButton
              label="Turn off catch-all"
              needed="domains"
              loading={isBusy}
              onClick={() => void change({ isCatchAllEnabled: false })}
            />
          )}
        </Group>
      )}
      <Switch
        label={`Deliver mail to dmarc@${domain.name} like other mail`}
        description="Postroom reads DMARC reports in any case. If this is off, they are not delivered to the catch-all."
        checked={domain.receiveDmarcEmails}
        disabled={!isVerified || isBusy || !mayChange}
        onChange={(event) => void change({ receiveDmarcEmails: event.currentTarget.checked })}
      />
      <Trouble text={problem?.message} />
    </Section>
  );
}

const ROTATE_KEY = mutation('rotateDkimKey', 'domain { id }');

const KEY_STATES: Record<ShownDomain['dkimKeys'][number]['state'], { words: string; about: string; tone: Tone }> = {
  ACTIVE: { words: 'active', about: 'Signs outgoing mail. Keep its record.', tone: 'good' },
  WAITING: {
    words: 'waiting for its record',
    about:
      'Publish its record in addition to the other one. Postroom signs mail with this key once DNS has the record.',
    tone: 'waiting',
  },
  RETIRED: {
    words: 'replaced',
    about: 'Keep its record until it is no longer listed here. Mail in transit is still signed with this key.',
    tone: 'quiet',
  },
};

/** DKIM keys of the domain and their rotation. */
function DomainKeys({ domain: { id, dkimKeys: keys, parent }, refresh }: { domain: ShownDomain; refresh: () => void }) {
  const { act } = useAct(ROTATE_KEY, { done: 'A new key was created. Publish its record.' });
  if (parent !== null)
    return (
      <Section title="DKIM keys">
        <Small>Mail of this domain is signed with the key of {parent.name}.</Small>
      </Section>
    );
  const isWaiting = keys.some(({ state }) => state === 'WAITING');
  return (
    <Section title="DKIM keys">
      <PlainList label="Keys">
        {keys.map(({ selector, state, record }) => (
          <li key={selector}>
            <Group gap="xs">
              <Code className="postroom-wrap">{selector}</Code>
              <StatusBadge status={KEY_STATES[state].words} tone={KEY_STATES[state].tone} />
              {record !== null && (
                <StatusBadge status={`record ${describeRecord(record).words}`} tone={describeRecord(record).tone} />
              )}
            </Group>
            <Hint>{KEY_STATES[state].about}</Hint>
          </li>
        ))}
      </PlainList>
      <Group>
        <ConfirmButton
          needed="domains"
          label="Rotate key"
          disabled={isWaiting}
          question="Rotate the DKIM key?"
          about="Postroom creates a new key and lists its record here. It signs mail with the old key until DNS has the new record. Keep the old record for 7 more days."
          act={() => act({ id }).then(refresh)}
        />
        {isWaiting && <Hint>A new key is waiting for its record. Publish that record first.</Hint>}
      </Group>
    </Section>
  );
}

const DELETE_DOMAIN = mutation('deleteDomain', 'deletedId name deletedAddressCount obsoleteRecordCount');

/** Deletes the domain after the user typed its name. Lists what is deleted with it and what must be deleted first. */
function DeleteDomain({ domain }: { domain: ShownDomain }) {
  return (
    <DialogButton label="Delete" title={`Delete ${domain.name}?`} icon="trash" needed="domains" size="sm">
      {(close) =>
        domain.subdomains.totalCount > 0 ? (
          <Stack gap="sm">
            <Small>This domain verifies your subdomains. Delete them first:</Small>
            <List size="sm">
              {domain.subdomains.edges.map(({ node }) => (
                <List.Item key={node.id}>
                  <SmallLink href={`/domains/${node.id}`}>{node.name}</SmallLink>
                </List.Item>
              ))}
            </List>
          </Stack>
        ) : (
          <DeletionForm domain={domain} close={close} />
        )
      }
    </DialogButton>
  );
}

function DeletionForm({ domain, close }: { domain: ShownDomain; close: () => void }) {
  const { id, name, addresses, dkimKeys, dmarcReports } = domain;
  const { act } = useAct(DELETE_DOMAIN, { quiet: true });
  const [, navigate] = useLocation();
  const form = useRecordForm({
    values: { typed: '' },
    submit: () => act({ id }),
    saved: ({ payload }) => {
      const gone = counted(payload.deletedAddressCount, 'address', 'addresses');
      const records = counted(payload.obsoleteRecordCount, 'DNS record is', 'DNS records are');
      notify({ message: `${payload.name} was deleted with ${gone}. ${records} no longer needed.` });
      navigate('/domains');
    },
  });
  return (
    <RecordForm
      form={form}
      submit="Delete domain"
      color="red"
      cancel={close}
      gap="sm"
      isDisabled={form.values.typed.trim().toLowerCase() !== name}
    >
      <Small>This also deletes:</Small>
      <List size="sm">
        <List.Item>
          {counted(addresses.totalCount, 'address', 'addresses')}: mail to them is refused from then on
        </List.Item>
        <List.Item>{counted(dkimKeys.length, 'DKIM key')}</List.Item>
        <List.Item>{counted(dmarcReports.totalCount, 'DMARC report')}</List.Item>
      </List>
      <Small>Its mail stays readable. Other accounts can then add the domain.</Small>
      <form.Text name="typed" label={`Type ${name} to delete it`} data-autofocus />
    </RecordForm>
  );
}
