import { Anchor, Button, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { Link } from 'wouter';
import { type AuthProblem, auth } from './auth-calls.ts';
import { AuthProblemNote } from './auth-problem-note.tsx';
import { EntryCard } from './entry-card.tsx';
import { linkToken } from './link-token.ts';
import { NewPassword, newPasswordFault } from './new-password.tsx';

/** Sets a new password with the link from an email. */
export function ResetPasswordPage() {
  const [token] = useState(() => linkToken(window.location.hash));
  const [state, setState] = useState<'asking' | 'done' | 'void'>(token === null ? 'void' : 'asking');
  const { title, about } = words[state];
  return (
    <EntryCard
      title={title}
      about={about}
      below={
        state !== 'done' && (
          <Anchor component={Link} href="/sign-in" underline="always">
            Go to sign-in
          </Anchor>
        )
      }
    >
      {state === 'asking' && token !== null && (
        <ResetForm token={token} onDone={() => setState('done')} onVoid={() => setState('void')} />
      )}
      {state === 'done' && (
        <Button component={Link} href="/sign-in" fullWidth>
          Sign in
        </Button>
      )}
      {state === 'void' && (
        <Button component={Link} href="/forgot-password" fullWidth>
          Send another link
        </Button>
      )}
    </EntryCard>
  );
}

const words = {
  asking: { title: 'Set new password', about: 'This signs out all browsers.' },
  done: { title: 'Password set', about: 'All browsers were signed out. Sign in with the new password.' },
  void: {
    title: 'This link is not valid',
    about: 'It was already used, is older than one hour, or is incomplete. Request another link.',
  },
} as const;

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
      // Removes the token from the address bar and the history.
      window.history.replaceState(null, '', window.location.pathname);
      return why === null ? onDone() : onVoid();
    }
    form.setErrors(why.fields);
    setProblem(Object.keys(why.fields).length === 0 ? why : null);
  });
  return (
    <form onSubmit={submit} noValidate aria-label="Set new password">
      <Stack>
        <AuthProblemNote problem={problem} />
        <NewPassword label="New password" key={form.key('newPassword')} {...form.getInputProps('newPassword')} />
        <Button type="submit" loading={isBusy} fullWidth>
          Set password
        </Button>
      </Stack>
    </form>
  );
}
