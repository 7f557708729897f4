import { randomBytes } from 'node:crypto';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import type { Database } from '../../../db/connection/database.ts';

export interface TestRule {
  action: 'allow' | 'block' | 'route';
  /** an explicit rule on the subject, or one on words of the text, or one that asks a model */
  subject?: string;
  hasWords?: string;
  prompt?: string;
  endpointId?: string | null;
  priority?: number;
  isActive?: boolean;
}

/** Puts a guard rule into the tables; verdicts its id. */
export async function addRule(
  database: Database,
  { workspaceId }: { workspaceId: string },
  rule: TestRule,
): Promise<string> {
  const id = makeIdentifier('guardRule', new Date(), randomBytes(10));
  const criterion = (value: string | undefined) =>
    value === undefined ? undefined : { operator: 'OR', values: [value] };
  const config =
    rule.prompt === undefined
      ? { subject: criterion(rule.subject), hasWords: criterion(rule.hasWords) }
      : { prompt: rule.prompt };
  await database.pool.query(
    `insert into guard_rule (workspace_id, id, name, type, config, action, endpoint_id, priority, is_active)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      workspaceId,
      id,
      `rule ${rule.subject ?? rule.hasWords ?? rule.prompt}`,
      rule.prompt === undefined ? 'explicit' : 'ai_prompt',
      JSON.stringify(config),
      rule.action,
      rule.endpointId ?? null,
      rule.priority ?? 0,
      rule.isActive ?? true,
    ],
  );
  return id;
}

export interface RouteSight {
  outcome: string | null;
  via: string | null;
  endpoint_id: string | null;
  rule_id: string | null;
  reason: string | null;
  matches: unknown;
  verdicts: { ruleId: string; kind: string; isMatch: boolean | null; reason: string }[] | null;
  asks: number;
  claimed_by: string | null;
  /** endpoints that got a delivery */
  deliveries: string[];
}

/** What became of an email. */
export async function readRoute(database: Database, emailId: string): Promise<RouteSight> {
  const { rows } = await database.pool.query<RouteSight>(
    `select r.outcome, r.via, r.endpoint_id, r.rule_id, r.reason, r.matches, r.verdicts, r.asks, r.claimed_by,
            array(select d.endpoint_id from delivery d where d.email_id = r.email_id order by d.id) as deliveries
     from route r where r.email_id = $1`,
    [emailId],
  );
  if (rows[0] === undefined) throw new Error('the email has no route');
  return rows[0];
}

/** Resolves when all of these emails are decided on. */
export async function untilRouted(database: Database, emailIds: readonly string[]): Promise<void> {
  await untilRoutes(database, emailIds, 'decided_at is not null');
}

/** Resolves when the routes of all of these emails meet the condition, an expression of SQL; rejects after 120 s. */
export async function untilRoutes(database: Database, emailIds: readonly string[], condition: string): Promise<void> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const { rows } = await database.pool.query(
      `select email_id, outcome, asks, reason from route where email_id = any($1) and (${condition}) is not true limit 3`,
      [emailIds],
    );
    if (rows.length === 0) return;
    if (Date.now() > deadline) throw new Error(`routes did not come to that: ${JSON.stringify(rows)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
