import {
  Alert,
  Button,
  Checkbox,
  Group,
  MultiSelect,
  Radio,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useQuery } from 'urql';
import { graphql } from '../../graphql.ts';
import { PolicyFields, type PolicyValues, policyErrors, policyInput, policyValues } from '../../parts/send-policy.tsx';
import { type Problem, useAct } from '../../parts/use-act.ts';
import { useViewer } from '../../shell/viewer.ts';
import type { FirstRequest } from './first-request.ts';
import { dateFault, expiries, expiryOf } from './key-expiry.ts';
import { type KeyScope, keyScopes } from './key-scopes.ts';

const CHOICES = graphql(`
  query DashboardKeyChoices {
    domains(first: 100) { edges { node { id name status canSend } } }
    emailAddresses(first: 100) { edges { node { id address } } }
    viewer { firstMail { address } }
  }
`);

const CREATE = graphql(`
  mutation DashboardCreateKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      __typename
      ... on CreateApiKeyPayload { secret apiKey { id name scopes } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

/** A new key with its secret. */
export type MadeKey = Omit<FirstRequest, 'publicUrl'>;

interface Wish {
  name: string;
  rights: 'full' | 'some';
  scopes: KeyScope[];
  domains: string[];
  addresses: string[];
  expiry: string;
  date: string;
  isLimited: boolean;
  policy: PolicyValues;
}

/** Scopes that a key of domains or addresses, or with a send policy, cannot have. */
const BEYOND_LIMITS: ReadonlySet<KeyScope> = new Set(['MANAGE', 'APPROVE']);

/** Form that creates a key. */
export function NewKeyForm({ onMade, onCancel }: { onMade: (made: MadeKey) => void; onCancel: () => void }) {
  const viewer = useViewer();
  const [{ data }] = useQuery({ query: CHOICES, variables: {}, requestPolicy: 'cache-and-network' });
  const { act, isBusy } = useAct(CREATE, { quiet: true });
  const [problem, setProblem] = useState<Problem | null>(null);
  const form = useForm<Wish>({
    initialValues: {
      name: '',
      rights: 'full',
      scopes: ['READ'],
      domains: [],
      addresses: [],
      expiry: 'never',
      date: '',
      isLimited: false,
      policy: policyValues(null),
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      scopes: (scopes, { rights }) => (rights === 'some' && scopes.length === 0 ? 'Choose at least one scope.' : null),
      date: (date, { expiry }) => (expiry === 'date' ? dateFault(date) : null),
    },
  });
  const { values } = form;
  const domains = data?.domains.edges.map(({ node }) => node) ?? [];
  const addresses = data?.emailAddresses.edges.map(({ node }) => node) ?? [];

  const submit = form.onSubmit(async (wish) => {
    const scopes = wish.rights === 'full' ? null : wish.scopes;
    const { payload, problem: why } = await act({
      input: {
        name: wish.name.trim(),
        scopes,
        domains: wish.domains.length === 0 ? null : wish.domains,
        addresses: wish.addresses.length === 0 ? null : wish.addresses,
        policy: wish.isLimited ? policyInput(wish.policy) : null,
        expiresAt: expiryOf(wish.expiry, wish.date),
      },
    });
    const {
      name,
      scopes: scopesFault,
      expiresAt,
      domains: domainsFault,
      addresses: addressesFault,
      ...policy
    } = why?.fields ?? {};
    form.setErrors({
      ...policyErrors(policy),
      ...(name && { name }),
      ...(scopesFault && { scopes: scopesFault }),
      ...(expiresAt && { date: expiresAt }),
      ...(domainsFault && { domains: domainsFault }),
      ...(addressesFault && { addresses: addressesFault }),
    });
    setProblem(why !== null && Object.keys(why.fields).length === 0 ? why : null);
    if (payload === null) return;
    const isWhole = wish.domains.length + wish.addresses.length === 0;
    const sender = domains.find(({ id, canSend }) => canSend && (isWhole || wish.domains.includes(id)));
    const address = addresses.find(({ id }) => wish.addresses.includes(id))?.address ?? null;
    onMade({
      secret: payload.secret,
      scopes: payload.apiKey?.scopes ?? scopes,
      sendsFrom: sender === undefined ? address : `hello@${sender.name}`,
      sendsTo: data?.viewer.firstMail?.address ?? viewer.email ?? '',
    });
  });

  const isNarrow = values.domains.length + values.addresses.length > 0 || values.isLimited;
  const dropScopes = () =>
    form.setFieldValue('scopes', (scopes) => scopes.filter((scope) => !BEYOND_LIMITS.has(scope)));
  const choose = (field: 'domains' | 'addresses') => (chosen: string[]) => {
    form.setFieldValue(field, chosen);
    if (chosen.length > 0) dropScopes();
  };
  const limit = (isLimited: boolean) => {
    form.setFieldValue('isLimited', isLimited);
    if (isLimited) dropScopes();
  };
  return (
    <form onSubmit={submit} noValidate aria-label="Create API key">
      <Stack>
        {problem !== null && (
          <Alert color="red" variant="outline" role="alert" py="sm">
            <Text size="sm">{problem.message}</Text>
          </Alert>
        )}
        <TextInput
          label="Name"
          description="Identifies the key, for example by program and environment."
          placeholder="Help desk, production"
          maxLength={100}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <MultiSelect
          label="Domains"
          description="Limits the key to the mail of these domains, and of the addresses below."
          data={domains.map(({ id, name }) => ({ value: id, label: name }))}
          placeholder={isNarrow ? '' : 'All domains'}
          clearable
          searchable
          clearButtonProps={{ 'aria-label': 'Clear domains' }}
          {...form.getInputProps('domains')}
          onChange={choose('domains')}
        />
        <MultiSelect
          label="Addresses"
          description="Limits the key to the mail of these addresses, and of the domains above."
          data={addresses.map(({ id, address }) => ({ value: id, label: address }))}
          placeholder={isNarrow ? '' : 'All addresses'}
          clearable
          searchable
          clearButtonProps={{ 'aria-label': 'Clear addresses' }}
          {...form.getInputProps('addresses')}
          onChange={choose('addresses')}
        />
        <Radio.Group label="Access" {...form.getInputProps('rights')}>
          <Stack gap="xs" mt="xs">
            <Radio
              value="full"
              label="Full access"
              description={
                isNarrow ? 'Everything that such a key can do: read and send.' : 'Everything that your account can do.'
              }
            />
            <Radio value="some" label="Selected scopes" />
          </Stack>
        </Radio.Group>
        {values.rights === 'some' && (
          <Checkbox.Group aria-label="Scopes" {...form.getInputProps('scopes')}>
            <Stack gap="xs" pl="xl">
              {keyScopes.map(({ scope, label, about }) => (
                <Checkbox
                  key={scope}
                  value={scope}
                  label={label}
                  description={
                    BEYOND_LIMITS.has(scope) && isNarrow
                      ? 'Not available for a key with domains, addresses or a send policy.'
                      : about
                  }
                  disabled={BEYOND_LIMITS.has(scope) && isNarrow}
                />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <Select label="Expiry" data={expiries} allowDeselect={false} {...form.getInputProps('expiry')} />
          {values.expiry === 'date' && <TextInput label="Last day" type="date" {...form.getInputProps('date')} />}
        </Group>
        <Switch
          label="Limit what it sends"
          description="A send policy, for programs and agents that you do not fully trust."
          checked={values.isLimited}
          onChange={(event) => limit(event.currentTarget.checked)}
        />
        {values.isLimited && <PolicyFields form={form} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
