import { type RawBuilder, sql } from 'kysely';
import { canonicalAddress, canonicalDomainName } from '../../../core/domains/domain-name.ts';

/** A filter by domain, given by id or name, as the name to compare with; what is neither matches nothing. */
export function domainNameOf(userId: string, idOrName: string): RawBuilder<string> {
  if (idOrName.includes('.')) return sql`${canonicalDomainName(idOrName) ?? ''}::text`;
  return sql`coalesce((select d.name from domain d where d.user_id = ${userId} and d.id = ${idOrName}), '')`;
}

/** A filter by address, given by id or as the address itself, as the address to compare with; what is neither matches nothing. */
export function addressOf(userId: string, idOrAddress: string): RawBuilder<string> {
  if (idOrAddress.includes('@'))
    return sql`${canonicalAddress(idOrAddress)?.address ?? idOrAddress.trim().toLowerCase()}::text`;
  return sql`coalesce((select a.address from email_address a where a.user_id = ${userId} and a.id = ${idOrAddress}), '')`;
}
