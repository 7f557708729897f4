import { Anchor, Paper, Table, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { formatCount } from '../../parts/counted.ts';
import { SENDING_RATE } from './sending-rate.ts';

interface Results {
  domain: string;
  sent: number;
  delivered: number;
  /** queued and deferred */
  pending: number;
  deferred: number;
  bounced: number;
  failed: number;
  complained: number;
}

const COLUMNS = [
  ['sent', 'Sent', ''],
  ['delivered', 'Delivered', '&status=delivered'],
  ['queued', 'Queued', '&status=queued'],
  ['deferred', 'Deferred', '&status=deferred'],
  ['bounced', 'Bounced', '&status=bounced'],
  ['failed', 'Failed', '&status=failed'],
  ['complained', 'Complaints', '&status=complained'],
] as const;
type Column = (typeof COLUMNS)[number][0];

function countOf(results: Results, column: Column): number {
  return column === 'queued' ? results.pending - results.deferred : results[column];
}

/** Columns of finished mail, whose shares are of all finished mail, as in the figures above. */
const FINISHED: readonly Column[] = ['delivered', 'bounced', 'failed'];

/** Returns such as "12 (4.8 %)" for finished mail, and the number alone for the rest. */
function describeCount(results: Results, column: Column): string {
  const count = countOf(results, column);
  const shown = formatCount(count);
  const finished = FINISHED.reduce((sum, each) => sum + countOf(results, each), 0);
  if (count === 0 || !FINISHED.includes(column)) return shown;
  return `${shown} (${Math.floor((count / finished) * 1_000) / 10} %)`;
}

/** What became of the mail of each domain. The numbers lead to the emails of the same time. */
export function Deliverability({ domains, time }: { domains: readonly Results[]; time: string }) {
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)" component="section" aria-labelledby="deliverability-title">
      <Title order={2} id="deliverability-title" mb="sm">
        Deliverability by domain
      </Title>
      {domains.length === 0 ? (
        <Text size="sm" c="dimmed">
          No mail was sent in this period. The results of each sending domain appear here.
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={640} type="native">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Domain</Table.Th>
                {COLUMNS.map(([key, label]) => (
                  <Table.Th
                    key={key}
                    scope="col"
                    ta="right"
                    title={FINISHED.includes(key) ? `Shares are of finished emails. ${SENDING_RATE}` : undefined}
                  >
                    {label}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {domains.map((row) => (
                <Table.Tr key={row.domain}>
                  <Table.Th scope="row" fw={600}>
                    {row.domain}
                  </Table.Th>
                  {COLUMNS.map(([key, label, status]) => {
                    const count = countOf(row, key);
                    return (
                      <Table.Td key={key} ta="right">
                        <Anchor
                          component={Link}
                          href={`/activity?direction=sent${status}&domain=${encodeURIComponent(row.domain)}&time=${time}`}
                          size="sm"
                          {...(count === 0 ? { c: 'dimmed' } : {})}
                          aria-label={`${row.domain}, ${label}: ${count}`}
                        >
                          {describeCount(row, key)}
                        </Anchor>
                      </Table.Td>
                    );
                  })}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Paper>
  );
}
