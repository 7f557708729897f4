import { Anchor, Button, Group, SimpleGrid, Table, Text } from '@mantine/core';
import { Link } from 'wouter';
import { counted, formatCount } from '../../parts/counted.ts';
import { needs } from '../../parts/needs.ts';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { ShownDomain } from './domain-documents.ts';
import { domainTone } from './domain-words.ts';
import { Section } from './section.tsx';

/** Mail volume and addresses of the domain. */
export function DomainAddresses({ domain }: { domain: ShownDomain }) {
  const { addresses, emailStatistics: mail } = domain;
  return (
    <Section
      title="Addresses and emails"
      aside={
        domain.status === 'VERIFIED' && (
          <Button
            {...needs('domains')}
            component={Link}
            href={`/addresses?new=${domain.id}`}
            size="xs"
            variant="default"
          >
            Create address
          </Button>
        )
      }
    >
      <SimpleGrid cols={3} spacing="xs">
        <Count label="24 hours" value={mail.last24Hours} />
        <Count label="7 days" value={mail.last7Days} />
        <Count label="30 days" value={mail.last30Days} />
      </SimpleGrid>
      {addresses.totalCount === 0 && (
        <Text size="sm" c="dimmed">
          {domain.status === 'VERIFIED'
            ? 'No addresses yet. Mail to the domain is rejected until you create an address or a catch-all.'
            : 'You can create addresses once the domain is verified.'}
        </Text>
      )}
      {addresses.totalCount > 0 && (
        <Table.ScrollContainer
          minWidth={420}
          scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': 'Addresses' } }}
        >
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Address</Table.Th>
                <Table.Th>Delivered to</Table.Th>
                <Table.Th ta="right">7 days</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {addresses.edges.map(({ node }) => (
                <Table.Tr key={node.id}>
                  <Table.Td className="postroom-wrap">
                    <Anchor component={Link} href={`/addresses?address=${node.id}`} size="sm">
                      {node.address}
                    </Anchor>{' '}
                    {!node.isActive && <StatusBadge status="off" tone="quiet" />}
                  </Table.Td>
                  <Table.Td>{node.endpoint?.name ?? 'Stored'}</Table.Td>
                  <Table.Td ta="right">{node.emailStatistics.last7Days}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {addresses.totalCount > addresses.edges.length && (
        <Anchor component={Link} href={`/addresses?domain=${domain.id}`} size="sm">
          All {counted(addresses.totalCount, 'address', 'addresses')}
        </Anchor>
      )}
    </Section>
  );
}

function Count({ label, value }: { label: string; value: number }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={600}>{formatCount(value)}</Text>
    </div>
  );
}

/** Bounce address, parent domain and subdomains. */
export function DomainFamily({ domain }: { domain: ShownDomain }) {
  const { mailFrom, parent, subdomains } = domain;
  return (
    <Section title="Bounces and subdomains">
      <Group gap="xs">
        <Text size="sm" className="postroom-wrap">
          Bounces of its mail go to {mailFrom.status === 'VERIFIED' ? mailFrom.name : domain.name} (MAIL FROM).
        </Text>
        <StatusBadge
          status={mailFrom.status === 'VERIFIED' ? 'found' : 'not found'}
          tone={mailFrom.status === 'VERIFIED' ? 'good' : 'waiting'}
        />
      </Group>
      {mailFrom.status !== 'VERIFIED' && (
        <Text size="sm" c="dimmed">
          Until DNS has both records of {mailFrom.name}, bounces go to the domain itself.
        </Text>
      )}
      {parent !== null && (
        <Text size="sm">
          Verified by its parent domain,{' '}
          <Anchor component={Link} href={`/domains/${parent.id}`}>
            {parent.name}
          </Anchor>
          .
        </Text>
      )}
      {subdomains.totalCount > 0 && (
        <>
          <Text size="sm">Your subdomains:</Text>
          <Group gap="xs">
            {subdomains.edges.map(({ node }) => (
              <Group key={node.id} gap={4}>
                <Anchor component={Link} href={`/domains/${node.id}`} size="sm">
                  {node.name}
                </Anchor>
                <StatusBadge status={node.status} tone={domainTone(node.status)} />
              </Group>
            ))}
          </Group>
        </>
      )}
    </Section>
  );
}
