import { createHash } from 'node:crypto';
import { keyHint } from '../../core/accounts/key-hint.ts';
import { SCIM_PATH } from '../../core/accounts/scim/schema.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as rows from '../../db/queries/accounts/scim.ts';
import { invalid, isValidId, newIdentifier, type OperationContext } from '../context.ts';
import { requireFreshSignIn } from './fresh-sign-in.ts';

/** How a directory connects to the workspace. */
export interface ScimDirectory {
  /** base URL for the directory */
  url: string;
  /** null: there is none */
  token: rows.ScimTokenRow | null;
  users: number;
  groups: number;
  /** active users who are no members: without a usable address or a role */
  waiting: number;
}

/** Characters. */
export const MAX_SCIM_TOKEN_NAME = 100;
const SECRET_BYTES = 32;
/** By which scanners of leaked secrets recognize a token. */
const TOKEN_PREFIX = 'scim_';

/** Returns how a directory connects, and what it has provisioned. */
export async function readScimDirectory({ database, workspaceId, settings }: OperationContext): Promise<ScimDirectory> {
  return asWorkspace(database, workspaceId, async (transaction) => ({
    url: `${settings.publicUrl}${SCIM_PATH}`,
    token: await rows.readScimToken(transaction, workspaceId),
    ...(await rows.countScim(transaction, workspaceId)),
  }));
}

/** Creates the token of the workspace, and returns it; the previous one stops working at once. Throws forbidden, validation. */
export async function createScimToken(
  context: OperationContext,
  given: string,
): Promise<ScimDirectory & { secret: string }> {
  const { database, workspaceId, random, now } = context;
  const personId = requirePerson(context);
  requireFreshSignIn(context, 'create a SCIM token');
  const name = given.trim();
  if (name === '' || name.length > MAX_SCIM_TOKEN_NAME)
    throw invalid(`The name of a token has 1 to ${MAX_SCIM_TOKEN_NAME} characters`, 'name');
  const secret = `${TOKEN_PREFIX}${Buffer.from(random(SECRET_BYTES)).toString('base64url')}`;
  await asWorkspace(database, workspaceId, (transaction) =>
    rows.storeScimToken(transaction, workspaceId, {
      id: newIdentifier(context, 'scimToken'),
      name,
      secretSha256: hashScimToken(secret),
      hint: keyHint(secret.slice(TOKEN_PREFIX.length)) ?? '',
      createdBy: personId,
      now: now(),
    }),
  );
  return { ...(await readScimDirectory(context)), secret };
}

/** Revokes the token of the workspace. What it provisioned stays. Throws forbidden, not_found. */
export async function revokeScimToken(context: OperationContext, id: string): Promise<ScimDirectory> {
  const { database, workspaceId } = context;
  requirePerson(context);
  requireFreshSignIn(context, 'revoke the SCIM token');
  const isRevoked =
    isValidId(id) &&
    (await asWorkspace(database, workspaceId, (transaction) => rows.removeScimToken(transaction, workspaceId, id)));
  if (!isRevoked) throw new UserError('not_found', 'This workspace has no SCIM token with this ID');
  return readScimDirectory(context);
}

/** Returns the hash by which a token is found. */
export function hashScimToken(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Throws forbidden for API keys: a leaked key must not keep its way in as a directory. */
function requirePerson({ rights, caller }: OperationContext): string {
  if (caller.via === 'session' && rights.personId !== null) return rights.personId;
  throw new UserError(
    'forbidden',
    'API keys cannot change the SCIM token. Sign in to the dashboard, and open Settings, Security.',
    { title: 'Forbidden' },
  );
}
