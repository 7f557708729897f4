import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { graphql } from '../../graphql.ts';
import { needs } from '../../parts/needs.ts';
import {
  POLICY_PARTS,
  PolicyFields,
  PolicyUsage,
  policyErrors,
  policyInput,
  policyValues,
  USAGE_PARTS,
} from '../../parts/send-policy.tsx';
import { useAct } from '../../parts/use-act.ts';
import type { ShownKey } from './use-keys.ts';

const UPDATE = graphql(
  `
  mutation DashboardUpdateKey($input: UpdateApiKeyInput!) {
    updateApiKey(input: $input) {
      __typename
      ... on UpdateApiKeyPayload { apiKey { id name policy { ...PolicyParts } policyUsage { ...UsageParts } } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`,
  [POLICY_PARTS, USAGE_PARTS],
);

/** The button that opens a key's name and send policy. */
export function EditKey({ apiKey }: { apiKey: ShownKey }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...needs('keys')} variant="default" size="xs" onClick={() => setOpen(true)}>
        Edit key
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={`Edit ${apiKey.name}`} size="lg">
        <EditForm apiKey={apiKey} close={() => setOpen(false)} />
      </Modal>
    </>
  );
}

function EditForm({ apiKey, close }: { apiKey: ShownKey; close: () => void }) {
  const { act, isBusy } = useAct(UPDATE, { quiet: true, done: 'The key was changed.' });
  const [trouble, setTrouble] = useState<string | null>(null);
  const form = useForm({
    initialValues: { name: apiKey.name, policy: policyValues(apiKey.policy) },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
  });
  const save = form.onSubmit(async ({ name, policy }) => {
    setTrouble(null);
    const { problem } = await act({ input: { id: apiKey.id, name: name.trim(), policy: policyInput(policy) } });
    if (problem === null) return close();
    const { name: nameFault, scopes, ...fields } = problem.fields;
    form.setErrors({ ...policyErrors(fields), ...(nameFault && { name: nameFault }) });
    if (scopes !== undefined || Object.keys(problem.fields).length === 0) setTrouble(scopes ?? problem.message);
  });
  return (
    <form onSubmit={save} noValidate aria-label="Edit API key">
      <Stack>
        <TextInput label="Name" maxLength={100} data-autofocus {...form.getInputProps('name')} />
        {canBeLimited(apiKey) ? (
          <Stack gap="sm" component="section" aria-label="Send policy">
            <Text fw={600}>Send policy</Text>
            <PolicyUsage usage={apiKey.policyUsage} />
            <PolicyFields form={form} />
          </Stack>
        ) : (
          <Text size="sm" c="dimmed">
            Only keys with the scopes read and send can have a send policy. Create a new key for a program that you want
            to limit.
          </Text>
        )}
        {trouble !== null && (
          <Alert color="red" variant="outline" role="alert">
            {trouble}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy}>
            Save key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function canBeLimited({ scopes }: ShownKey): boolean {
  return scopes?.every((scope) => scope === 'READ' || scope === 'SEND') ?? false;
}
