import { Anchor, Button, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type AuthOutcome, type AuthProblem, type AuthUser, auth } from './auth-calls.ts';
import { AuthProblemNote } from './auth-problem-note.tsx';

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
    if (outcome.problem === null) onSignedIn(outcome.answer.user);
    else setCode('');
  };
  return (
    <form
      aria-label="Second step"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (code.trim() !== '') void submit();
      }}
    >
      <Stack>
        <AuthProblemNote problem={problem} />
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
        <Button type="submit" loading={isBusy} fullWidth>
          Continue
        </Button>
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
      </Stack>
    </form>
  );
}

const focusOnce = (input: HTMLInputElement | null) => input?.focus();
