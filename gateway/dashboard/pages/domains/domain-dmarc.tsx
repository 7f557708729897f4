import { Code, Group, Progress, Skeleton, Table, Text } from '@mantine/core';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Section } from './section.tsx';

const SUMMARY = graphql(`
  query DashboardDmarc($id: ID!) {
    dmarcSummary(domainId: $id) {
      reportCount messageCount alignedCount alignedPercent advice since isTruncated
      policy { request percent }
      sources { sourceIp headerFrom messageCount alignedCount }
    }
    domain(id: $id) {
      id
      dmarcReports(first: 5) { totalCount edges { node { id organization endsAt messageCount alignedPercent email { id } } } }
    }
  }
`);
const number = new Intl.NumberFormat('en');

/** Receivers' DMARC reports about the domain, and the next step. */
export function DomainDmarc({ id, name }: { id: string; name: string }) {
  const { data, error, isLoading, refresh } = useLiveQuery({
    query: SUMMARY,
    variables: { id },
    kinds: ['DMARC_REPORT_RECEIVED'],
    concerns: ({ domainId }) => domainId === id || domainId === null,
  });
  const summary = data?.dmarcSummary ?? null;
  const reports = data?.domain?.dmarcReports;
  const rua = `v=DMARC1; p=none; rua=mailto:dmarc@${name}`;
  return (
    <Section title="DMARC reports">
      {isLoading && <Skeleton h={60} />}
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {summary !== null && summary.reportCount === 0 && (
        <>
          <Text size="sm">
            No reports in the last 30 days. Receivers send daily reports if the DMARC record requests them. Publish as
            TXT record of _dmarc.{name}:
          </Text>
          <Group gap={4} wrap="nowrap">
            <Code className="postroom-wrap">{rua}</Code>
            <CopyButton text={rua} label="Copy DMARC record" />
          </Group>
        </>
      )}
      {summary !== null && summary.reportCount > 0 && (
        <>
          <Text size="sm">{summary.advice}</Text>
          <div>
            <Group justify="space-between" gap="xs">
              <Text size="sm" fw={600}>
                {summary.alignedPercent ?? 0} % passed
              </Text>
              <Text size="sm" c="dimmed">
                {number.format(summary.alignedCount)} of {number.format(summary.messageCount)} messages,{' '}
                {summary.reportCount} {summary.reportCount === 1 ? 'report' : 'reports'} in 30 days
                {summary.policy?.request != null && `, p=${summary.policy.request.toLowerCase()}`}
              </Text>
            </Group>
            <Progress value={summary.alignedPercent ?? 0} aria-label="Share of emails that passed DMARC" />
          </div>
          <Sources sources={summary.sources} isTruncated={summary.isTruncated} />
        </>
      )}
      {reports !== undefined && reports.totalCount > 0 && (
        <Text size="xs" c="dimmed" component="div">
          Latest:{' '}
          {reports.edges.map(({ node }, index) => (
            <span key={node.id}>
              {index > 0 && ', '}
              {node.organization} <RelativeTime at={node.endsAt} />
            </span>
          ))}
          {reports.totalCount > reports.edges.length && `, and ${reports.totalCount - reports.edges.length} more`}
        </Text>
      )}
    </Section>
  );
}

type Source = { sourceIp: string; headerFrom: string; messageCount: number; alignedCount: number };

function Sources({ sources, isTruncated }: { sources: readonly Source[]; isTruncated: boolean }) {
  return (
    <>
      <Table.ScrollContainer
        minWidth={480}
        mah={360}
        scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': 'Sources of mail', role: 'region' } }}
      >
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Source</Table.Th>
              <Table.Th>From</Table.Th>
              <Table.Th ta="right">Messages</Table.Th>
              <Table.Th ta="right">Passed</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sources.map(({ sourceIp, headerFrom, messageCount, alignedCount }) => (
              <Table.Tr key={`${sourceIp} ${headerFrom}`}>
                <Table.Td>
                  <Code>{sourceIp}</Code>
                </Table.Td>
                <Table.Td>{headerFrom}</Table.Td>
                <Table.Td ta="right">{number.format(messageCount)}</Table.Td>
                <Table.Td ta="right">{Math.floor((100 * alignedCount) / Math.max(1, messageCount))} %</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {isTruncated && (
        <Text size="xs" c="dimmed">
          Only some of the sources are listed.
        </Text>
      )}
    </>
  );
}
