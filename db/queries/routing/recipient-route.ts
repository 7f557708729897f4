import type { Database } from '../../connection/database.ts';

/** Why mail for a workspace is deferred. */
export type Pause = 'suspended' | 'over quota' | 'full';

/** Selects a Pause, or null, in a statement on verified_domain_name as `v`. Most workspaces have neither, and cost a look at their row. */
export const PAUSE_COLUMN = `case when w.suspended_at is not null then 'suspended'
      when (w.quotas->>'mailPerDay')::integer <= mail_of_today(w.id) then 'over quota'
      when (w.quotas->>'storedBytes')::float8 <= w.stored_bytes then 'full' end as pause`;
export const PAUSE_JOIN =
  'left join workspace w on w.id = v.workspace_id and (w.suspended_at is not null or w.quotas is not null)';

/** Which verified domain and which of its addresses accept mail for a recipient. */
export interface RecipientRouteRow {
  workspace_id: string;
  domain_id: string;
  is_catch_all_enabled: boolean;
  /** null when only the catch-all may accept it */
  address_id: string | null;
  address: string | null;
  is_active: boolean | null;
  /** why mail is deferred; null: it is not */
  pause: Pause | null;
}

/**
 * Finds the route of a recipient by its exact address, else by its address without the plus-tag. Returns null when the domain is not a
 * verified domain of this service.
 */
export async function findRecipientRoute(
  database: Database,
  { domain, exact, untagged }: { domain: string; exact: string; untagged: string },
  timeoutMs: number,
): Promise<RecipientRouteRow | null> {
  const { rows } = await database.pool.query<RecipientRouteRow>({
    name: 'check-recipient',
    text: ROUTE_SQL,
    values: [domain, exact, untagged],
    query_timeout: timeoutMs,
  });
  return rows[0] ?? null;
}

// Only equality with parameters on unique keys: the plan is right from the empty table to a million rows.
const ROUTE_SQL = `
  select v.workspace_id, v.domain_id, d.is_catch_all_enabled, coalesce(e.id, u.id) as address_id,
    coalesce(e.address, u.address) as address, coalesce(e.is_active, u.is_active) as is_active,
    ${PAUSE_COLUMN}
  from verified_domain_name v
  ${PAUSE_JOIN}
  join domain d on d.workspace_id = v.workspace_id and d.id = v.domain_id and d.status = 'verified'
  left join email_address_name en on en.address = $2 and en.workspace_id = v.workspace_id
  left join email_address e on e.workspace_id = en.workspace_id and e.id = en.address_id
  left join email_address_name un on un.address = $3 and un.workspace_id = v.workspace_id
  left join email_address u on u.workspace_id = un.workspace_id and u.id = un.address_id
  where v.name = $1`;
