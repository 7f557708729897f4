import { UserError } from '../../core/shared/errors.ts';
import { checkRetention, type Retention } from '../../core/upkeep/retention.ts';
import { asWorkspace } from '../../db/connection/transaction.ts';
import * as rows from '../../db/queries/upkeep/retention.ts';
import { invalid, type OperationContext } from '../context.ts';

/** The retention of an account. */
export interface AccountRetention extends Retention {
  /** whether it is the service default, because the user has set none */
  isDefault: boolean;
}

/** Returns the user's retention. */
export async function readRetention({ database, workspaceId, settings }: OperationContext): Promise<AccountRetention> {
  const own = await asWorkspace(database, workspaceId, (transaction) => rows.readRetention(transaction, workspaceId));
  return { ...(own ?? settings.retention), isDefault: own === null };
}

/** The code of the error of shorter periods that would erase mail which the user did not accept to lose. */
export const WOULD_ERASE = 'WOULD_ERASE';

/**
 * Sets all three retention periods. Shorter ones that reach more than `acceptErasing` emails are refused, because what they erase cannot be
 * restored. Throws validation when a part would outlive what it belongs to, and conflict.
 */
export async function updateRetention(
  context: OperationContext,
  retention: Retention,
  acceptErasing: number,
): Promise<AccountRetention> {
  const fault = checkRetention(retention);
  if (fault !== null) throw invalid(fault, 'input');
  const { entities, workspaceId } = context;
  const before = await readRetention(context);
  if (PERIODS.some((period) => isShorter(retention[period], before[period])))
    await requireAccepted(context, retention, acceptErasing);
  await entities.asWorkspace(workspaceId, (unit) => rows.writeRetention(unit, workspaceId, retention, context.now()));
  return { ...retention, isDefault: false };
}

async function requireAccepted(context: OperationContext, retention: Retention, acceptErasing: number): Promise<void> {
  const counts = await previewRetention(context, retention);
  const erased = Math.max(counts.emails, counts.bodies, counts.raws);
  if (erased <= acceptErasing) return;
  throw new UserError(
    'conflict',
    `These periods would erase all or parts of ${erased} emails for good. Pass ${erased} as acceptErasing to accept that.`,
    { reason: WOULD_ERASE, isFinal: true },
  );
}

const PERIODS = ['rawDays', 'bodyDays', 'metadataDays'] as const;

function isShorter(days: number | null, before: number | null): boolean {
  return days !== null && (before === null || days < before);
}

/** Returns what these periods would erase now. Throws validation as updateRetention does. */
export async function previewRetention(context: OperationContext, retention: Retention): Promise<rows.RetentionCounts> {
  const fault = checkRetention(retention);
  if (fault !== null) throw invalid(fault, 'input');
  const { database, workspaceId, now } = context;
  return asWorkspace(database, workspaceId, (transaction) =>
    rows.countErased(transaction, workspaceId, retention, now()),
  );
}
