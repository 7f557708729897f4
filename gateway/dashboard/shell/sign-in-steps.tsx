import { Anchor, Group, Modal, Stack } from '@mantine/core';
import { useContext, useEffect, useRef, useState } from 'react';
import { deviceWords, tellOutcome, useAsked } from '../pages/settings/setting-parts.tsx';
import { SecondFactorSection } from '../pages/settings/sign-in-settings.tsx';
import { auth } from '../pages/sign-in/auth-calls.ts';
import { EntryCard, Password, useAuthSettings } from '../pages/sign-in/entry-parts.tsx';
import { addPasskey, canUsePasskeys, signInByPasskey } from '../pages/sign-in/passkeys.ts';
import { BusyButton } from '../parts/buttons.tsx';
import { Command } from '../parts/command.tsx';
import { offerConfirmation, summonConfirmation } from '../parts/confirm-sign-in.ts';
import { MainButton, QuietButton } from '../parts/controls.tsx';
import { FormFrame, Trouble, useRecordForm } from '../parts/form.tsx';
import { Small } from '../parts/text.tsx';
import { announceSignIn, signOut } from './session-news.ts';
import { ViewerContext } from './viewer.ts';

const ABOUT = 'This workspace requires one: an authenticator app, or a passkey.';

/** The only page of a person whose workspace requires a second factor that the session has not shown. */
export function SecondFactorPage() {
  // Setting one up may need a confirmed sign-in, for which other pages load the dialog.
  useEffect(() => summonConfirmation(() => undefined), []);
  return (
    <EntryCard title="Set up a second factor" about={ABOUT} below={<SignOut />}>
      <Ways onDone={() => window.location.reload()} />
      <ConfirmSignIn />
    </EntryCard>
  );
}

/** The same over a page that was open before the workspace required it. */
export function SecondFactorStep({ onDone }: { onDone: () => void }) {
  return (
    <Stack>
      {/* The dialog appears while the person types: no key of that may sign out. */}
      <Small tabIndex={-1} data-autofocus>
        {ABOUT} What you wrote on this page stays.
      </Small>
      <Ways onDone={onDone} />
      <Small ta="center">
        <SignOut />
      </Small>
    </Stack>
  );
}

function Ways({ onDone }: { onDone: () => void }) {
  const settings = useAuthSettings();
  const { result: passkeys } = useAsked(auth.passkeys);
  const hasNone = passkeys?.length === 0;
  const done = async () => {
    const { result } = await auth.session();
    if (result !== null) announceSignIn(result.user.id);
    onDone();
  };
  // Only a session that began with it has shown it, so a new one signs in at once.
  const byPasskey = async () => {
    if (hasNone) {
      const added = await addPasskey(deviceWords(navigator.userAgent));
      if (added === null || !tellOutcome(added, 'The passkey was added.')) return;
    }
    const entered = await signInByPasskey('optional', new AbortController().signal);
    if (entered !== null && tellOutcome(entered, 'You signed in with the passkey.')) await done();
  };
  return (
    <Stack>
      <SecondFactorSection mayRequire={false} onTurnedOn={() => void done()} />
      {passkeys !== undefined && settings !== null && canUsePasskeys(settings.passkeyHost) && (
        <BusyButton
          label={hasNone ? 'Add a passkey instead' : 'Use a passkey instead'}
          icon="fingerprint"
          act={byPasskey}
        />
      )}
    </Stack>
  );
}

function SignOut() {
  return (
    <Anchor component="button" onClick={() => void signOut()} underline="always" inherit>
      Sign out
    </Anchor>
  );
}

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
    <Modal opened={reason !== null} onClose={() => end(false)} title="Confirm that it is you" centered zIndex={450}>
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
  // Null on the page that sets up a second factor, which is outside of any workspace.
  const viewer = useContext(ViewerContext);
  const settings = useAuthSettings();
  const [state, setState] = useState<{ isByProvider: boolean; hasPassword: boolean; hasPasskey: boolean } | null>(null);
  useEffect(() => {
    void Promise.all([auth.secondFactor(), auth.credentials(), auth.passkeys()]).then(([own, credentials, passkeys]) =>
      setState({
        isByProvider: own.result?.isByProvider === true,
        hasPassword: credentials.result?.hasPassword === true,
        hasPasskey: (passkeys.result ?? []).length > 0,
      }),
    );
  }, []);
  const form = useRecordForm({
    values: { password: '' },
    submit: ({ password }) => auth.confirmSignIn(password),
    saved: () => onEnd(true),
  });
  const byPasskey = async () => {
    const outcome = await signInByPasskey('optional', new AbortController().signal);
    if (outcome === null) return;
    if (outcome.problem !== null) return form.refuse(outcome.problem);
    if (viewer === null || outcome.result.user.id !== viewer.person?.id) return window.location.reload();
    await auth.switchWorkspace(viewer.id);
    onEnd(true);
  };
  const byProvider = async () => {
    const { pathname, search, hash } = window.location;
    const { result, problem } = await auth.startProvider({ confirms: true, returnTo: pathname + search + hash });
    if (problem === null) window.location.assign(result.url);
    else form.refuse(problem);
  };
  const isOwn = state?.isByProvider === false;
  const isByPassword = isOwn && state.hasPassword;
  const isByPasskey = isOwn && state.hasPasskey && settings !== null && canUsePasskeys(settings.passkeyHost);
  return (
    <FormFrame form={form} label="Confirm that it is you">
      <Small>{reason}</Small>
      {isByPassword && <Password label="Your password" data-autofocus {...form.getInputProps('password')} />}
      {isOwn && !isByPassword && !isByPasskey && (
        <>
          <Small>
            You have no password and no passkey. Sign out, and choose “Forgot your password?” to get a link by mail. Or
            sign in by a link that the operator of this service makes:
          </Small>
          <Command text={`npx node bin/account.ts sign-in-link ${viewer?.person?.email ?? 'you@example.com'}`} />
        </>
      )}
      <Trouble text={form.errors['problem']} />
      <Group justify="flex-end">
        <QuietButton label="Cancel" onClick={() => onEnd(false)} />
        {isByPasskey && <BusyButton label="Use a passkey" icon="fingerprint" act={byPasskey} />}
        {state?.isByProvider === true && <BusyButton label="Use single sign-on" variant="filled" act={byProvider} />}
        {isByPassword && (
          <MainButton label="Confirm" type="submit" disabled={form.values.password === ''} loading={form.isBusy} />
        )}
      </Group>
    </FormFrame>
  );
}
