import { Group, List, Paper, Radio, SegmentedControl, Skeleton, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useQuery } from 'urql';
import { useSearchParams } from 'wouter';
import { mutation, type ResultOf, record } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { CreateButton, DialogButton } from '../../parts/buttons.tsx';
import { makeChoices } from '../../parts/choices.ts';
import { QuietButton } from '../../parts/controls.tsx';
import { RecordForm, Trouble, useRecordForm } from '../../parts/form.tsx';
import { EmptyState, Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Loaded, PlainList } from '../../parts/section.tsx';
import {
  POLICY_PARTS,
  PolicyFields,
  PolicyUsage,
  policyErrors,
  policyInput,
  policyInWords,
  policyValues,
  USAGE_PARTS,
} from '../../parts/send-policy.tsx';
import { Hint, PageLink, Small, SmallLink, StatusBadge, Strong, Tag } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted } from '../../parts/words.ts';
import { describeScopes, expiresSoon, KEYS, NewKeyModal, type ShownKey } from './new-key.tsx';

/** Maximum page size of a query. There are never more active keys than this. */
const MAX_KEYS = 100;
const STEP = 50;

/** API keys of the account. */
export function KeysPage() {
  const [search, setSearch] = useSearchParams();
  const isRevoked = search.get('show') === 'revoked';
  const [first, setFirst] = useState(STEP);
  const query = useLiveQuery({
    query: KEYS,
    variables: { first, isRevoked },
    // What is left of budgets changes as mail is sent.
    kinds: ['EMAIL_SENT', 'EMAIL_SCHEDULED'],
    types: ['ApiKey'],
  });
  // A new form each time it opens, so that no secret stays in it.
  const [opening, setOpening] = useState({ count: 0, isOpen: search.has('new') });
  const add = (
    <CreateButton
      label="Create key"
      needed="keys"
      onClick={() => setOpening(({ count }) => ({ count: count + 1, isOpen: true }))}
    />
  );
  return (
    <Page
      title="API keys"
      about="Programs use API keys to access your account. You can limit a key to scopes, to one domain and by a send policy, and let it expire."
      actions={add}
    >
      <Stack>
        <SegmentedControl
          aria-label="Status of keys"
          value={isRevoked ? 'revoked' : 'kept'}
          onChange={(show) => setSearch(show === 'revoked' ? { show } : {}, { replace: true })}
          data={makeChoices({ kept: 'Active', revoked: 'Revoked' })}
          style={{ alignSelf: 'flex-start' }}
        />
        <Loaded query={query}>
          {({ apiKeys: { edges, totalCount, pageInfo } }) => (
            <>
              {edges.length === 0 ? (
                <NoKeys isRevoked={isRevoked} add={add} />
              ) : (
                <>
                  <PlainList label="API keys">
                    {edges.map(({ node }) => (
                      <KeyRow key={node.id} apiKey={node} />
                    ))}
                  </PlainList>
                  <Hint aria-live="polite">
                    {edges.length === totalCount ? counted(totalCount, 'key') : `${edges.length} of ${totalCount} keys`}
                  </Hint>
                </>
              )}
              {pageInfo.hasNextPage && first < MAX_KEYS && (
                <QuietButton label="Load more" onClick={() => setFirst(MAX_KEYS)} style={{ alignSelf: 'flex-start' }} />
              )}
            </>
          )}
        </Loaded>
      </Stack>
      <NewKeyModal
        key={opening.count}
        isOpen={opening.isOpen}
        onClose={() => setOpening(({ count }) => ({ count, isOpen: false }))}
      />
    </Page>
  );
}

function NoKeys({ isRevoked, add }: { isRevoked: boolean; add: ReactNode }) {
  return isRevoked ? (
    <EmptyState icon="key" title="No revoked keys" about="Revoked keys no longer work. They are listed here." />
  ) : (
    <EmptyState
      icon="key"
      title="No API keys yet"
      about="Create one key per program, so that you can limit and revoke each key separately."
    >
      {add}
    </EmptyState>
  );
}

const TONES = { ACTIVE: 'good', EXPIRED: 'bad', REVOKED: 'quiet' } as const;

/** One key, and the buttons that change and revoke it. */
function KeyRow({ apiKey }: { apiKey: ShownKey }) {
  const { id, name, hint, status, scopes, domains, addresses, policy, policyUsage, expiresAt } = apiKey;
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)" component="li">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={6} flex="1 1 16rem" miw={0}>
          <Group gap="xs">
            <Title order={2} size="h3" className="postroom-wrap">
              {name}
            </Title>
            {hint !== null && <Hint ff="monospace">{hint}</Hint>}
            <StatusBadge status={status} tone={TONES[status]} />
            {status === 'ACTIVE' && expiresSoon(expiresAt) && <StatusBadge status="expires soon" tone="warning" />}
          </Group>
          <Group gap={6}>
            <Limit>{describeScopes(scopes)}</Limit>
            {domains?.map((domain) => (
              <Limit key={domain.id}>
                only{' '}
                <PageLink href={`/domains/${domain.id}`} size="xs">
                  {domain.name}
                </PageLink>
              </Limit>
            ))}
            {addresses?.map((address) => (
              <Limit key={address}>only {address}</Limit>
            ))}
            {policy !== null && <Limit>{policyInWords(policy)}</Limit>}
          </Group>
          <PolicyUsage usage={policyUsage} />
          <Hint className="postroom-wrap">
            <KeyTimes apiKey={apiKey} />
          </Hint>
          <SmallLink href={`/requests?key=${id}`} w="fit-content">
            Show requests
          </SmallLink>
        </Stack>
        {status !== 'REVOKED' && (
          <Group gap="xs">
            <DialogButton label="Edit key" title={`Edit ${name}`} needed="keys" dialogSize="lg">
              {(close) => <EditForm apiKey={apiKey} close={close} />}
            </DialogButton>
            <DialogButton label="Revoke key" title={`Revoke ${name}?`} needed="keys">
              {(close) => <RevokeForm apiKey={apiKey} close={close} />}
            </DialogButton>
          </Group>
        )}
      </Group>
    </Paper>
  );
}

/** A mark of what the key may do. */
function Limit({ children }: { children: ReactNode }) {
  return (
    <Tag h="auto" className="postroom-wrap">
      {children}
    </Tag>
  );
}

function KeyTimes({ apiKey }: { apiKey: ShownKey }) {
  const { lastUsedAt, lastUsedFrom, expiresAt, revokedAt, createdAt, status } = apiKey;
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

const UPDATE_KEY = mutation(
  'updateApiKey',
  'apiKey { id name policy { ...PolicyParts } policyUsage { ...UsageParts } }',
  [POLICY_PARTS, USAGE_PARTS],
);

type EditFormProps = { apiKey: ShownKey; close: () => void };

function EditForm({ apiKey: { id, name, scopes, policy, policyUsage }, close }: EditFormProps) {
  const { act } = useAct(UPDATE_KEY, { quiet: true, done: 'The key was changed.' });
  const form = useRecordForm({
    values: { name, policy: policyValues(policy) },
    validate: { name: (text) => (text.trim() === '' ? 'Enter a name.' : null) },
    submit: (values) => act({ id, name: values.name.trim(), policy: policyInput(values.policy) }),
    rename: ({ name: nameFault, scopes: scopesFault, ...fields }) => ({
      ...policyErrors(fields),
      ...(nameFault !== undefined && { name: nameFault }),
      ...(scopesFault !== undefined && { scopes: scopesFault }),
    }),
    saved: close,
  });
  const canBeLimited = scopes?.every((scope) => scope === 'READ' || scope === 'SEND') ?? false;
  return (
    <RecordForm form={form} submit="Save key" label="Edit API key" cancel={close}>
      <form.Text name="name" label="Name" maxLength={100} data-autofocus />
      {canBeLimited ? (
        <Stack gap="sm" component="section" aria-label="Send policy">
          <Text fw={600}>Send policy</Text>
          <PolicyUsage usage={policyUsage} />
          <PolicyFields recipients={form.values.policy.recipients} />
        </Stack>
      ) : (
        <Hint>
          Only keys with the scopes read and send can have a send policy. Create a new key for a program that you want
          to limit.
        </Hint>
      )}
    </RecordForm>
  );
}

const CONFIGURATION = record(`apiKey { id configuration { items { kind id name } hasMore } }`);
type Item = NonNullable<ResultOf<typeof CONFIGURATION>['apiKey']>['configuration']['items'][number];

const REVOKE_KEY = mutation('revokeApiKey', 'apiKey { id status revokedAt }');

/** Nouns of what a key sets up, for one and for several. */
const KINDS: Record<Item['kind'], [one: string, several: string]> = {
  ENDPOINT: ['endpoint', 'endpoints'],
  ADDRESS_ROUTE: ['route of an address', 'routes of addresses'],
  CATCH_ALL: ['catch-all', 'catch-alls'],
  GUARD_RULE: ['guard rule', 'guard rules'],
  SCHEDULED_EMAIL: ['scheduled email', 'scheduled emails'],
  API_KEY: ['API key', 'API keys'],
};

/** Revokes a key. Says what the key set up, and offers to keep it. */
function RevokeForm({ apiKey: { id }, close }: { apiKey: ShownKey; close: () => void }) {
  const [{ data, error }] = useQuery({ query: CONFIGURATION, variables: { id }, requestPolicy: 'network-only' });
  const { act } = useAct(REVOKE_KEY, { done: 'The key was revoked.' });
  const configuration = data?.apiKey?.configuration;
  const hasItems = (configuration?.items.length ?? 0) > 0;
  const form = useRecordForm({
    values: { choice: 'stop' },
    submit: async ({ choice }) => {
      await act({ id, keepsConfiguration: hasItems && choice === 'keep' });
      close();
      return { problem: null };
    },
  });
  return (
    <RecordForm
      form={form}
      submit="Revoke key"
      color="red.9"
      cancel={close}
      isDisabled={configuration === undefined && error === undefined}
    >
      <Small>Programs that use this key lose access at once. You cannot undo this; create a new key instead.</Small>
      {configuration === undefined && error === undefined && <Skeleton h="3rem" aria-label="Loading" />}
      {error !== undefined && (
        <Trouble text="What this key set up could not be loaded. If you revoke it now, all of it stops." />
      )}
      {configuration !== undefined && hasItems && (
        <Stack gap="sm" component="section" aria-label="What this key set up">
          <Strong>This key set up{configuration.hasMore ? ' more than' : ''}:</Strong>
          <ConfiguredList items={configuration.items} />
          <Radio.Group label="What happens to it?" {...form.getInputProps('choice')}>
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
    </RecordForm>
  );
}

/** Names of each kind that are shown. */
const SHOWN_NAMES = 3;

function ConfiguredList({ items }: { items: readonly Item[] }) {
  return (
    <List size="sm" className="postroom-wrap">
      {[...Map.groupBy(items, ({ kind }) => kind)].map(([kind, ofKind]) => {
        const names = ofKind.slice(0, SHOWN_NAMES).map(({ name }) => name);
        const more = ofKind.length - names.length;
        return (
          <List.Item key={kind}>
            {counted(ofKind.length, ...KINDS[kind])}: {names.join(', ')}
            {more > 0 && ` and ${more} more`}
          </List.Item>
        );
      })}
    </List>
  );
}
