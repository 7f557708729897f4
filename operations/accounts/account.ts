import { sql } from 'kysely';
import { asWorkspace } from '../../db/connection/transaction.ts';
import { countSentLately } from '../../db/queries/sending/outgoing-policy.ts';
import type { OperationContext } from '../context.ts';

/** The authenticated account. */
export interface Account {
  workspaceId: string;
  /** the address the account was created with */
  email: string | null;
  /** chosen by the owner; may be empty */
  name: string;
  /** how this request was authenticated */
  via: 'session' | 'key';
  createdAt: Date | null;
}

export async function readAccount(context: OperationContext): Promise<Account> {
  const { workspaceId, caller } = context;
  const { rows } = await asWorkspace(context.database, workspaceId, (transaction) =>
    sql<{ email: string; name: string; created_at: Date }>`
      select email, name, created_at from account_of(${workspaceId})`.execute(transaction),
  );
  const [row] = rows;
  const via = caller.via === 'session' ? 'session' : 'key';
  return { workspaceId, email: row?.email ?? null, name: row?.name ?? '', via, createdAt: row?.created_at ?? null };
}

/** The highest number that countSent returns when there is no limit. */
export const MAX_SENT_COUNTED = 10_000;

/** Returns how many emails the account sent within the last hour, as the sending limit counts them. */
export function countSent({ database, workspaceId, settings }: OperationContext): Promise<number> {
  const most = settings.sendLimitPerHour === 0 ? MAX_SENT_COUNTED : settings.sendLimitPerHour;
  return asWorkspace(database, workspaceId, (transaction) => countSentLately(transaction, workspaceId, most));
}

/** Returns how many emails the account can still send within this hour; null when there is no limit. */
export async function countSendsLeft({ database, workspaceId, settings }: OperationContext): Promise<number | null> {
  const { sendLimitPerHour: limit } = settings;
  if (limit === 0) return null;
  const sent = await asWorkspace(database, workspaceId, (transaction) =>
    countSentLately(transaction, workspaceId, limit),
  );
  return Math.max(0, limit - sent);
}
