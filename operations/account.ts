import { sql } from 'kysely';
import { asUser } from '../db/database.ts';
import { countSentLately } from '../db/queries/sent-lately.ts';
import type { OperationContext } from './context.ts';

/** Whose key it is. */
export interface Account {
  userId: string;
  /** with which the account was made */
  email: string | null;
  createdAt: Date | null;
}

export async function readAccount(context: OperationContext): Promise<Account> {
  const { userId } = context;
  const { rows } = await asUser(context.database, userId, (transaction) =>
    sql<{ email: string; created_at: Date }>`select email, created_at from account_of(${userId})`.execute(transaction),
  );
  return { userId, email: rows[0]?.email ?? null, createdAt: rows[0]?.created_at ?? null };
}

/** How many emails the account may send now, of those within an hour; null when there is no limit. */
export async function countSendsLeft({ database, userId, settings }: OperationContext): Promise<number | null> {
  const { sendLimitPerHour: limit } = settings;
  if (limit === 0) return null;
  const sent = await asUser(database, userId, (transaction) => countSentLately(transaction, userId, limit));
  return Math.max(0, limit - sent);
}
