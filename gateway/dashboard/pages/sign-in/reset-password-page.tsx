import { Alert, Anchor, Button, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCheck, IconLinkOff } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { type AuthProblem, auth } from './auth-calls.ts';
import { AuthProblemNote } from './auth-problem-note.tsx';
import { EntryCard } from './entry-card.tsx';
import { linkToken } from './link-token.ts';
import { NewPassword, newPasswordFault } from './new-password.tsx';

/** Set a new password by the link of a mail. */
export function ResetPasswordPage() {
  const [token] = useState(() => linkToken(window.location.hash));
  const [state, setState] = useState<'asking' | 'done' | 'void'>(token === null ? 'void' : 'asking');
  return (
    <EntryCard
      title="A new password"
      below={
        <Anchor component={Link} href="/sign-in" underline="always">
          To the sign-in page
        </Anchor>
      }
    >
      {state === 'asking' && token !== null && (
        <ResetForm token={token} onDone={() => setState('done')} onVoid={() => setState('void')} />
      )}
      {state === 'done' && (
        <Stack>
          <Alert
            variant="outline"
            color="green"
            icon={<IconCheck aria-hidden />}
            title="The password is set"
            role="status"
          >
            <Text size="sm">All browsers were signed out. Sign in with the new password.</Text>
          </Alert>
          <Button component={Link} href="/sign-in" fullWidth>
            Sign in
          </Button>
        </Stack>
      )}
      {state === 'void' && (
        <Stack>
          <Alert
            variant="outline"
            color="red"
            icon={<IconLinkOff aria-hidden />}
            title="This link does not work"
            role="alert"
          >
            <Text size="sm">
              It was used already, is older than an hour, or was copied in part. Have another one sent.
            </Text>
          </Alert>
          <Button component={Link} href="/forgot-password" fullWidth>
            Send another link
          </Button>
        </Stack>
      )}
    </EntryCard>
  );
}

function ResetForm({ token, onDone, onVoid }: { token: string; onDone: () => void; onVoid: () => void }) {
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { newPassword: '' },
    validate: { newPassword: newPasswordFault },
  });
  const submit = form.onSubmit(async ({ newPassword }) => {
    setBusy(true);
    const { problem: why } = await auth.resetPassword(token, newPassword);
    setBusy(false);
    if (why === null || why.code === 'INVALID_TOKEN') {
      // The address bar and the history need it no more.
      window.history.replaceState(null, '', window.location.pathname);
      return why === null ? onDone() : onVoid();
    }
    form.setErrors(why.fields);
    setProblem(Object.keys(why.fields).length === 0 ? why : null);
  });
  return (
    <form onSubmit={submit} noValidate aria-label="A new password">
      <Stack>
        <AuthProblemNote problem={problem} />
        <NewPassword label="New password" key={form.key('newPassword')} {...form.getInputProps('newPassword')} />
        <Button type="submit" loading={isBusy} fullWidth>
          Set the password
        </Button>
      </Stack>
    </form>
  );
}
