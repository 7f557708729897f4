import { checkRetention, type Retention } from '../../core/upkeep/retention.ts';
import { asUser } from '../../db/connection/transaction.ts';
import * as rows from '../../db/queries/upkeep/retention.ts';
import { invalid, type OperationContext } from '../context.ts';

/** The retention of an account. */
export interface AccountRetention extends Retention {
  /** whether it is the service default, because the user has set none */
  isDefault: boolean;
}

/** Returns the user's retention. */
export async function readRetention({ database, userId, settings }: OperationContext): Promise<AccountRetention> {
  const own = await asUser(database, userId, (transaction) => rows.readRetention(transaction, userId));
  return { ...(own ?? settings.retention), isDefault: own === null };
}

/** Sets all three retention periods. Throws validation when a part would outlive what it belongs to. */
export async function updateRetention(context: OperationContext, retention: Retention): Promise<AccountRetention> {
  const fault = checkRetention(retention);
  if (fault !== null) throw invalid(fault, 'input');
  const { entities, userId } = context;
  await entities.asUser(userId, (unit) => rows.writeRetention(unit, userId, retention, context.now()));
  return { ...retention, isDefault: false };
}

/** Returns what these periods would erase now. Throws validation as updateRetention does. */
export async function previewRetention(context: OperationContext, retention: Retention): Promise<rows.RetentionCounts> {
  const fault = checkRetention(retention);
  if (fault !== null) throw invalid(fault, 'input');
  const { database, userId, now } = context;
  return asUser(database, userId, (transaction) => rows.countErased(transaction, userId, retention, now()));
}
