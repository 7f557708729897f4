import { Loader, Stack } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { PROVIDER_PROBLEMS } from '../../../../core/accounts/sign-in.ts';
import { Command } from '../../parts/command.tsx';
import { useRecordForm } from '../../parts/form.tsx';
import { Small, SmallLink } from '../../parts/text.tsx';
import { announceSignIn, listenForSessionNews } from '../../shell/session-news.ts';
import { type AuthProblem, auth } from './auth-calls.ts';
import {
  AuthProblemNote,
  EntryCard,
  EntryForm,
  EntryLink,
  emailFault,
  NewPassword,
  newPasswordFault,
  useAuthSettings,
} from './entry-parts.tsx';
import { nextPath, withNext } from './next-path.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Signs in and continues to the requested page. */
export function SignInPage() {
  const { next, enter } = useEntry();
  const settings = useAuthSettings();
  const [search] = useSearchParams();
  const isErased = search.get('account') === 'erased';
  return (
    <EntryCard
      title="Sign in"
      about={
        isErased
          ? 'Your account is closed, and its data is being erased.'
          : next === '/'
            ? undefined
            : 'Then you continue to the page that you requested.'
      }
      below={
        settings?.signUp === true && (
          <>
            No account yet? <EntryLink href={withNext('/sign-up', next)}>Sign up</EntryLink>
          </>
        )
      }
    >
      <Stack>
        <AuthProblemNote problem={providerProblem(search)} />
        <SignInForm
          passkeyHost={settings?.passkeyHost ?? null}
          singleSignOn={settings?.singleSignOn ?? null}
          returnTo={next}
          onSignedIn={enter}
        />
        <SmallLink href={withNext('/forgot-password', next)} ta="center">
          Forgot your password?
        </SmallLink>
      </Stack>
    </EntryCard>
  );
}

/** Returns why single sign-on failed, from the address of the page; null if it did not. Only texts of our own are shown. */
function providerProblem(search: URLSearchParams): AuthProblem | null {
  const code = search.get('problem') ?? '';
  if (!Object.hasOwn(PROVIDER_PROBLEMS, code)) return null;
  const reference = /^[\w-]{1,64}$/.exec(search.get('reference') ?? '')?.[0];
  const text = PROVIDER_PROBLEMS[code as keyof typeof PROVIDER_PROBLEMS];
  const message = reference === undefined ? text : `${text} Reference for the help desk: ${reference}`;
  return { message, code: null, status: 0, fields: {} };
}

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
          Already have an account? <EntryLink href={withNext('/sign-in', next)}>Sign in</EntryLink>
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
      <Small>
        Sign-up is closed. Ask the operator for an account. The operator creates it on the machine of the service by
      </Small>
      <Command text="npx node bin/account.ts create you@example.com" />
    </Stack>
  );
}

function SignUpForm() {
  const [, navigate] = useLocation();
  const form = useRecordForm({
    values: { name: '', email: '', password: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter your name.' : null),
      email: emailFault,
      password: newPasswordFault,
    },
    submit: ({ name, email, password }) => auth.signUp({ name: name.trim(), email: email.trim(), password }),
    saved: ({ result }) => {
      announceSignIn(result.user.id);
      navigate('/welcome', { replace: true });
    },
  });
  return (
    <EntryForm form={form} label="Sign up" submit="Create account">
      <form.Text name="name" label="Your name" autoComplete="name" data-autofocus maxLength={100} />
      <form.Text name="email" label="Email address" type="email" autoComplete="username" />
      <NewPassword {...form.getInputProps('password')} />
    </EntryForm>
  );
}

/**
 * Returns the destination after sign-in, and a function that goes there. A user who is already signed in, or signs in in another tab, goes
 * there immediately.
 */
function useEntry(): { next: string; enter: () => void } {
  const next = nextPath(window.location.search, window.location.origin);
  // Loads the page again, so that nothing of another user's data stays in this tab.
  const go = () => window.location.replace(next);
  const enter = useEffectEvent(go);
  useEffect(() => {
    let isGone = false;
    void auth.session().then(({ result }) => {
      if (result !== null && !isGone) enter();
    });
    const end = listenForSessionNews((news) => {
      if (news.kind === 'signed-in') enter();
    });
    return () => {
      isGone = true;
      end();
    };
  }, []);
  return { next, enter: go };
}
