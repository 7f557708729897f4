import { Alert, Code, Group, List, Stack, Text } from '@mantine/core';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IconAlertTriangle, IconInfoCircle } from '../../parts/icons.ts';
import { useViewer } from '../../shell/viewer.ts';
import type { ShownDomain } from './domain-documents.ts';
import { providerHint } from './domain-words.ts';

/** Existing records that prevent mail from arriving here, and what to do about them. */
export function ConflictNote({ conflict }: { conflict: ShownDomain['dnsConflict'] }) {
  if (conflict === null) return null;
  return (
    <Alert
      color="red"
      variant="outline"
      icon={<IconAlertTriangle aria-hidden />}
      title="Conflicting DNS records"
      role="status"
    >
      <Stack gap="xs">
        <Text size="sm">{conflict.message}</Text>
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
          <Text size="sm">
            If people still use that mail server, keep those records and add a subdomain such as inbound.example.com
            instead. Postroom then receives the mail of the subdomain, and the domain is unchanged.
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

/** The DNS provider, and where to enter records there. */
export function ProviderNote({ provider }: { provider: ShownDomain['provider'] }) {
  const hint = providerHint(provider);
  if (hint === null) return null;
  return (
    <Alert variant="outline" color="post" icon={<IconInfoCircle aria-hidden />} title={hint.title} role="note">
      {hint.where !== null && <Text size="sm">{hint.where}</Text>}
    </Alert>
  );
}

/** Optional SPF, DMARC, MTA-STS and TLS report records, except those that are already required. */
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
    <Alert variant="outline" color="post" icon={<IconInfoCircle aria-hidden />} title="Recommended records" role="note">
      <Stack gap="sm">
        {records.map(({ name, value, description }) => (
          <div key={name}>
            <Text size="sm">{description}. TXT record:</Text>
            <Group gap={4} wrap="nowrap">
              <Code className="postroom-wrap">{name}</Code>
              <CopyButton text={name} label={`Copy name ${name}`} />
            </Group>
            <Group gap={4} wrap="nowrap">
              <Code className="postroom-wrap">{value}</Code>
              <CopyButton text={value} label={`Copy value ${value.slice(0, 40)}`} />
            </Group>
          </div>
        ))}
      </Stack>
    </Alert>
  );
}
