import { Anchor, Paper, Table, Text, Title } from '@mantine/core';
import { Link } from 'wouter';

interface Results {
  domain: string;
  sent: number;
  delivered: number;
  pending: number;
  bounced: number;
  failed: number;
}

const COLUMNS = [
  ['sent', 'Sent', ''],
  ['delivered', 'Delivered', '&status=delivered'],
  ['pending', 'Queued or deferred', '&status=pending'],
  ['bounced', 'Bounced', '&status=bounced'],
  ['failed', 'Failed', '&status=failed'],
] as const;

/** What became of the mail of each domain. The numbers lead to the emails. */
export function Deliverability({ domains }: { domains: readonly Results[] }) {
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
        <Table.ScrollContainer minWidth={480} type="native">
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
                  {COLUMNS.map(([key, label, status]) => (
                    <Table.Td key={key} ta="right">
                      <Anchor
                        component={Link}
                        href={`/activity?direction=sent${status}&domain=${encodeURIComponent(row.domain)}`}
                        size="sm"
                        aria-label={`${row.domain}, ${label}: ${row[key]}`}
                      >
                        {row[key].toLocaleString('en')}
                        {key !== 'sent' && row.sent > 0 && ` (${Math.floor((row[key] / row.sent) * 1_000) / 10} %)`}
                      </Anchor>
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Paper>
  );
}
