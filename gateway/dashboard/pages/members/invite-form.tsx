import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useAct } from '../../parts/use-act.ts';
import { INVITE } from './member-documents.ts';
import { inputOfRole, RoleFields, type RoleValues } from './role-fields.tsx';

/** Invites a person. */
export function InviteForm({ done }: { done: () => void }) {
  const { act, isBusy } = useAct(INVITE, { quiet: true, done: 'The invitation was sent.' });
  const [values, setValues] = useState<RoleValues>({ role: 'AGENT', isApprover: false, limits: [] });
  const [limitsFault, setLimitsFault] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const form = useForm({
    initialValues: { email: '' },
    validate: {
      email: (text) => (/^\S+@\S+$/.test(text.trim()) ? null : 'Enter a complete address, such as ann@example.com.'),
    },
  });
  const invite = async () => {
    const { problem } = await act({ input: { email: form.values.email.trim(), ...inputOfRole(values) } });
    if (problem === null) return done();
    const { email, domains, addresses } = problem.fields;
    if (email !== undefined) form.setFieldError('email', email);
    setLimitsFault(domains ?? addresses ?? null);
    setTrouble(Object.keys(problem.fields).length === 0 ? problem.message : null);
  };
  return (
    <form onSubmit={form.onSubmit(() => void invite())} noValidate aria-label="Invite person">
      <Stack>
        <TextInput
          label="Email address"
          description="Postroom sends a link that works once, for 7 days."
          type="email"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('email')}
        />
        <RoleFields values={values} change={setValues} limitsFault={limitsFault} />
        {trouble !== null && (
          <Alert color="red" variant="outline" role="alert">
            {trouble}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy}>
            Send invitation
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
