import { Anchor, Center, Loader, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Link, Redirect } from 'wouter';
import type { ConnectQuestion, ConnectRequest } from '../sign-in/auth-calls.ts';
import { AuthProblemNote } from '../sign-in/auth-problem-note.tsx';
import { EntryCard } from '../sign-in/entry-card.tsx';
import { withNext } from '../sign-in/next-path.ts';
import { DecisionForm } from './decision-form.tsx';
import { useQuestion } from './use-question.ts';

/** Asks a person whether a program gets access, and sends the browser back to the program. */
export function ConsentPage() {
  const [asked] = useState<ConnectRequest>(() => ({
    parameters: Object.fromEntries(new URLSearchParams(window.location.search)),
  }));
  const { shown, readAgain } = useQuestion(asked);
  const location = shown.state === 'redirected' ? shown.location : null;
  useEffect(() => {
    if (location !== null) window.location.replace(location);
  }, [location]);
  switch (shown.state) {
    case 'signed-out':
      return <Redirect to={withNext('/sign-in', window.location.pathname + window.location.search)} replace />;
    case 'refused':
      return (
        <EntryCard title="This program cannot connect" below={<Home />}>
          <AuthProblemNote problem={shown.problem} />
        </EntryCard>
      );
    case 'asked':
      return (
        <EntryCard title={`Connect ${shown.question.client.name}?`} about={<About question={shown.question} />}>
          <DecisionForm
            key={shown.question.workspaceId}
            {...shown}
            asked={asked}
            onSwitched={() => void readAgain()}
            onDecided={(next) => window.location.assign(next ?? '/')}
          />
        </EntryCard>
      );
    case 'loading':
    case 'redirected':
      return (
        <EntryCard title="Connect a program">
          <Center py="md">
            <Loader aria-label="Loading" />
          </Center>
        </EntryCard>
      );
  }
}

/** Shows who asks, as far as it is known. */
function About({ question: { client, host } }: { question: ConnectQuestion }) {
  return (
    <Stack gap={4}>
      <Text size="sm" inherit>
        This program asks for access to mail. Continue only if you started this yourself.
      </Text>
      <Text size="sm" inherit>
        {client.verifiedHost === null
          ? 'It gave this name itself; the name is not verified.'
          : `It is a program of ${client.verifiedHost}.`}{' '}
        Your browser then goes to <b>{host}</b>.
      </Text>
    </Stack>
  );
}

export function Home() {
  return (
    <Anchor component={Link} href="/" underline="always">
      Go to the overview
    </Anchor>
  );
}
