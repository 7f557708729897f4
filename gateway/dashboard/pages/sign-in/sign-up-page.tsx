import { Anchor, Button, Loader, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Command } from '../../parts/command.tsx';
import { useFirstField } from '../../shell/keys.ts';
import { announceSignIn } from '../../shell/session-news.ts';
import { type AuthProblem, auth } from './auth-calls.ts';
import { AuthProblemNote } from './auth-problem-note.tsx';
import { emailFault } from './email-fault.ts';
import { EntryCard } from './entry-card.tsx';
import { NewPassword, newPasswordFault } from './new-password.tsx';
import { withNext } from './next-path.ts';
import { useAuthSettings } from './use-auth-settings.ts';
import { useEntry } from './use-entry.ts';

/** Creates an account and continues to the welcome page. */
export function SignUpPage() {
  const { next } = useEntry();
  const settings = useAuthSettings();
  return (
    <EntryCard
      title="Sign up"
      about="An account contains your domains, addresses and mail. Other accounts cannot see them."
      below={
        <>
          Already have an account?{' '}
          <Anchor component={Link} href={withNext('/sign-in', next)} underline="always">
            Sign in
          </Anchor>
        </>
      }
    >
      {settings === null && <Loader aria-label="Loading" mx="auto" />}
      {settings?.signUp === false && <SignUpClosed />}
      {settings?.signUp === true && <SignUpForm />}
    </EntryCard>
  );
}

function SignUpClosed() {
  return (
    <Stack gap="xs">
      <Text size="sm">
        Sign-up is closed. Ask the operator for an account. The operator creates it on the machine of the service by
      </Text>
      <Command text="npx node bin/account.ts create you@example.com" />
    </Stack>
  );
}

function SignUpForm() {
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [, navigate] = useLocation();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', email: '', password: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter your name.' : null),
      email: emailFault,
      password: newPasswordFault,
    },
  });
  const submit = form.onSubmit(async ({ name, email, password }) => {
    setBusy(true);
    const { answer, problem: why } = await auth.signUp({ name: name.trim(), email: email.trim(), password });
    setBusy(false);
    setProblem(why !== null && Object.keys(why.fields).length === 0 ? why : null);
    if (why !== null) return form.setErrors(why.fields);
    announceSignIn(answer.user.id);
    navigate('/welcome', { replace: true });
  });
  useFirstField();
  return (
    <form onSubmit={submit} noValidate aria-label="Sign up">
      <Stack>
        <AuthProblemNote problem={problem} />
        <TextInput
          label="Your name"
          autoComplete="name"
          data-autofocus
          maxLength={100}
          key={form.key('name')}
          {...form.getInputProps('name')}
        />
        <TextInput
          label="Email address"
          type="email"
          autoComplete="username"
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <NewPassword key={form.key('password')} {...form.getInputProps('password')} />
        <Button type="submit" loading={isBusy} fullWidth>
          Create account
        </Button>
      </Stack>
    </form>
  );
}
