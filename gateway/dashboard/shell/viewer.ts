import { createContext, useContext } from 'react';
import { graphql, type ResultOf } from '../graphql.ts';

/** Reads the signed-in user, the service, and the cursor at which live events start. */
export const VIEWER = graphql(`
  query DashboardViewer {
    viewer {
      id email name
      person { id email name image role isApprover isLimited isInTeam rights workspaceName }
      service { publicUrl mailHostname isMailHostnameLocal trustedDomains hasGuardModel smtpHost smtpPort }
    }
    events(last: 1) { edges { node { cursor } } }
  }
`);

/** The signed-in user and the service. */
export type Viewer = ResultOf<typeof VIEWER>['viewer'];

/** The signed-in user; null outside SessionGate. */
export const ViewerContext = createContext<Viewer | null>(null);

/** Returns the URL of the service without the slash at its end, to append paths to. */
export function baseUrl({ publicUrl }: { publicUrl: string }): string {
  return publicUrl.replace(/\/$/, '');
}

/** Returns whether the signed-in person has a right in the workspace, such as `members`; see docs/teams.md. */
export function useRight(right: string): boolean {
  return useViewer().person?.rights.includes(right) === true;
}

/** Returns whether the workspace has other members, so that the person has a read state of its own (docs/decisions/0152). */
export function useIsInTeam(): boolean {
  return useViewer().person?.isInTeam === true;
}

/** Returns the signed-in user. Throws outside SessionGate. */
export function useViewer(): Viewer {
  const viewer = useContext(ViewerContext);
  if (viewer === null) throw new Error('useViewer is called outside SessionGate');
  return viewer;
}
