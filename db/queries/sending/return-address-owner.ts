import type { Database } from '../../connection/database.ts';

/** A verified domain of ours, and what a return address under it leads to. */
export interface ReturnAddressOwner {
  userId: string;
  domainId: string;
  /** the From address of the email that bears the return address, lower case; null when it leads to no email of this domain */
  ownAddress: string | null;
  /** as it stands in the routing tables now; null when they do not know the From address */
  addressId: string | null;
}

/**
 * Whose mail a return address is. `names` are the domains that may stand in it: a MAIL FROM domain, and the domain that it belongs to.
 * Null when none of them is a verified domain of ours. `recipientId` is null when the signature is not ours.
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

// The identifier alone is no key: the domain tells the user.
const OWNER_SQL = `
  select v.user_id as "userId", v.domain_id as "domainId", e.own_address as "ownAddress", an.address_id as "addressId"
  from verified_domain_name v
  join domain d on d.user_id = v.user_id and d.id = v.domain_id and d.status = 'verified'
  left join recipient r on r.user_id = v.user_id and r.id = $2
  left join email e on e.user_id = r.user_id and e.id = r.email_id and coalesce(r.sender_domain, e.own_domain) = v.name
  left join email_address_name an on an.address = e.own_address and an.user_id = v.user_id
  where v.name = any ($1)`;
