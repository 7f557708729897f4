import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { needs } from '../../parts/needs.ts';
import {
  PolicyFields,
  PolicyUsage,
  policyErrors,
  policyInput,
  policyInWords,
  policyValues,
} from '../../parts/send-policy.tsx';
import { useAct } from '../../parts/use-act.ts';
import { type ShownAddress, UPDATE_ADDRESS } from './address-documents.ts';

/** What the address may send, with the form that changes it. */
export function AddressPolicy({ address }: { address: ShownAddress }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Stack gap="sm" component="section" aria-label="Send policy">
      <Title order={3}>Send policy</Title>
      <Text size="sm" className="postroom-wrap">
        Mail from this address: {address.policy === null ? 'no limits' : policyInWords(address.policy)}
      </Text>
      <PolicyUsage usage={address.policyUsage} />
      {isOpen ? (
        <PolicyForm address={address} close={() => setOpen(false)} />
      ) : (
        <Button
          {...needs('domains')}
          variant="default"
          size="xs"
          onClick={() => setOpen(true)}
          style={{ alignSelf: 'flex-start' }}
        >
          Edit send policy
        </Button>
      )}
    </Stack>
  );
}

function PolicyForm({ address, close }: { address: ShownAddress; close: () => void }) {
  const { act, isBusy } = useAct(UPDATE_ADDRESS, { quiet: true, done: 'The send policy was changed.' });
  const [trouble, setTrouble] = useState<string | null>(null);
  const form = useForm({ initialValues: { policy: policyValues(address.policy) } });
  const save = form.onSubmit(async ({ policy }) => {
    setTrouble(null);
    const { problem } = await act({ input: { id: address.id, policy: policyInput(policy) } });
    if (problem === null) return close();
    form.setErrors(policyErrors(problem.fields));
    if (Object.keys(problem.fields).length === 0) setTrouble(problem.message);
  });
  return (
    <form onSubmit={save} noValidate aria-label="Send policy of the address">
      <Stack gap="sm">
        <PolicyFields form={form} />
        {trouble !== null && (
          <Alert color="red" variant="outline" role="alert">
            {trouble}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" size="xs" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" size="xs" loading={isBusy}>
            Save send policy
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
