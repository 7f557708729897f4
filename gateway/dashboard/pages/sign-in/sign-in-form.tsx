import { Anchor, Divider } from '@mantine/core';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { QuietButton } from '../../parts/controls.tsx';
import { useRecordForm } from '../../parts/form.tsx';
import { Icon } from '../../parts/icons.ts';
import { Hint } from '../../parts/text.tsx';
import { announceSignIn } from '../../shell/session-news.ts';
import { type AuthSettings, type AuthUser, auth, type Entered } from './auth-calls.ts';
import { EntryForm, emailFault, Password } from './entry-parts.tsx';
import { canUsePasskeys, offersPasskeysInFields, signInByPasskey } from './passkeys.ts';

interface SignInFormProps {
  email?: string;
  passkeyHost: string | null;
  /** null while loading */
  singleSignOn: AuthSettings['singleSignOn'] | null;
  /** path after single sign-on */
  returnTo: string;
  onSignedIn: (user: AuthUser) => void;
}

/** Asks for an address and a password, or for a passkey. `passkeyHost` is null while loading. */
export function SignInForm({ email = '', passkeyHost, singleSignOn, returnTo, onSignedIn }: SignInFormProps) {
  const [busy, setBusy] = useState<'passkey' | 'provider' | null>(null);
  const [needsCode, setNeedsCode] = useState(false);
  const password = useRef<HTMLInputElement>(null);
  const enter = (user: AuthUser) => {
    announceSignIn(user.id);
    onSignedIn(user);
  };
  const take = (entered: Entered) => ('user' in entered ? enter(entered.user) : setNeedsCode(true));
  const form = useRecordForm({
    values: { email, password: '' },
    validate: { email: emailFault, password: (value) => (value === '' ? 'Enter your password.' : null) },
    submit: async (values) => {
      const outcome = await auth.signIn({ ...values, email: values.email.trim() });
      if (outcome.problem?.code === 'INVALID_EMAIL_OR_PASSWORD') askAgain();
      return outcome;
    },
    saved: ({ result }) => take(result),
  });
  function askAgain(): void {
    form.setFieldValue('password', '');
    password.current?.focus();
  }
  const takePasskey = (outcome: PasskeyOutcome) => {
    setBusy(null);
    form.refuse(outcome?.problem ?? null);
    if (outcome?.problem === null) take(outcome.result);
  };
  const askForPasskey = usePasskeyQuestions(passkeyHost, takePasskey);
  const byProvider = async () => {
    const address = form.getValues().email.trim();
    if (singleSignOn === 'by address' && form.validateField('email').hasError) return;
    setBusy('provider');
    const { result, problem: why } = await auth.startProvider({
      ...(address === '' ? {} : { email: address }),
      returnTo,
    });
    if (why === null) return window.location.assign(result.url);
    setBusy(null);
    form.refuse(why);
  };
  const byPasskey = async () => {
    setBusy('passkey');
    takePasskey(await askForPasskey());
  };

  if (needsCode) return <SecondFactorForm onSignedIn={enter} />;
  return (
    <EntryForm
      form={form}
      label="Sign in"
      submit="Sign in"
      isDisabled={busy === 'passkey'}
      others={
        <>
          {singleSignOn !== null && (
            <QuietButton
              label="Use single sign-on"
              loading={busy === 'provider'}
              onClick={() => void byProvider()}
              fullWidth
            />
          )}
          {passkeyHost !== null && canUsePasskeys(passkeyHost) && (
            <>
              <Divider label="or" />
              <QuietButton
                label="Use a passkey"
                leftSection={<Icon name="fingerprint" size={18} />}
                loading={busy === 'passkey'}
                disabled={form.isBusy}
                onClick={() => void byPasskey()}
                fullWidth
              />
            </>
          )}
        </>
      }
    >
      <form.Text
        name="email"
        label="Email address"
        type="email"
        autoComplete="username webauthn"
        required
        withAsterisk={false}
        data-autofocus={email === '' ? true : undefined}
      />
      <Password
        ref={password}
        required
        withAsterisk={false}
        data-autofocus={email === '' ? undefined : true}
        {...form.getInputProps('password')}
      />
    </EntryForm>
  );
}

type PasskeyOutcome = Awaited<ReturnType<typeof signInByPasskey>>;

/** Lets the browser suggest passkeys in the address field. Returns a function that asks for one explicitly. */
function usePasskeyQuestions(passkeyHost: string | null, take: (outcome: PasskeyOutcome) => void) {
  const asking = useRef(new AbortController());
  const taken = useEffectEvent(take);
  useEffect(() => {
    if (passkeyHost === null || !canUsePasskeys(passkeyHost)) return;
    const controller = new AbortController();
    asking.current = controller;
    void (async () => {
      if (!(await offersPasskeysInFields()) || controller.signal.aborted) return;
      const outcome = await signInByPasskey('conditional', controller.signal);
      // The user did not ask explicitly, so only the result of a passkey is shown.
      if (outcome !== null && outcome.problem?.status !== 0) taken(outcome);
    })();
    return () => controller.abort();
  }, [passkeyHost]);
  return () => {
    // A browser allows one passkey request at a time.
    asking.current.abort();
    asking.current = new AbortController();
    return signInByPasskey('optional', asking.current.signal);
  };
}

/** Asks for the code of the authenticator app, or for a recovery code. */
export function SecondFactorForm({ onSignedIn }: { onSignedIn: (user: AuthUser) => void }) {
  const [isRecovery, setRecovery] = useState(false);
  const form = useRecordForm({
    values: { code: '' },
    submit: async ({ code }) => {
      const outcome = await auth.verifySecondFactor(isRecovery ? { recoveryCode: code } : { code });
      if (outcome.problem !== null) empty();
      return outcome;
    },
    saved: ({ result }) => onSignedIn(result.user),
  });
  function empty(): void {
    form.setFieldValue('code', '');
  }
  return (
    <EntryForm
      form={form}
      label="Second step"
      submit="Continue"
      others={
        <>
          <Anchor
            component="button"
            type="button"
            size="sm"
            ta="center"
            onClick={() => {
              setRecovery(!isRecovery);
              form.reset();
            }}
          >
            {isRecovery ? 'Use the authenticator app' : 'Use a recovery code'}
          </Anchor>
          <Anchor component="button" type="button" size="sm" ta="center" onClick={() => window.location.reload()}>
            Start over
          </Anchor>
        </>
      }
    >
      <form.Text
        key={isRecovery ? 'recovery' : 'code'}
        name="code"
        label={isRecovery ? 'Recovery code' : 'Code of your authenticator app'}
        inputMode={isRecovery ? 'text' : 'numeric'}
        autoComplete={isRecovery ? 'off' : 'one-time-code'}
        maxLength={64}
        ref={focusOnce}
      />
      {isRecovery && (
        <Hint>
          No app and no code left? The operator of this service can reset your second factor, and ends all your sessions
          with it.
        </Hint>
      )}
    </EntryForm>
  );
}

const focusOnce = (input: HTMLInputElement | null) => input?.focus();
