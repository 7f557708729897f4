import { sql, type Transaction } from 'kysely';
import type { GuardFacts, GuardRule } from '../../../core/routing/guard-rule.ts';
import type { Tables } from '../../entities/tables.ts';
import { type GuardFactsExtent, type GuardFactsRow, guardFactsColumns, guardFactsOfRow } from './guard-facts.ts';
import { GUARD_RULE_COLUMNS, guardRuleOf, type StoredGuardRule } from './guard-rule-row.ts';

const COLUMNS = GUARD_RULE_COLUMNS.map((column) => `g.${column}`).join(', ');

/** The active rules of the users $1, unordered. Rows: StoredGuardRule with user_id. */
export const readRulesSql = `
  select g.user_id, ${COLUMNS} from unnest($1::text[]) u(user_id)
  cross join lateral (select * from guard_rule g where g.user_id = u.user_id and g.is_active) g`;

/** Returns the active rules of one user, unordered. Throws as guardRuleOf does. */
export async function readActiveRules(transaction: Transaction<Tables>, userId: string): Promise<GuardRule[]> {
  const { rows } = await sql<StoredGuardRule>`
    select ${sql.raw(COLUMNS)} from guard_rule g where g.user_id = ${userId} and g.is_active`.execute(transaction);
  return rows.map(guardRuleOf);
}

/** What rules know about an email, and whether it could be parsed. */
export interface GuardedContent {
  facts: GuardFacts;
  isParsed: boolean;
}

/** Returns what rules know about one received email; null when the user has none with that id. */
export async function readFacts(
  transaction: Transaction<Tables>,
  userId: string,
  emailId: string,
  extent: GuardFactsExtent,
): Promise<GuardedContent | null> {
  const { rows } = await sql<GuardFactsRow>`
    select ${sql.raw(guardFactsColumns(extent))} from email e
    left join email_content c on c.user_id = e.user_id and c.email_id = e.id
    where e.user_id = ${userId} and e.id = ${emailId} and e.type = 'received'`.execute(transaction);
  const [row] = rows;
  return row === undefined ? null : { facts: guardFactsOfRow(row), isParsed: row.parse_error === null };
}
