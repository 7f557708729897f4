import { Anchor, Badge, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { IconArrowDownLeft, IconArrowUpRight } from '../../parts/icons.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';

const LATEST = graphql(`
  query DashboardLatest {
    emails(first: 8) {
      edges { node { id type subject status createdAt isTest from { name address } to { address } envelopeRecipient } }
    }
  }
`);

/** The latest received and sent mail, newest first, updated live. */
export function LatestMail() {
  const { data } = useLiveQuery({ query: LATEST, variables: {}, kinds: 'all', types: ['Email'] });
  const emails = data?.emails.edges ?? [];
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)" component="section" aria-labelledby="latest-title">
      <Title order={2} id="latest-title" mb="sm">
        Latest emails
      </Title>
      {data !== undefined && emails.length === 0 && (
        <Text size="sm" c="dimmed">
          No emails yet.{' '}
          <Anchor component={Link} href="/welcome" inherit underline="always">
            Send your first email
          </Anchor>
        </Text>
      )}
      <Stack gap="xs">
        {emails.map(({ node }) => {
          const isReceived = node.type === 'RECEIVED';
          return (
            <Group key={node.id} gap="sm" wrap="nowrap" justify="space-between">
              <Group gap="sm" wrap="nowrap" miw={0} flex={1}>
                {isReceived ? (
                  <IconArrowDownLeft size={18} role="img" aria-label="Received" />
                ) : (
                  <IconArrowUpRight size={18} role="img" aria-label="Sent" />
                )}
                <Stack gap={0} miw={0}>
                  <Anchor component={Link} href={`/emails/${node.id}`} size="sm" fw={600} truncate="end">
                    {node.subject || '(no subject)'}
                  </Anchor>
                  <Text size="xs" c="dimmed" truncate="end">
                    {isReceived
                      ? `${node.from.name ?? node.from.address} to ${node.envelopeRecipient}`
                      : `to ${node.to.map(({ address }) => address).join(', ')}`}
                  </Text>
                </Stack>
              </Group>
              <Group gap="xs" wrap="nowrap">
                {node.isTest && (
                  <Badge size="xs" variant="default" tt="none">
                    test
                  </Badge>
                )}
                <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }} component="span">
                  <RelativeTime at={node.createdAt} />
                </Text>
              </Group>
            </Group>
          );
        })}
      </Stack>
    </Paper>
  );
}
