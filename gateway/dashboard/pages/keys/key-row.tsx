import { Anchor, Badge, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { PolicyUsage, policyInWords } from '../../parts/send-policy.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { EditKey } from './edit-key.tsx';
import { endsSoon } from './key-expiry.ts';
import { scopesInWords } from './key-scopes.ts';
import { RevokeKey } from './revoke-key.tsx';
import type { ShownKey } from './use-keys.ts';

const tones = { ACTIVE: 'good', EXPIRED: 'bad', REVOKED: 'quiet' } as const;

/** One key, and the button that revokes it. */
export function KeyRow({ apiKey }: { apiKey: ShownKey }) {
  const { name, hint, status, scopes, domains, addresses, policy, policyUsage } = apiKey;
  const expiresSoon = status === 'ACTIVE' && endsSoon(apiKey.expiresAt);
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)" component="li">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={6} flex="1 1 16rem" miw={0}>
          <Group gap="xs">
            <Title order={2} size="h3" className="postroom-wrap">
              {name}
            </Title>
            {hint !== null && (
              <Text size="sm" c="dimmed" ff="monospace">
                {hint}
              </Text>
            )}
            <StatusBadge status={status} tone={tones[status]} />
            {expiresSoon && <StatusBadge status="expires soon" tone="warning" />}
          </Group>
          <Group gap={6}>
            <Badge variant="default" tt="none" fw={600} radius="sm">
              {scopesInWords(scopes)}
            </Badge>
            {domains?.map((domain) => (
              <Badge key={domain.id} variant="default" tt="none" fw={600} radius="sm">
                only{' '}
                <Anchor component={Link} href={`/domains/${domain.id}`} size="xs">
                  {domain.name}
                </Anchor>
              </Badge>
            ))}
            {addresses?.map((address) => (
              <Badge key={address} variant="default" tt="none" fw={600} radius="sm" h="auto" className="postroom-wrap">
                only {address}
              </Badge>
            ))}
            {policy !== null && (
              <Badge variant="default" tt="none" fw={600} radius="sm" h="auto" className="postroom-wrap">
                {policyInWords(policy)}
              </Badge>
            )}
          </Group>
          <PolicyUsage usage={policyUsage} />
          <Text size="sm" c="dimmed" className="postroom-wrap">
            <KeyTimes apiKey={apiKey} />
          </Text>
          <Anchor component={Link} href={`/requests?key=${apiKey.id}`} size="sm" w="fit-content">
            Show requests
          </Anchor>
        </Stack>
        {status !== 'REVOKED' && (
          <Group gap="xs">
            <EditKey apiKey={apiKey} />
            <RevokeKey apiKey={apiKey} />
          </Group>
        )}
      </Group>
    </Paper>
  );
}

function KeyTimes({
  apiKey: { lastUsedAt, lastUsedFrom, expiresAt, revokedAt, createdAt, status },
}: {
  apiKey: ShownKey;
}) {
  return (
    <>
      {lastUsedAt === null ? 'Never used' : <RelativeTime at={lastUsedAt} prefix="Last used " />}
      {lastUsedFrom !== null && ` from ${lastUsedFrom}`}
      {revokedAt !== null ? (
        <RelativeTime at={revokedAt} prefix=" · Revoked " />
      ) : expiresAt !== null ? (
        <RelativeTime at={expiresAt} prefix={status === 'EXPIRED' ? ' · Expired ' : ' · Expires '} />
      ) : (
        ' · Does not expire'
      )}
      <RelativeTime at={createdAt} prefix=" · Created " />
    </>
  );
}
