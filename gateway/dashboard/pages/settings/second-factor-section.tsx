import { Alert, Button, Code, CopyButton, Group, List, Skeleton, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { QrCode } from '../../parts/qr-code.tsx';
import { type AuthProblem, auth } from '../sign-in/auth-calls.ts';
import { AuthProblemNote } from '../sign-in/auth-problem-note.tsx';
import { Section } from './section.tsx';
import { tellOutcome } from './tell-outcome.ts';
import { useAsked } from './use-asked.ts';

/** The authenticator app of the person; for those who may, whether members need a second factor. */
export function SecondFactorSection({ mayRequire, onTurnedOn }: { mayRequire: boolean; onTurnedOn?: () => void }) {
  const { answer, problem, askAgain } = useAsked(auth.secondFactor);
  const [codes, setCodes] = useState<string[] | null>(null);
  const [setUp, setSetUp] = useState<{ url: string; secret: string } | null>(null);
  const [trouble, setTrouble] = useState<AuthProblem | null>(null);

  const begin = async () => {
    const outcome = await auth.setUpSecondFactor();
    setTrouble(outcome.problem);
    setSetUp(outcome.answer);
  };
  const require = async (isRequired: boolean) => {
    if (tellOutcome(await auth.requireSecondFactor(isRequired), 'The requirement was saved.')) await askAgain();
  };
  const renew = async () => {
    const outcome = await auth.renewRecoveryCodes();
    setTrouble(outcome.problem);
    if (outcome.problem !== null) return;
    setCodes(outcome.answer.recoveryCodes);
    await askAgain();
  };
  return (
    <Section
      title="Two-step sign-in"
      about="After your password, you enter a code of an authenticator app. A passkey needs no code, because it is two factors by itself."
    >
      <AuthProblemNote problem={problem ?? trouble} />
      {answer === undefined && problem === null && <Skeleton h={60} />}
      {codes !== null && (
        <RecoveryCodes
          codes={codes}
          onDone={() => {
            setCodes(null);
            onTurnedOn?.();
          }}
        />
      )}
      {answer?.isOn === false && setUp === null && (
        <Group>
          <Button onClick={() => void begin()}>Set up authenticator app</Button>
        </Group>
      )}
      {setUp !== null && (
        <SetUp
          {...setUp}
          onTurnedOn={(made) => {
            setSetUp(null);
            setCodes(made);
            void askAgain();
          }}
        />
      )}
      {answer?.isOn === true && (
        <>
          <Text size="sm">On. {answer.recoveryCodesLeft} recovery codes left.</Text>
          <Group>
            <Button variant="default" onClick={() => void renew()}>
              Create new recovery codes
            </Button>
            <ConfirmButton
              size="sm"
              label="Remove authenticator app"
              question="Remove the authenticator app?"
              about="Your password, or a sign-in link, alone is then enough to sign in."
              confirm="Remove authenticator app"
              act={async () => {
                if (tellOutcome(await auth.removeSecondFactor(), 'The authenticator app was removed.'))
                  await askAgain();
              }}
            />
          </Group>
        </>
      )}
      {answer !== undefined && mayRequire && (
        <Switch
          label="Members of this workspace need a second factor"
          description="Members without one reach only the page that sets it up."
          checked={answer.isRequired}
          onChange={(event) => void require(event.currentTarget.checked)}
        />
      )}
    </Section>
  );
}

function SetUp({
  url,
  secret,
  onTurnedOn,
}: {
  url: string;
  secret: string;
  onTurnedOn: (recoveryCodes: string[]) => void;
}) {
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const turnOn = async () => {
    setBusy(true);
    const outcome = await auth.turnOnSecondFactor(code);
    setBusy(false);
    setProblem(outcome.problem);
    if (outcome.problem === null) onTurnedOn(outcome.answer.recoveryCodes);
  };
  return (
    <form
      aria-label="Set up authenticator app"
      onSubmit={(event) => {
        event.preventDefault();
        void turnOn();
      }}
    >
      <Stack>
        <Text size="sm">
          1. Scan this code with your authenticator app, or <a href={url}>open the app on this device</a>:
        </Text>
        <QrCode text={url} label="QR code for your authenticator app, with the key that follows" />
        <Text size="sm">If you cannot scan it, enter this key in the app:</Text>
        <Group gap="xs">
          <Code fz="sm" className="postroom-wrap">
            {secret}
          </Code>
          <CopyButton value={secret.replaceAll(' ', '')}>
            {({ copied, copy }) => (
              <Button variant="default" size="xs" onClick={copy}>
                {copied ? 'Copied' : 'Copy key'}
              </Button>
            )}
          </CopyButton>
        </Group>
        <AuthProblemNote problem={problem} />
        <TextInput
          label="2. Enter the code that the app shows"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={20}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <Group>
          <Button type="submit" loading={isBusy} disabled={code.trim() === ''}>
            Turn on
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  return (
    <Alert color="yellow" variant="outline" title="Save your recovery codes">
      <Stack>
        <Text size="sm">Each signs you in once, if you lose your authenticator app. They are shown only now.</Text>
        <List listStyleType="none" size="sm" ff="monospace" aria-label="Recovery codes">
          {codes.map((code) => (
            <List.Item key={code}>{code}</List.Item>
          ))}
        </List>
        <Group>
          <CopyButton value={codes.join('\n')}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy codes'}
              </Button>
            )}
          </CopyButton>
          <Button onClick={onDone}>Done</Button>
        </Group>
      </Stack>
    </Alert>
  );
}
