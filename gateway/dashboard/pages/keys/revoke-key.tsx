import { Alert, Button, Group, List, Modal, Radio, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { graphql, type ResultOf } from '../../graphql.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import type { ShownKey } from './use-keys.ts';

const CONFIGURATION = graphql(`
  query DashboardKeyConfiguration($id: ID!) {
    apiKey(id: $id) { id configuration { items { kind id name } hasMore } }
  }
`);

const REVOKE = graphql(`
  mutation DashboardRevokeKey($input: RevokeApiKeyInput!) {
    revokeApiKey(input: $input) {
      __typename
      ... on RevokeApiKeyPayload { apiKey { id status revokedAt } }
      ... on Error { message code }
    }
  }
`);

type Item = NonNullable<ResultOf<typeof CONFIGURATION>['apiKey']>['configuration']['items'][number];

const LABELS: Record<Item['kind'], { one: string; many: string }> = {
  ENDPOINT: { one: 'endpoint', many: 'endpoints' },
  ADDRESS_ROUTE: { one: 'route of an address', many: 'routes of addresses' },
  CATCH_ALL: { one: 'catch-all', many: 'catch-alls' },
  GUARD_RULE: { one: 'guard rule', many: 'guard rules' },
  SCHEDULED_EMAIL: { one: 'scheduled email', many: 'scheduled emails' },
  API_KEY: { one: 'API key', many: 'API keys' },
};

/** Names of each kind that are shown. */
const SHOWN_NAMES = 3;

/** The button that revokes a key. Its dialog says what the key set up, and offers to keep it. */
export function RevokeKey({ apiKey }: { apiKey: ShownKey }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...needs('keys')} variant="default" size="xs" onClick={() => setOpen(true)}>
        Revoke key
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={`Revoke ${apiKey.name}?`} centered>
        <RevokeForm apiKey={apiKey} close={() => setOpen(false)} />
      </Modal>
    </>
  );
}

function RevokeForm({ apiKey, close }: { apiKey: ShownKey; close: () => void }) {
  const [{ data, error }] = useQuery({
    query: CONFIGURATION,
    variables: { id: apiKey.id },
    requestPolicy: 'network-only',
  });
  const { act, isBusy } = useAct(REVOKE, { done: 'The key was revoked.' });
  const [choice, setChoice] = useState<'stop' | 'keep'>('stop');
  const configuration = data?.apiKey?.configuration;
  const hasItems = (configuration?.items.length ?? 0) > 0;
  const revoke = async () => {
    await act({ input: { id: apiKey.id, keepsConfiguration: hasItems && choice === 'keep' } });
    close();
  };
  return (
    <Stack>
      <Text size="sm">
        Programs that use this key lose access at once. You cannot undo this; create a new key instead.
      </Text>
      {configuration === undefined && error === undefined && <Skeleton h="3rem" aria-label="Loading" />}
      {error !== undefined && (
        <Alert color="red" variant="outline" role="alert">
          What this key set up could not be loaded. If you revoke it now, all of it stops.
        </Alert>
      )}
      {configuration !== undefined && hasItems && (
        <Stack gap="sm" component="section" aria-label="What this key set up">
          <Text size="sm" fw={600}>
            This key set up{configuration.hasMore ? ' more than' : ''}:
          </Text>
          <ConfiguredList items={configuration.items} />
          <Radio.Group
            label="What happens to it?"
            value={choice}
            onChange={(value) => setChoice(value === 'keep' ? 'keep' : 'stop')}
          >
            <Stack gap="xs" mt="xs">
              <Radio
                value="stop"
                label="Stop it"
                description="Endpoints and rules are disabled, scheduled emails are paused, and its keys are revoked. Choose this if the key may be in the wrong hands."
              />
              <Radio value="keep" label="Keep it" description="It continues under your own rights." />
            </Stack>
          </Radio.Group>
        </Stack>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={close} data-autofocus>
          Cancel
        </Button>
        <Button
          color="red.9"
          loading={isBusy}
          disabled={configuration === undefined && error === undefined}
          onClick={() => void revoke()}
        >
          Revoke key
        </Button>
      </Group>
    </Stack>
  );
}

function ConfiguredList({ items }: { items: readonly Item[] }) {
  return (
    <List size="sm" className="postroom-wrap">
      {[...Map.groupBy(items, ({ kind }) => kind)].map(([kind, ofKind]) => {
        const { one, many } = LABELS[kind];
        const names = ofKind.slice(0, SHOWN_NAMES).map(({ name }) => name);
        const more = ofKind.length - names.length;
        return (
          <List.Item key={kind}>
            {ofKind.length} {ofKind.length === 1 ? one : many}: {names.join(', ')}
            {more > 0 && ` and ${more} more`}
          </List.Item>
        );
      })}
    </List>
  );
}
