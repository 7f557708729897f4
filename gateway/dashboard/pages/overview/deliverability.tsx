import { Anchor, Paper, Table, Text, Title } from '@mantine/core';
import { Link } from 'wouter';

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

/** Returns such as "12 (4.8 %)". */
function shareOf(count: number, sent: number): string {
  const shown = count.toLocaleString('en');
  return count === 0 || sent === 0 ? shown : `${shown} (${Math.floor((count / sent) * 1_000) / 10} %)`;
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
                  <Table.Th key={key} scope="col" ta="right">
                    {label}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {domains.map((row) => (
                <Table.Tr key={row.domain}>
                  <Table.Th scope="row" fw={500}>
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
                          {key === 'sent' ? count.toLocaleString('en') : shareOf(count, row.sent)}
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
