import { Alert, Group, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { Link, useParams } from 'wouter';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconWorldOff } from '../../parts/icons.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { CheckDns } from './check-dns.tsx';
import { DeleteDomain } from './delete-domain.tsx';
import { AuthAdvice, ConflictNote, ProviderNote } from './domain-advice.tsx';
import { DomainDmarc } from './domain-dmarc.tsx';
import type { ShownDomain } from './domain-documents.ts';
import { DomainKeys } from './domain-keys.tsx';
import { DomainAddresses, DomainFamily } from './domain-mail.tsx';
import { DomainSettings } from './domain-settings.tsx';
import { domainTone } from './domain-words.ts';
import { CopyAllRecords, RecordList } from './record-list.tsx';
import { Section } from './section.tsx';
import { useDomain } from './use-domain.ts';

/** One domain: its records with their DNS status, keys, mail and settings. */
export function DomainPage() {
  const { id } = useParams<{ id: string }>();
  const { data, error, isLoading, refresh } = useDomain(id);
  const domain = data?.domain;
  if (domain == null)
    return (
      <>
        <PageHeader title="Domain" />
        {isLoading && <Skeleton h={320} aria-label="Loading" />}
        {error !== undefined && <ErrorNote error={error} retry={refresh} />}
        {data !== undefined && (
          <EmptyState
            icon={IconWorldOff}
            title="Domain not found"
            about="It was deleted, or it belongs to another account."
          >
            <Link href="/domains">All domains</Link>
          </EmptyState>
        )}
      </>
    );
  return (
    <>
      <PageHeader title={domain.name}>
        <DeleteDomain key={domain.id} domain={domain} />
      </PageHeader>
      <Stack>
        <DomainState domain={domain} />
        {error !== undefined && <ErrorNote error={error} retry={refresh} />}
        <Notes domain={domain} />
        <Section title="DNS records" aside={<CopyAllRecords records={domain.dnsRecords} />}>
          <CheckDns domain={domain} refresh={refresh} />
          <ProviderNote provider={domain.provider} />
          <RecordList records={domain.dnsRecords} zone={domain.parent?.name ?? domain.name} />
          <AuthAdvice domain={domain} />
        </Section>
        <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
          <DomainAddresses domain={domain} />
          <DomainSettings domain={domain} refresh={refresh} />
          <DomainKeys domain={domain} refresh={refresh} />
          <DomainFamily domain={domain} />
        </SimpleGrid>
        <DomainDmarc id={domain.id} name={domain.name} />
      </Stack>
    </>
  );
}

function DomainState({ domain }: { domain: ShownDomain }) {
  return (
    <Group gap="sm" aria-live="polite">
      <StatusBadge status={domain.status} tone={domainTone(domain.status)} />
      <StatusBadge
        status={domain.canReceive ? 'receives' : 'does not receive'}
        tone={domain.canReceive ? 'good' : 'quiet'}
      />
      <StatusBadge status={domain.canSend ? 'sends' : 'does not send'} tone={domain.canSend ? 'good' : 'quiet'} />
    </Group>
  );
}

function Notes({ domain }: { domain: ShownDomain }) {
  const { status, statusReason, proofLostAt, isTrusted, isFullyVerified, dnsConflict } = domain;
  return (
    <>
      {status === 'PENDING' && (
        <Alert variant="outline" color="post" title="Waiting for DNS records" role="status">
          Publish the records below at your DNS provider. Postroom checks them every minute at first, then at growing
          intervals. This page updates automatically.
          {statusReason !== null && ` ${statusReason}`}
        </Alert>
      )}
      {status === 'FAILED' && (
        <Alert variant="outline" color="red" title="Not verified" role="status">
          {statusReason ?? 'DNS does not have the ownership record.'} Publish the records below, then check.
        </Alert>
      )}
      {proofLostAt !== null && (
        <Alert variant="outline" color="red" title="The ownership record is missing" role="status">
          Missing <RelativeTime at={proofLostAt} prefix="since " />. Publish the TXT record below again. After 7 days
          without it, another account can verify the domain.
        </Alert>
      )}
      {status === 'VERIFIED' && isTrusted && (
        <Text size="sm" c="dimmed">
          This service trusts the domain, so it works without DNS records. The records are needed only for external
          mail.
        </Text>
      )}
      {status === 'VERIFIED' && !isTrusted && !isFullyVerified && (
        <Alert variant="outline" color="yellow" title="A required record is missing" role="status">
          The domain is verified, but Postroom does not receive its mail until DNS has all required records.
        </Alert>
      )}
      <ConflictNote conflict={dnsConflict} />
    </>
  );
}
