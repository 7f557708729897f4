import { Anchor, Code, Group, List, Switch } from '@mantine/core';
import { useState } from 'react';
import { BusyButton, ConfirmButton } from '../../parts/buttons.tsx';
import { CopyTextButton } from '../../parts/command.tsx';
import { MainButton, QuietButton } from '../../parts/controls.tsx';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import { notify } from '../../parts/notify.tsx';
import { QrCode } from '../../parts/qr-code.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { PlainList, Section } from '../../parts/section.tsx';
import { Hint, Small } from '../../parts/text.tsx';
import { counted } from '../../parts/words.ts';
import { useFirstField } from '../../shell/keys.ts';
import { type AuthProblem, auth, type Passkey } from '../sign-in/auth-calls.ts';
import { AuthProblemNote, NewPassword, newPasswordFault, Password, useAuthSettings } from '../sign-in/entry-parts.tsx';
import { addPasskey, canUsePasskeys } from '../sign-in/passkeys.ts';
import { change, deviceWords, SettingRow, ShownOnce, tellOutcome, useAsked, WhenRead } from './setting-parts.tsx';

/** Changes the password, or sets the first one. */
export function PasswordSection() {
  const asked = useAsked(auth.credentials);
  return (
    <Section
      title="Password"
      about={
        asked.result?.hasPassword === false
          ? 'This account has no password. Set one to sign in without a link.'
          : 'A new password signs you out of all other browsers.'
      }
    >
      <WhenRead asked={asked} height={140}>
        {({ hasPassword }) => <PasswordForm hasPassword={hasPassword} onSet={asked.askAgain} />}
      </WhenRead>
    </Section>
  );
}

function PasswordForm({ hasPassword, onSet }: { hasPassword: boolean; onSet: () => Promise<void> }) {
  const form = useRecordForm({
    values: { currentPassword: '', newPassword: '' },
    validate: {
      currentPassword: (value) => (hasPassword && value === '' ? 'Enter your current password.' : null),
      newPassword: newPasswordFault,
    },
    submit: async (values) => {
      const { problem } = hasPassword ? await auth.changePassword(values) : await auth.setPassword(values.newPassword);
      return problem?.code === 'INVALID_PASSWORD'
        ? { problem: { ...problem, fields: { currentPassword: 'This is not your current password.' } } }
        : { problem };
    },
    saved: () => {
      form.reset();
      notify({ message: hasPassword ? 'The password was changed.' : 'The password was set.', color: 'green' });
      void onSet();
    },
  });
  return (
    <RecordForm
      form={form}
      submit={hasPassword ? 'Change password' : 'Set password'}
      label="Password"
      justify="flex-start"
    >
      {hasPassword && <Password label="Current password" {...form.getInputProps('currentPassword')} />}
      <NewPassword label="New password" {...form.getInputProps('newPassword')} />
    </RecordForm>
  );
}

/** The authenticator app of the person; for those who may, whether members need a second factor. */
export function SecondFactorSection({ mayRequire, onTurnedOn }: { mayRequire: boolean; onTurnedOn?: () => void }) {
  const asked = useAsked(auth.secondFactor);
  const { askAgain } = asked;
  const [codes, setCodes] = useState<string[] | null>(null);
  const [setUp, setSetUp] = useState<{ url: string; secret: string } | null>(null);
  const [problem, setProblem] = useState<AuthProblem | null>(null);

  const begin = async () => {
    const outcome = await auth.setUpSecondFactor();
    setProblem(outcome.problem);
    setSetUp(outcome.result);
  };
  const require = (isRequired: boolean) =>
    change(auth.requireSecondFactor(isRequired), 'The requirement was saved.', askAgain);
  const renew = async () => {
    const outcome = await auth.renewRecoveryCodes();
    setProblem(outcome.problem);
    if (outcome.problem !== null) return;
    setCodes(outcome.result.recoveryCodes);
    await askAgain();
  };
  return (
    <Section
      title="Two-step sign-in"
      about="After your password, you enter a code of an authenticator app. A passkey needs no code, because it is two factors by itself."
    >
      <AuthProblemNote problem={problem} />
      {codes !== null && (
        <ShownOnce
          title="Save your recovery codes"
          about="Each signs you in once, if you lose your authenticator app. They are shown only now."
          text={codes.join('\n')}
          copyLabel="Copy codes"
          done={() => {
            setCodes(null);
            onTurnedOn?.();
          }}
        >
          <List listStyleType="none" size="sm" ff="monospace" aria-label="Recovery codes">
            {codes.map((code) => (
              <List.Item key={code}>{code}</List.Item>
            ))}
          </List>
        </ShownOnce>
      )}
      {setUp !== null && (
        <SetUp
          {...setUp}
          cancel={() => setSetUp(null)}
          onTurnedOn={(made) => {
            setSetUp(null);
            setCodes(made);
            void askAgain();
          }}
        />
      )}
      <WhenRead asked={asked} height={60}>
        {({ isOn, recoveryCodesLeft, isRequired }) => (
          <>
            {!isOn && setUp === null && (
              <MainButton w="fit-content" label="Set up authenticator app" onClick={() => void begin()} />
            )}
            {isOn && (
              <>
                <Small>On. {counted(recoveryCodesLeft, 'recovery code')} left.</Small>
                <Group>
                  <ConfirmButton
                    size="sm"
                    label="Create new recovery codes"
                    question="Create new recovery codes?"
                    about="The codes that you have now stop working."
                    confirm="Create new codes"
                    act={renew}
                  />
                  <ConfirmButton
                    size="sm"
                    label="Remove authenticator app"
                    question="Remove the authenticator app?"
                    about="Your password, or a sign-in link, alone is then enough to sign in."
                    act={() => change(auth.removeSecondFactor(), 'The authenticator app was removed.', askAgain)}
                  />
                </Group>
              </>
            )}
            {mayRequire && (
              <Switch
                label="Members of this workspace need a second factor"
                description="Members without one reach only the page that sets it up."
                checked={isRequired}
                onChange={(event) => void require(event.currentTarget.checked)}
              />
            )}
          </>
        )}
      </WhenRead>
    </Section>
  );
}

type SetUpProps = {
  url: string;
  secret: string;
  cancel: () => void;
  onTurnedOn: (recoveryCodes: string[]) => void;
};

function SetUp({ url, secret, cancel, onTurnedOn }: SetUpProps) {
  useFirstField();
  const form = useRecordForm({
    values: { code: '' },
    submit: ({ code }) => auth.turnOnSecondFactor(code),
    saved: ({ result }) => onTurnedOn(result.recoveryCodes),
  });
  return (
    <RecordForm
      form={form}
      submit="Turn on"
      label="Set up authenticator app"
      cancel={cancel}
      justify="flex-start"
      isDisabled={form.values.code.trim() === ''}
    >
      <Small>
        1. Scan this code with your authenticator app, or{' '}
        <Anchor href={url} inherit underline="always">
          open the app on this device
        </Anchor>
        :
      </Small>
      <QrCode text={url} label="QR code for your authenticator app, with the key that follows" />
      <Small>If you cannot scan it, enter this key in the app:</Small>
      <Group gap="xs">
        <Code fz="sm" className="postroom-wrap">
          {secret}
        </Code>
        <CopyTextButton text={secret.replaceAll(' ', '')} label="Copy key" size="xs" />
      </Group>
      <form.Text
        name="code"
        label="2. Enter the code that the app shows"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={20}
        data-autofocus
      />
    </RecordForm>
  );
}

/** Passkeys of the account. */
export function PasskeysSection() {
  const settings = useAuthSettings();
  const asked = useAsked(auth.passkeys);
  const canAdd = settings !== null && canUsePasskeys(settings.passkeyHost);
  const add = async () => {
    const outcome = await addPasskey(deviceWords(navigator.userAgent));
    if (outcome !== null && tellOutcome(outcome, 'The passkey was added.')) await asked.askAgain();
  };
  return (
    <Section
      title="Passkeys"
      about="Sign in with a fingerprint, face or device PIN. A passkey cannot be guessed or phished."
      actions={canAdd && <BusyButton label="Add passkey" icon="plus" act={add} />}
    >
      <WhenRead asked={asked} height={40}>
        {(passkeys) => (
          <PlainList label="Passkeys" gap="md" empty="No passkeys yet.">
            {passkeys.map((passkey) => (
              <PasskeyRow key={passkey.id} passkey={passkey} onChange={asked.askAgain} />
            ))}
          </PlainList>
        )}
      </WhenRead>
      {settings !== null && !canAdd && (
        <Hint>
          Passkeys work only at {settings.passkeyHost}, over https or on localhost. Open this page there to add one.
        </Hint>
      )}
    </Section>
  );
}

function PasskeyRow({ passkey, onChange }: { passkey: Passkey; onChange: () => Promise<void> }) {
  const [isRenaming, setRenaming] = useState(false);
  const shown = passkey.name ?? 'Passkey';
  return (
    <SettingRow
      icon="fingerprint"
      name={shown}
      about={
        <>
          {passkey.createdAt != null && <RelativeTime at={passkey.createdAt} prefix="Added " />}
          {passkey.backedUp && ' · Synced across your devices'}
          {isRenaming && <PasskeyName passkey={passkey} close={() => setRenaming(false)} renamed={onChange} />}
        </>
      }
    >
      {!isRenaming && (
        <Group gap="xs" wrap="nowrap">
          <QuietButton label="Rename" size="xs" onClick={() => setRenaming(true)} aria-label={`Rename ${shown}`} />
          <ConfirmButton
            label="Remove"
            of={shown}
            about="You can no longer sign in with it. Also remove it from the device or password manager."
            confirm="Remove passkey"
            act={() => change(auth.removePasskey(passkey.id), 'The passkey was removed.', onChange)}
          />
        </Group>
      )}
    </SettingRow>
  );
}

type PasskeyNameProps = { passkey: Passkey; close: () => void; renamed: () => Promise<void> };

function PasskeyName({ passkey: { id, name }, close, renamed }: PasskeyNameProps) {
  const form = useRecordForm({
    values: { name: name ?? 'Passkey' },
    submit: (values) => auth.renamePasskey(id, values.name.trim()),
    saved: (outcome) => {
      tellOutcome(outcome, 'The passkey was renamed.');
      void renamed().then(close);
    },
  });
  return (
    <RecordForm
      form={form}
      submit="Save"
      label={`Rename ${name ?? 'Passkey'}`}
      cancel={close}
      isDisabled={form.values.name.trim() === ''}
    >
      <form.Text name="name" label="Name" maxLength={100} ref={focusOnce} />
    </RecordForm>
  );
}

const focusOnce = (input: HTMLInputElement | null) => input?.select();
