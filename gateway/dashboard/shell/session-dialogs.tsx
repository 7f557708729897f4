import { Anchor, Button, Group, Modal, Stack } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { auth } from '../pages/sign-in/auth-calls.ts';
import { Password, useAuthSettings } from '../pages/sign-in/entry-parts.tsx';
import { withNext } from '../pages/sign-in/next-path.ts';
import { canUsePasskeys, signInByPasskey } from '../pages/sign-in/passkeys.ts';
import { SignInForm } from '../pages/sign-in/sign-in-form.tsx';
import { offerConfirmation } from '../parts/confirm-sign-in.ts';
import { QuietButton } from '../parts/controls.tsx';
import { IconFingerprint } from '../parts/icons.ts';
import { ErrorAlert, Small } from '../parts/text.tsx';
import { useViewer, type Viewer } from './viewer.ts';

/** Asks the person to confirm the sign-in, when a change needs it. */
export function ConfirmSignIn() {
  const [reason, setReason] = useState<string | null>(null);
  const done = useRef<(isConfirmed: boolean) => void>(() => undefined);
  useEffect(
    () =>
      offerConfirmation(
        (asked) =>
          new Promise((resolve) => {
            done.current(false);
            done.current = resolve;
            setReason(asked);
          }),
      ),
    [],
  );
  const end = (isConfirmed: boolean) => {
    setReason(null);
    done.current(isConfirmed);
  };
  return (
    <Modal opened={reason !== null} onClose={() => end(false)} title="Confirm that it is you" centered zIndex={350}>
      {reason !== null && <Confirmation reason={reason} onEnd={end} />}
    </Modal>
  );
}

interface ConfirmationProps {
  /** what it is for */
  reason: string;
  onEnd: (isConfirmed: boolean) => void;
}

function Confirmation({ reason, onEnd }: ConfirmationProps) {
  const { id, person } = useViewer();
  const settings = useAuthSettings();
  const [state, setState] = useState<{ isByProvider: boolean; hasPassword: boolean; hasPasskey: boolean } | null>(null);
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState<'password' | 'other' | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(() => {
    void Promise.all([auth.secondFactor(), auth.credentials(), auth.passkeys()]).then(([own, credentials, passkeys]) =>
      setState({
        isByProvider: own.result?.isByProvider === true,
        hasPassword: credentials.result?.hasPassword === true,
        hasPasskey: (passkeys.result ?? []).length > 0,
      }),
    );
  }, []);
  const canUsePasskey = state?.hasPasskey === true && settings !== null && canUsePasskeys(settings.passkeyHost);

  const byPassword = async () => {
    setBusy('password');
    const { problem } = await auth.confirmSignIn(password);
    setBusy(null);
    setTrouble(problem?.message ?? null);
    if (problem === null) onEnd(true);
  };
  const byPasskey = async () => {
    setBusy('other');
    const outcome = await signInByPasskey('optional', new AbortController().signal);
    setBusy(null);
    if (outcome === null) return;
    if (outcome.problem !== null) return setTrouble(outcome.problem.message);
    if (!('user' in outcome.result) || outcome.result.user.id !== person?.id) return window.location.reload();
    await auth.switchWorkspace(id);
    onEnd(true);
  };
  const byProvider = async () => {
    setBusy('other');
    const { pathname, search, hash } = window.location;
    const { result, problem } = await auth.startProvider({ confirms: true, returnTo: pathname + search + hash });
    setBusy(null);
    if (problem === null) window.location.assign(result.url);
    else setTrouble(problem.message);
  };

  return (
    <form
      aria-label="Confirm that it is you"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (password !== '') void byPassword();
      }}
    >
      <Stack>
        <Small>{reason}</Small>
        {state?.isByProvider === false && state.hasPassword && (
          <Password
            label="Your password"
            data-autofocus
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
        )}
        {state?.isByProvider === false && !state.hasPassword && !canUsePasskey && (
          <Small>You have no password and no passkey. Sign in again, and set a password in Settings, Security.</Small>
        )}
        {trouble !== null && <ErrorAlert role="alert">{trouble}</ErrorAlert>}
        <Group justify="flex-end">
          <QuietButton label="Cancel" onClick={() => onEnd(false)} />
          {canUsePasskey && !state.isByProvider && (
            <QuietButton
              label="Use a passkey"
              icon={IconFingerprint}
              loading={busy === 'other'}
              onClick={() => void byPasskey()}
            />
          )}
          {state?.isByProvider === true && (
            <Button loading={busy === 'other'} onClick={() => void byProvider()}>
              Use single sign-on
            </Button>
          )}
          {state?.isByProvider === false && state.hasPassword && (
            <Button type="submit" disabled={password === ''} loading={busy === 'password'}>
              Confirm
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

/** Dialog over a page whose session has ended. After sign-in, the page continues with its unsaved input. */
export function SessionOver({ viewer, onSignedIn }: { viewer: Viewer; onSignedIn: () => void }) {
  const settings = useAuthSettings();
  const { pathname, search, hash } = window.location;
  // The new session may be in another workspace than the page.
  const enterAgain = async (personId: string) => {
    const isSame = personId === viewer.person?.id && (await auth.switchWorkspace(viewer.id)).problem === null;
    if (isSame) onSignedIn();
    else window.location.reload();
  };
  return (
    <Modal
      opened
      onClose={() => undefined}
      closeOnEscape={false}
      closeOnClickOutside={false}
      withCloseButton={false}
      title="Your session has ended"
      centered
      zIndex={400}
    >
      <Stack>
        <Small>Sign in again to continue on this page.</Small>
        <SignInForm
          email={viewer.person?.email ?? viewer.email ?? ''}
          passkeyHost={settings?.passkeyHost ?? null}
          singleSignOn={settings?.singleSignOn ?? null}
          returnTo={pathname + search + hash}
          onSignedIn={(user) => void enterAgain(user.id)}
        />
        <Anchor href={withNext('/sign-in', pathname + search + hash)} size="sm" ta="center">
          Go to sign-in
        </Anchor>
      </Stack>
    </Modal>
  );
}
