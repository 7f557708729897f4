import { Alert, Anchor, Group, Stack, Text } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { AddressForm } from '../addresses/address-form.tsx';
import type { ShownDomain } from './domain-documents.ts';
import { Section } from './section.tsx';

/** Last step: the domain is added, and the user can create an address. */
export function AddedDomain({ domain }: { domain: ShownDomain }) {
  const [, navigate] = useLocation();
  return (
    <Stack maw={680}>
      <Alert
        color={domain.status === 'VERIFIED' ? 'green' : 'blue'}
        variant="outline"
        icon={<IconCircleCheck aria-hidden />}
        title={
          domain.status === 'VERIFIED' ? `${domain.name} is verified` : `${domain.name} is waiting for its DNS records`
        }
        role="status"
      >
        <Text size="sm">
          {domain.canReceive
            ? 'Postroom receives mail to its addresses.'
            : 'Postroom receives its mail once DNS has its MX record. You can create an address now.'}
        </Text>
      </Alert>
      {domain.status === 'VERIFIED' && (
        <Section title="Create the first address">
          <AddressForm domainId={domain.id} done={({ id }) => navigate(`/addresses?address=${id}`)} />
        </Section>
      )}
      <Group>
        <Anchor component={Link} href={`/domains/${domain.id}`}>
          Open {domain.name}
        </Anchor>
      </Group>
    </Stack>
  );
}
