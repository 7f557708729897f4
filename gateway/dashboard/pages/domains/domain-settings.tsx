import { Alert, Button, Group, Select, Stack, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { needs } from '../../parts/needs.ts';
import { type Problem, useAct } from '../../parts/use-act.ts';
import { useRight } from '../../shell/viewer.ts';
import { useEndpointChoices } from '../addresses/endpoint-choice.tsx';
import { type ShownDomain, UPDATE_DOMAIN } from './domain-documents.ts';
import { Section } from './section.tsx';

/** Handling of mail to unknown addresses and to dmarc@. */
export function DomainSettings({ domain, refresh }: { domain: ShownDomain; refresh: () => void }) {
  const mayChange = useRight('domains');
  const { act, isBusy } = useAct(UPDATE_DOMAIN, { quiet: true, done: 'Saved.' });
  const [problem, setProblem] = useState<Problem | null>(null);
  const endpoints = useEndpointChoices();
  const current = domain.catchAll.endpoint?.id ?? null;
  const [wanted, setWanted] = useState<string | null>(null);
  const chosen = wanted ?? current;
  const isVerified = domain.status === 'VERIFIED';
  const change = async (input: {
    isCatchAllEnabled?: boolean;
    catchAllEndpointId?: string;
    isCatchAllStoreOnly?: boolean;
    receiveDmarcEmails?: boolean;
  }) => {
    const outcome = await act({ input: { id: domain.id, ...input } });
    setProblem(outcome.problem);
    if (outcome.problem === null) setWanted(null);
    refresh();
  };
  return (
    <Section title="Catch-all">
      <Text size="sm">
        {domain.catchAll.isEnabled
          ? domain.catchAll.endpoint === null
            ? 'Mail to unknown addresses of this domain is stored, and delivered to no endpoint.'
            : `Mail to unknown addresses of this domain is delivered to ${domain.catchAll.endpoint.name}.`
          : 'Mail to unknown addresses of this domain is rejected (550).'}
      </Text>
      {!isVerified && (
        <Text size="sm" c="dimmed">
          You can change this once the domain is verified.
        </Text>
      )}
      {isVerified && endpoints.length === 0 && (
        <Text size="sm" c="dimmed">
          To have it delivered, <Link href="/endpoints">create an endpoint</Link> first: a webhook, or an address to
          forward mail to.
        </Text>
      )}
      {isVerified && endpoints.length > 0 && (
        <Group align="flex-end" gap="xs">
          <Select
            label="Catch-all endpoint"
            placeholder="Choose an endpoint"
            data={endpoints}
            value={chosen}
            onChange={setWanted}
            allowDeselect={false}
            miw={220}
          />
          <Button
            {...needs('domains')}
            loading={isBusy}
            disabled={chosen === null || (domain.catchAll.isEnabled && chosen === current)}
            onClick={() => chosen !== null && void change({ isCatchAllEnabled: true, catchAllEndpointId: chosen })}
          >
            {domain.catchAll.isEnabled ? 'Change endpoint' : 'Turn on catch-all'}
          </Button>
        </Group>
      )}
      {isVerified && (
        <Group gap="xs">
          {!(domain.catchAll.isEnabled && current === null) && (
            <Button
              {...needs('domains')}
              variant="default"
              loading={isBusy}
              onClick={() => void change({ isCatchAllEnabled: true, isCatchAllStoreOnly: true })}
            >
              Store only
            </Button>
          )}
          {domain.catchAll.isEnabled && (
            <Button
              {...needs('domains')}
              variant="default"
              loading={isBusy}
              onClick={() => void change({ isCatchAllEnabled: false })}
            >
              Turn off catch-all
            </Button>
          )}
        </Group>
      )}
      <Stack gap={4}>
        <Switch
          label={`Deliver mail to dmarc@${domain.name} like other mail`}
          description="Postroom reads DMARC reports in any case. If this is off, they are not delivered to the catch-all."
          checked={domain.receiveDmarcEmails}
          disabled={!isVerified || isBusy || !mayChange}
          onChange={(event) => void change({ receiveDmarcEmails: event.currentTarget.checked })}
        />
      </Stack>
      {problem !== null && (
        <Alert color="red" variant="outline" role="alert">
          {problem.message}
        </Alert>
      )}
    </Section>
  );
}
