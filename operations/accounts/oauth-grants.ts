import { FULL_RIGHTS } from '../../core/accounts/key-rights.ts';
import { hasRight, requireRights } from '../../core/accounts/rights.ts';
import { UserError } from '../../core/shared/errors.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { type GrantRow, listGrants } from '../../db/queries/accounts/oauth.ts';
import { isValidId, type OperationContext } from '../context.ts';
import { revokeApiKey } from './api-keys.ts';
import { withFullAccess } from './key-reach.ts';

/** What a person allowed a program. */
export interface OauthGrant extends GrantRow {
  /** whether the person of the request allowed it */
  isYours: boolean;
}

/** Returns the grants of the workspace, newest first: all of them with the right to manage keys, otherwise those of the person. */
export async function listOauthGrants(context: OperationContext): Promise<OauthGrant[]> {
  return readVisible(context, {});
}

/**
 * Ends a grant: its tokens stop working at once, on other machines within 5 seconds, and what the program set up stops. A person can end
 * their own grants, whatever the role. Throws not_found, forbidden.
 */
export async function revokeOauthGrant(context: OperationContext, id: string): Promise<OauthGrant> {
  const { rights } = context;
  const [grant] = isValidId(id) ? await readVisible(context, { ids: [id] }) : [];
  if (grant === undefined) throw new UserError('not_found', 'No program with this ID has access');
  if (rights.keyId !== null && rights.keyId !== id) requireRights(rights, 'Ending the access of a program', ['keys']);
  const allowed = { ...FULL_RIGHTS, keyId: rights.keyId, personId: rights.personId };
  await revokeApiKey({ ...withFullAccess(context), rights: allowed }, id, { keepsConfiguration: false });
  return grant;
}

async function readVisible(context: OperationContext, { ids }: { ids?: readonly string[] }): Promise<OauthGrant[]> {
  const { workspaceId, rights } = context;
  const isManager = hasRight(rights, 'keys') && rights.reach === null;
  const whose = isManager ? {} : { personId: rights.personId };
  // Those who are limited to addresses see their own grants only, whatever these access.
  const rows = await asWorkspace(withFullAccess(context).database, workspaceId, (transaction) =>
    listGrants(transaction, workspaceId, { ...whose, ...(ids === undefined ? {} : { ids }) }),
  );
  return rows.map((row) => ({ ...row, isYours: row.personId === rights.personId }));
}
