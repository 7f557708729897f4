import type { Pool } from 'pg';

/** An address of the workspace as the recipient of a sample message. */
export interface SampleRecipient {
  address: string;
  addressId: string;
  domain: string;
  domainId: string;
  /** whether mail may be sent from it */
  isVerified: boolean;
}

/** Returns the address that a test of the endpoint uses: preferably one that routes to it. Null when the workspace has no address. */
export async function findSampleRecipient(
  pool: Pool,
  { workspaceId, endpointId }: { workspaceId: string; endpointId: string },
): Promise<SampleRecipient | null> {
  const { rows } = await pool.query<SampleRecipient>({
    name: 'sample-recipient',
    text: `
      select a.address, a.id as "addressId", d.name as domain, d.id as "domainId", d.status = 'verified' as "isVerified"
      from email_address a join domain d on d.workspace_id = a.workspace_id and d.id = a.domain_id
      where a.workspace_id = $1
      order by (coalesce(a.endpoint_id, a.webhook_id) is not distinct from $2) desc, d.status = 'verified' desc,
        (d.catch_all_endpoint_id is not distinct from $2) desc, a.created_at, a.id
      limit 1`,
    values: [workspaceId, endpointId],
  });
  return rows[0] ?? null;
}

/** A forwarding endpoint with what its test needs. */
export interface TestedForwardRow {
  config: unknown;
  /** whether the domain of the config's fromAddress is a verified domain of the workspace */
  is_from_verified: boolean;
  /** the oldest verified domain of the workspace; null when there is none */
  verified_domain: string | null;
}

/** By $1 (workspace id) and $2 (endpoint id). Rows: TestedForwardRow. */
export const readTestedForwardSql = `
  select p.config, exists (select from domain d where d.workspace_id = p.workspace_id
    and d.name = lower(split_part(p.config->>'fromAddress', '@', 2)) and d.status = 'verified') as is_from_verified,
    (select d.name from domain d where d.workspace_id = p.workspace_id and d.status = 'verified' order by d.created_at, d.id limit 1) as verified_domain
  from endpoint p where p.workspace_id = $1 and p.id = $2`;
