import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

/** How many emails the user made within the last hour, as the hourly limit counts them; at most `most`. */
export async function countSentLately(transaction: Transaction<Tables>, userId: string, most: number): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from (
      select from email e where e.user_id = ${userId} and e.type <> 'received'
        and e.created_at > (select postroom_now()) - interval '1 hour' limit ${most}) e`.execute(transaction);
  return Number(rows[0]?.total ?? 0);
}
