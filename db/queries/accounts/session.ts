import type { Role } from '../../../core/accounts/roles.ts';
import type { Database } from '../../connection/database.ts';

/** A session, and what its person may do in the active workspace. */
export interface SessionRow {
  sessionId: string;
  personId: string;
  createdAt: Date;
  expiresAt: Date;
  /** the active workspace */
  workspaceId: string;
  role: Role;
  isApprover: boolean;
  /** the only domains and addresses that the person sees; null: all */
  reach: { domains: { id: string; name: string }[]; addresses: string[] } | null;
}

/**
 * Returns the session with that cookie token that has not expired at `now`, with its active workspace; null when there is none, or its person
 * is no member of the workspace any more. Role postroom_auth.
 */
export async function findSession(database: Database, token: string, now: Date): Promise<SessionRow | null> {
  const { rows } = await database.pool.query<SessionColumns>({
    name: 'find-session',
    text: 'select * from session_of($1, $2)',
    values: [token, now],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { domains, addresses } = row;
  return {
    sessionId: row.session_id,
    personId: row.person_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    workspaceId: row.workspace_id,
    role: row.role,
    isApprover: row.is_approver,
    reach: domains === null || addresses === null ? null : { domains, addresses },
  };
}

interface SessionColumns {
  session_id: string;
  person_id: string;
  created_at: Date;
  expires_at: Date;
  workspace_id: string;
  role: Role;
  is_approver: boolean;
  domains: { id: string; name: string }[] | null;
  addresses: string[] | null;
}

/** A workspace of a person. */
export interface PersonWorkspace {
  id: string;
  name: string;
  role: Role;
  isApprover: boolean;
  /** number of members */
  members: number;
  joinedAt: Date;
}

/** Returns the workspaces of a person, owned ones first. Role postroom_auth. */
export async function listWorkspacesOfPerson(database: Database, personId: string): Promise<PersonWorkspace[]> {
  const { rows } = await database.pool.query<PersonWorkspace>({
    name: 'workspaces-of-person',
    text: `select id, name, role, is_approver as "isApprover", members, joined_at as "joinedAt" from workspaces_of_person($1)`,
    values: [personId],
  });
  return rows;
}

/** Makes a workspace the active one of a session. Returns false when its person is no member of it. Role postroom_auth. */
export async function switchWorkspace(database: Database, sessionId: string, workspaceId: string): Promise<boolean> {
  const { rows } = await database.pool.query<{ done: boolean }>('select switch_workspace($1, $2) as done', [
    sessionId,
    workspaceId,
  ]);
  return rows[0]?.done === true;
}
