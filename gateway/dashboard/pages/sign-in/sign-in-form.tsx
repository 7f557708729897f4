import { Anchor, Divider, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { QuietButton } from '../../parts/controls.tsx';
import { IconFingerprint } from '../../parts/icons.ts';
import { announceSignIn } from '../../shell/session-news.ts';
import {
  type AuthOutcome,
  type AuthProblem,
  type AuthSettings,
  type AuthUser,
  auth,
  type Entered,
} from './auth-calls.ts';
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
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [busy, setBusy] = useState<'password' | 'passkey' | 'provider' | null>(null);
  const [needsCode, setNeedsCode] = useState(false);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email, password: '' },
    validate: { email: emailFault, password: (value) => (value === '' ? 'Enter your password.' : null) },
  });
  const password = useRef<HTMLInputElement>(null);
  const enter = (user: AuthUser) => {
    announceSignIn(user.id);
    onSignedIn(user);
  };
  const take = (outcome: AuthOutcome<Entered> | null) => {
    setBusy(null);
    setProblem(outcome?.problem ?? null);
    if (outcome?.problem !== null) return;
    if ('user' in outcome.result) enter(outcome.result.user);
    else setNeedsCode(true);
  };
  const askForPasskey = usePasskeyQuestions(passkeyHost, take);

  const submit = form.onSubmit(async (values) => {
    setBusy('password');
    const outcome = await auth.signIn({ ...values, email: values.email.trim() });
    take(outcome);
    if (outcome.problem?.code === 'INVALID_EMAIL_OR_PASSWORD') {
      form.setFieldValue('password', '');
      password.current?.focus();
    }
  });
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
    setProblem(why);
  };
  const byPasskey = async () => {
    setBusy('passkey');
    take(await askForPasskey());
  };

  if (needsCode) return <SecondFactorForm onSignedIn={enter} />;
  return (
    <EntryForm
      label="Sign in"
      submit="Sign in"
      isBusy={busy === 'password'}
      isDisabled={busy === 'passkey'}
      problem={problem}
      onSubmit={submit}
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
                leftSection={<IconFingerprint size={18} aria-hidden />}
                loading={busy === 'passkey'}
                disabled={busy === 'password'}
                onClick={() => void byPasskey()}
                fullWidth
              />
            </>
          )}
        </>
      }
    >
      <TextInput
        label="Email address"
        type="email"
        autoComplete="username webauthn"
        required
        withAsterisk={false}
        data-autofocus={email === '' ? true : undefined}
        key={form.key('email')}
        {...form.getInputProps('email')}
      />
      <Password
        ref={password}
        required
        withAsterisk={false}
        data-autofocus={email === '' ? undefined : true}
        key={form.key('password')}
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
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    const outcome: AuthOutcome<{ user: AuthUser }> = await auth.verifySecondFactor(
      isRecovery ? { recoveryCode: code } : { code },
    );
    setBusy(false);
    setProblem(outcome.problem);
    if (outcome.problem === null) onSignedIn(outcome.result.user);
    else setCode('');
  };
  return (
    <EntryForm
      label="Second step"
      submit="Continue"
      isBusy={isBusy}
      problem={problem}
      onSubmit={(event) => {
        event.preventDefault();
        if (code.trim() !== '') void submit();
      }}
      others={
        <Anchor
          component="button"
          type="button"
          size="sm"
          ta="center"
          onClick={() => {
            setRecovery(!isRecovery);
            setCode('');
            setProblem(null);
          }}
        >
          {isRecovery ? 'Use the authenticator app' : 'Use a recovery code'}
        </Anchor>
      }
    >
      <TextInput
        key={isRecovery ? 'recovery' : 'code'}
        label={isRecovery ? 'Recovery code' : 'Code of your authenticator app'}
        inputMode={isRecovery ? 'text' : 'numeric'}
        autoComplete={isRecovery ? 'off' : 'one-time-code'}
        value={code}
        maxLength={64}
        onChange={(event) => setCode(event.currentTarget.value)}
        ref={focusOnce}
      />
    </EntryForm>
  );
}

const focusOnce = (input: HTMLInputElement | null) => input?.focus();
