import { Center, Loader, Stack, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { BusyButton } from '../../parts/buttons.tsx';
import { useRecordForm } from '../../parts/form.tsx';
import { Small } from '../../parts/text.tsx';
import { announceSwitch } from '../../shell/session-news.ts';
import { type AuthProblem, type AuthUser, auth, type ShownInvitation } from './auth-calls.ts';
import {
  AuthProblemNote,
  EntryCard,
  EntryForm,
  EntryLink,
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
        below={<EntryLink href="/sign-in">Go to sign-in</EntryLink>}
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
  const accept = async () => {
    const outcome = await auth.acceptInvitation(token);
    setProblem(outcome.problem);
    if (outcome.problem === null) join(outcome.result.workspaceId);
  };
  if (user !== null && user.email === invitation.email)
    return (
      <Stack>
        <AuthProblemNote problem={problem} />
        <BusyButton label="Accept invitation" variant="filled" act={accept} fullWidth />
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
        <NewSignIn email={invitation.email} token={token} />
      )}
    </Stack>
  );
}

/** Loads the page again, in the workspace that was joined. */
function join(workspaceId: string): void {
  announceSwitch(workspaceId);
  window.location.replace('/');
}

function NewSignIn({ email, token }: { email: string; token: string }) {
  const form = useRecordForm({
    values: { name: '', newPassword: '' },
    validate: { name: (value) => (value.trim() === '' ? 'Enter your name.' : null), newPassword: newPasswordFault },
    submit: (values) => auth.signUpInvited({ token, ...values }),
    saved: ({ result }) => join(result.workspaceId),
  });
  return (
    <EntryForm form={form} label="Create sign-in" submit="Accept invitation">
      <TextInput label="Email address" value={email} readOnly autoComplete="username" />
      <form.Text name="name" label="Your name" autoComplete="name" data-autofocus />
      <NewPassword {...form.getInputProps('newPassword')} />
    </EntryForm>
  );
}
