import { Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Redirect } from 'wouter';
import { IconAlertTriangle } from '../../parts/icons.ts';
import type { ConnectRequest } from '../sign-in/auth-calls.ts';
import { AuthProblemNote } from '../sign-in/auth-problem-note.tsx';
import { EntryCard } from '../sign-in/entry-card.tsx';
import { withNext } from '../sign-in/next-path.ts';
import { Home } from './consent-page.tsx';
import { DecisionForm } from './decision-form.tsx';
import { useQuestion } from './use-question.ts';

/** Takes the code that a terminal shows, and asks whether the command line gets access. */
export function DevicePage() {
  const [typed, setTyped] = useState(() => new URLSearchParams(window.location.search).get('code') ?? '');
  // A link can contain a code, but never enters it: the person compares it with the terminal first.
  const [asked, setAsked] = useState<{ userCode: string } | null>(null);
  const [decision, setDecision] = useState<'allowed' | 'denied' | null>(null);
  const { shown, readAgain } = useQuestion(asked as ConnectRequest | null);
  if (shown.state === 'signed-out')
    return <Redirect to={withNext('/sign-in', window.location.pathname + window.location.search)} replace />;
  if (decision !== null)
    return (
      <EntryCard
        title={decision === 'allowed' ? 'The terminal is connected' : 'Access was denied'}
        about="You can close this page and return to the terminal."
        below={<Home />}
      >
        {null}
      </EntryCard>
    );
  if (asked !== null && shown.state === 'asked')
    return (
      <EntryCard
        title="Connect the command line?"
        about={
          <>
            Code <b>{asked.userCode}</b>, entered at {shown.question.host}.
          </>
        }
      >
        <Stack>
          <Alert variant="outline" color="yellow" icon={<IconAlertTriangle aria-hidden />} py="sm">
            <Text size="sm">
              Continue only if you see this code in your own terminal. Anyone who sent it to you gets access.
            </Text>
          </Alert>
          <DecisionForm
            key={shown.question.workspaceId}
            {...shown}
            asked={asked}
            onSwitched={() => void readAgain()}
            onDecided={(_, isAllowed) => setDecision(isAllowed ? 'allowed' : 'denied')}
          />
        </Stack>
      </EntryCard>
    );
  return (
    <EntryCard title="Connect the command line" about="Enter the code that your terminal shows." below={<Home />}>
      <form
        aria-label="Code of the terminal"
        onSubmit={(event) => {
          event.preventDefault();
          setAsked({ userCode: typed.trim().toUpperCase() });
        }}
      >
        <Stack>
          <TextInput
            label="Code"
            placeholder="BCDF-GHJK"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
          <AuthProblemNote problem={shown.state === 'refused' ? shown.problem : null} />
          <Button type="submit" disabled={typed.trim() === ''} fullWidth>
            Continue
          </Button>
        </Stack>
      </form>
    </EntryCard>
  );
}
