import { Code, Group, Progress, SimpleGrid, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { CopyButton } from '../../parts/command.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { LoadedSection, Section } from '../../parts/section.tsx';
import { Fine, Hint, PageLink, Small, SmallLink, StatusBadge, Strong } from '../../parts/text.tsx';
import { counted, formatCount } from '../../parts/words.ts';
import type { ShownDomain } from './domain-records.tsx';
import { DomainStatus } from './domain-records.tsx';

interface ScrollTableProps {
  label: string;
  columns: readonly string[];
  minWidth: number;
  maxHeight?: number;
  children: ReactNode;
}

/** A table that scrolls by itself. Columns whose names begin with `#` have numbers. */
function ScrollTable({ label, columns, minWidth, maxHeight, children }: ScrollTableProps) {
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      {...(maxHeight !== undefined && { mah: maxHeight })}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': label } }}
    >
      <Table>
        <Table.Thead>
          <Table.Tr>
            {columns.map((name) => (
              <Table.Th key={name} {...(name.startsWith('#') && { ta: 'right' })}>
                {name.replace('#', '')}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Mail volume and addresses of the domain. */
export function DomainAddresses({ domain }: { domain: ShownDomain }) {
  const { addresses, emailStatistics: mail, status } = domain;
  const volumes = { '24 hours': mail.last24Hours, '7 days': mail.last7Days, '30 days': mail.last30Days };
  return (
    <Section
      title="Addresses and emails"
      actions={
        status === 'VERIFIED' && (
          <QuietButton label="Create address" needed="domains" href={`/addresses?new=${domain.id}`} size="xs" />
        )
      }
    >
      <SimpleGrid cols={3} spacing="xs">
        {Object.entries(volumes).map(([label, value]) => (
          <div key={label}>
            <Fine>{label}</Fine>
            <Text fw={600}>{formatCount(value)}</Text>
          </div>
        ))}
      </SimpleGrid>
      {addresses.totalCount === 0 && (
        <Hint>
          {status === 'VERIFIED'
            ? 'No addresses yet. Mail to the domain is rejected until you create an address or a catch-all.'
            : 'You can create addresses once the domain is verified.'}
        </Hint>
      )}
      {addresses.totalCount > 0 && (
        <ScrollTable label="Addresses" columns={['Address', 'Delivered to', '#7 days']} minWidth={420}>
          {addresses.edges.map(({ node }) => (
            <Table.Tr key={node.id}>
              <Table.Td className="postroom-wrap">
                <SmallLink href={`/addresses?address=${node.id}`}>{node.address}</SmallLink>{' '}
                {!node.isActive && <StatusBadge status="off" tone="quiet" />}
              </Table.Td>
              <Table.Td>{node.endpoint?.name ?? 'Stored'}</Table.Td>
              <Table.Td ta="right">{node.emailStatistics.last7Days}</Table.Td>
            </Table.Tr>
          ))}
        </ScrollTable>
      )}
      {addresses.totalCount > addresses.edges.length && (
        <SmallLink href={`/addresses?domain=${domain.id}`}>
          All {counted(addresses.totalCount, 'address', 'addresses')}
        </SmallLink>
      )}
    </Section>
  );
}

/** Bounce address, parent domain and subdomains. */
export function DomainFamily({ domain: { name, mailFrom, parent, subdomains } }: { domain: ShownDomain }) {
  const isFound = mailFrom.status === 'VERIFIED';
  return (
    <Section title="Bounces and subdomains">
      <Group gap="xs">
        <Small className="postroom-wrap">Bounces of its mail go to {isFound ? mailFrom.name : name} (MAIL FROM).</Small>
        <StatusBadge status={isFound ? 'found' : 'not found'} tone={isFound ? 'good' : 'waiting'} />
      </Group>
      {!isFound && <Hint>Until DNS has both records of {mailFrom.name}, bounces go to the domain itself.</Hint>}
      {parent !== null && (
        <Small>
          Verified by its parent domain, <PageLink href={`/domains/${parent.id}`}>{parent.name}</PageLink>.
        </Small>
      )}
      {subdomains.totalCount > 0 && (
        <>
          <Small>Your subdomains:</Small>
          <Group gap="xs">
            {subdomains.edges.map(({ node }) => (
              <Group key={node.id} gap={4}>
                <SmallLink href={`/domains/${node.id}`}>{node.name}</SmallLink>
                <DomainStatus domain={{ status: node.status }} />
              </Group>
            ))}
          </Group>
        </>
      )}
    </Section>
  );
}

const SUMMARY = graphql(`
  query DashboardDmarc($id: ID!) {
    dmarcSummary(domainId: $id) {
      reportCount messageCount alignedCount alignedPercent advice since isTruncated
      policy { request percent }
      sources { sourceIp headerFrom messageCount alignedCount }
    }
    domain(id: $id) {
      id
      dmarcReports(first: 5) {
        totalCount
        edges { node { id organization endsAt messageCount alignedPercent email { id } } }
      }
    }
  }
`);
type Summary = NonNullable<ResultOf<typeof SUMMARY>['dmarcSummary']>;

/** Receivers' DMARC reports about the domain, and the next step. */
export function DomainDmarc({ id, name }: { id: string; name: string }) {
  const query = useLiveQuery({
    query: SUMMARY,
    variables: { id },
    kinds: ['DMARC_REPORT_RECEIVED'],
    concerns: ({ domainId }) => domainId === id || domainId === null,
  });
  return (
    <LoadedSection title="DMARC reports" query={query} height={60}>
      {({ dmarcSummary: summary, domain }) => (
        <>
          {summary !== null && summary.reportCount === 0 && <NoReports name={name} />}
          {summary !== null && summary.reportCount > 0 && <SummaryOfReports summary={summary} />}
          {domain !== null && domain.dmarcReports.totalCount > 0 && (
            <Fine component="div">
              Latest:{' '}
              {domain.dmarcReports.edges.map(({ node }, index) => (
                <span key={node.id}>
                  {index > 0 && ', '}
                  {node.organization} <RelativeTime at={node.endsAt} />
                </span>
              ))}
              {domain.dmarcReports.totalCount > domain.dmarcReports.edges.length &&
                `, and ${domain.dmarcReports.totalCount - domain.dmarcReports.edges.length} more`}
            </Fine>
          )}
        </>
      )}
    </LoadedSection>
  );
}

function NoReports({ name }: { name: string }) {
  const record = `v=DMARC1; p=none; rua=mailto:dmarc@${name}`;
  return (
    <>
      <Small>
        No reports in the last 30 days. Receivers send daily reports if the DMARC record requests them. Publish as TXT
        record of _dmarc.{name}:
      </Small>
      <Group gap={4} wrap="nowrap">
        <Code className="postroom-wrap">{record}</Code>
        <CopyButton text={record} label="Copy DMARC record" />
      </Group>
    </>
  );
}

function SummaryOfReports({ summary }: { summary: Summary }) {
  const { advice, alignedPercent, alignedCount, messageCount, reportCount, policy, sources, isTruncated } = summary;
  return (
    <>
      <Small>{advice}</Small>
      <div>
        <Group justify="space-between" gap="xs">
          <Strong>{alignedPercent ?? 0} % passed</Strong>
          <Hint>
            {formatCount(alignedCount)} of {formatCount(messageCount)} messages, {counted(reportCount, 'report')} in 30
            days
            {policy?.request != null && `, p=${policy.request.toLowerCase()}`}
          </Hint>
        </Group>
        <Progress value={alignedPercent ?? 0} aria-label="Share of emails that passed DMARC" />
      </div>
      <ScrollTable
        label="Sources of mail"
        columns={['Source', 'From', '#Messages', '#Passed']}
        minWidth={480}
        maxHeight={360}
      >
        {sources.map((source) => (
          <Table.Tr key={`${source.sourceIp} ${source.headerFrom}`}>
            <Table.Td>
              <Code>{source.sourceIp}</Code>
            </Table.Td>
            <Table.Td>{source.headerFrom}</Table.Td>
            <Table.Td ta="right">{formatCount(source.messageCount)}</Table.Td>
            <Table.Td ta="right">
              {Math.floor((100 * source.alignedCount) / Math.max(1, source.messageCount))} %
            </Table.Td>
          </Table.Tr>
        ))}
      </ScrollTable>
      {isTruncated && <Fine>Only some of the sources are listed.</Fine>}
    </>
  );
}
