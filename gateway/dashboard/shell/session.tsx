import { Button, Center, Loader, Modal, Stack, Text } from '@mantine/core';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { Redirect, useLocation } from 'wouter';
import { listenForSessionEnd } from '../client.ts';
import { graphql, type ResultOf } from '../graphql.ts';
import { LiveProvider } from '../live/live-context.tsx';
import { ErrorNote } from '../parts/error-note.tsx';

const VIEWER = graphql(`
  query DashboardViewer {
    viewer { id email service { publicUrl mailHostname trustedDomains hasGuardModel } }
    events(last: 1) { edges { node { cursor } } }
  }
`);

/** Who is signed in, and the service. */
export type Viewer = ResultOf<typeof VIEWER>['viewer'];

const ViewerContext = createContext<Viewer | null>(null);

/** Who is signed in. Throws outside SessionGate. */
export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (viewer === null) throw new Error('no one is signed in here');
  return viewer;
}

/** Shows what is inside to whoever is signed in; sends others to the sign-in page, and back afterwards. */
export function SessionGate({ children }: { children: ReactNode }) {
  const [{ data, error, fetching }, again] = useQuery({ query: VIEWER, variables: {}, requestPolicy: 'network-only' });
  const [location] = useLocation();
  const [isOver, setOver] = useState(false);
  const isKnown = data !== undefined;
  useEffect(() => listenForSessionEnd(() => setOver(true)), []);

  if (!isKnown && (error?.response as Response | undefined)?.status === 401)
    return <Redirect to={signInPath(location + window.location.search)} replace />;
  if (!isKnown && error !== undefined)
    return (
      <Center mih="60vh" p="md">
        <ErrorNote error={error} retry={() => again({ requestPolicy: 'network-only' })} />
      </Center>
    );
  if (!isKnown || (fetching && !isKnown))
    return (
      <Center mih="60vh">
        <Loader aria-label="Loading" />
      </Center>
    );
  return (
    <ViewerContext value={data.viewer}>
      <LiveProvider userId={data.viewer.id} start={data.events.edges[0]?.node.cursor ?? null}>
        {children}
      </LiveProvider>
      <Modal opened={isOver} onClose={() => undefined} withCloseButton={false} title="Your session has ended" centered>
        <Stack>
          <Text>Sign in again to go on. You come back to this page.</Text>
          <Button component="a" href={signInPath(location + window.location.search)} data-autofocus>
            Sign in
          </Button>
        </Stack>
      </Modal>
    </ViewerContext>
  );
}

function signInPath(next: string): string {
  return next === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`;
}
