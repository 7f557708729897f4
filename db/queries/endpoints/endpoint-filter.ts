import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../entities/tables.ts';

/** Returns the name of each domain, given by id or by name in lower case; null if the workspace does not have it. */
export async function findDomainNames(
  transaction: Transaction<Tables>,
  workspaceId: string,
  idsOrNames: readonly string[],
): Promise<(string | null)[]> {
  const { rows } = await sql<{ name: string | null }>`
    select (select d.name from domain d where d.workspace_id = ${workspaceId} and (d.id = g.given or d.name = g.given) limit 1) as name
    from unnest(${idsOrNames}::text[]) with ordinality as g(given, place) order by g.place`.execute(transaction);
  return rows.map(({ name }) => name);
}

/** Returns each address, given by id or as the address in lower case; null if the workspace does not have it. */
export async function findAddresses(
  transaction: Transaction<Tables>,
  workspaceId: string,
  idsOrAddresses: readonly string[],
): Promise<(string | null)[]> {
  const { rows } = await sql<{ address: string | null }>`
    select (select a.address from email_address a where a.workspace_id = ${workspaceId} and (a.id = g.given or a.address = g.given) limit 1) as address
    from unnest(${idsOrAddresses}::text[]) with ordinality as g(given, place) order by g.place`.execute(transaction);
  return rows.map(({ address }) => address);
}
