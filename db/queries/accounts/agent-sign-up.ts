import { sql, type Transaction } from 'kysely';
import type { SendPolicy } from '../../../core/sending/send-policy.ts';
import type { Database } from '../../connection/database.ts';
import type { Tables } from '../../entities/tables.ts';

/** Codes of one sign-up that are sent at most. @limit */
const MAX_CODES = 3;
/** Wrong codes until another one must be sent. @limit */
const MAX_CODE_TRIES = 5;
/** Sign-ups of one address that wait for a code. @limit */
const MAX_WAITING = 3;
/** Days until a workspace that no one confirmed is closed. */
export const UNCONFIRMED_DAYS = 7;

/** What an agent starts. */
export interface NewAgentSignUp {
  workspaceId: string;
  email: string;
  name: string;
  key: { id: string; sha256: Buffer; hint: string | null; policy: SendPolicy };
  requestSha256: Buffer;
  code: { hmac: Buffer; expiresAt: Date };
}

/** See start_agent_sign_up in agents.sql. `workspaceId` is null when there are too many. */
export interface StartedAgentSignUp {
  outcome: 'made' | 'known' | 'too many';
  workspaceId: string | null;
  isConfirmed: boolean;
}

/** Starts a workspace with a key for an agent, once per request. */
export async function startAgentSignUp(database: Database, signUp: NewAgentSignUp): Promise<StartedAgentSignUp> {
  const { workspaceId, email, name, key, requestSha256, code } = signUp;
  const { rows } = await database.pool.query<StartedAgentSignUp>(
    `select outcome, workspace_id as "workspaceId", is_confirmed as "isConfirmed"
     from start_agent_sign_up($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, make_interval(days => $11), $12)`,
    [
      workspaceId,
      email,
      name,
      key.id,
      key.sha256,
      key.hint,
      JSON.stringify(key.policy),
      requestSha256,
      code.hmac,
      code.expiresAt,
      UNCONFIRMED_DAYS,
      MAX_WAITING,
    ],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('unreachable');
  return row;
}

/** Returns whether a sign-up got a new code, because the previous one has expired or was guessed too often. */
export async function renewAgentCode(
  database: Database,
  workspaceId: string,
  { hmac, expiresAt }: NewAgentSignUp['code'],
): Promise<boolean> {
  const { rows } = await database.pool.query<{ done: boolean }>('select renew_agent_code($1, $2, $3, $4, $5) as done', [
    workspaceId,
    hmac,
    expiresAt,
    MAX_CODE_TRIES,
    MAX_CODES,
  ]);
  return rows[0]?.done === true;
}

export type AgentConfirmation = 'confirmed' | 'no sign-up' | 'expired' | 'too many' | 'wrong' | 'closed';

/** Confirms the sign-up of the transaction's workspace. `personId` is null unless this call confirmed it. */
export async function confirmAgentSignUp(
  transaction: Transaction<Tables>,
  workspaceId: string,
  codeHmac: Buffer,
): Promise<{ outcome: AgentConfirmation; personId: string | null }> {
  const { rows } = await sql<{ outcome: AgentConfirmation; personId: string | null }>`
    select outcome, person_id as "personId" from confirm_agent_sign_up(${workspaceId}, ${codeHmac}, ${MAX_CODE_TRIES})`.execute(
    transaction,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a sign-up is confirmed only in the workspace of the transaction');
  return row;
}
