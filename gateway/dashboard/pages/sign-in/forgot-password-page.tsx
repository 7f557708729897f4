import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { Link } from 'wouter';
import { type AuthProblem, auth } from './auth-calls.ts';
import { AuthProblemNote } from './auth-problem-note.tsx';
import { emailFault } from './email-fault.ts';
import { EntryCard } from './entry-card.tsx';

/** Requests an email with a link that resets the password. */
export function ForgotPasswordPage() {
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [sentTo, setSentTo] = useState<string | null>(null);
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: '' }, validate: { email: emailFault } });
  const submit = form.onSubmit(async ({ email }) => {
    setBusy(true);
    const { problem: why } = await auth.requestReset(email.trim());
    setBusy(false);
    setProblem(why);
    if (why === null) setSentTo(email.trim());
  });
  return (
    <EntryCard
      title={sentTo === null ? 'Forgot your password?' : 'Check your mail'}
      about={
        sentTo === null
          ? 'We send you a link to set a new password.'
          : `If ${sentTo} has an account, you will receive a link by email. The link works once, within one hour.`
      }
      below={
        <Anchor component={Link} href="/sign-in" underline="always">
          Back to sign-in
        </Anchor>
      }
    >
      {sentTo === null ? (
        <form onSubmit={submit} noValidate aria-label="Forgot your password?">
          <Stack>
            <AuthProblemNote problem={problem} />
            <TextInput
              label="Email address of the account"
              type="email"
              autoComplete="username"
              key={form.key('email')}
              {...form.getInputProps('email')}
            />
            <Button type="submit" loading={isBusy} fullWidth>
              Send link
            </Button>
          </Stack>
        </form>
      ) : (
        <Text size="sm">No email? Check your spam folder, or ask the operator for a sign-in link.</Text>
      )}
    </EntryCard>
  );
}
