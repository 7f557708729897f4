import type { Database } from '../../connection/database.ts';

/** A verified domain of this service, and what a return address under it belongs to. */
export interface ReturnAddressOwner {
  workspaceId: string;
  domainId: string;
  /** the From address of the email that has the return address, lower case; null when it belongs to no email of this domain */
  ownAddress: string | null;
  /** its current entry in the routing tables; null when they do not contain the From address */
  addressId: string | null;
}

/**
 * Finds the owner of a return address. `names` are its possible domains: a MAIL FROM domain, and the domain that this belongs to. Null when
 * none of them is a verified domain of this service. `recipientId` is null when the signature is not ours.
 */
export async function findReturnAddressOwner(
  database: Database,
  names: readonly string[],
  recipientId: string | null,
  timeoutMs: number,
): Promise<ReturnAddressOwner | null> {
  const { rows } = await database.pool.query<ReturnAddressOwner>({
    name: 'find-return-address-owner',
    text: OWNER_SQL,
    values: [names, recipientId],
    query_timeout: timeoutMs,
  });
  return rows.find((row) => row.ownAddress !== null) ?? rows[0] ?? null;
}

// The identifier alone is not a key: the domain determines the user.
const OWNER_SQL = `
  select v.workspace_id as "workspaceId", v.domain_id as "domainId", e.own_address as "ownAddress", an.address_id as "addressId"
  from verified_domain_name v
  join domain d on d.workspace_id = v.workspace_id and d.id = v.domain_id and d.status = 'verified'
  left join recipient r on r.workspace_id = v.workspace_id and r.id = $2
  left join email e on e.workspace_id = r.workspace_id and e.id = r.email_id and coalesce(r.sender_domain, e.own_domain) = v.name
  left join email_address_name an on an.address = e.own_address and an.workspace_id = v.workspace_id
  where v.name = any ($1)`;
