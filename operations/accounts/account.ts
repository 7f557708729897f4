import { sql } from 'kysely';
import { asUser } from '../../db/connection/database.ts';
import { countSentLately } from '../../db/queries/sending/outgoing-policy.ts';
import type { OperationContext } from '../context.ts';

/** Who asks. */
export interface Account {
  userId: string;
  /** with which the account was made */
  email: string | null;
  /** as its owner has it; may be empty */
  name: string;
  /** what the request was let in by */
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

/** Without a limit, emails that countSent counts at most. */
export const MAX_SENT_COUNTED = 10_000;

/** How many emails the account has sent within the last hour, as the limit counts them. */
export function countSent({ database, userId, settings }: OperationContext): Promise<number> {
  const most = settings.sendLimitPerHour === 0 ? MAX_SENT_COUNTED : settings.sendLimitPerHour;
  return asUser(database, userId, (transaction) => countSentLately(transaction, userId, most));
}

/** How many emails the account may send now, of those within an hour; null when there is no limit. */
export async function countSendsLeft({ database, userId, settings }: OperationContext): Promise<number | null> {
  const { sendLimitPerHour: limit } = settings;
  if (limit === 0) return null;
  const sent = await asUser(database, userId, (transaction) => countSentLately(transaction, userId, limit));
  return Math.max(0, limit - sent);
}
