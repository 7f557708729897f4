import { Center, Loader } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { NotFoundPage } from './pages/not-found.tsx';
import { Frame } from './shell/frame.tsx';
import { SessionGate } from './shell/session.tsx';

// Each page is a file of its own to load, so that the first one comes quickly.
const Overview = lazy(async () => ({ default: (await import('./pages/overview/overview-page.tsx')).OverviewPage }));
const Inbox = lazy(async () => ({ default: (await import('./pages/inbox/inbox-page.tsx')).InboxPage }));

/** All pages by their paths. */
export function App() {
  return (
    <Suspense fallback={<Waiting />}>
      <Switch>
        <Route>
          <SessionGate>
            <Frame>
              <Suspense fallback={<Waiting />}>
                <Switch>
                  <Route path="/">
                    <Overview />
                  </Route>
                  <Route path="/inbox/:threadId?">
                    <Inbox />
                  </Route>
                  <Route>
                    <NotFoundPage />
                  </Route>
                </Switch>
              </Suspense>
            </Frame>
          </SessionGate>
        </Route>
      </Switch>
    </Suspense>
  );
}

function Waiting() {
  return (
    <Center mih="40vh">
      <Loader aria-label="Loading" />
    </Center>
  );
}
