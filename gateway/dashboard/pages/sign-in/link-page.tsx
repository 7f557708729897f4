import { Center, Loader, Stack } from '@mantine/core';
import { useEffect, useEffectEvent, useState } from 'react';
import { useClient } from 'urql';
import { useLocation } from 'wouter';
import { graphql } from '../../graphql.ts';
import { Command } from '../../parts/command.tsx';
import { MainButton } from '../../parts/controls.tsx';
import { useRecordForm } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { Small, TextLink } from '../../parts/text.tsx';
import { announceSignIn } from '../../shell/session-news.ts';
import { type AuthOutcome, type AuthProblem, type AuthUser, auth, type Entered } from './auth-calls.ts';
import {
  AuthProblemNote,
  EntryCard,
  EntryForm,
  EntryLink,
  emailFault,
  linkToken,
  NewPassword,
  newPasswordFault,
} from './entry-parts.tsx';
import { SecondFactorForm } from './sign-in-form.tsx';

const ANY_MAIL = graphql(`query DashboardAnyMail { emails(first: 1) { edges { node { id } } } }`);

/** A link works only once, so each is used once, even if the page is rendered several times. */
const asked = new Map<string, Promise<AuthOutcome<Entered>>>();

/** Signs in by a one-time link and continues; to the welcome page while there is no mail. */
export function LinkPage() {
  const [token] = useState(() => linkToken(window.location.hash));
  const [problem, setProblem] = useState<AuthProblem | null>(token === null ? INCOMPLETE : null);
  const [needsCode, setNeedsCode] = useState(false);
  const [, navigate] = useLocation();
  const client = useClient();
  const goOn = async (user: AuthUser) => {
    announceSignIn(user.id);
    const [mail, credentials] = await Promise.all([
      client.query(ANY_MAIL, {}, { requestPolicy: 'network-only' }).toPromise(),
      auth.credentials(),
    ]);
    if (credentials.result?.hasPassword === false) adviseOfPassword();
    navigate(mail.data?.emails.edges.length === 0 ? '/welcome' : '/', { replace: true });
  };
  const enter = useEffectEvent(async (once: string) => {
    setProblem(null);
    const asking = asked.get(once) ?? auth.signInByLink(once);
    asked.set(once, asking);
    const { result, problem: why } = await asking;
    if (why !== null && why.code !== 'INVALID_TOKEN') asked.delete(once);
    else window.history.replaceState(null, '', window.location.pathname);
    setProblem(why);
    if (why !== null) return;
    if ('user' in result) await goOn(result.user);
    else setNeedsCode(true);
  });
  useEffect(() => {
    if (token !== null) void enter(token);
  }, [token]);

  const isVoid = problem?.code === 'INVALID_TOKEN';
  return (
    <EntryCard
      title={isVoid ? 'This link is not valid' : 'Signing in'}
      about={
        isVoid &&
        'A sign-in link works once, within 24 hours. This link was already used, has expired, or is incomplete.'
      }
      below={problem !== null && <EntryLink href="/sign-in">Sign in with a password or passkey</EntryLink>}
    >
      {needsCode && <SecondFactorForm onSignedIn={(user) => void goOn(user)} />}
      {problem === null && !needsCode && (
        <Center py="md">
          <Loader aria-label="Signing in" />
        </Center>
      )}
      {isVoid && (
        <Stack gap="xs">
          <Small>To create another link, run this on the machine of the service:</Small>
          <Command text="npx node bin/account.ts sign-in-link you@example.com" />
        </Stack>
      )}
      {problem !== null && !isVoid && (
        <Stack>
          <AuthProblemNote problem={problem} />
          {token !== null && <MainButton label="Try again" onClick={() => void enter(token)} />}
        </Stack>
      )}
    </EntryCard>
  );
}

const INCOMPLETE: AuthProblem = { message: '', code: 'INVALID_TOKEN', status: 400, fields: {} };

/** Offers to set up a permanent way to sign in. */
function adviseOfPassword(): void {
  notify({
    title: 'You signed in with a one-time link',
    message: (
      <>
        To sign in again, set a password or add a passkey in <TextLink href="/settings?tab=security">Settings</TextLink>
        .
      </>
    ),
    autoClose: false,
  });
}

/** Requests an email with a link that resets the password. */
export function ForgotPasswordPage() {
  const [sentTo, setSentTo] = useState<string | null>(null);
  const form = useRecordForm({
    values: { email: '' },
    validate: { email: emailFault },
    submit: ({ email }) => auth.requestReset(email.trim()),
    saved: () => setSentTo(form.getValues().email.trim()),
  });
  return (
    <EntryCard
      title={sentTo === null ? 'Forgot your password?' : 'Check your mail'}
      about={
        sentTo === null
          ? 'We send you a link to set a new password.'
          : `If ${sentTo} has an account, you will receive a link by email. The link works once, within one hour.`
      }
      below={<EntryLink href="/sign-in">Back to sign-in</EntryLink>}
    >
      {sentTo === null ? (
        <EntryForm form={form} label="Forgot your password?" submit="Send link">
          <form.Text
            name="email"
            label="Email address of the account"
            type="email"
            autoComplete="username"
            data-autofocus
          />
        </EntryForm>
      ) : (
        <Small>No email? Check your spam folder, or ask the operator for a sign-in link.</Small>
      )}
    </EntryCard>
  );
}

/** Sets a new password with the link from an email. */
export function ResetPasswordPage() {
  const [token] = useState(() => linkToken(window.location.hash));
  const [state, setState] = useState<'asking' | 'done' | 'void'>(token === null ? 'void' : 'asking');
  const { title, about } = words[state];
  return (
    <EntryCard
      title={title}
      about={about}
      below={state !== 'done' && <EntryLink href="/sign-in">Go to sign-in</EntryLink>}
    >
      {state === 'asking' && token !== null && (
        <ResetForm token={token} onDone={() => setState('done')} onVoid={() => setState('void')} />
      )}
      {state === 'done' && <MainButton label="Sign in" href="/sign-in" fullWidth />}
      {state === 'void' && <MainButton label="Send another link" href="/forgot-password" fullWidth />}
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
  const form = useRecordForm({
    values: { newPassword: '' },
    validate: { newPassword: newPasswordFault },
    submit: async ({ newPassword }) => {
      const outcome = await auth.resetPassword(token, newPassword);
      const isVoid = outcome.problem?.code === 'INVALID_TOKEN';
      // Removes the token from the address bar and the history.
      if (isVoid || outcome.problem === null) window.history.replaceState(null, '', window.location.pathname);
      if (isVoid) onVoid();
      return outcome;
    },
    saved: onDone,
  });
  return (
    <EntryForm form={form} label="Set new password" submit="Set password">
      <NewPassword label="New password" data-autofocus {...form.getInputProps('newPassword')} />
    </EntryForm>
  );
}
