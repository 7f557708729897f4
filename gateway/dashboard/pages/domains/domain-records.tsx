import { Alert, Badge, Box, Code, Group, List, Paper, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { graphql, mutation, type ResultOf, record } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { CopyButton, CopyTextButton } from '../../parts/command.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { PlainList } from '../../parts/section.tsx';
import {
  ErrorAlert,
  Fine,
  Hint,
  PageLink,
  Small,
  StatusBadge,
  Strong,
  type Tone,
  WarningAlert,
} from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useViewer } from '../../shell/viewer.ts';

const RECORD = graphql(`
  fragment RecordParts on DnsRecord { id type name value priority exchange purpose description isRequired status error }
`);

/** Fields of one domain. */
const DOMAIN = record(
  `domain {
    id name status statusReason canReceive canSend isTrusted isFullyVerified isDkimVerified hasMxRecords lastCheckedAt
    lastCheckError proofLostAt createdAt receiveDmarcEmails
    dnsRecords { ...RecordParts }
    dkimKeys { selector state record { ...RecordParts } }
    provider { name confidence }
    dnsConflict { type message records { type value } }
    transportSecurity {
      mode policyHost policyUrl
      mtaSts { name value description isSeen }
      tlsReports { name value description isSeen }
    }
    authRecommendations { spf { name value description } dmarc { name value description } }
    mailFrom { name status verifiedAt }
    catchAll { isEnabled endpoint { __typename id name isActive } }
    parent { id name }
    subdomains(first: 50) { totalCount edges { node { id name status } } }
    addresses(first: 10) {
      totalCount
      edges { node { id address isActive isReceiving warning endpoint { id name } emailStatistics { last7Days } } }
    }
    emailStatistics { last24Hours last7Days last30Days }
    dmarcReports(first: 1) { totalCount }
  }`,
  [RECORD],
);

/** A domain with the fields of DOMAIN. */
export type ShownDomain = NonNullable<ResultOf<typeof DOMAIN>['domain']>;
type ShownRecord = ShownDomain['dnsRecords'][number];

export const CREATE_DOMAIN = mutation('createDomain', 'domain { id name status }');

/** Interval of reading the domain while records are missing, because a record that appears causes no event. Milliseconds. */
const READ_AGAIN_MS = 15_000;

/** Returns one domain, updated live. */
export function useDomain(id: string) {
  const query = useLiveQuery({
    query: DOMAIN,
    variables: { id },
    kinds: ['DOMAIN_VERIFIED', 'DOMAIN_FAILED', 'DOMAIN_RECORDS_LOST'],
    concerns: ({ domainId }) => domainId === id,
    types: ['Domain', 'EmailAddress'],
  });
  const isMissingSome = query.data?.domain?.dnsRecords.some(({ status }) => status !== 'VERIFIED') ?? false;
  useInterval(
    () => {
      if (isMissingSome && document.visibilityState === 'visible') query.refresh();
    },
    READ_AGAIN_MS,
    { autoInvoke: true },
  );
  return query;
}

const STATUS_TONES = { VERIFIED: 'good', PENDING: 'waiting', FAILED: 'bad' } as const satisfies Record<string, Tone>;

interface DomainStatusProps {
  domain: Pick<ShownDomain, 'status'> & Partial<Pick<ShownDomain, 'canReceive' | 'canSend'>>;
}

/** Shows the status of a domain, and whether it receives and sends; of a subdomain only the status. */
export function DomainStatus({ domain: { status, canReceive, canSend } }: DomainStatusProps) {
  return (
    <>
      <StatusBadge status={status} tone={STATUS_TONES[status]} />
      {canReceive !== undefined && (
        <StatusBadge status={canReceive ? 'receives' : 'does not receive'} tone={canReceive ? 'good' : 'quiet'} />
      )}
      {canSend !== undefined && (
        <StatusBadge status={canSend ? 'sends' : 'does not send'} tone={canSend ? 'good' : 'quiet'} />
      )}
    </>
  );
}

/** Display names of the records' purposes. */
const PURPOSES: Record<ShownRecord['purpose'], string> = {
  PROOF: 'Proof of ownership',
  RECEIVING: 'Receiving mail',
  SPF: 'Sending (SPF)',
  DKIM: 'Signatures (DKIM)',
  DMARC: 'Policy (DMARC)',
  MAIL_FROM_MX: 'Bounces (MX)',
  MAIL_FROM_SPF: 'Bounces (SPF)',
};

/** Returns the display name and meaning of a record's status. */
export function describeRecord({ status, error }: Pick<ShownRecord, 'status' | 'error'>): {
  words: string;
  tone: Tone;
} {
  if (status === 'VERIFIED') return { words: 'found', tone: 'good' };
  if (status === 'NOT_STARTED') return { words: 'not checked', tone: 'quiet' };
  if (error?.startsWith('Found instead') === true || error?.startsWith('There are') === true)
    return { words: 'different value', tone: 'bad' };
  if (error?.startsWith('DNS did not respond') === true) return { words: 'no response', tone: 'warning' };
  return { words: 'not found', tone: 'waiting' };
}

/** The service's error for a missing record, which the status already shows. */
const NOT_FOUND = 'No such record';

/** Records of a domain to publish, each with its DNS status. */
export function RecordList({ domain }: { domain: ShownDomain }) {
  // The DNS zone of the domain, as far as it can be guessed.
  const zone = domain.parent?.name ?? domain.name;
  return (
    <>
      <LocalMailServerNote />
      <Hint>
        TTL: {ADVISED_TTL_SECONDS} (one hour), or the default of your provider. Some providers expect names without the
        zone; both forms are shown.
      </Hint>
      <PlainList label="Records to publish" gap="xs">
        {domain.dnsRecords.map((record) => (
          <RecordCard key={record.id} record={record} zone={zone} />
        ))}
      </PlainList>
    </>
  );
}

/** All records as text for a zone file. */
export function CopyAllRecords({ records }: { records: readonly ShownRecord[] }) {
  const { service } = useViewer();
  // Records that name localhost are not to be published.
  if (service.isMailHostnameLocal) return null;
  const icon = <Icon name="copy" size={14} />;
  return <CopyTextButton text={writeZoneFile(records)} label="Copy zone file" size="xs" leftSection={icon} />;
}

function RecordCard({ record, zone }: { record: ShownRecord; zone: string }) {
  const { words, tone } = describeRecord(record);
  const host = hostWithin(record.name, zone);
  return (
    <Paper component="li" withBorder p="sm" bg="var(--postroom-raised)" data-purpose={record.purpose}>
      <Group justify="space-between" gap="xs" mb={6}>
        <Group gap="xs">
          <Badge variant="default" radius="sm">
            {record.type}
          </Badge>
          <Strong>{PURPOSES[record.purpose]}</Strong>
          <Fine>{record.isRequired ? 'required' : 'recommended'}</Fine>
        </Group>
        <StatusBadge status={words} tone={tone} />
      </Group>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xs" verticalSpacing={4}>
        <Datum label="Name" text={record.name} note={host === record.name ? null : `in the zone ${zone}: ${host}`} />
        <Datum
          label={record.type === 'MX' ? 'Mail server' : 'Value'}
          text={record.exchange ?? record.value}
          note={record.priority === null ? null : `priority: ${record.priority}`}
        />
      </SimpleGrid>
      <Fine mt={6}>{record.description}</Fine>
      {record.error !== null && record.error !== NOT_FOUND && record.status !== 'VERIFIED' && (
        <Small mt={4} className="postroom-wrap" data-seen>
          {record.error}
        </Small>
      )}
    </Paper>
  );
}

function Datum({ label, text, note }: { label: string; text: string; note: string | null }) {
  const { service } = useViewer();
  return (
    <Box miw={0}>
      <Fine>
        {label}
        {note !== null && ` (${note})`}
      </Fine>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <Code className="postroom-wrap" flex={1} miw={0}>
          {text}
        </Code>
        {!service.isMailHostnameLocal && (
          <CopyButton text={text} label={`Copy ${label.toLowerCase()} ${text.slice(0, 40)}`} />
        )}
      </Group>
    </Box>
  );
}

/** Seconds that resolvers may cache a record: short, so that a mistake is soon forgotten. */
const ADVISED_TTL_SECONDS = 3_600;
/** Maximum bytes of one string of a TXT record (RFC 1035 §3.3). */
const TXT_STRING = /[^]{1,255}/g;

/** Returns the records as lines of a zone file (RFC 1035 §5.1) with complete names that end in a dot. */
function writeZoneFile(records: readonly ShownRecord[]): string {
  return records
    .map((record) => `${record.name}.\t${ADVISED_TTL_SECONDS}\tIN\t${record.type}\t${writeData(record)}`)
    .join('\n');
}

/** Returns the data of a record; that of an MX record includes its preference. */
function writeData({ type, value }: ShownRecord): string {
  if (type === 'MX') return `${value}.`;
  return (value.match(TXT_STRING) ?? ['']).map((text) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(' ');
}

/** Returns the host name as forms of DNS providers expect it: without the zone, or `@` for the zone itself. */
function hostWithin(name: string, zone: string): string {
  return name === zone ? '@' : name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}

/** Warns that the records name a host that only this machine knows, and says what the operator has to set. Nothing otherwise. */
function LocalMailServerNote() {
  const { service } = useViewer();
  if (!service.isMailHostnameLocal) return null;
  return (
    <WarningAlert icon={<Icon name="alert-triangle" />} title="Do not publish these records yet" role="note">
      <Stack gap="xs">
        <Small>
          They name this service as <Code>{service.mailHostname}</Code>, which no other mail server can reach. Set the
          public name of the server, restart Postroom, and come back: the records then contain that name.
        </Small>
        <Code block>{COMMAND}</Code>
        <Small>
          <PageLink href="/docs/deploy/one-server" underline="always">
            One server and a real domain
          </PageLink>{' '}
          goes from an empty server to mail from other providers: DNS, port 25, reverse DNS, TLS and the proxy.
        </Small>
      </Stack>
    </WarningAlert>
  );
}

const COMMAND = `MAIL_HOSTNAME=mx.example.com PUBLIC_URL=https://mail.example.com \\
  HOST=0.0.0.0 SMTP_PORT=25 TRUSTED_PROXIES=127.0.0.1 npm start`;

const VERIFY_DOMAIN = mutation(
  'verifyDomain',
  'domain { id status lastCheckedAt lastCheckError dnsRecords { id status } }',
);

/** Starts a DNS check of a domain. */
export function useDnsCheck(id: string, refresh: () => void) {
  const { act, isBusy, problem } = useAct(VERIFY_DOMAIN, { quiet: true });
  return { check: () => act({ id }).then(refresh), isBusy, problem };
}

/** Number of records found, time of the last check, and a button that checks again. */
export function CheckDns({ domain, refresh }: { domain: ShownDomain; refresh: () => void }) {
  const { check, isBusy, problem } = useDnsCheck(domain.id, refresh);
  const { dnsRecords: records, lastCheckedAt, lastCheckError } = domain;
  const seen = records.filter(({ status }) => status === 'VERIFIED').length;
  const trouble =
    problem?.message ??
    (lastCheckError === null
      ? null
      : `${lastCheckError}. The states of the records are from the last successful check. Try again in a moment.`);
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Small component="div" aria-live="polite">
          <Text span fw={600}>
            {seen} of {records.length} records found
          </Text>{' '}
          <Text span c="dimmed">
            {isBusy ? (
              'Checking DNS…'
            ) : lastCheckedAt === null ? (
              'DNS not checked yet'
            ) : (
              <RelativeTime at={lastCheckedAt} prefix="last checked " />
            )}
          </Text>
        </Small>
        <QuietButton
          label="Check DNS"
          needed="domains"
          size="xs"
          leftSection={<Icon name="refresh" size={14} />}
          loading={isBusy}
          onClick={() => void check()}
        />
      </Group>
      <Progress
        value={isBusy ? 100 : (100 * seen) / Math.max(1, records.length)}
        animated={isBusy}
        striped={isBusy}
        aria-label={isBusy ? 'Checking DNS' : 'Records found'}
      />
      {trouble !== null && (
        <WarningAlert role="status" p="xs">
          <Small>{trouble}</Small>
        </WarningAlert>
      )}
    </Stack>
  );
}

/** Existing records that prevent mail from arriving here, and what to do about them. */
export function ConflictNote({ conflict }: { conflict: ShownDomain['dnsConflict'] }) {
  if (conflict === null) return null;
  return (
    <ErrorAlert icon={<Icon name="alert-triangle" />} title="Conflicting DNS records" role="status">
      <Stack gap="xs">
        <Small>{conflict.message}</Small>
        <List size="sm" spacing={4}>
          {conflict.records.map(({ type, value }) => (
            <List.Item key={`${type} ${value}`} className="postroom-wrap">
              <Code>
                {type} {value}
              </Code>
            </List.Item>
          ))}
        </List>
        {conflict.type !== 'CNAME' && (
          <Small>
            If people still use that mail server, keep those records and add a subdomain such as inbound.example.com
            instead. Postroom then receives the mail of the subdomain, and the domain is unchanged.
          </Small>
        )}
      </Stack>
    </ErrorAlert>
  );
}

/** Where known providers have their DNS settings. Names as the service returns them. */
const PLACES: Record<string, string> = {
  Cloudflare: 'Websites, your domain, DNS, Records. Leave the proxy off ("DNS only").',
  Namecheap: 'Domain List, Manage, Advanced DNS. For MX records choose "Custom MX" under Mail Settings.',
  GoDaddy: 'My Products, your domain, DNS.',
  'AWS Route 53': 'Hosted zones, your domain, Create record. Put TXT values between double quotes.',
  'Google Domains': 'Your domain, DNS, Custom records.',
  Vercel: 'Domains, your domain, DNS Records.',
  DigitalOcean: 'Networking, Domains, your domain.',
  Netlify: 'Domains, your domain, DNS records.',
  DNSimple: 'Your domain, DNS, Record editor.',
  Hover: 'Your domain, DNS.',
  Porkbun: 'Domain Management, your domain, DNS.',
  Squarespace: 'Domains, your domain, DNS Settings, Custom records.',
};

/** The DNS provider, and where to enter records there. Nothing if it is not known. */
export function ProviderNote({ provider }: { provider: ShownDomain['provider'] }) {
  if (provider === null) return null;
  const { name, confidence } = provider;
  const isKnown = confidence !== 'LOW';
  const title = isKnown ? `DNS provider: ${name}` : 'Unknown DNS provider';
  const where = isKnown
    ? PLACES[name]
    : 'Enter the records where the DNS of the domain is managed, often at the registrar.';
  return (
    <Alert
      variant="outline"
      color="post"
      icon={<Icon name="info-circle" />}
      title={confidence === 'MEDIUM' ? `${title}, for some of the name servers` : title}
      role="note"
    >
      {where !== undefined && <Small>{where}</Small>}
    </Alert>
  );
}

/** Optional SPF, DMARC, MTA-STS and TLS report records, except required ones. */
export function AuthAdvice({ domain }: { domain: ShownDomain }) {
  const { authRecommendations: advice, dnsRecords, isTrusted, transportSecurity } = domain;
  const { service } = useViewer();
  const { mtaSts, tlsReports } = transportSecurity;
  // A domain that is trusted without DNS gets no mail from outside.
  const transport = isTrusted ? [] : [mtaSts, tlsReports].filter(({ isSeen }) => !isSeen);
  const isListed = (name: string, value: string) =>
    dnsRecords.some((record) => record.name === name && record.value === value);
  const records = [advice.spf, advice.dmarc, ...transport]
    .filter((record) => record !== null)
    .filter(({ name, value }) => !isListed(name, value));
  if (records.length === 0 || service.isMailHostnameLocal) return null;
  return (
    <Alert variant="outline" color="post" icon={<Icon name="info-circle" />} title="Recommended records" role="note">
      <Stack gap="sm">
        {records.map(({ name, value, description }) => (
          <div key={name}>
            <Small>{description}. TXT record:</Small>
            {[
              { part: 'name', text: name },
              { part: 'value', text: value },
            ].map(({ part, text }) => (
              <Group key={part} gap={4} wrap="nowrap">
                <Code className="postroom-wrap">{text}</Code>
                <CopyButton text={text} label={`Copy ${part} ${text.slice(0, 40)}`} />
              </Group>
            ))}
          </div>
        ))}
      </Stack>
    </Alert>
  );
}
