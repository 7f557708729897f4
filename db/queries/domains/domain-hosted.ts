import type { Database } from '../../connection/database.ts';

/** Whether the name is a verified domain of anybody's. */
export async function isHostedDomain(database: Database, name: string): Promise<boolean> {
  const { rows } = await database.pool.query<{ is_hosted: boolean }>({
    name: 'is-hosted-domain',
    text: 'select is_hosted_domain($1) as is_hosted',
    values: [name],
  });
  return rows[0]?.is_hosted === true;
}
