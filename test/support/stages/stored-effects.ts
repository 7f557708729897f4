import type { Scope } from '../../../core/accounts/key-rights.ts';
import type { Database } from '../../../db/connection/database.ts';

/** Something stored that acts later, or is about to: what it needs to do so, and with which rights it was stored. */
export interface Effect {
  /** kind and id */
  what: string;
  needs: readonly Scope[];
  /** whose rights it keeps to; undefined: it takes effect at once, or is settled again when it does */
  grant?: { setBy: string | null; scopes: readonly Scope[] | null } | undefined;
}

type Row = Record<string, unknown>;
export type StoredRows = ReadonlyMap<string, Row>;

/** Reads all rows of the account that act later, by kind and id. `database`: without row-level security. */
export async function readStored(database: Database, workspaceId: string): Promise<StoredRows> {
  const { rows } = await database.pool.query<{ key: string; row: Row }>({
    name: 'stored-effects',
    text: `
      select 'endpoint ' || id as key, to_jsonb(e) - '{updated_at,secret_ciphertext}'::text[] as row from endpoint e where workspace_id = $1
      union all select 'secret ' || id, jsonb_build_object('secret', md5(secret_ciphertext)) from endpoint where workspace_id = $1
      union all select 'rule ' || id, to_jsonb(g) - '{updated_at}'::text[] from guard_rule g where workspace_id = $1
      union all select 'address ' || id, jsonb_build_object('target', coalesce(endpoint_id, webhook_id),
        'set_by_key_id', route_set_by_key_id, 'granted_scopes', route_granted_scopes) from email_address where workspace_id = $1
      union all select 'domain ' || id, jsonb_build_object('target', case when is_catch_all_enabled then catch_all_endpoint_id end,
        'set_by_key_id', route_set_by_key_id, 'granted_scopes', route_granted_scopes) from domain where workspace_id = $1
      union all select 'email ' || id, jsonb_build_object('type', type, 'status', status, 'scheduled_at', scheduled_at,
        'set_by_key_id', scheduled_by_key_id) from email where workspace_id = $1 and type <> 'received'
      union all select 'recipient ' || id, jsonb_build_object('status', status, 'next_attempt_at', next_attempt_at) from recipient where workspace_id = $1
      union all select 'delivery ' || id, jsonb_build_object('status', status, 'next_attempt_at', next_attempt_at) from delivery where workspace_id = $1
      union all select 'key ' || id, jsonb_build_object('scopes', scopes, 'reach', reach, 'policy', send_policy, 'expires_at', expires_at,
        'revoked_at', revoked_at) from api_key where workspace_id = $1`,
    values: [workspaceId],
  });
  return new Map(rows.map(({ key, row }) => [key, row]));
}

/** Returns what a request stored or started that acts later. What stopped, or was renamed, is no effect. */
export function findEffects(before: StoredRows, after: StoredRows): Effect[] {
  return [...after].flatMap(([what, row]) => {
    const was = before.get(what);
    if (was !== undefined && JSON.stringify(was) === JSON.stringify(row)) return [];
    const kind = what.split(' ')[0] ?? '';
    const effect = EFFECTS[kind]?.(row, was);
    return effect == null ? [] : [{ what, ...effect }];
  });
}

const grantIn = (row: Row): Effect['grant'] => ({
  setBy: row['set_by_key_id'] as string | null,
  scopes: row['granted_scopes'] as Scope[] | null,
});

/** Whether the rows differ in more than these columns. */
function differs(row: Row, was: Row | undefined, ...besides: string[]): boolean {
  if (was === undefined) return true;
  return Object.keys(row).some(
    (key) => !besides.includes(key) && JSON.stringify(row[key]) !== JSON.stringify(was[key]),
  );
}

const SETTLED = ['name', 'description', 'set_by_key_id', 'granted_scopes', 'inactive_reason'];

const EFFECTS: Readonly<Record<string, (row: Row, was: Row | undefined) => Omit<Effect, 'what'> | null>> = {
  endpoint: (row, was) => {
    const isStopped = was !== undefined && row['is_active'] === false;
    if (!differs(row, was, ...SETTLED, ...(isStopped ? ['is_active'] : []))) return null;
    const isLess = was !== undefined && was['allow_actions'] === true && row['allow_actions'] === false;
    if (isLess && !differs(row, was, ...SETTLED, 'allow_actions')) return null;
    const needs: Scope[] = row['allow_actions'] === true ? ['manage', 'read', 'send'] : ['manage', 'read'];
    return { needs, grant: grantIn(row) };
  },
  // Its owner can sign as this service.
  secret: (row, was) => (differs(row, was) && row['secret'] !== null ? { needs: ['manage', 'read'] } : null),
  rule: (row, was) => {
    const isStopped = was !== undefined && row['is_active'] === false;
    if (!differs(row, was, ...SETTLED, 'priority', ...(isStopped ? ['is_active'] : []))) return null;
    return { needs: row['action'] === 'route' ? ['manage', 'read'] : ['manage'], grant: grantIn(row) };
  },
  address: (row, was) =>
    row['target'] === null || !differs(row, was, 'set_by_key_id', 'granted_scopes')
      ? null
      : { needs: ['manage', 'read'], grant: grantIn(row) },
  domain: (row, was) =>
    row['target'] === null || !differs(row, was, 'set_by_key_id', 'granted_scopes')
      ? null
      : { needs: ['manage', 'read'], grant: grantIn(row) },
  email: (row, was) => {
    if (row['type'] === 'sent') return was === undefined ? { needs: ['send'] } : null;
    if (row['status'] === 'awaiting_approval') return was === undefined ? { needs: ['send'] } : null;
    if (row['status'] !== 'scheduled') return null;
    if (was?.['status'] === 'awaiting_approval') return { needs: ['approve'] };
    return { needs: ['send'], grant: { setBy: row['set_by_key_id'] as string | null, scopes: [] } };
  },
  recipient: (row, was) =>
    was !== undefined && row['status'] === 'pending' && differs(row, was) ? { needs: ['send'] } : null,
  delivery: (row, was) =>
    row['status'] === 'pending' && (was === undefined || differs(row, was)) ? { needs: ['read'] } : null,
  key: (row, was) => {
    const isLess = was !== undefined && JSON.stringify(row['scopes']) === JSON.stringify(was['scopes']);
    if (row['revoked_at'] !== null || isLess) return null;
    return { needs: (row['scopes'] as Scope[] | null) ?? ['read', 'send', 'manage', 'approve'] };
  },
};
