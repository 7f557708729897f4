import { Button, Center, Loader, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect, useState } from 'react';
import { PageLink, Small } from '../../parts/text.tsx';
import { type AuthOutcome, type AuthProblem, type AuthUser, auth, type ShownInvitation } from './auth-calls.ts';
import {
  AuthProblemNote,
  EntryCard,
  EntryForm,
  linkToken,
  NewPassword,
  newPasswordFault,
  useAuthSettings,
} from './entry-parts.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** What the page knows after it asked. */
interface Shown {
  invitation: ShownInvitation | null;
  /** who is signed in in this browser */
  user: AuthUser | null;
  problem: AuthProblem | null;
}

/** Accepts an invitation: with the present sign-in, after signing in, or with a new one. */
export function InvitationPage() {
  const [token] = useState(() => linkToken(window.location.hash));
  const [shown, setShown] = useState<Shown | null>(null);
  useEffect(() => {
    void (async () => {
      if (token === null) return setShown(NOTHING);
      const [invitation, session] = await Promise.all([auth.invitation(token), auth.session()]);
      setShown({ invitation: invitation.result, user: session.result?.user ?? null, problem: invitation.problem });
    })();
  }, [token]);
  if (shown === null)
    return (
      <EntryCard title="Invitation">
        <Center py="md">
          <Loader aria-label="Loading" />
        </Center>
      </EntryCard>
    );
  const { invitation, problem } = shown;
  if (token === null || invitation === null || invitation.state !== 'open')
    return (
      <EntryCard
        title="This invitation cannot be accepted"
        about={invitation === null ? (problem?.message ?? INCOMPLETE) : WHY[invitation.state]}
        below={
          <PageLink href="/sign-in" underline="always">
            Go to sign-in
          </PageLink>
        }
      >
        <Small>
          {invitation?.state === 'accepted'
            ? 'If you accepted it, sign in: the workspace is in the menu at your address.'
            : 'Ask the person who invited you for a new invitation.'}
        </Small>
      </EntryCard>
    );
  const { workspaceName, invitedByName, role, email } = invitation;
  return (
    <EntryCard
      title={`Join ${workspaceName}`}
      about={`${invitedByName ?? 'An administrator'} invites ${email} as ${role}.`}
    >
      <Accepting token={token} invitation={invitation} user={shown.user} />
    </EntryCard>
  );
}

const INCOMPLETE = 'The link is incomplete.';
const NOTHING: Shown = { invitation: null, user: null, problem: null };
const WHY: Record<ShownInvitation['state'], string> = {
  open: '',
  expired: 'It was valid for 7 days and has expired.',
  revoked: 'It was revoked.',
  accepted: 'It was accepted already. A link works once.',
};

function Accepting({ token, invitation, user }: { token: string; invitation: ShownInvitation; user: AuthUser | null }) {
  const settings = useAuthSettings();
  const isRequired = settings?.singleSignOn === 'required';
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const run = async (work: () => Promise<AuthOutcome<{ status: boolean }>>) => {
    setBusy(true);
    const { problem: why } = await work();
    setBusy(false);
    setProblem(why);
    // Loads the page again, in the workspace that was joined.
    if (why === null) window.location.replace('/');
  };
  const accept = () => run(() => auth.acceptInvitation(token));
  if (user !== null && user.email === invitation.email)
    return (
      <Stack>
        <AuthProblemNote problem={problem} />
        <Button loading={isBusy} onClick={() => void accept()} fullWidth>
          Accept invitation
        </Button>
      </Stack>
    );
  return (
    <Stack>
      {user !== null && (
        <Small>
          You are signed in as {user.email}.{' '}
          {invitation.hasAccount || isRequired ? 'Sign in as' : 'Create the sign-in of'} {invitation.email} to accept
          the invitation. This browser is then signed in as {invitation.email}.
        </Small>
      )}
      {invitation.hasAccount && <AuthProblemNote problem={problem} />}
      {isRequired && <Small>Sign in by single sign-on as {invitation.email}, and open the link again.</Small>}
      {invitation.hasAccount || isRequired ? (
        <SignInForm
          email={invitation.email}
          singleSignOn={isRequired ? 'required' : null}
          returnTo="/"
          passkeyHost={settings?.passkeyHost ?? null}
          onSignedIn={() => void accept()}
        />
      ) : (
        <NewSignIn
          email={invitation.email}
          isBusy={isBusy}
          problem={problem}
          submit={(values) => run(() => auth.signUpInvited({ token, ...values }))}
        />
      )}
    </Stack>
  );
}

interface NewSignInProps {
  email: string;
  isBusy: boolean;
  problem: AuthProblem | null;
  submit: (values: { name: string; newPassword: string }) => Promise<void>;
}

function NewSignIn({ email, isBusy, problem, submit }: NewSignInProps) {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', newPassword: '' },
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter your name.' : null),
      newPassword: newPasswordFault,
    },
  });
  return (
    <EntryForm
      label="Create sign-in"
      submit="Accept invitation"
      isBusy={isBusy}
      problem={problem}
      onSubmit={form.onSubmit((values) => void submit(values))}
    >
      <TextInput label="Email address" value={email} readOnly autoComplete="username" />
      <TextInput
        label="Your name"
        autoComplete="name"
        data-autofocus
        key={form.key('name')}
        {...form.getInputProps('name')}
      />
      <NewPassword key={form.key('newPassword')} {...form.getInputProps('newPassword')} />
    </EntryForm>
  );
}
