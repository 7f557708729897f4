import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect, useEffectEvent, useState } from 'react';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { auth } from '../sign-in/auth-calls.ts';
import { Section } from './section.tsx';
import { tellOutcome } from './tell-outcome.ts';
import { useAsked } from './use-asked.ts';

/** Name and address of the account. */
export function ProfileSection() {
  const { answer } = useAsked(auth.session);
  const [isBusy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
  });
  const fill = useEffectEvent((name: string) => {
    form.setInitialValues({ name });
    form.reset();
  });
  const known = answer?.user.name;
  useEffect(() => {
    if (known !== undefined) fill(known);
  }, [known]);
  const submit = form.onSubmit(async ({ name }) => {
    setBusy(true);
    const outcome = await auth.rename(name.trim());
    setBusy(false);
    if (outcome.problem !== null) form.setErrors(outcome.problem.fields);
    if (tellOutcome(outcome, 'Your name was saved.')) form.resetDirty();
  });
  return (
    <Section
      title="Profile"
      about={answer ? <RelativeTime at={answer.user.createdAt} prefix="Account created " /> : undefined}
    >
      <form onSubmit={submit} noValidate aria-label="Profile">
        <Stack>
          <TextInput
            label="Name"
            description="Visible only to you."
            autoComplete="name"
            maxLength={100}
            disabled={answer === undefined}
            {...form.getInputProps('name')}
          />
          <TextInput
            label="Email address"
            description="You sign in with this address. It cannot be changed."
            value={answer?.user.email ?? ''}
            readOnly
          />
          <Group>
            <Button type="submit" loading={isBusy} disabled={!form.isDirty()}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
