import { sql, type Transaction } from 'kysely';
import type { Scope } from '../../../core/accounts/key-rights.ts';
import type { Row, Tables } from '../../entities/tables.ts';

/** Returns a domain and locks it until the transaction ends; null when the workspace has none with that id. */
export async function lockDomain(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainId: string,
): Promise<{ status: Row<'domain'>['status'] } | null> {
  const row = await transaction
    .selectFrom('domain')
    .select('status')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', domainId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** Returns an endpoint and locks it against deletion until the transaction ends; null when the workspace has none with that id. */
export async function lockEndpoint(
  transaction: Transaction<Tables>,
  workspaceId: string,
  endpointId: string,
): Promise<{ isActive: boolean } | null> {
  const row = await transaction
    .selectFrom('endpoint')
    .select('is_active as isActive')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', endpointId)
    .forShare()
    .executeTakeFirst();
  return row ?? null;
}

/** Writes settings; null leaves a setting unchanged. */
export async function changeDomain(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainId: string,
  change: {
    catchAll: {
      isEnabled: boolean;
      endpointId: string | null;
      routeSetByKeyId: string | null;
      routeGrantedScopes: Scope[] | null;
    } | null;
    receiveDmarcEmails: boolean | null;
    updatedAt: Date;
  },
): Promise<void> {
  const { catchAll, receiveDmarcEmails, updatedAt } = change;
  await transaction
    .updateTable('domain')
    .set({
      updated_at: updatedAt,
      ...(catchAll === null
        ? {}
        : {
            is_catch_all_enabled: catchAll.isEnabled,
            catch_all_endpoint_id: catchAll.endpointId,
            route_set_by_key_id: catchAll.routeSetByKeyId,
            route_granted_scopes: catchAll.routeGrantedScopes,
          }),
      ...(receiveDmarcEmails === null ? {} : { receive_dmarc_emails: receiveDmarcEmails }),
    })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', domainId)
    .execute();
}

export interface Subdomain {
  id: string;
  domain: string;
  status: Row<'domain'>['status'];
}

/** Returns the workspace's domains below a name. */
export async function findSubdomains(
  transaction: Transaction<Tables>,
  workspaceId: string,
  name: string,
): Promise<Subdomain[]> {
  return transaction
    .selectFrom('domain')
    .select(['id', 'name as domain', 'status'])
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`right(name, length(${name}::text) + 1) = '.' || ${name}::text`)
    .orderBy('name')
    .execute();
}

/** Deletes a domain with its keys, DMARC reports, addresses and reply addresses, and releases all their names; returns the addresses. */
export async function deleteDomain(
  transaction: Transaction<Tables>,
  workspaceId: string,
  { id, name }: { id: string; name: string },
): Promise<{ addresses: string[]; wasVerified: boolean }> {
  await sql`
    delete from email_address_name n using email_address a
    where a.workspace_id = ${workspaceId} and a.domain_id = ${id} and n.address = a.address and n.workspace_id = a.workspace_id`.execute(
    transaction,
  );
  const addresses = await transaction
    .deleteFrom('email_address')
    .where('workspace_id', '=', workspaceId)
    .where('domain_id', '=', id)
    .returning('address')
    .execute();
  for (const table of ['reply_address', 'dkim_key'] as const)
    await transaction.deleteFrom(table).where('workspace_id', '=', workspaceId).where('domain_id', '=', id).execute();
  await sql`delete from dmarc_report where workspace_id = ${workspaceId} and domain_id = ${id}`.execute(transaction);
  const freed = await transaction
    .deleteFrom('verified_domain_name')
    .where('name', '=', name)
    .where('workspace_id', '=', workspaceId)
    .where('domain_id', '=', id)
    .executeTakeFirst();
  await transaction.deleteFrom('domain').where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
  return { addresses: addresses.map(({ address }) => address), wasVerified: freed.numDeletedRows === 1n };
}

/** Selectors of the domain's keys. */
export async function readKeyStates(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainId: string,
): Promise<('active' | 'waiting' | 'retired')[]> {
  const rows = await transaction
    .selectFrom('dkim_key')
    .select(['activated_at', 'retired_at'])
    .where('workspace_id', '=', workspaceId)
    .where('domain_id', '=', domainId)
    .execute();
  return rows.map((row) => (row.retired_at !== null ? 'retired' : row.activated_at === null ? 'waiting' : 'active'));
}

/** Makes the domain due for the next background check. */
export async function checkSoon(
  transaction: Transaction<Tables>,
  workspaceId: string,
  domainId: string,
): Promise<void> {
  await transaction
    .updateTable('domain')
    .set({ check_due_at: sql<Date>`(select postroom_now())` })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', domainId)
    .execute();
}
