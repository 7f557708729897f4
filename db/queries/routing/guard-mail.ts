import { sql, type Transaction } from 'kysely';
import type { GuardFacts } from '../../../core/routing/guard-rule.ts';
import { readStoredVerdicts, type StoredVerdict } from '../../../core/routing/stored-verdict.ts';
import type { KeysetCursor } from '../../../core/shared/page.ts';
import type { Row, Tables } from '../../entities/tables.ts';
import {
  type GuardFactsExtent,
  guardFactsColumns,
  guardFactsOfRow,
  readGuardFacts,
  type StoredFactsRow,
} from './guard-facts.ts';

/** A received email on which rules are tried. */
export interface GuardedEmail {
  id: string;
  createdAt: Date;
  subject: string;
  fromText: string;
  facts: GuardFacts;
  /** its result; null when it has no route yet */
  route: Pick<Row<'route'>, 'outcome' | 'endpoint_id' | 'rule_id'> | null;
  /** results of models when it arrived */
  verdicts: StoredVerdict[];
}

/** Returns what rules check in one received email; null when the workspace has received none with that id. */
export async function readGuardedEmail(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<GuardFacts | null> {
  const { rows } = await sql<StoredFactsRow>`
    select ${sql.raw(guardFactsColumns('whole'))} from email e
    left join email_content c on c.workspace_id = e.workspace_id and c.email_id = e.id
    where e.workspace_id = ${workspaceId} and e.id = ${emailId} and e.type = 'received'`.execute(transaction);
  return rows[0] === undefined ? null : guardFactsOfRow(readGuardFacts(rows[0]));
}

/** Returns received mail of a period, newest first: up to `limit` since an instant and after a cursor (null: from the start). */
export async function readGuardedEmails(
  transaction: Transaction<Tables>,
  workspaceId: string,
  span: { since: Date; before: KeysetCursor | null; limit: number },
  extent: GuardFactsExtent,
): Promise<GuardedEmail[]> {
  const { since, before, limit } = span;
  const { rows } = await sql<StoredFactsRow & MailRow>`
    select e.id, e.created_at, e.from_text, r.outcome, r.endpoint_id, r.rule_id, r.verdicts,
      ${sql.raw(guardFactsColumns(extent))}
    from (
      select * from email where workspace_id = ${workspaceId} and type = 'received' and trashed_at is null and created_at >= ${since}
      ${before === null ? sql`` : sql`and (created_at, id) < (${before.at}, ${before.id})`}
      order by created_at desc, id desc limit ${limit}
    ) e
    -- limit 1: looked up by key, row by row
    left join lateral (select * from email_content c where c.workspace_id = e.workspace_id and c.email_id = e.id limit 1) c on true
    left join lateral (select * from route r where r.workspace_id = e.workspace_id and r.email_id = e.id limit 1) r on true
    order by e.created_at desc, e.id desc`.execute(transaction);
  return rows.map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    subject: row.subject,
    fromText: row.from_text,
    facts: guardFactsOfRow(readGuardFacts(row)),
    route: row.outcome === null ? null : { outcome: row.outcome, endpoint_id: row.endpoint_id, rule_id: row.rule_id },
    verdicts: readStoredVerdicts(row.verdicts),
  }));
}

type MailRow = Pick<Row<'route'>, 'outcome' | 'endpoint_id' | 'rule_id' | 'verdicts'> & {
  id: string;
  created_at: Date;
  from_text: string;
};
