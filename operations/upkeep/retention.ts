import { faultOfRetention, type Retention } from '../../core/upkeep/retention.ts';
import { asUser } from '../../db/connection/database.ts';
import * as rows from '../../db/queries/upkeep/retention.ts';
import { invalid, type OperationContext } from '../context.ts';

/** How long mail of an account is kept. */
export interface AccountRetention extends Retention {
  /** whether it is the service's, as the user chose nothing */
  isDefault: boolean;
}

/** How long mail of the user is kept. */
export async function readRetention({ database, userId, settings }: OperationContext): Promise<AccountRetention> {
  const own = await asUser(database, userId, (transaction) => rows.readRetention(transaction, userId));
  return { ...(own ?? settings.retention), isDefault: own === null };
}

/** Changes how long it is kept, all three at once. Throws validation where one outlives what it hangs on. */
export async function updateRetention(context: OperationContext, retention: Retention): Promise<AccountRetention> {
  const fault = faultOfRetention(retention);
  if (fault !== null) throw invalid(fault, 'input');
  const { database, userId } = context;
  await asUser(database, userId, (transaction) => rows.writeRetention(transaction, userId, retention));
  return { ...retention, isDefault: false };
}
