import { Anchor, Group, Paper, Text } from '@mantine/core';
import { Link } from 'wouter';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { ListedDomain } from './domain-list.tsx';
import { domainTone } from './domain-words.ts';

/** One domain of the list. */
export function DomainRow({ domain }: { domain: ListedDomain }) {
  const { id, name, status, canReceive, canSend, addresses, emailStatistics: mail } = domain;
  const trouble = troubleOf(domain);
  return (
    <Paper component="li" withBorder p="sm" bg="var(--postroom-raised)">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Anchor component={Link} href={`/domains/${id}`} fw={600} className="postroom-wrap">
            {name}
          </Anchor>
          <StatusBadge status={status} tone={domainTone(status)} />
          <StatusBadge status={canReceive ? 'receives' : 'does not receive'} tone={canReceive ? 'good' : 'quiet'} />
          <StatusBadge status={canSend ? 'sends' : 'does not send'} tone={canSend ? 'good' : 'quiet'} />
        </Group>
        <Text size="sm" c="dimmed">
          {addresses.totalCount} {addresses.totalCount === 1 ? 'address' : 'addresses'}, {mail.last24Hours} emails in 24
          h, {mail.last7Days} in 7 days
        </Text>
      </Group>
      {trouble !== null && (
        <Text size="sm" mt={4}>
          {trouble}
        </Text>
      )}
      <Text size="xs" c="dimmed" mt={4}>
        {domain.provider !== null && domain.provider.confidence !== 'LOW' && `DNS at ${domain.provider.name}. `}
        {domain.isTrusted && 'Trusted: needs no DNS. '}
        {domain.lastCheckedAt !== null && <RelativeTime at={domain.lastCheckedAt} prefix="DNS asked " />}
      </Text>
    </Paper>
  );
}

function troubleOf({ status, isFullyVerified, dnsConflict, proofLostAt }: ListedDomain): string | null {
  if (proofLostAt !== null) return 'Its proof of ownership is gone from DNS. Publish it again.';
  if (status === 'FAILED') return 'Not proven to be yours. Publish its records, then check.';
  if (dnsConflict !== null) return 'Other records stand in the way of its mail.';
  if (status === 'PENDING') return 'Waits for its DNS records.';
  return isFullyVerified ? null : 'A required DNS record is missing.';
}
