import { sql, type Transaction } from 'kysely';
import type { ConfigurationKind } from '../../../core/accounts/key-configuration.ts';
import type { Tables } from '../../entities/tables.ts';

/** Something that a key set up, and that stops when the key is revoked. */
export interface ConfiguredItem {
  kind: ConfigurationKind;
  id: string;
  /** name, address or subject */
  name: string;
}

/**
 * Returns for each key up to `limit` active things that it, or a key that it created, set up, in the order of kinds and names. Keys of others
 * have none.
 */
export async function readKeyConfigurations(
  transaction: Transaction<Tables>,
  workspaceId: string,
  keyIds: readonly string[],
  limit: number,
): Promise<ConfiguredItem[][]> {
  const { rows } = await sql<ConfiguredItem & { root: string }>`
    with recursive known as materialized (
      select k.id, k.parent_id, k.name, k.revoked_at is null as is_active from api_keys_of(${workspaceId}) k
    ), made (root, id) as (
      select k.id, k.id from known k where k.id = any (${keyIds}::text[])
      union select m.root, k.id from made m join known k on k.parent_id = m.id
    ), item as (
      select m.root, 1 as place, 'endpoint' as kind, e.id, e.name from made m
        join endpoint e on e.workspace_id = ${workspaceId} and e.set_by_key_id = m.id where e.is_active
      union all select m.root, 2, 'address_route', a.id, a.address from made m
        join email_address a on a.workspace_id = ${workspaceId} and a.route_set_by_key_id = m.id where coalesce(a.endpoint_id, a.webhook_id) is not null
          and (a.route_granted_scopes is null or 'read' = any (a.route_granted_scopes))
      union all select m.root, 3, 'catch_all', d.id, d.name from made m
        join domain d on d.workspace_id = ${workspaceId} and d.route_set_by_key_id = m.id where d.catch_all_endpoint_id is not null
          and (d.route_granted_scopes is null or 'read' = any (d.route_granted_scopes))
      union all select m.root, 4, 'guard_rule', g.id, g.name from made m
        join guard_rule g on g.workspace_id = ${workspaceId} and g.set_by_key_id = m.id where g.is_active
      union all select m.root, 5, 'scheduled_email', e.id, e.subject from made m
        join email e on e.workspace_id = ${workspaceId} and e.scheduled_by_key_id = m.id where e.type = 'scheduled' and e.status = 'scheduled'
      union all select m.root, 6, 'api_key', k.id, k.name from made m join known k on k.id = m.id where k.is_active and m.root <> m.id
    )
    select i.root, i.kind, i.id, i.name from (
      select item.*, row_number() over (partition by root order by place, name, id) as n from item) i
    where i.n <= ${limit} order by i.root, i.n`.execute(transaction);
  const byRoot = Map.groupBy(rows, ({ root }) => root);
  return keyIds.map((id) => (byRoot.get(id) ?? []).map(({ kind, id: itemId, name }) => ({ kind, id: itemId, name })));
}
