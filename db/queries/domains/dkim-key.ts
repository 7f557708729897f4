import type { Database } from '../../connection/database.ts';

/** A signing key, and the domain for its `d=` tag. */
export interface SigningKey {
  domain: string;
  selector: string;
  /** see core/domains/dkim-key.ts */
  privateKeyCiphertext: string;
}

/**
 * Returns the newest active key of the nearest name that is a verified domain of the workspace with a key. The names are given nearest first:
 * the sender's domain, then its parents. Null when none of them has a key. For actors.
 */
export async function findSigningKey(
  database: Database,
  workspaceId: string,
  names: readonly string[],
): Promise<SigningKey | null> {
  const { rows } = await database.pool.query<SigningKey>({
    name: 'find-signing-key',
    text: `
      select n.name as domain, k.selector, k.private_key_ciphertext as "privateKeyCiphertext"
      from unnest($2::text[]) with ordinality n (name, place)
      cross join lateral (select d.id from domain d where d.workspace_id = $1 and d.name = n.name and d.status = 'verified' limit 1) d
      cross join lateral (
        select k.selector, k.private_key_ciphertext from dkim_key k
        where k.workspace_id = $1 and k.domain_id = d.id and k.activated_at is not null and k.retired_at is null
        order by k.created_at desc, k.selector limit 1) k
      order by n.place limit 1`,
    values: [workspaceId, names],
  });
  return rows[0] ?? null;
}

/** Like findSigningKey, but for a verified domain of any workspace. For actors, and for the service's own mail. */
export async function findHostedSigningKey(database: Database, names: readonly string[]): Promise<SigningKey | null> {
  const { rows } = await database.pool.query<{ name: string; workspace_id: string }>({
    name: 'find-hosted-domain',
    text: `
      select v.name, v.workspace_id from unnest($1::text[]) with ordinality n (name, place)
      join verified_domain_name v on v.name = n.name order by n.place limit 1`,
    values: [names],
  });
  const [owner] = rows;
  return owner === undefined ? null : findSigningKey(database, owner.workspace_id, names);
}
