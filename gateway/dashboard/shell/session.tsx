import { Center, Loader, Title } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useEffect, useEffectEvent, useState } from 'react';
import { type CombinedError, type RequestPolicy, useQuery } from 'urql';
import { Redirect, useLocation } from 'wouter';
import { client, listenForSessionEnd } from '../client.ts';
import type { ResultOf } from '../graphql.ts';
import { LiveProvider } from '../live/live-context.tsx';
import { auth } from '../pages/sign-in/auth-calls.ts';
import { withNext } from '../pages/sign-in/next-path.ts';
import { summonConfirmation } from '../parts/confirm-sign-in.ts';
import { ErrorNote } from '../parts/page.tsx';
import { keepShell } from './offline-shell.ts';
import { leave, listenForSessionNews } from './session-news.ts';
import { rememberSignIn, ShellOutline, wasSignedIn } from './shell-outline.tsx';
import { VIEWER, ViewerContext } from './viewer.ts';

const ConfirmSignIn = lazy(async () => ({ default: (await import('./session-dialogs.tsx')).ConfirmSignIn }));
const SecondFactorPage = lazy(async () => ({ default: (await import('./second-factor-page.tsx')).SecondFactorPage }));
const SessionOver = lazy(async () => ({ default: (await import('./session-dialogs.tsx')).SessionOver }));

/** How the session that was asked for as the page loaded is read, and why it could not be read. */
let first: { policy: RequestPolicy; error: CombinedError | undefined } | null = null;

/** Asks for the session as the page loads. Returns whether there is one. */
export async function askFirstSession(): Promise<boolean> {
  const asked: NonNullable<typeof first> = { policy: 'cache-first', error: undefined };
  first = asked;
  const { data, error } = await client.query(VIEWER, {}, { requestPolicy: 'network-only' }).toPromise();
  asked.error = error;
  return data !== undefined;
}

/** Returns how the session is read: the first request is in the cache, on its way, or failed. */
function takeFirst(): NonNullable<typeof first> {
  const taken: NonNullable<typeof first> = { ...(first ?? { policy: 'network-only', error: undefined }) };
  first = null;
  return taken;
}

/** Shows its children to signed-in users. Sends others to the sign-in page, and back after sign-in. */
export function SessionGate({ children }: { children: ReactNode }) {
  const [{ policy, error: firstError }] = useState(takeFirst);
  const [asked, again] = useQuery({ query: VIEWER, requestPolicy: policy, pause: firstError !== undefined });
  const { data, error = asked.fetching ? undefined : firstError } = asked;
  const [location] = useLocation();

  if (error?.graphQLErrors.some(({ extensions }) => extensions['reason'] === 'SECOND_FACTOR_REQUIRED') === true)
    return (
      <Suspense>
        <SecondFactorPage />
      </Suspense>
    );
  if (data !== undefined) return <Session {...data}>{children}</Session>;
  if ((error?.response as Response | undefined)?.status === 401) {
    rememberSignIn(false);
    const { search, hash } = window.location;
    return <Redirect to={withNext('/sign-in', location + search + hash)} replace />;
  }
  if (error === undefined && wasSignedIn()) return <ShellOutline />;
  if (error?.networkError !== undefined && error.response === undefined && wasSignedIn())
    return (
      <ShellOutline>
        <Title order={1} size="h3">
          {navigator.onLine ? 'Postroom does not respond' : 'You are offline'}
        </Title>
        <ErrorNote error={error} retry={() => again({ requestPolicy: 'network-only' })} />
      </ShellOutline>
    );
  return (
    <Center mih="60vh" p="md">
      {error === undefined ? (
        <Loader aria-label="Loading" />
      ) : (
        <ErrorNote error={error} retry={() => again({ requestPolicy: 'network-only' })} />
      )}
    </Center>
  );
}

/** Session of one user in this tab. When it ends, the page stays until the user signs in again. */
function Session({ viewer, events, children }: ResultOf<typeof VIEWER> & { children: ReactNode }) {
  const [isOver, setOver] = useState(false);
  // Number of sign-ins after the session ended. Each restarts the feed and reloads the data.
  const [round, setRound] = useState(0);
  const [asksAgain, setAsksAgain] = useState(false);
  useEffect(() => rememberSignIn(true), []);
  useEffect(() => keepShell(), []);
  useEffect(() => summonConfirmation(() => setAsksAgain(true)), []);
  const goOn = () => {
    if (isOver) setRound(round + 1);
    setOver(false);
  };
  useSessionWatch({ personId: viewer.person?.id ?? viewer.id, onEnd: () => setOver(true), onSignIn: goOn });
  return (
    <ViewerContext value={viewer}>
      <LiveProvider
        workspaceId={viewer.id}
        start={round === 0 ? (events.edges[0]?.node.cursor ?? null) : null}
        round={round}
        hasOwnMarks={viewer.person?.isInTeam === true}
      >
        {children}
      </LiveProvider>
      <Suspense>{asksAgain && <ConfirmSignIn />}</Suspense>
      {isOver && (
        <Suspense>
          <SessionOver viewer={viewer} onSignedIn={goOn} />
        </Suspense>
      )}
    </ViewerContext>
  );
}

/** Interval at which visible pages keep the session alive. Milliseconds. */
const KEEP_ALIVE_MS = 300_000;

interface useSessionWatchProps {
  personId: string;
  /** called when the session has ended */
  onEnd: () => void;
  /** called when the same user signs in in another tab */
  onSignIn: () => void;
}

/**
 * Keeps the session of a user alive while the page is visible, leaves when another tab signs out, and reloads the page
 * when another user signs in in this browser.
 */
function useSessionWatch({ personId, onEnd, onSignIn }: useSessionWatchProps): void {
  const ended = useEffectEvent(onEnd);
  const isUser = useEffectEvent((id: string) => {
    if (id === personId) return onSignIn();
    window.location.reload();
  });
  useEffect(() => {
    let lookedAt = 0;
    const look = async () => {
      if (document.visibilityState === 'hidden' || Date.now() - lookedAt < KEEP_ALIVE_MS) return;
      lookedAt = Date.now();
      const { result, problem } = await auth.session();
      if (result !== null) isUser(result.user.id);
      else if (problem === null) ended();
    };
    void look();
    const timer = window.setInterval(() => void look(), KEEP_ALIVE_MS);
    const onVisible = () => void look();
    document.addEventListener('visibilitychange', onVisible);
    const ends = [
      listenForSessionEnd(() => ended()),
      listenForSessionNews((news) => {
        if (news.kind === 'signed-out') leave();
        else if (news.kind === 'switched') window.location.assign('/');
        else isUser(news.personId);
      }),
    ];
    return () => {
      window.clearInterval(timer);
      document.removeEventListener('visibilitychange', onVisible);
      for (const end of ends) end();
    };
  }, []);
}
