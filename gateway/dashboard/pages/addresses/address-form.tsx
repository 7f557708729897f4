import { Alert, Anchor, Button, Group, Select, Skeleton, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { Link } from 'wouter';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { useAct } from '../../parts/use-act.ts';
import { FieldComing } from '../../shell/keys.ts';
import { CREATE_ADDRESS, DOMAIN_CHOICES } from './address-documents.ts';
import { useEndpointChoices } from './endpoint-choice.tsx';

/** Form that creates an address: the part before the @, the domain, and the destination. `domainId` is the preselected domain. */
export function AddressForm({
  domainId,
  done,
  cancel = () => undefined,
}: {
  domainId: string | null;
  /** closes the form before it is loaded */
  cancel?: () => void;
  done: (made: { id: string; address: string }) => void;
}) {
  const { data } = useLiveQuery({
    query: DOMAIN_CHOICES,
    variables: {},
    kinds: ['DOMAIN_VERIFIED', 'DOMAIN_FAILED'],
    types: ['Domain'],
  });
  const endpoints = useEndpointChoices();
  const { act, isBusy } = useAct(CREATE_ADDRESS, { quiet: true, done: 'The address was created and receives mail.' });
  const [trouble, setTrouble] = useState<string | null>(null);
  const domains = data?.domains.edges.map(({ node }) => node) ?? [];
  const form = useForm({
    initialValues: { local: '', domainId, endpointId: null as string | null, isActive: true },
    validate: { local: localFault },
  });
  if (data === undefined)
    return (
      <>
        <FieldComing cancel={cancel} />
        <Skeleton h={180} aria-label="Loading" />
      </>
    );
  const domain = domains.find(({ id }) => id === form.values.domainId) ?? domains[0];
  if (domain === undefined)
    return (
      <Text size="sm">
        An address needs a verified domain.{' '}
        <Anchor component={Link} href={data.domainCounts.total === 0 ? '/domains?new' : '/domains'}>
          {data.domainCounts.total === 0 ? 'Add domain' : 'Check your domains'}
        </Anchor>
      </Text>
    );
  const make = async () => {
    const { local, endpointId, isActive } = form.values;
    const address = `${local.trim()}@${domain.name}`;
    const { payload, problem } = await act({ input: { address, domainId: domain.id, endpointId, isActive } });
    if (problem === null) return done(payload.emailAddress);
    if (problem.fields['address'] !== undefined) form.setFieldError('local', problem.fields['address']);
    else if (problem.type === 'Conflict') form.setFieldError('local', `${problem.message}.`);
    else setTrouble(problem.message);
  };
  return (
    <form onSubmit={form.onSubmit(() => void make())} noValidate>
      <Stack gap="sm">
        <Group align="flex-start" gap="xs" grow preventGrowOverflow={false}>
          <TextInput
            label="Address"
            placeholder="hello"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            miw={140}
            data-autofocus
            {...form.getInputProps('local')}
          />
          <Select
            label="Domain"
            data={domains.map(({ id, name }) => ({ value: id, label: `@${name}` }))}
            value={domain.id}
            onChange={(value) => form.setFieldValue('domainId', value)}
            allowDeselect={false}
            searchable={domains.length > 10}
            miw={180}
          />
        </Group>
        <Select
          label="Deliver mail to"
          description={
            endpoints.length === 0 ? 'You have no endpoints yet. Mail is stored and shown in the inbox.' : undefined
          }
          placeholder="Stored only"
          data={endpoints}
          clearable
          clearButtonProps={{ 'aria-label': 'No endpoint' }}
          {...form.getInputProps('endpointId')}
        />
        <Switch
          label="Receive mail"
          description="If off, mail to the address is rejected."
          {...form.getInputProps('isActive', { type: 'checkbox' })}
        />
        {trouble !== null && (
          <Alert color="red" variant="outline" role="alert">
            {trouble}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy}>
            Create address
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function localFault(text: string): string | null {
  const local = text.trim();
  if (local === '') return 'Enter the part before the @.';
  if (local.includes('@')) return 'Enter only the part before the @.';
  if (/\s/.test(local)) return 'An address cannot contain spaces.';
  // Senders may append a plus-tag themselves.
  return local.includes('+')
    ? 'Leave out the + and the text after it. The address receives mail with every +tag.'
    : null;
}
