import { type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import { checkGuardConfig } from '../../../core/routing/guard-config.ts';
import type { GuardRule, RuleCursor } from '../../../core/routing/guard-rule.ts';
import type { KeysetPage, Page } from '../../../core/shared/page.ts';
import type { Row, Tables } from '../../entities/tables.ts';
import { containsPattern } from '../search/search-pattern.ts';

/** The columns of guard_rule that define a rule. */
const GUARD_RULE_COLUMNS = [
  'id',
  'name',
  'type',
  'config',
  'action',
  'endpoint_id',
  'priority',
  'created_at',
] as const satisfies readonly (keyof Row<'guard_rule'>)[];

export type StoredGuardRule = Pick<
  Row<'guard_rule'>,
  Exclude<(typeof GUARD_RULE_COLUMNS)[number], 'priority' | 'created_at'>
> & {
  priority: number;
  created_at: Date;
};

/** Returns the rule of a row. Throws when its config is invalid. */
export function readGuardRule(row: StoredGuardRule): GuardRule {
  const { config, error } = checkGuardConfig(row.type, row.config);
  if (config === undefined) throw new Error(`guard rule ${row.id} cannot be read: ${error}`);
  return {
    id: row.id,
    name: row.name,
    action: row.action,
    endpointId: row.endpoint_id,
    priority: row.priority,
    createdAt: row.created_at,
    ...config,
  };
}

/** A rule with all that is shown of it. */
export type ListedGuardRule = GuardRule & {
  description: string | null;
  isActive: boolean;
  updatedAt: Date;
  /** how many emails it decided, and when it decided the last one */
  triggerCount: number;
  lastTriggeredAt: Date | null;
};

/** Filters of a list of rules; null matches all. */
export interface GuardRuleConditions {
  ids: readonly string[] | null;
  type: GuardRule['type'] | null;
  isActive: boolean | null;
  /** part of name or description, case-insensitive */
  search: string | null;
}

/** Returns a page in order of evaluation, and the total count. */
export async function listGuardRules(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: GuardRuleConditions,
  page: Page,
): Promise<{ rules: ListedGuardRule[]; total: number }> {
  const where = toWhere(workspaceId, conditions);
  const { rows } = await sql<{ total: number } & (ListedRow | { id: null })>`
    select t.total, p.* from (select count(*) as total from guard_rule g where ${where}) t
    left join lateral (
      select ${columns} ${from}
      where ${where} order by g.priority desc, g.created_at desc, g.id desc limit ${page.limit} offset ${page.offset}
    ) p on true order by p.priority desc, p.created_at desc, p.id desc`.execute(transaction);
  return {
    rules: rows.flatMap((row) => (row.id === null ? [] : [toListed(row)])),
    total: Number(rows[0]?.total ?? 0),
  };
}

/** Returns the rules between two cursors, in order of evaluation; inverted: last first. */
export async function pageGuardRules(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: GuardRuleConditions,
  page: KeysetPage<RuleCursor>,
): Promise<ListedGuardRule[]> {
  const compare = (place: RuleCursor | null, operator: RawBuilder<unknown>) =>
    place === null
      ? sql``
      : sql`and (g.priority, g.created_at, g.id) ${operator} (${place.priority}::integer, ${place.at}::timestamptz, ${place.id}::text)`;
  const direction = sql.raw(page.isInverted ? 'asc' : 'desc');
  const { rows } = await sql<ListedRow>`
    select ${columns} ${from}
    where ${toWhere(workspaceId, conditions)} ${compare(page.after, sql.raw('<'))} ${compare(page.before, sql.raw('>'))}
    order by g.priority ${direction}, g.created_at ${direction}, g.id ${direction} limit ${page.limit}`.execute(
    transaction,
  );
  return rows.map(toListed);
}

export async function countGuardRules(
  transaction: Transaction<Tables>,
  workspaceId: string,
  conditions: GuardRuleConditions,
): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    select count(*)::integer as total from guard_rule g where ${toWhere(workspaceId, conditions)}`.execute(transaction);
  return rows[0]?.total ?? 0;
}

/** Returns those of the rules that belong to the workspace, unordered. */
export async function findGuardRules(
  transaction: Transaction<Tables>,
  workspaceId: string,
  ids: readonly string[],
): Promise<ListedGuardRule[]> {
  const conditions = { ids, type: null, isActive: null, search: null };
  const { rows } = await sql<ListedRow>`select ${columns} ${from} where ${toWhere(workspaceId, conditions)}`.execute(
    transaction,
  );
  return rows.map(toListed);
}

/** Returns one rule; null when the workspace has none with that id. */
export async function findGuardRule(
  transaction: Transaction<Tables>,
  workspaceId: string,
  id: string,
): Promise<ListedGuardRule | null> {
  const [rule] = await findGuardRules(transaction, workspaceId, [id]);
  return rule ?? null;
}

/** As SQL, for a table named g. */
const COLUMNS = GUARD_RULE_COLUMNS.map((column) => `g.${column}`).join(', ');

/** The active rules of the workspaces $1, unordered. Rows: StoredGuardRule with workspace_id. */
export const readRulesSql = `
  select g.workspace_id, ${COLUMNS} from unnest($1::text[]) u(workspace_id)
  cross join lateral (select * from guard_rule g where g.workspace_id = u.workspace_id and g.is_active) g`;

/** Returns the active rules of one workspace, unordered. Throws as readGuardRule does. */
export async function readActiveRules(transaction: Transaction<Tables>, workspaceId: string): Promise<GuardRule[]> {
  const { rows } = await sql<StoredGuardRule>`
    select ${sql.raw(COLUMNS)} from guard_rule g where g.workspace_id = ${workspaceId} and g.is_active`.execute(
    transaction,
  );
  return rows.map(readGuardRule);
}

/** Keeps other transactions from writing rules of the workspace until this one ends. */
export async function lockGuardRules(transaction: Transaction<Tables>, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`guard rules ${workspaceId}`}, 0))`.execute(transaction);
}

/** Counts the workspace's rules, the values that they compare mail with, and those of them that are searched for in bodies. */
export async function measureGuardRules(
  transaction: Transaction<Tables>,
  workspaceId: string,
): Promise<{ rules: number; values: number; words: number }> {
  const { rows } = await sql<{ rules: number; values: number; words: number }>`
    select count(*) as rules, coalesce(sum(v.values), 0)::integer as values, coalesce(sum(v.words), 0)::integer as words
    from guard_rule g
    left join lateral (
      select sum(jsonb_array_length(c.value -> 'values')) as values,
        sum(jsonb_array_length(c.value -> 'values')) filter (where c.key = 'hasWords') as words
      from jsonb_each(g.config) c
      where jsonb_typeof(c.value) = 'object' and jsonb_typeof(c.value -> 'values') = 'array'
    ) v on true
    where g.workspace_id = ${workspaceId}`.execute(transaction);
  const { rules = 0, values = 0, words = 0 } = rows[0] ?? {};
  return { rules: Number(rules), values, words };
}

/** Whether the workspace's endpoint is active; null when the workspace has none with that id. The row stays locked for the transaction. */
export async function isEndpointActive(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
): Promise<boolean | null> {
  const { rows } = await sql<{ is_active: boolean }>`
    select is_active from endpoint where workspace_id = ${workspaceId} and id = ${endpointId} for key share`.execute(
    transaction,
  );
  return rows[0]?.is_active ?? null;
}

function toWhere(workspaceId: string, { ids, type, isActive, search }: GuardRuleConditions): RawBuilder<SqlBool> {
  return sql<SqlBool>`g.workspace_id = ${workspaceId}
    ${ids === null ? sql`` : sql`and g.id = any (${ids}::text[])`}
    ${type === null ? sql`` : sql`and g.type = ${type}`}
    ${isActive === null ? sql`` : sql`and g.is_active = ${isActive}`}
    ${search === null ? sql`` : sql`and lower(g.name || ' ' || coalesce(g.description, '')) like ${containsPattern(search)}`}`;
}

type ListedRow = StoredGuardRule & {
  description: string | null;
  is_active: boolean;
  updated_at: Date;
  trigger_count: number;
  last_triggered_at: Date | null;
};

const columns = sql`
  ${sql.join(GUARD_RULE_COLUMNS.map((column) => sql.ref(`g.${column}`)))}, g.description, g.is_active, g.updated_at,
  coalesce(s.trigger_count, 0) as trigger_count, s.last_triggered_at`;

const from = sql`from guard_rule g left join guard_rule_stat s on s.workspace_id = g.workspace_id and s.rule_id = g.id`;

function toListed(row: ListedRow): ListedGuardRule {
  return {
    ...readGuardRule(row),
    description: row.description,
    isActive: row.is_active,
    updatedAt: row.updated_at,
    triggerCount: Number(row.trigger_count),
    lastTriggeredAt: row.last_triggered_at,
  };
}
