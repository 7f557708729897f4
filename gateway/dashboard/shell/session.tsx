import { Center, Loader, Title } from '@mantine/core';
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import { type CombinedError, type RequestPolicy, useQuery } from 'urql';
import { Redirect, useLocation } from 'wouter';
import { SECOND_FACTOR_REQUIRED } from '../../../core/accounts/session-refusals.ts';
import { client, listenForSessionChange, type SessionChange, showWorkspace } from '../client.ts';
import type { ResultOf } from '../graphql.ts';
import { LiveProvider, useLiveState } from '../live/live-context.tsx';
import { auth } from '../pages/sign-in/auth-calls.ts';
import { withNext } from '../pages/sign-in/next-path.ts';
import { summonConfirmation } from '../parts/confirm-sign-in.ts';
import { ErrorNote } from '../parts/page.tsx';
import { later } from './loading.tsx';
import { keepShell } from './offline-shell.ts';
import { leave, listenForSessionNews } from './session-news.ts';
import { rememberSignIn, ShellOutline, wasSignedIn } from './shell-outline.tsx';
import { VIEWER, ViewerContext } from './viewer.ts';

const ConfirmSignIn = later(async () => (await import('./sign-in-steps.tsx')).ConfirmSignIn);
const SecondFactorPage = later(async () => (await import('./sign-in-steps.tsx')).SecondFactorPage);
const SessionStopped = later(async () => (await import('./session-dialogs.tsx')).SessionStopped);

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

  if (data !== undefined)
    return (
      <Session {...data} askAgain={() => again({ requestPolicy: 'network-only' })}>
        {children}
      </Session>
    );
  if (error?.graphQLErrors.some(({ extensions }) => extensions['reason'] === SECOND_FACTOR_REQUIRED) === true)
    return <SecondFactorPage />;
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

type SessionProps = ResultOf<typeof VIEWER> & { askAgain: () => void; children: ReactNode };

/** Session of one user in this tab. When it serves the page no more, the page stays, with what is being written, until the user has decided. */
function Session({ viewer, events, askAgain, children }: SessionProps) {
  const [stop, setStop] = useState<Exclude<SessionChange, 'role'> | null>(null);
  // Number of times that it went on. Each restarts the feed and reloads the data.
  const [round, setRound] = useState(0);
  // The session is asked for again while the feed goes on.
  const [start] = useState(events.edges[0]?.node.cursor ?? null);
  // Before the requests of its children.
  useState(() => showWorkspace(viewer.id));
  const [asksAgain, setAsksAgain] = useState(false);
  useEffect(() => rememberSignIn(true), []);
  useEffect(() => keepShell(), []);
  useEffect(() => summonConfirmation(() => setAsksAgain(true)), []);
  const goOn = () => {
    if (stop === null) return;
    setRound(round + 1);
    setStop(null);
    askAgain();
  };
  useSessionWatch({
    personId: viewer.person?.id ?? viewer.id,
    workspaceId: viewer.id,
    // A new sign-in may be in another workspace, until it has come back to that of the page.
    onChange: (change) => (change === 'role' ? askAgain() : setStop((now) => (now === 'ended' ? now : change))),
    onSignIn: (isNews) => (stop === 'ended' || (isNews && stop === 'second-factor')) && goOn(),
    onReturn: goOn,
  });
  return (
    <ViewerContext value={viewer}>
      <LiveProvider
        workspaceId={viewer.id}
        start={round === 0 ? start : null}
        round={round}
        hasOwnMarks={viewer.person?.isInTeam === true}
      >
        <AskWhenLost ask={askAgain} />
        {children}
      </LiveProvider>
      {asksAgain && <ConfirmSignIn />}
      {stop !== null && <SessionStopped stop={stop} viewer={viewer} onReturn={goOn} />}
    </ViewerContext>
  );
}

/** Asks for the session when the feed of events is lost: the service ends it when the role, the workspace or the sign-in has changed. */
function AskWhenLost({ ask }: { ask: () => void }) {
  const isLost = useLiveState() === 'waiting';
  const asks = useEffectEvent(ask);
  useEffect(() => {
    if (isLost) asks();
  }, [isLost]);
  return null;
}

/** Interval at which visible pages keep the session alive. Milliseconds. */
const KEEP_ALIVE_MS = 300_000;

interface useSessionWatchProps {
  personId: string;
  workspaceId: string;
  onChange: (change: SessionChange) => void;
  /** called when the user is signed in, and with `isNews` when another tab has just signed in or shown the second factor */
  onSignIn: (isNews: boolean) => void;
  /** called when another tab has brought the workspace of this page back */
  onReturn: () => void;
}

/**
 * Keeps the session of a user alive while the page is visible, and hears of its changes: leaves when another tab signs out, and reloads the
 * page when another user signs in in this browser.
 */
function useSessionWatch({ personId, workspaceId, onChange, onSignIn, onReturn }: useSessionWatchProps): void {
  const changed = useEffectEvent(onChange);
  const isUser = useEffectEvent((id: string, isNews: boolean) => {
    if (id === personId) return onSignIn(isNews);
    window.location.reload();
  });
  const isWorkspace = useEffectEvent((id: string) => (id === workspaceId ? onReturn() : onChange('other-workspace')));
  useEffect(() => {
    let lookedAt = 0;
    const look = async () => {
      if (document.visibilityState === 'hidden' || Date.now() - lookedAt < KEEP_ALIVE_MS) return;
      lookedAt = Date.now();
      const { result, problem } = await auth.session();
      if (result !== null) isUser(result.user.id, false);
      else if (problem === null) changed('ended');
    };
    void look();
    const timer = window.setInterval(() => void look(), KEEP_ALIVE_MS);
    const onVisible = () => void look();
    document.addEventListener('visibilitychange', onVisible);
    const ends = [
      listenForSessionChange((change) => changed(change)),
      listenForSessionNews((news) => {
        if (news.kind === 'signed-out') leave();
        else if (news.kind === 'switched') isWorkspace(news.workspaceId);
        else isUser(news.personId, true);
      }),
    ];
    return () => {
      window.clearInterval(timer);
      document.removeEventListener('visibilitychange', onVisible);
      for (const end of ends) end();
    };
  }, []);
}
