import { Badge, Box, Button, Code, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IconCopy } from '../../parts/icons.ts';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useViewer } from '../../shell/viewer.ts';
import type { ShownRecord } from './domain-documents.ts';
import { PURPOSES, recordStatus } from './domain-words.ts';
import { LocalMailServerNote } from './local-mail-server.tsx';

/** The service's error for a missing record, which the status already shows. */
const NOT_FOUND = 'No such record';

/** Records to publish, each with its DNS status. `zone` is the DNS zone of the domain, as far as it can be guessed. */
export function RecordList({ records, zone }: { records: readonly ShownRecord[]; zone: string }) {
  return (
    <>
      <LocalMailServerNote />
      <Text size="sm" c="dimmed">
        TTL: {ADVISED_TTL_SECONDS} (one hour), or the default of your provider. Some providers expect names without the
        zone; both forms are shown.
      </Text>
      <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Records to publish">
        {records.map((record) => (
          <RecordCard key={record.id} record={record} zone={zone} />
        ))}
      </Stack>
    </>
  );
}

/** All records as text for a zone file. */
export function CopyAllRecords({ records }: { records: readonly ShownRecord[] }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 });
  const { service } = useViewer();
  // Records that name localhost are not to be published.
  if (service.isMailHostnameLocal) return null;
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconCopy size={14} aria-hidden />}
      onClick={() => copy(zoneFileOf(records))}
    >
      {copied ? 'Copied' : 'Copy zone file'}
    </Button>
  );
}

function RecordCard({ record, zone }: { record: ShownRecord; zone: string }) {
  const { words, tone } = recordStatus(record);
  const host = hostWithin(record.name, zone);
  return (
    <Paper component="li" withBorder p="sm" bg="var(--postroom-raised)" data-purpose={record.purpose}>
      <Group justify="space-between" gap="xs" mb={6}>
        <Group gap="xs">
          <Badge variant="default" radius="sm" tt="none">
            {record.type}
          </Badge>
          <Text fw={600} size="sm">
            {PURPOSES[record.purpose]}
          </Text>
          <Text size="xs" c="dimmed">
            {record.isRequired ? 'required' : 'recommended'}
          </Text>
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
      <Text size="xs" c="dimmed" mt={6}>
        {record.description}
      </Text>
      {record.error !== null && record.error !== NOT_FOUND && record.status !== 'VERIFIED' && (
        <Text size="sm" mt={4} className="postroom-wrap" data-seen>
          {record.error}
        </Text>
      )}
    </Paper>
  );
}

function Datum({ label, text, note }: { label: string; text: string; note: string | null }) {
  const { service } = useViewer();
  return (
    <Box miw={0}>
      <Text size="xs" c="dimmed">
        {label}
        {note !== null && ` (${note})`}
      </Text>
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

/** A required record; the value of an MX record includes its preference. */
interface ZoneRecord {
  type: string;
  name: string;
  value: string;
}

/** Seconds that resolvers may cache a record: short, so that a mistake is soon forgotten. */
const ADVISED_TTL_SECONDS = 3_600;
/** Maximum bytes of one string of a TXT record (RFC 1035 §3.3). */
const TXT_STRING = /[^]{1,255}/g;

/** Returns the records as lines of a zone file (RFC 1035 §5.1) with complete names that end in a dot. */
function zoneFileOf(records: readonly ZoneRecord[]): string {
  return records
    .map((record) => `${record.name}.\t${ADVISED_TTL_SECONDS}\tIN\t${record.type}\t${dataOf(record)}`)
    .join('\n');
}

function dataOf({ type, value }: ZoneRecord): string {
  if (type === 'MX') return `${value}.`;
  return (value.match(TXT_STRING) ?? ['']).map((text) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(' ');
}

/** Returns the host name as forms of DNS providers expect it: without the zone, or `@` for the zone itself. */
function hostWithin(name: string, zone: string): string {
  return name === zone ? '@' : name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}
