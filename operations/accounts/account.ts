import { sql } from 'kysely';
import { asUser } from '../../db/connection/transaction.ts';
import { countSentLately } from '../../db/queries/sending/outgoing-policy.ts';
import type { OperationContext } from '../context.ts';

/** The authenticated account. */
export interface Account {
  userId: string;
  /** the address the account was created with */
  email: string | null;
  /** chosen by the owner; may be empty */
  name: string;
  /** how this request was authenticated */
  via: 'session' | 'key';
  createdAt: Date | null;
}

export async function readAccount(context: OperationContext): Promise<Account> {
  const { userId, caller } = context;
  const { rows } = await asUser(context.database, userId, (transaction) =>
    sql<{ email: string; name: string; created_at: Date }>`
      select email, name, created_at from account_of(${userId})`.execute(transaction),
  );
  const [row] = rows;
  const via = caller.via === 'session' ? 'session' : 'key';
  return { userId, email: row?.email ?? null, name: row?.name ?? '', via, createdAt: row?.created_at ?? null };
}

/** The highest number that countSent returns when there is no limit. */
export const MAX_SENT_COUNTED = 10_000;

/** Returns how many emails the account sent within the last hour, as the sending limit counts them. */
export function countSent({ database, userId, settings }: OperationContext): Promise<number> {
  const most = settings.sendLimitPerHour === 0 ? MAX_SENT_COUNTED : settings.sendLimitPerHour;
  return asUser(database, userId, (transaction) => countSentLately(transaction, userId, most));
}

/** Returns how many emails the account can still send within this hour; null when there is no limit. */
export async function countSendsLeft({ database, userId, settings }: OperationContext): Promise<number | null> {
  const { sendLimitPerHour: limit } = settings;
  if (limit === 0) return null;
  const sent = await asUser(database, userId, (transaction) => countSentLately(transaction, userId, limit));
  return Math.max(0, limit - sent);
}
