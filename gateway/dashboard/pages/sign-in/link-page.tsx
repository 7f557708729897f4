import { Anchor, Button, Center, Loader, Stack, Text } from '@mantine/core';
import { useEffect, useEffectEvent, useState } from 'react';
import { useClient } from 'urql';
import { Link, useLocation } from 'wouter';
import { graphql } from '../../graphql.ts';
import { Command } from '../../parts/command.tsx';
import { notify } from '../../parts/notify.ts';
import { announceSignIn } from '../../shell/session-news.ts';
import { type AuthOutcome, type AuthProblem, type AuthUser, auth, type Entered } from './auth-calls.ts';
import { AuthProblemNote } from './auth-problem-note.tsx';
import { EntryCard } from './entry-card.tsx';
import { linkToken } from './link-token.ts';
import { SecondFactorForm } from './second-factor-form.tsx';

const ANY_MAIL = graphql(`query DashboardAnyMail { emails(first: 1) { edges { node { id } } } }`);

/** A link works only once, so each is used once, even if the page is rendered several times. */
const asked = new Map<string, Promise<AuthOutcome<Entered>>>();

/** Signs in by a one-time link and continues; to the welcome page while there is no mail. */
export function LinkPage() {
  const [token] = useState(() => linkToken(window.location.hash));
  const [problem, setProblem] = useState<AuthProblem | null>(token === null ? INCOMPLETE : null);
  const [needsCode, setNeedsCode] = useState(false);
  const [, navigate] = useLocation();
  const client = useClient();
  const goOn = async (user: AuthUser) => {
    announceSignIn(user.id);
    const [mail, credentials] = await Promise.all([
      client.query(ANY_MAIL, {}, { requestPolicy: 'network-only' }).toPromise(),
      auth.credentials(),
    ]);
    if (credentials.answer?.hasPassword === false) adviseOfPassword();
    navigate(mail.data?.emails.edges.length === 0 ? '/welcome' : '/', { replace: true });
  };
  const enter = useEffectEvent(async (once: string) => {
    setProblem(null);
    const asking = asked.get(once) ?? auth.signInByLink(once);
    asked.set(once, asking);
    const { answer, problem: why } = await asking;
    if (why !== null && why.code !== 'INVALID_TOKEN') asked.delete(once);
    else window.history.replaceState(null, '', window.location.pathname);
    setProblem(why);
    if (why !== null) return;
    if ('user' in answer) await goOn(answer.user);
    else setNeedsCode(true);
  });
  useEffect(() => {
    if (token !== null) void enter(token);
  }, [token]);

  const isVoid = problem?.code === 'INVALID_TOKEN';
  return (
    <EntryCard
      title={isVoid ? 'This link is not valid' : 'Signing in'}
      about={
        isVoid &&
        'A sign-in link works once, within 24 hours. This link was already used, has expired, or is incomplete.'
      }
      below={
        problem !== null && (
          <Anchor component={Link} href="/sign-in" underline="always">
            Sign in with a password or passkey
          </Anchor>
        )
      }
    >
      {needsCode && <SecondFactorForm onSignedIn={(user) => void goOn(user)} />}
      {problem === null && !needsCode && (
        <Center py="md">
          <Loader aria-label="Signing in" />
        </Center>
      )}
      {isVoid && (
        <Stack gap="xs">
          <Text size="sm">To create another link, run this on the machine of the service:</Text>
          <Command text="npx node bin/account.ts sign-in-link you@example.com" />
        </Stack>
      )}
      {problem !== null && !isVoid && (
        <Stack>
          <AuthProblemNote problem={problem} />
          {token !== null && <Button onClick={() => void enter(token)}>Try again</Button>}
        </Stack>
      )}
    </EntryCard>
  );
}

const INCOMPLETE: AuthProblem = { message: '', code: 'INVALID_TOKEN', status: 400, fields: {} };

/** Offers to set up a permanent way to sign in. */
function adviseOfPassword(): void {
  notify({
    title: 'You signed in with a one-time link',
    message: (
      <>
        To sign in again, set a password or add a passkey in{' '}
        <Anchor component={Link} href="/settings?tab=security" size="sm" underline="always">
          Settings
        </Anchor>
        .
      </>
    ),
    autoClose: false,
  });
}
