import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { notify } from '../../parts/notify.ts';
import { type AuthProblem, auth } from '../sign-in/auth-calls.ts';
import { AuthProblemNote } from '../sign-in/auth-problem-note.tsx';
import { NewPassword, newPasswordFault, Password } from '../sign-in/new-password.tsx';
import { Section } from './section.tsx';
import { useAsked } from './use-asked.ts';

/** Changes the password, or sets the first one. */
export function PasswordSection() {
  const { answer, problem, askAgain } = useAsked(auth.credentials);
  const about =
    answer?.hasPassword === false
      ? 'This account has no password. Set one to sign in without a link.'
      : 'A new password signs you out of all other browsers.';
  return (
    <Section title="Password" about={about}>
      <AuthProblemNote problem={problem} />
      {answer === undefined && problem === null && <Skeleton h={140} />}
      {answer !== undefined && <PasswordForm hasPassword={answer.hasPassword} onSet={askAgain} />}
    </Section>
  );
}

function PasswordForm({ hasPassword, onSet }: { hasPassword: boolean; onSet: () => Promise<void> }) {
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { currentPassword: '', newPassword: '' },
    validate: {
      currentPassword: (value) => (hasPassword && value === '' ? 'Enter your current password.' : null),
      newPassword: newPasswordFault,
    },
  });
  const submit = form.onSubmit(async (values) => {
    setBusy(true);
    const { problem: why } = hasPassword
      ? await auth.changePassword(values)
      : await auth.setPassword(values.newPassword);
    setBusy(false);
    const isWrong = why?.code === 'INVALID_PASSWORD';
    setProblem(why !== null && !isWrong && Object.keys(why.fields).length === 0 ? why : null);
    if (why !== null) {
      form.setErrors(isWrong ? { currentPassword: 'This is not your current password.' } : why.fields);
      return;
    }
    form.reset();
    notify({ message: hasPassword ? 'The password was changed.' : 'The password was set.', color: 'green' });
    await onSet();
  });
  return (
    <form onSubmit={submit} noValidate aria-label="Password">
      <Stack>
        <AuthProblemNote problem={problem} />
        {hasPassword && <Password label="Current password" {...form.getInputProps('currentPassword')} />}
        <NewPassword label="New password" {...form.getInputProps('newPassword')} />
        <Group>
          <Button type="submit" loading={isBusy}>
            {hasPassword ? 'Change password' : 'Set password'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
