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
  /** when its person last signed in, or confirmed to be there */
  confirmedAt: Date;
  /** the workspace whose single sign-on started it; null: it was started otherwise */
  providerId: string | null;
  /** whether its person has not shown the second factor yet: the session opens nothing before */
  isPending: boolean;
  /** whether the workspace requires a second factor that the session has not shown */
  lacksSecondFactor: boolean;
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
    confirmedAt: row.confirmed_at,
    providerId: row.provider_id,
    isPending: row.is_pending,
    lacksSecondFactor: row.lacks_second_factor,
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
  confirmed_at: Date;
  provider_id: string | null;
  is_pending: boolean;
  lacks_second_factor: boolean;
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
  /** whether the person opens it by its single sign-on only */
  requiresProvider: boolean;
}

/** Returns the workspaces of a person, owned ones first. Role postroom_auth. */
export async function listWorkspacesOfPerson(database: Database, personId: string): Promise<PersonWorkspace[]> {
  const { rows } = await database.pool.query<PersonWorkspace>({
    name: 'workspaces-of-person',
    text: `select id, name, role, is_approver as "isApprover", members, joined_at as "joinedAt",
      requires_provider as "requiresProvider" from workspaces_of_person($1)`,
    values: [personId],
  });
  return rows;
}

/** `provider`: the session is one of single sign-on, which opens its own workspace only. `single sign-on`: the workspace requires it. */
export type SwitchOutcome = 'switched' | 'no member' | 'provider' | 'single sign-on';

/** Makes a workspace the active one of a session. Role postroom_auth. */
export async function switchWorkspace(
  database: Database,
  sessionId: string,
  workspaceId: string,
): Promise<SwitchOutcome> {
  const { rows } = await database.pool.query<{ outcome: SwitchOutcome }>('select switch_workspace($1, $2) as outcome', [
    sessionId,
    workspaceId,
  ]);
  return rows[0]?.outcome ?? 'no member';
}

/** Notes that the person of a session has proved to be there at `now`. Role postroom_auth. */
export async function confirmSession(database: Database, sessionId: string, now: Date): Promise<void> {
  await database.pool.query('update auth_session set confirmed_at = $2 where id = $1', [sessionId, now]);
}

/** Ends a session. Role postroom_auth. */
export async function endSession(database: Database, sessionId: string): Promise<void> {
  await database.pool.query('delete from auth_session where id = $1', [sessionId]);
}

/** Ends the sessions of a person that a passkey began, except this one. Role postroom_auth. */
export async function endPasskeySessions(
  database: Database,
  { personId, sessionId }: { personId: string; sessionId: string },
): Promise<void> {
  await database.pool.query(`delete from auth_session where person_id = $1 and id <> $2 and method = 'passkey'`, [
    personId,
    sessionId,
  ]);
}
