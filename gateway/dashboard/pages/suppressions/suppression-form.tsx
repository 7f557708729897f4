import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useAct } from '../../parts/use-act.ts';
import { SUPPRESS } from './suppression-documents.ts';

/** Maximum length of a note in characters, as in the service. */
const MAX_DETAIL = 500;

/** Adds an address to the list. */
export function SuppressionForm({ done }: { done: () => void }) {
  const { act, isBusy } = useAct(SUPPRESS, { quiet: true, done: 'Postroom no longer sends mail to this address.' });
  const [trouble, setTrouble] = useState<string | null>(null);
  const form = useForm({
    initialValues: { address: '', detail: '' },
    validate: {
      address: (text) => (/^\S+@\S+$/.test(text.trim()) ? null : 'Enter a complete address, such as ann@example.com.'),
    },
  });
  const add = async () => {
    const { address, detail } = form.values;
    const { problem } = await act({
      input: { address: address.trim(), detail: detail.trim() === '' ? null : detail.trim() },
    });
    if (problem === null) return done();
    if (problem.fields['address'] !== undefined) form.setFieldError('address', problem.fields['address']);
    else setTrouble(problem.message);
  };
  return (
    <form onSubmit={form.onSubmit(() => void add())} noValidate>
      <Stack>
        <Text size="sm">Postroom refuses to send mail to the address until you remove the suppression.</Text>
        <TextInput label="Address" type="email" autoComplete="off" data-autofocus {...form.getInputProps('address')} />
        <TextInput
          label="Note"
          description="Optional. Visible only to you."
          maxLength={MAX_DETAIL}
          autoComplete="off"
          {...form.getInputProps('detail')}
        />
        {trouble !== null && (
          <Alert color="red" variant="outline" role="alert">
            {trouble}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy}>
            Suppress address
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
