import { sql, type Transaction } from 'kysely';
import { type RouteDecision } from '../../../core/routing/decide-route.ts';
import type { Tables } from '../../entities/tables.ts';

/** The current decision on an email. */
export async function readDecision(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
): Promise<RouteDecision | null> {
  const { rows } = await sql<DecisionRow>`
    select r.outcome, r.via, r.endpoint_id, r.rule_id, r.reason, r.matches from route r
    where r.workspace_id = ${workspaceId} and r.email_id = ${emailId} and r.decided_at is not null`.execute(
    transaction,
  );
  const row = rows[0];
  if (row === undefined) return null;
  const { outcome, via, endpoint_id: endpointId, rule_id: ruleId, reason, matches } = row;
  return { outcome, via, endpointId, ruleId, reason, matches };
}

interface DecisionRow {
  outcome: RouteDecision['outcome'];
  via: RouteDecision['via'];
  endpoint_id: string | null;
  rule_id: string | null;
  reason: string | null;
  matches: RouteDecision['matches'];
}

/** Holds an email for review, also one that was released before. Returns false when it is not routed yet. */
export async function holdRoute(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  reason: string,
): Promise<boolean> {
  const { rows } = await sql`
    update route r set outcome = 'review', via = null, endpoint_id = null, rule_id = null, reason = ${reason}, matches = null,
      decided_at = postroom_now(), released_at = null
    where r.workspace_id = ${workspaceId} and r.email_id = ${emailId} and r.decided_at is not null
    returning 1`.execute(transaction);
  return rows.length > 0;
}

/** Replaces the decision on an email; if a model must be asked first, that happens soon. */
export async function rewriteRoute(
  transaction: Transaction<Tables>,
  workspaceId: string,
  emailId: string,
  decision: RouteDecision,
): Promise<void> {
  const { outcome, via, endpointId, ruleId, reason, matches } = decision;
  const isAsking = outcome === 'asking';
  await sql`
    update route r set outcome = ${outcome}, via = ${via}, endpoint_id = ${endpointId}, rule_id = ${ruleId}, reason = ${reason},
      matches = ${matches === null ? null : JSON.stringify(matches)}::jsonb,
      decided_at = case when not ${isAsking}::boolean then postroom_now() end,
      next_ask_at = case when ${isAsking}::boolean then postroom_now() end, asks = 0, claimed_by = null, claimed_until = null
    where r.workspace_id = ${workspaceId} and r.email_id = ${emailId} and r.decided_at is not null`.execute(
    transaction,
  );
}
