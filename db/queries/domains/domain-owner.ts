import { sql } from 'kysely';
import type pg from 'pg';
import { SYSTEM_WORKSPACE_ID } from '../../../core/accounts/system-account.ts';
import type { Database } from '../../connection/database.ts';
import { asWorkspace } from '../../connection/transaction.ts';

/** A domain that changed owners. */
interface LostDomain {
  workspaceId: string;
  id: string;
  name: string;
}

/**
 * The result of a claim: the name belongs to the claimant; it was taken from these owners, whose proof had been missing; another workspace has
 * it.
 */
export type ClaimOutcome = { kind: 'owned'; lost: LostDomain[] } | { kind: 'taken' };

export interface NameClaim {
  name: string;
  workspaceId: string;
  domainId: string;
}

/**
 * Makes the user the verified owner of the name, within the transaction that verifies the domain. Another owner loses the name when its
 * proof has been missing for this many days, together with the domains verified by it; `reason` is shown to them. Of concurrent claimants
 * one wins.
 */
export async function claimName(
  client: pg.PoolClient,
  claim: NameClaim,
  { afterDays, reason }: { afterDays: number; reason: string },
): Promise<ClaimOutcome> {
  const values = [claim.name, claim.workspaceId, claim.domainId];
  const made = await client.query({
    name: 'claim-name',
    text: `insert into verified_domain_name (name, workspace_id, domain_id) values ($1, $2, $3) on conflict do nothing`,
    values,
  });
  if (made.rowCount === 1) {
    await restoreAddresses(client, claim);
    return { kind: 'owned', lost: [] };
  }
  // A transaction that takes the name from its owner locks the domain first, so the name needs no separate lock.
  const { rows } = await client.query<LostDomain & { isLost: boolean }>({
    name: 'lock-name-owner',
    text: `
      select d.workspace_id as "workspaceId", d.id, d.name,
        coalesce(not d.is_trusted and d.parent_id is null
          and d.proof_lost_at <= (select postroom_now()) - $2 * interval '1 day', false) as "isLost"
      from verified_domain_name v join domain d on d.workspace_id = v.workspace_id and d.id = v.domain_id
      where v.name = $1 for update of d`,
    values: [claim.name, afterDays],
  });
  const [owner] = rows;
  if (owner?.workspaceId === claim.workspaceId && owner.id === claim.domainId) return { kind: 'owned', lost: [] };
  if (owner === undefined || !owner.isLost) return { kind: 'taken' };
  const fallen = await failDomains(client, owner, reason);
  await client.query({
    name: 'own-name',
    text: `insert into verified_domain_name (name, workspace_id, domain_id) values ($1, $2, $3)`,
    values,
  });
  await restoreAddresses(client, claim);
  return { kind: 'owned', lost: fallen };
}

/**
 * Marks a domain that passed to another owner, and the domains verified by it, as failed: their names and the names of their addresses are
 * free again. The rows stay visible to the previous owner. `reason` is stored with the DNS result.
 */
async function failDomains(client: pg.PoolClient, owner: LostDomain, reason: string): Promise<LostDomain[]> {
  const { rows } = await client.query<LostDomain>({
    name: 'fail-domains',
    text: `
      with recursive fallen as (
        select $2::text as id
        union select c.id from fallen f join domain c on c.workspace_id = $1 and c.parent_id = f.id
      )
      update domain d set status = 'failed', parent_id = null, verified_at = null, proof_lost_at = null, is_catch_all_enabled = false,
        catch_all_endpoint_id = null, updated_at = (select postroom_now()),
        dns_check = case when d.dns_check is null then null else d.dns_check || jsonb_build_object('reason', $3::text) end
      where d.workspace_id = $1 and d.id in (select id from fallen)
      returning d.workspace_id as "workspaceId", d.id, d.name`,
    values: [owner.workspaceId, owner.id, reason],
  });
  const ids = rows.map(({ id }) => id);
  await client.query({
    name: 'free-names-of-domains',
    text: `delete from verified_domain_name v using unnest($2::text[]) i (id) where v.workspace_id = $1 and v.domain_id = i.id`,
    values: [owner.workspaceId, ids],
  });
  await client.query({
    name: 'free-addresses-of-domains',
    text: `
      delete from email_address_name n using email_address a
      where a.workspace_id = $1 and a.domain_id = any ($2) and n.address = a.address and n.workspace_id = a.workspace_id`,
    values: [owner.workspaceId, ids],
  });
  return rows;
}

/** Gives the domain's addresses back to the workspace, unless another workspace has claimed them since. */
async function restoreAddresses(client: pg.PoolClient, { workspaceId, domainId }: NameClaim): Promise<void> {
  await client.query({
    name: 'restore-address-names',
    text: `
      insert into email_address_name (address, workspace_id, address_id)
      select a.address, a.workspace_id, a.id from email_address a where a.workspace_id = $1 and a.domain_id = $2 on conflict do nothing`,
    values: [workspaceId, domainId],
  });
}

/** Whether the name is a verified domain of any workspace. */
export async function isHostedDomain(database: Database, name: string): Promise<boolean> {
  const { rows } = await database.pool.query<{ is_hosted: boolean }>({
    name: 'is-hosted-domain',
    text: 'select is_hosted_domain($1) as is_hosted',
    values: [name],
  });
  return rows[0]?.is_hosted === true;
}

/**
 * Gives the service's own user the domain of its From address. The name is not taken from its owner (verified_domain_name is unchanged), it
 * receives no mail, and its DNS is not checked. Returns the id of the domain, which is the given one if the domain is new.
 */
export async function keepSystemDomain(database: Database, domain: { id: string; name: string }): Promise<string> {
  return asWorkspace(database, SYSTEM_WORKSPACE_ID, async (transaction) => {
    await sql`
      insert into domain (workspace_id, id, name, status, is_trusted, verified_at, check_due_at)
      values (${SYSTEM_WORKSPACE_ID}, ${domain.id}, ${domain.name}, 'verified', true, now(), '9999-12-31')
      on conflict (workspace_id, name) do nothing`.execute(transaction);
    const { rows } = await sql<{ id: string }>`
      select id from domain where workspace_id = ${SYSTEM_WORKSPACE_ID} and name = ${domain.name}`.execute(transaction);
    const [row] = rows;
    if (row === undefined) throw new Error('the domain of the service is gone');
    return row.id;
  });
}
