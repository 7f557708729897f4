import { Code, DataList, Group, Skeleton, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { baseUrl } from '../../shell/viewer.ts';
import { Section } from './section.tsx';

const SERVICE = graphql(`
  query DashboardService {
    viewer {
      service { version publicUrl mailHostname isMailHostnameLocal smtpHost smtpPort trustedDomains isSignUpOpen retentionDays hasGuardModel }
    }
  }
`);

/** Configuration of the service. */
export function ServerSection() {
  const [{ data, error }, again] = useQuery({ query: SERVICE, variables: {}, requestPolicy: 'cache-and-network' });
  const service = data?.viewer.service;
  return (
    <Section title="Service" about="Settings of the service, set by its operator.">
      {error !== undefined && <ErrorNote error={error} retry={() => again({ requestPolicy: 'network-only' })} />}
      {service === undefined && error === undefined && <Skeleton h={220} />}
      {service !== undefined && (
        <DataList orientation="vertical" withDivider>
          <Fact label="Version">Postroom {service.version}</Fact>
          <Fact label="URL of the dashboard and the API" copy={baseUrl(service)}>
            <Code>{baseUrl(service)}</Code>
          </Fact>
          <Fact
            label="Mail server name for MX records"
            {...(service.isMailHostnameLocal ? {} : { copy: service.mailHostname })}
          >
            <Code>{service.mailHostname}</Code>
            {service.isMailHostnameLocal && (
              <Text size="sm">known only to this machine; set MAIL_HOSTNAME before you publish MX records</Text>
            )}
          </Fact>
          <Fact label="SMTP host and port" copy={`${service.smtpHost}:${service.smtpPort}`}>
            <Code>
              {service.smtpHost}:{service.smtpPort}
            </Code>
          </Fact>
          <Fact label="Trusted domains, which need no DNS records">
            {service.trustedDomains.length === 0 ? 'none' : <Names names={service.trustedDomains} />}
          </Fact>
          <Fact label="Retention">
            {service.retentionDays === null
              ? 'no limit'
              : `${service.retentionDays} ${service.retentionDays === 1 ? 'day' : 'days'}`}
          </Fact>
          <Fact label="Sign-up">{service.isSignUpOpen ? 'open to all visitors' : 'closed'}</Fact>
          <Fact label="Language model for guard rules">{service.hasGuardModel ? 'configured' : 'none'}</Fact>
        </DataList>
      )}
    </Section>
  );
}

function Fact({ label, copy, children }: { label: string; copy?: string; children: ReactNode }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue>
        <Group gap={4} wrap="nowrap" className="postroom-wrap">
          {children}
          {copy !== undefined && <CopyButton text={copy} label={`Copy: ${label}`} />}
        </Group>
      </DataList.ItemValue>
    </DataList.Item>
  );
}

/** Number of names shown at first. */
const SHOWN_NAMES = 8;

function Names({ names }: { names: readonly string[] }) {
  const more = names.length - SHOWN_NAMES;
  return (
    <Group gap={6}>
      {names.slice(0, SHOWN_NAMES).map((name) => (
        <Code key={name}>{name}</Code>
      ))}
      {more > 0 && (
        <Text size="sm" c="dimmed">
          and {more} more
        </Text>
      )}
    </Group>
  );
}
